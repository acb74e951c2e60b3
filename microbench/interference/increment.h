// What threads do with data that they share, or nearly share.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>

namespace rdam::microbench {

inline constexpr std::uint64_t kUpdates = 512;
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

/// One increment takes less than the steps in which some clocks advance: a call makes several.
inline void add_updates(CLI::App& app, std::uint64_t& updates) {
    app.add_option("--updates", updates, "Increments in one call")
        ->check(CLI::Range(1, 1 << 30))
        ->type_name("N")
        ->capture_default_str();
}

}  // namespace rdam::microbench
