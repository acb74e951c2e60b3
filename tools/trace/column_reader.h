// One column of an event chunk, read number by number.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "libprobe/format/varint.h"
#include "tools/trace/format.h"

namespace rdam::trace {

/// Reading past the end gives zeros and is seen afterwards: the slack behind the payload bounds a number that
/// runs over, so that the hot loop need not ask after each.
class ColumnReader {
  public:
    ColumnReader() = default;
    explicit ColumnReader(std::span<const std::uint8_t> bytes)
        : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    std::uint64_t next() { return take(varint::get); }
    std::uint64_t next_small() { return take(varint::get_small); }
    std::uint64_t next_tagged() { return take(tagged::get); }

    std::size_t left() const { return at_ < end_ ? static_cast<std::size_t>(end_ - at_) : 0; }
    /// Ended exactly where the last number did.
    bool done() const { return at_ == end_ && !overrun_; }
    bool broken() const { return at_ > end_ || overrun_; }

  private:
    template <class Get>
    std::uint64_t take(const Get& get) {
        if (at_ >= end_) [[unlikely]]
            return overrun();
        const auto read = get(at_);
        if (read.length == 0) [[unlikely]]
            return overrun();
        at_ += read.length;
        return read.value;
    }

    std::uint64_t overrun() {
        overrun_ = true;
        at_ = end_;
        return 0;
    }

    const std::uint8_t* at_ = nullptr;
    const std::uint8_t* end_ = nullptr;
    bool overrun_ = false;
};

/// Cuts a payload into its columns. Columns behind those we know belong to a newer minor version; of the
/// known ones `least` must be there. False: the payload is broken.
inline bool open_columns(std::span<const std::uint8_t> payload, std::span<ColumnReader> known,
                         std::size_t least) {
    const auto number_at = [&](std::size_t place) {
        std::uint32_t number = 0;
        std::memcpy(&number, payload.data() + place * sizeof number, sizeof number);
        return number;
    };
    if (payload.size() < format::column_table(least)) return false;
    const std::size_t columns = number_at(0);
    std::size_t at = format::column_table(columns);
    if (columns < least || at > payload.size()) return false;
    for (std::size_t i = 0; i < columns; ++i) {
        const std::uint32_t size = number_at(i + 1);
        if (size > payload.size() - at) return false;
        if (i < known.size()) known[i] = ColumnReader(payload.subspan(at, size));
        at += size;
    }
    return at == payload.size();
}

// Columns of plain varints, as in the chunks of intervals (off-CPU chunks, windows chunks).

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
