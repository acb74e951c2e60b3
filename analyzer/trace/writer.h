// Writes trace files. Used by the agent while the program runs, by the generator of synthetic traces and by tests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "analyzer/trace/event.h"
#include "wrappers/support/result.h"

namespace rdam::trace {

/// Collects the events of one chunk of one thread in the columns of the file format (docs/trace-format.md).
/// Reusable: finish() leaves it empty and keeps the memory. Not thread-safe; one per writing thread.
class ChunkEncoder {
  public:
    ChunkEncoder();
    ~ChunkEncoder();
    ChunkEncoder(ChunkEncoder&&) noexcept;
    ChunkEncoder& operator=(ChunkEncoder&&) noexcept;

    void enter(std::uint64_t tsc, std::uint32_t function, std::uint16_t cpu, std::uint64_t caller, bool tail,
               std::uint32_t stack, std::span<const std::uint64_t> words);
    void leave(std::uint64_t tsc, std::uint32_t function, std::uint16_t cpu, bool unwound,
               std::span<const std::uint64_t> words);
    void pause(std::uint64_t begin, std::uint64_t end, PauseReason reason);

    std::size_t events() const;

  private:
    friend class TraceWriter;
    struct Columns;
    std::unique_ptr<Columns> columns_;
};

class TraceWriter {
  public:
    /// Takes over an open, writable, empty, seekable file; `name` is for messages. Writes the file header.
    static Result<TraceWriter> create(int fd, std::string name);
    ~TraceWriter();
    TraceWriter(TraceWriter&&) noexcept;
    TraceWriter& operator=(TraceWriter&&) noexcept;

    /// Compresses and appends what `encoder` holds as the next chunk of thread index `thread`, and empties it.
    /// On failure (a full disk) the file is cut back to its last whole chunk, the chunk's events are counted as
    /// dropped of that thread, and a later append may succeed again.
    Result<void> append(std::uint32_t thread, ChunkEncoder& encoder);

    /// Appends the parts of `info` that are new or have changed since the last call (all, the first time), so that a
    /// file whose end is missing still says what its events mean.
    Result<void> describe(const TraceInfo& info);

    /// Last description, index and end mark; closes the file. Without it the file is readable by scanning.
    Result<void> finish(const TraceInfo& info);

    std::uint64_t events() const;
    std::uint64_t bytes() const;

  private:
    TraceWriter();
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace rdam::trace
