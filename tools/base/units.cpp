#include "tools/base/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <iterator>

namespace rdam {

namespace {

bool needs_quotes(const std::string& word) {
    return word.empty() || word.find_first_of(" \t\n'\"\\$`*?[](){}<>|&;#~!") != std::string::npos;
}

}  // namespace

std::string command_text(const std::vector<std::string>& command) {
    std::string text;
    for (const std::string& word : command) {
        if (!text.empty()) text += ' ';
        if (!needs_quotes(word)) {
            text += word;
            continue;
        }
        text += '\'';
        for (const char c : word)
            text += c == '\'' ? std::string{"'\\''"} : std::string{c};
        text += '\'';
    }
    return text;
}

Result<double> parse_time(std::string_view text) {
    struct Unit {
        std::string_view name;
        double nanoseconds;
    };
    constexpr Unit kUnits[] = {{"", 1e9},   {"s", 1e9},    {"ms", 1e6}, {"us", 1e3},
                               {"µs", 1e3}, {"min", 6e10}, {"ns", 1}};
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [unit_begin, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
    if (error == std::errc{} && std::isfinite(value) && !std::signbit(value)) {
        const std::string_view given{unit_begin, static_cast<std::size_t>(end - unit_begin)};
        for (const Unit& unit : kUnits) {
            if (given == unit.name) return value * unit.nanoseconds;
        }
    }
    return fail("'{}' is not a time; write 1.5s, 200ms, 30us, 2min, or plain seconds", text);
}

}  // namespace rdam

namespace rdam::output {
namespace {

std::string decimals(double value, int digits) {
    return fmt::format("{:.{}f}", rounded(value, digits), digits);
}

std::string three_digits(double value) {
    return decimals(value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

}  // namespace

double rounded(double value, int digits) {
    constexpr double kScales[] = {1, 10, 100, 1000};
    const double scale = kScales[digits];
    return std::round(value * scale) / scale;
}

double rounded_nanoseconds(double value) {
    return rounded(value, 3);
}

std::string human_time(double nanoseconds) {
    if (!std::isfinite(nanoseconds) || nanoseconds < 0) return "?";
    nanoseconds = rounded_nanoseconds(nanoseconds);
    if (nanoseconds == 0) return "0 ns";
    constexpr const char* kUnits[] = {"ns", "µs", "ms", "s"};
    std::size_t unit = 0;
    while (nanoseconds >= 999.5 && unit + 1 < std::size(kUnits)) {
        nanoseconds /= 1000;
        ++unit;
    }
    return fmt::format("{} {}", three_digits(nanoseconds), kUnits[unit]);
}

std::string human_count(double count) {
    if (!std::isfinite(count) || count < 0) return "?";
    constexpr const char* kUnits[] = {"", " k", " M", " G"};
    if (count < 999.5) return fmt::format("{:.0f}", count);
    std::size_t unit = 0;
    while (count >= 999.5 && unit + 1 < std::size(kUnits)) {
        count /= 1000;
        ++unit;
    }
    return three_digits(count) + kUnits[unit];
}

std::string percent(double share) {
    if (!std::isfinite(share)) return "?";
    const double value = share * 100;
    if (value != 0 && std::abs(value) < 0.095) return fmt::format("{:.2f} %", value);
    if (std::abs(value) < 9.95) return fmt::format("{:.1f} %", value);
    return fmt::format("{:.0f} %", value);
}

std::string score_text(double score) {
    return decimals(score, 3);
}

std::string interval_text(double low, double high) {
    return decimals(low, 3) + "–" + decimals(high, 3);
}

}  // namespace rdam::output
