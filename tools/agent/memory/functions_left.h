// Which functions have left something in chunks that nobody has read yet.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libprobe/format/events.h"

namespace rdam::agent {

/// Looks for the numbers of functions in chunks that their threads may be writing to, so without relying on
/// where a record begins. What only looks like a number counts as well.
class FunctionsLeft {
  public:
    /// Looks at a chunk as one of records, or as one of packs and call stacks.
    void look_at_records(std::span<const std::uint8_t> chunk);
    void look_at_packs(std::span<const std::uint8_t> chunk);

    bool has(std::uint32_t number) const { return number < seen_.size() && seen_[number]; }

  private:
    void note(std::uint64_t number);

    std::vector<bool> seen_ = std::vector<bool>(shm::kFirstRegion);
};

}  // namespace rdam::agent
