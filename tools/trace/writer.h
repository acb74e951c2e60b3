// Writes trace files. Used by the agent while the program runs, by the generator of synthetic traces and by
// tests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "tools/base/files.h"
#include "tools/base/result.h"
#include "tools/trace/encoder.h"
#include "tools/trace/event.h"
#include "tools/trace/pack_decoder.h"
#include "tools/trace/side_tables.h"

namespace rdam::trace {

// The file under a TraceWriter: appended to in whole pieces, and truncated if one does not fit.

/// What a file is written for: decides whether it is compressed, and what helps if it cannot be written.
enum class Purpose : std::uint8_t { recording, temporary_copy };

class FileOutput {
  public:
    /// Closes `fd` on destruction.
    FileOutput(int fd, std::string name, Purpose purpose = Purpose::recording);

    /// The file must be regular and empty, and no other process may hold it.
    Result<void> check_and_lock();
    /// All of it or, on failure, nothing: the file is cut back to its size before.
    Result<void> append(std::span<const std::uint8_t> bytes);
    /// Makes sure that `bytes` more will fit, where the file system can promise that (elsewhere it does
    /// nothing). What is not used in the end is given back by close().
    Result<void> reserve(std::uint64_t bytes);
    /// Appending afterwards is an error.
    Result<void> close();

    std::uint64_t size() const { return size_; }

  private:
    [[nodiscard]] tl::unexpected<Error> cannot_write(int error) const;

    Descriptor fd_;
    std::string name_;
    Purpose purpose_;
    std::uint64_t size_ = 0;
    std::uint64_t reserved_end_ = 0;
};

class TraceWriter {
  public:
    /// Takes over an open, writable, empty, seekable file (closes it in any case); `name` is for messages.
    /// Locks the file until it is closed, so that readers wait, and writes the file header.
    /// `created_unix_ns`: 0 = now. A recording's chunks are compressed, a temporary copy's are not. A full
    /// disk is an error of the call that meets it; a process that limits its file size has to ignore SIGXFSZ.
    static Result<TraceWriter> create(int fd, std::string name, std::uint64_t created_unix_ns = 0,
                                      Purpose purpose = Purpose::recording);
    ~TraceWriter();
    TraceWriter(TraceWriter&&) noexcept;
    TraceWriter& operator=(TraceWriter&&) noexcept;
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    /// Appends what `encoder` holds as the next chunk of thread index `thread`, and empties it. One system
    /// call a chunk. On failure (a full disk) the file is truncated to its last complete chunk, the chunk's
    /// events count as dropped in that thread, and a later append may succeed again (the reader sees the
    /// gap).
    Result<void> append(std::uint32_t thread, ChunkEncoder& encoder);

    /// Appends packs as threads have made them.
    Result<void> append(std::uint32_t thread, const Packs& packs);

    /// Appends what `encoder` holds as the next off-CPU chunk of the thread `tid`, and empties it. It
    /// must not hold more than format::kMaxEvents. On failure the intervals are counted as lost
    /// (SwitchInfo::lost).
    Result<void> append_off_cpu(std::uint32_t tid, OffCpuEncoder& encoder);

    /// Appends what `encoder` holds as the next windows chunk, and empties it. It must not hold more than
    /// format::kMaxEvents. On failure the windows are lost: a reader does not score what was called in them.
    Result<void> append_windows(WindowsEncoder& encoder);

    /// Appends the parts of `info` that are new or have changed since the last call (all, the first time), so
    /// that a file whose end is missing still says what its events mean. Vectors only grow; an item's index
    /// is its identity. `windows` are not among them. `dropped` is written as given plus what append() has
    /// dropped, `switches.lost` plus what append_off_cpu() has lost.
    Result<void> describe(const TraceInfo& info);

    /// Last description (all of it, so that a damaged one can be spared), index and end mark; closes the
    /// file. Without it, or when it fails, the file is readable by scanning. Nothing can be appended
    /// afterwards.
    Result<void> finish(const TraceInfo& info);

    std::uint64_t events() const;   ///< in the file
    std::uint64_t dropped() const;  ///< by append(), over all threads
    std::uint64_t bytes() const;    ///< size of the file

  private:
    TraceWriter();
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace rdam::trace
