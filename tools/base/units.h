// Numbers, times, lists of names and command lines, as people read and write them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

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

/// The command line as one could type it.
std::string command_text(const std::vector<std::string>& command);

/// Nanoseconds of `1.5s`, `200ms`, `30us`, `30µs`, `5ns`, `2min`, or of plain seconds. Errors: anything else,
/// a negative time included.
Result<double> parse_time(std::string_view text);

}  // namespace rdam

namespace rdam::output {

/// With so many digits (at most 3) behind the point, a half away from zero. The page of `rdam report` says
/// the same figures by scripts and without them: its fixed() takes the same steps. (fmt rounds a half to
/// even, toFixed up.)
double rounded(double value, int digits);

/// The figure that all outputs start from. A thousandth of a nanosecond is far below what a clock can tell;
/// more digits only hide the number.
double rounded_nanoseconds(double value);

/// Three significant digits and a unit: `41.3 ns`, `1.20 µs`, `12.3 ms`, `312 s`. Not finite or negative:
/// `?`.
std::string human_time(double nanoseconds);

using rdam::grouped;

/// `999`, `12.3 k`, `1.23 M`, `45.6 G`.
std::string human_count(double count);

/// `1.3 %`, `0.05 %`, `12 %`.
std::string percent(double share);

/// `0.743`.
std::string score_text(double score);

/// Precedes a score whose minimum is an outlier.
inline constexpr const char* kAloneMark = "!";
/// In front of a lower bound.
inline constexpr const char* kBoundMark = "≥";
/// In front of a score that constant work would have as well.
inline constexpr const char* kFloorMark = "°";
/// `0.715–0.762`.
std::string interval_text(double low, double high);

using rdam::command_text;
using rdam::counted;

}  // namespace rdam::output
