// The payload of an event chunk under construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tools/trace/event.h"

namespace rdam::trace {

/// Collects events of one thread in the columns of the file format (docs/trace-format.md).
/// Takes little memory before the first event. Reusable: TraceWriter::append leaves it empty and keeps the
/// memory. Any number of events fits (they become several chunks when they are more than a chunk holds), but
/// nothing is in the file before append. The number of words must be the same at every enter of a function,
/// and at every leave by return, as its FunctionInfo says, else the reader leaves the chunk out. Not
/// thread-safe; one per writing thread.
class ChunkEncoder {
  public:
    ChunkEncoder();
    ~ChunkEncoder();
    ChunkEncoder(ChunkEncoder&&) noexcept;
    ChunkEncoder& operator=(ChunkEncoder&&) noexcept;
    ChunkEncoder(const ChunkEncoder&) = delete;
    ChunkEncoder& operator=(const ChunkEncoder&) = delete;

    void enter(std::uint64_t tsc, std::uint32_t function, std::uint16_t cpu, std::uint64_t caller, bool tail,
               std::uint32_t stack, std::span<const std::uint64_t> words, std::uint8_t sampling = 0,
               std::uint64_t instructions = 0);
    /// `unwound`: the words are not kept, nothing was returned; the reader gives zeros.
    void leave(std::uint64_t tsc, std::uint32_t function, std::uint16_t cpu, bool unwound,
               std::span<const std::uint64_t> words, std::uint64_t instructions = 0);
    void pause(std::uint64_t begin, std::uint64_t end, PauseReason reason);
    /// Events are on the stack of this number from here on.
    void stack_switch(std::uint64_t tsc, std::uint64_t number);

    /// Says that events were lost before the next one: the reader will not trust calls that are open there.
    void gap();

    std::size_t events() const;

    struct Columns;  ///< columns.h, for this folder only

  private:
    friend class TraceWriter;
    std::unique_ptr<Columns> columns_;
};

}  // namespace rdam::trace
