// The payload of a windows chunk: the times in which calls of functions that are sampled in windows were
// recorded. They are the same for all threads of the process.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/column_reader.h"
#include "tools/trace/event.h"
#include "tools/trace/format.h"

namespace rdam::trace {

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
