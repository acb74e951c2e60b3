// Reads unwind tables as an unwinder does, and shares nothing with what is tested.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace rdam::test {

/// The bytes from an address on, as far as they go; empty: there are none.
using Memory = std::function<std::span<const std::uint8_t>(std::uint64_t address)>;

struct Described {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string personality;          ///< where it is, and whether that is where its address is; empty: none
    std::uint64_t landing_table = 0;  ///< 0: none
};

/// The descriptions in the bytes of an .eh_frame that is at `address`.
std::vector<Described> read_descriptions(std::span<const std::uint8_t> section, std::uint64_t address);

/// What a personality routine finds at `place` in the landing table of a function that begins at `begin`, in
/// words: each call site that covers it, its landing pad, the chain of its actions, and their types'
/// addresses.
std::string landings(const Memory& memory, std::uint64_t table, std::uint64_t begin, std::uint64_t place);

}  // namespace rdam::test
