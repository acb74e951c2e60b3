// Numbers of one byte where they are small, else of a byte that says how many bytes follow, low ones first:
// written and read with one branch. Also used inside the profiled program: no libc.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rdam::tagged {

inline constexpr std::size_t kMaxBytes = 9;
/// Readable bytes that must follow what is read, writable ones where a number is written.
inline constexpr std::size_t kSlack = 16;
/// The largest number of one byte; beyond it the byte is this + how many follow, 1 to 8.
inline constexpr std::uint8_t kMaxSmall = 247;

/// Needs kSlack writable bytes at `out`; returns the place behind the number.
inline std::uint8_t* put(std::uint8_t* out, std::uint64_t value) {
    if (value <= kMaxSmall) {
        *out = static_cast<std::uint8_t>(value);
        return out + 1;
    }
    const auto bytes = static_cast<unsigned>(71 - std::countl_zero(value)) >> 3U;
    *out = static_cast<std::uint8_t>(kMaxSmall + bytes);
    __builtin_memcpy(out + 1, &value, sizeof value);
    return out + 1 + bytes;
}

struct Read {
    std::uint64_t value = 0;
    std::size_t length = 0;
};

/// Needs kSlack readable bytes at `in`.
inline Read get(const std::uint8_t* in) {
    if (*in <= kMaxSmall) return {*in, 1};
    const unsigned bytes = *in - unsigned{kMaxSmall};
    std::uint64_t value = 0;
    __builtin_memcpy(&value, in + 1, sizeof value);
    return {value & ~std::uint64_t{0} >> (64 - 8 * bytes), 1 + std::size_t{bytes}};
}

}  // namespace rdam::tagged
