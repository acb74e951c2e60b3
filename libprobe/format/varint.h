// LEB128 numbers, written and read without a branch on their length: timestamp differences jitter around the
// limits of one and two bytes, and a mispredicted branch costs more than all the rest of an event. Also used
// inside the profiled program: no libc.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace rdam::varint {

inline constexpr std::size_t kMaxBytes = 10;
/// Readable bytes that must follow what is read, writable ones where a number is written.
inline constexpr std::size_t kSlack = 16;

/// Small numbers for small differences of either sign; exact modulo 2^64.
inline std::uint64_t zigzag(std::uint64_t difference) {
    return (difference << 1U) ^ (0 - (difference >> 63U));
}
inline std::uint64_t unzigzag(std::uint64_t code) {
    return (code >> 1U) ^ (0 - (code & 1U));
}

inline std::uint8_t* put_long(std::uint8_t* out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U)
        *out++ = static_cast<std::uint8_t>(value | 0x80U);
    *out++ = static_cast<std::uint8_t>(value);
    return out;
}

/// Needs kSlack writable bytes at `out`; returns the place behind the number.
inline std::uint8_t* put(std::uint8_t* out, std::uint64_t value) {
    if (value >> 56U != 0) [[unlikely]]
        return put_long(out, value);
    const auto bits = static_cast<unsigned>(64 - std::countl_zero(value | 1U));
    const unsigned length = (bits * 9 + 64) >> 6U;  // bits / 7 rounded up, for 1 to 56
    std::uint64_t x = value;
    x = (x & 0x000000000fffffffU) | ((x & 0x00fffffff0000000U) << 4U);
    x = (x & 0x00003fff00003fffU) | ((x & 0x0fffc0000fffc000U) << 2U);
    x = (x & 0x007f007f007f007fU) | ((x & 0x3f803f803f803f80U) << 1U);
    x |= 0x8080808080808080U & ((std::uint64_t{1} << (8 * (length - 1))) - 1);
    __builtin_memcpy(out, &x, sizeof x);
    return out + length;
}

inline std::uint8_t* put_small(std::uint8_t* out, std::uint64_t value) {
    if (value >= 0x80) return put(out, value);
    *out = static_cast<std::uint8_t>(value);
    return out + 1;
}

struct Read {
    std::uint64_t value = 0;
    std::size_t length = 0;  ///< 0: more than 64 bits
};

inline Read get_long(const std::uint8_t* in) {
    Read read;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        const std::uint64_t byte = in[read.length++];
        if (shift == 63 && byte > 1) return {};
        read.value |= (byte & 0x7fU) << shift;
        if (byte < 0x80) break;
    }
    return read;
}

inline Read get_wide(const std::uint8_t* in) {
    std::uint64_t x = 0;
    __builtin_memcpy(&x, in, sizeof x);
    const std::uint64_t stop = ~x & 0x8080808080808080U;
    if (stop == 0) [[unlikely]]
        return get_long(in);
    x &= (stop ^ (stop - 1)) & 0x7f7f7f7f7f7f7f7fU;
    x = (x & 0x007f007f007f007fU) | ((x & 0x7f007f007f007f00U) >> 1U);
    x = (x & 0x00003fff00003fffU) | ((x & 0x3fff00003fff0000U) >> 2U);
    x = (x & 0x000000000fffffffU) | ((x & 0x0fffffff00000000U) >> 4U);
    return {x, static_cast<std::size_t>(std::countr_zero(stop)) / 8 + 1};
}

/// Needs kSlack readable bytes at `in`.
inline Read get(const std::uint8_t* in) {
    std::uint32_t x = 0;
    __builtin_memcpy(&x, in, sizeof x);
    const std::uint32_t stop = ~x & 0x80808080U;
    if (stop == 0) [[unlikely]]
        return get_wide(in);
    x &= (stop ^ (stop - 1)) & 0x7f7f7f7fU;
    x = (x & 0x007f007fU) | ((x & 0x7f007f00U) >> 1U);
    x = (x & 0x00003fffU) | ((x & 0x3fff0000U) >> 2U);
    return {x, static_cast<std::size_t>(std::countr_zero(stop)) / 8 + 1};
}

inline Read get_small(const std::uint8_t* in) {
    if (*in >= 0x80) return get(in);
    return {*in, 1};
}

}  // namespace rdam::varint

// Numbers of one byte where they are small, else of a byte that says how many bytes follow, low ones first:
// written and read with one branch. Also used inside the profiled program: no libc.

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
