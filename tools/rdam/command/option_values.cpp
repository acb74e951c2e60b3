#include "tools/rdam/command/option_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace rdam {

namespace {

template <class Number>
CLI::Validator within(Number least, Number most, const char* kind) {
    return {[least, most, kind](std::string& text) {
                Number value = 0;
                const char* const end = text.data() + text.size();
                const auto [read_to, error] = std::from_chars(text.data(), end, value);
                const bool is_number = error == std::errc{} && read_to == end && !text.empty();
                // Neither holds of what is no number at all (nan).
                if (is_number && value >= least && value <= most) return std::string{};
                return fmt::format("'{}' is not a {} from {} to {}", text, kind, least, most);
            },
            "N"};
}

}  // namespace

CLI::Validator whole_number(int least, int most) {
    return within(least, most, "whole number");
}

CLI::Validator number(double least, double most) {
    return within(least, most, "number");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
    return {[words](std::string& text) {
                if (std::ranges::find(words, text) != words.end()) return std::string{};
                return fmt::format("'{}' is not one of {}", text, fmt::join(words, ", "));
            },
            fmt::format("TEXT:{{{}}}", fmt::join(words, ","))};
}

}  // namespace rdam
