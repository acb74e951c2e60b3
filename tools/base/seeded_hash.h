// A hash whose collisions nobody can choose: for tables of what strangers' files say.
#pragma once

#include <sys/auxv.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace rdam {

/// Other values in each process. Two numbers in one multiplication, folded (W. Yi, wyhash, 2019).
inline std::uint64_t seeded_hash(std::uint64_t a, std::uint64_t b = 0) {
    // 16 random bytes that the kernel gives every process.
    static const std::array<std::uint64_t, 2> kSeed = [] {
        std::array<std::uint64_t, 2> seed{0x9e3779b97f4a7c15, 0xff51afd7ed558ccd};
        if (const auto* random = reinterpret_cast<const void*>(getauxval(AT_RANDOM)); random != nullptr)
            std::memcpy(seed.data(), random, sizeof seed);
        return seed;
    }();
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a ^ kSeed[0]) * (b ^ kSeed[1] ^ 0x9e3779b97f4a7c15);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

struct SeededHash {
    std::size_t operator()(std::uint64_t value) const { return seeded_hash(value); }
};

}  // namespace rdam
