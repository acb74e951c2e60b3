// Trace files put together by hand, so that they can be wrong in chosen ways.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/memory_file.h"
#include "tools/trace/event.h"
#include "tools/trace/format.h"

namespace rdam::trace::testing {

using Bytes = std::vector<std::uint8_t>;

Bytes operator+(Bytes a, const Bytes& b);

/// LEB128 numbers one after another.
Bytes numbers(const std::vector<std::uint64_t>& values);

Bytes file_header(std::uint16_t major = format::kMajor, std::uint16_t minor = format::kMinor);

/// `header` with sizes and checksums filled in, payload (uncompressed) and padding.
Bytes chunk(format::ChunkHeader header, const Bytes& payload);

Bytes description(const TraceInfo& info);

/// An event chunk with columns to be spoiled. As made here it is good: enter and leave of function 0 with one
/// parameter and one result, and a pause.
struct EventChunk {
    format::ChunkHeader header;
    std::vector<Bytes> columns;

    EventChunk();
    Bytes& operator[](format::Column which) { return columns[static_cast<std::size_t>(which)]; }
    Bytes payload() const;
    Bytes bytes() const { return chunk(header, payload()); }
};

/// One function with a parameter and a result, one thread.
TraceInfo info_of_one_function();

using test::MemoryFile;

}  // namespace rdam::trace::testing
