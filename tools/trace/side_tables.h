// What a trace says of threads beside their events: when they were on no processor, and windows of sampling.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/column_reader.h"
#include "tools/trace/event.h"
#include "tools/trace/format.h"

namespace rdam::trace {

/// Collects what becomes one chunk. TraceWriter::append_off_cpu leaves it empty. Not thread-safe.
class OffCpuEncoder {
  public:
    /// The length of an interval whose end is not known, because the recording ended first. Nothing can be
    /// added after it.
    static constexpr std::uint64_t kStillOut = 0;

    /// Intervals come in the order of time; one that begins before the end of the one before is cut.
    void add(OffCpu interval);

    std::uint32_t intervals() const { return intervals_; }
    std::size_t bytes() const;
    bool full() const { return intervals_ >= format::kMaxEvents / 8; }

  private:
    friend class TraceWriter;
    std::vector<std::uint8_t> payload() const;
    void put(format::OffCpuColumn column, std::uint64_t number);

    std::array<std::vector<std::uint8_t>, format::kOffCpuColumns> columns_;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
    std::uint32_t intervals_ = 0;
    std::uint32_t last_by_recorder_ = 0;  ///< number of the interval
    std::uint32_t last_by_program_ = 0;
};

/// Appends what the chunk says to `to`; `in` is OffCpuEncoder::kStillOut where the end is not known, which
/// only the last can be. Times rise. False: the chunk breaks a rule of docs/trace-format.md; `to` is as it
/// was. `payload` is followed by varint::kSlack readable bytes.
bool decode_off_cpu(const format::ChunkHeader& header, std::span<const std::uint8_t> payload,
                    std::vector<OffCpu>& to);

/// The part of `intervals`, as decoded, that lies in the life from `begin` to `end`: none is empty, none
/// overlaps another.
std::vector<OffCpu> within_life(std::vector<OffCpu> intervals, std::uint64_t begin, std::uint64_t end);

// The payload of a windows chunk: the times in which calls of functions that are sampled in windows were
// recorded. They are the same for all threads of the process.

/// Collects what becomes one chunk. TraceWriter::append_windows leaves it empty. Not thread-safe.
class WindowsEncoder {
  public:
    /// Windows come in the order of time. A part before the end of the last window is cut off; a window that
    /// becomes empty is left out.
    void add(Window window);

    std::uint32_t windows() const { return windows_; }
    bool full() const { return windows_ >= format::kMaxEvents / 8; }

  private:
    friend class TraceWriter;
    std::vector<std::uint8_t> payload() const { return join_columns(columns_); }

    std::array<PlainColumn, format::kWindowsColumns> columns_;
    std::uint64_t first_ = 0;
    std::uint64_t last_ = 0;
    std::uint32_t windows_ = 0;
};

/// Appends what the chunk says to `to`. False: the chunk breaks a rule of docs/trace-format.md, or begins
/// before the last window of `to` has ended; `to` is as it was. `payload` is followed by varint::kSlack
/// readable bytes.
bool decode_windows(const format::ChunkHeader& header, std::span<const std::uint8_t> payload,
                    std::vector<Window>& to);

}  // namespace rdam::trace
