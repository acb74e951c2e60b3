// Nouns behind numbers.
#pragma once

#include <cstdint>
#include <string_view>

namespace rdam {

/// The ending of a regular noun: "" or "s".
constexpr std::string_view plural_ending(std::uint64_t count) {
    return count == 1 ? "" : "s";
}

}  // namespace rdam
