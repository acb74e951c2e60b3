// Columns of plain varints, as in the chunks of intervals (off-CPU chunks, windows chunks).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "libprobe/format/varint.h"

namespace rdam::trace {

using PlainColumn = std::vector<std::uint8_t>;

inline void put_number(PlainColumn& column, std::uint64_t number) {
    std::array<std::uint8_t, varint::kSlack> room{};
    column.insert(column.end(), room.data(), varint::put_long(room.data(), number));
}

/// A size, as the head of every payload of columns has them.
inline void put_u32(std::vector<std::uint8_t>& out, std::size_t value) {
    const auto narrow = static_cast<std::uint32_t>(value);
    const std::size_t at = out.size();
    out.resize(at + sizeof narrow);
    std::memcpy(out.data() + at, &narrow, sizeof narrow);
}

/// The payload of a chunk that is made of these columns.
inline std::vector<std::uint8_t> join_columns(std::span<const PlainColumn> columns) {
    std::vector<std::uint8_t> out;
    put_u32(out, columns.size());
    for (const PlainColumn& column : columns)
        put_u32(out, column.size());
    for (const PlainColumn& column : columns)
        out.insert(out.end(), column.begin(), column.end());
    return out;
}

/// a + b; false: that is no timestamp any more.
inline bool advance(std::uint64_t& a, std::uint64_t b) {
    return !__builtin_add_overflow(a, b, &a);
}

}  // namespace rdam::trace
