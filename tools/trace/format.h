// The layout of a trace file: constants and fixed-size records. docs/trace-format.md is the specification;
// this file and that page change together. All numbers are little-endian.
#pragma once

#include <xxhash.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace rdam::trace::format {

static_assert(std::endian::native == std::endian::little, "records are copied as they lie in memory");

/// A reader stops at a higher major version. A higher minor version adds chunk types, columns, fields and
/// flags that older readers pass over.
inline constexpr std::uint16_t kMajor = 5;
inline constexpr std::uint16_t kMinor = 0;

using Magic = std::array<std::uint8_t, 8>;

/// Not text, and spoiled by whatever translates line ends or strips the eighth bit.
inline constexpr Magic kFileMagic = {0x89, 'R', 'D', 'A', 'M', '\r', '\n', 0x1a};
/// The digit is the version of the chunks' header: chunks can be recognized even if the file header is lost.
inline constexpr Magic kChunkMagic = {0xf5, 'r', 'd', 'a', 'm', 'C', 'k', '1'};
inline constexpr Magic kFooterMagic = {0xf5, 'r', 'd', 'a', 'm', 'E', 'n', '1'};

inline constexpr std::size_t kAlignment = 8;

/// Limits of the major version: they bound a reader's memory.
inline constexpr std::uint32_t kMaxRawSize = 16U << 20U;
inline constexpr std::uint32_t kMaxStoredSize = kMaxRawSize;
inline constexpr std::uint32_t kMaxEvents = 1U << 17U;
/// Bytes in the columns of words of an event chunk, each at most a word. Writers end a chunk before.
inline constexpr std::size_t kMaxWords = std::size_t{9} << 20U;
/// The maximum number of words of an event.
inline constexpr std::uint16_t kMaxEventWords = 255;

enum class ChunkType : std::uint8_t {
    events = 1,
    description = 2,
    index = 3,
    off_cpu = 4,
    packs = 5,
    windows = 6
};
enum class Codec : std::uint8_t { raw = 0, zstd = 1 };

inline bool holds_events(std::uint8_t type) {
    return type == static_cast<std::uint8_t>(ChunkType::events) ||
           type == static_cast<std::uint8_t>(ChunkType::packs);
}

/// Chunk flag: events of this thread were lost before this chunk; calls open there cannot be trusted.
inline constexpr std::uint16_t kGapBefore = 1;
/// Flag of a packed event chunk: an unwound leave in it is that of whichever call is the innermost open one.
inline constexpr std::uint16_t kInnermost = 2;
/// The thread switches its stack in the chunk.
inline constexpr std::uint16_t kSwitches = 4;

/// The thread index of chunks that belong to no thread. Chunks of type off_cpu have a tid instead.
inline constexpr std::uint32_t kNoThread = 0xffffffff;

struct FileHeader {
    Magic magic = kFileMagic;
    std::uint16_t major = kMajor;
    std::uint16_t minor = kMinor;
    std::uint32_t header_size = 64;
    std::uint64_t created_unix_ns = 0;
    std::array<std::uint64_t, 4> reserved{};
    std::uint64_t checksum = 0;
};
static_assert(sizeof(FileHeader) == 64 && std::is_trivially_copyable_v<FileHeader>);

struct ChunkHeader {
    Magic magic = kChunkMagic;
    std::uint8_t type = 0;
    std::uint8_t codec = 0;
    std::uint16_t flags = 0;
    std::uint32_t thread = kNoThread;
    std::uint32_t sequence = 0;
    std::uint32_t events = 0;
    std::uint64_t first_tsc = 0;
    std::uint64_t last_tsc = 0;
    std::uint32_t raw_size = 0;
    std::uint32_t stored_size = 0;
    std::uint64_t payload_checksum = 0;
    std::uint64_t checksum = 0;

    bool is(ChunkType wanted) const { return type == static_cast<std::uint8_t>(wanted); }
};
static_assert(sizeof(ChunkHeader) == 64 && std::is_trivially_copyable_v<ChunkHeader>);

struct IndexEntry {
    std::uint64_t offset = 0;
    std::uint32_t thread = kNoThread;
    std::uint32_t sequence = 0;
    std::uint32_t events = 0;
    std::uint32_t stored_size = 0;
    std::uint16_t flags = 0;
    std::uint8_t type = 0;
    std::array<std::uint8_t, 5> reserved{};
};
static_assert(sizeof(IndexEntry) == 32 && std::is_trivially_copyable_v<IndexEntry>);

struct Footer {
    Magic magic = kFooterMagic;
    std::uint64_t index_offset = 0;
    std::uint64_t file_size = 0;
    std::uint64_t checksum = 0;
};
static_assert(sizeof(Footer) == 32 && std::is_trivially_copyable_v<Footer>);

inline std::uint64_t hash(const void* data, std::size_t size) {
    return XXH64(data, size, 0);
}

/// Every record ends with the hash of the bytes before it.
template <class Record>
std::uint64_t record_checksum(const Record& record) {
    return hash(&record, sizeof(Record) - sizeof(record.checksum));
}
template <class Record>
void seal(Record& record) {
    record.checksum = record_checksum(record);
}
template <class Record>
bool is_sound(const Record& record) {
    return record.magic == Record{}.magic && record.checksum == record_checksum(record);
}

/// `bytes` must hold a whole record; no alignment needed.
template <class Record>
Record load(const std::uint8_t* bytes) {
    Record record;
    std::memcpy(&record, bytes, sizeof(Record));
    return record;
}

inline std::uint64_t padded(std::uint64_t size) {
    return (size + kAlignment - 1) / kAlignment * kAlignment;
}

/// Bytes of the file that a chunk takes.
inline std::uint64_t extent(std::uint32_t stored_size) {
    return sizeof(ChunkHeader) + padded(stored_size);
}

/// The columns of an event chunk, in their order in the payload.
enum class Column : std::size_t {
    functions,
    what,
    enter_times,
    leave_times,
    processors,
    caller_addresses,
    callers,
    words,
    pauses,
    stacks,
    sampling,      ///< since version 1.1
    instructions,  ///< since version 1.3
    count
};
inline constexpr std::size_t kColumns = static_cast<std::size_t>(Column::count);
inline constexpr std::size_t kFirstColumns = 10;  ///< those of version 1.0
/// In the column of pauses, in the place of a reason: it is no pause, but a switch of the stack.
inline constexpr std::uint64_t kStackSwitch = 255;

/// The columns of an off-CPU chunk (since version 1.2).
enum class OffCpuColumn : std::size_t {
    gaps,
    lengths,
    processors,
    recorder,  ///< since version 2.0
    program,   ///< since version 4.0
    count
};
inline constexpr std::size_t kOffCpuColumns = static_cast<std::size_t>(OffCpuColumn::count);
inline constexpr std::size_t kFirstOffCpuColumns = 3;  ///< those of version 1.2

/// The columns of a windows chunk (since version 2.0).
enum class WindowsColumn : std::size_t {
    gaps,
    lengths,
    groups,  ///< since version 5.0
    count
};
inline constexpr std::size_t kWindowsColumns = static_cast<std::size_t>(WindowsColumn::count);
inline constexpr std::size_t kFirstWindowsColumns = 2;  ///< those of version 2.0

/// The payload begins with the number of columns and the size of each, as 32-bit numbers.
inline constexpr std::size_t column_table(std::size_t columns) {
    return sizeof(std::uint32_t) * (columns + 1);
}

/// `what` = 0 for a pause, else 1 + 4 × (local function number) + one of these.
enum class What : std::uint8_t { enter, tail_enter, leave, unwound_leave };

}  // namespace rdam::trace::format
