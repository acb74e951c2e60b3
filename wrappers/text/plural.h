// Numbers, and nouns behind them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rdam {

/// The ending of a regular noun: "" or "s".
constexpr std::string_view plural_ending(std::uint64_t count) {
    return count == 1 ? "" : "s";
}

/// `999`, `12,345`, `1,234,567`.
inline std::string grouped(std::uint64_t count) {
    std::string digits = std::to_string(count);
    for (std::size_t i = digits.size(); i > 3;)
        digits.insert(i -= 3, 1, ',');
    return digits;
}

/// `1 thread`, `2,000 threads`.
inline std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
    return grouped(count).append(" ").append(count == 1 ? one : many);
}

}  // namespace rdam
