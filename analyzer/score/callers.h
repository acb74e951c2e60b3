// Calls by the address they return to.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rdam::score {

/// What is kept of the calls that return to one address.
struct CallerEntry {
    std::uint64_t caller = 0;  ///< 0: not known
    std::uint64_t calls = 0;
    std::uint64_t outermost = 0;  ///< scored ones that were not inside another call of their function
    std::uint64_t sum = 0;        ///< of their durations, in ticks

    void add(std::uint64_t duration, std::uint64_t times, bool is_outermost);
};

/// Not thread-safe. A look-up of the address that was looked up last, or among few, takes no hash.
class CallerTable {
  public:
    /// Valid until the next look-up.
    CallerEntry& of(std::uint64_t caller) {
        if (last_ < entries_.size() && entries_[last_].caller == caller) return entries_[last_];
        return find(caller);
    }
    const std::vector<CallerEntry>& entries() const { return entries_; }  ///< in the order of first use

  private:
    CallerEntry& find(std::uint64_t caller);

    std::size_t last_ = 0;
    std::vector<CallerEntry> entries_;
    std::unique_ptr<tsl::robin_map<std::uint64_t, std::size_t>> index_;  // once there are more than a few
};

}  // namespace rdam::score
