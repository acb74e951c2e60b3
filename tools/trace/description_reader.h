// Decodes the protobuf messages of docs/trace.proto into a TraceInfo. The bytes are untrusted.
#pragma once

#include <cstdint>
#include <span>

#include "tools/trace/event.h"

namespace rdam::trace {

class DescriptionReader {
  public:
    /// Adds the content of one description chunk, `stored_size` bytes of the file. False: it is broken, or
    /// larger than a chunk of that size can be; values before the fault stay.
    bool add(std::span<const std::uint8_t> message, std::uint64_t stored_size);

    /// Makes every index be in range, with placeholders for what is missing; `threads`: how many must be
    /// there.
    TraceInfo finish(std::size_t threads) &&;

  private:
    TraceInfo info_;
    std::uint64_t items_left_ = 1U << 16U;
    std::uint64_t bytes_left_ = std::uint64_t{64} << 20U;
};

}  // namespace rdam::trace
