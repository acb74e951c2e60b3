// What threads do with data that they share, or nearly share.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>

namespace rdam::microbench {

inline constexpr std::size_t kWordsOfAThread = 2;

/// Reads, modifies and writes. A store alone would not do: it waits for the cache line in the store buffer,
/// after the call has returned. Two words in turn, because some processors keep one that is incremented again
/// and again in a register.
inline void increment(volatile std::uint64_t* words, std::uint64_t updates) {
    for (std::uint64_t i = 0; i < updates; ++i) {
        volatile std::uint64_t& word = words[i % kWordsOfAThread];
        word = word + 1;
    }
}

/// The same, with three multiplications for each that take longer than it does, and wait for what it has
/// read: how long an increment takes alone varies by a tenth, for the processor guesses whether it may read
/// what it has just written.
inline void increment_at_pace(volatile std::uint64_t* words, std::uint64_t updates) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
    std::uint64_t pace = updates | 1;
    for (std::uint64_t i = 0; i < updates; ++i) {
        for (int step = 0; step < 3; ++step) {
            pace *= kOdd;
            asm volatile("" : "+r"(pace));
        }
        volatile std::uint64_t& word = words[i % kWordsOfAThread];
        const std::uint64_t before = word;
        word = before + 1;
        pace += before;
    }
}

/// Only writes, to the same words.
inline void store(volatile std::uint64_t* words, std::uint64_t updates) {
    for (std::uint64_t i = 0; i < updates; ++i)
        words[i % kWordsOfAThread] = i;
}

/// What a call does so often.
using Update = void (*)(volatile std::uint64_t* words, std::uint64_t updates);

/// How many updates one call makes: a number, or what this processor does in a time when nobody
/// interferes. One alone takes less than the steps in which some clocks advance.
struct Work {
    std::uint64_t updates = 512;
    std::optional<double> nanoseconds;  ///< instead

    /// At least 1. With a time it calibrates (some milliseconds): ask before threads start.
    [[nodiscard]] std::uint64_t count(Update update = increment) const;
};

/// The options `--updates` and `--work`.
void add_work(CLI::App& app, Work& work);

}  // namespace rdam::microbench
