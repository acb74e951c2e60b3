// Numbers and nouns behind them, and lists of names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// The first few: `a, b, c, d, e and 1,234 more`.
inline std::string some_names(const std::vector<std::string>& names, std::size_t shown = 5) {
    std::string text;
    for (std::size_t i = 0; i < std::min(shown, names.size()); ++i)
        text.append(i == 0 ? "" : ", ").append(names[i]);
    if (names.size() > shown) text.append(" and ").append(grouped(names.size() - shown)).append(" more");
    return text;
}

}  // namespace rdam
