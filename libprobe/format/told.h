// Values that one side of the shared memory publishes for the other so that overwriting is detected: the
// profiled program can write to that memory, and may be broken. No protection against deliberate
// manipulation. Also used inside the profiled program: no libc.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace rdam::shm {

/// A word that differs when the bytes differ in one word of 8, and almost certainly when they differ in more.
/// `size` is a multiple of 8. `seed` says what the bytes are for. The bytes are read once each.
inline std::uint64_t check_of(const void* data, std::size_t size, std::uint64_t seed) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    constexpr std::size_t kLanes = 4;  // independent of one another, for the multiplications' sake
    constexpr int kTurn = 29;
    const auto* bytes = static_cast<const unsigned char*>(data);
    std::uint64_t lanes[kLanes] = {seed ^ size, ~seed, seed + kSpread, kSpread};
    const auto mix = [&](std::uint64_t& lane, std::size_t at) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, bytes + at, sizeof word);
        lane = std::rotl(lane ^ word, kTurn) * kSpread;
    };
    std::size_t at = 0;
    for (; at + kLanes * sizeof lanes[0] <= size; at += kLanes * sizeof lanes[0]) {
        mix(lanes[0], at);
        mix(lanes[1], at + 8);
        mix(lanes[2], at + 16);
        mix(lanes[3], at + 24);
    }
    for (std::size_t lane = 0; at + sizeof lanes[0] <= size; at += sizeof lanes[0], ++lane)
        mix(lanes[lane], at);
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes)
        all = std::rotl(all ^ lane, kTurn) * kSpread;
    return all;
}

/// A number below 2^32, stored twice in one word. Zeroed memory means 0.
class Told {
  public:
    void tell(std::uint32_t value, std::memory_order order = std::memory_order_release) {
        word_.store(twice(value), order);
    }
    /// One more, or one less; the old value.
    std::uint32_t count_up() { return static_cast<std::uint32_t>(word_.fetch_add(twice(1))); }
    void count_down() { word_.fetch_sub(twice(1)); }

    struct Heard {
        std::uint32_t value = 0;
        bool whole = false;       ///< it was not overwritten
        std::uint32_t other = 0;  ///< if not whole: the value is most likely one of the two
    };
    Heard hear() const {
        const std::uint64_t word = word_.load(std::memory_order_acquire);
        const auto value = static_cast<std::uint32_t>(word);
        const auto other = static_cast<std::uint32_t>(word >> 32U);
        return {value, value == other, other};
    }

  private:
    static constexpr std::uint64_t twice(std::uint32_t value) { return value | std::uint64_t{value} << 32U; }

    std::atomic<std::uint64_t> word_;
};

/// A count that many threads add to, stored twice. Zeroed memory means 0.
class ToldCount {
  public:
    void add(std::uint64_t more) {
        value_.fetch_add(more);
        again_.fetch_add(more);
    }
    void tell(std::uint64_t value) {
        value_.store(value);
        again_.store(value);
    }
    struct Heard {
        std::uint64_t value = 0;
        bool whole = false;
    };
    /// While the value is being written, the two differ for a moment, hence the tries.
    Heard hear() const {
        constexpr int kTries = 100;
        for (int i = 0; i < kTries; ++i)
            if (const std::uint64_t again = again_.load(); again == value_.load()) return {again, true};
        return {};
    }

  private:
    std::atomic<std::uint64_t> value_;
    std::atomic<std::uint64_t> again_;
};

}  // namespace rdam::shm
