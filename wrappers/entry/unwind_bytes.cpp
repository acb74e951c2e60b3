#include "wrappers/entry/unwind_bytes.h"

namespace rdam::unwinding {

std::uint8_t Cursor::byte() {
    if (at_ == end_) {
        bad_ = true;
        return 0;
    }
    return *at_++;
}

std::uint64_t Cursor::fixed(unsigned size) {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i)
        value |= std::uint64_t{byte()} << (8 * i);
    return value;
}

std::uint64_t Cursor::uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const std::uint8_t part = byte();
        value |= std::uint64_t{part & 0x7fU} << shift;
        if ((part & 0x80U) == 0) return value;
    }
    bad_ = true;
    return 0;
}

std::int64_t Cursor::sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
        const std::uint8_t part = byte();
        value |= std::uint64_t{part & 0x7fU} << shift;
        shift += 7;
        if ((part & 0x80U) != 0) continue;
        if ((part & 0x40U) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
        return static_cast<std::int64_t>(value);
    }
    bad_ = true;
    return 0;
}

void Cursor::skip(std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(end_ - at_)) {
        bad_ = true;
        at_ = end_;
    } else {
        at_ += size;
    }
}

void put_fixed(Bytes& out, std::uint64_t value, unsigned size) {
    for (unsigned i = 0; i < size; ++i)
        out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void put_uleb(Bytes& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out.push_back(static_cast<std::uint8_t>(value | 0x80U));
    out.push_back(static_cast<std::uint8_t>(value));
}

void put_sleb(Bytes& out, std::int64_t value) {
    for (; value < -64 || value >= 64; value >>= 7)
        out.push_back(static_cast<std::uint8_t>((value & 0x7f) | 0x80));
    out.push_back(static_cast<std::uint8_t>(value & 0x7f));
}

void put_padded_uleb(Bytes& out, std::uint64_t value, unsigned size) {
    for (unsigned i = 1; i < size; ++i, value >>= 7)
        out.push_back(static_cast<std::uint8_t>(value | 0x80U));
    out.push_back(static_cast<std::uint8_t>(value));
}

void put_bytes(Bytes& out, std::span<const std::uint8_t> bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace rdam::unwinding
