#include "microbench/interference/sweep.h"

#include <charconv>
#include <cmath>

#include "tools/base/units.h"

namespace rdam::microbench {
namespace {

constexpr unsigned kMin = 2;
constexpr unsigned kMax = 10000;

Result<unsigned> parse_count(std::string_view text) {
    unsigned count = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, count);
    if (error == std::errc{} && stopped == end && count >= kMin && count <= kMax) return count;
    return fail("'{}' is no number of points; write one from {} to {}", text, kMin, kMax);
}

std::vector<double> log_spaced(double low, double high, unsigned count) {
    std::vector<double> points;
    for (unsigned i = 0; i < count; ++i)
        points.push_back(low * std::pow(high / low, double(i) / double(count - 1)));
    points.back() = high;
    return points;
}

}  // namespace

Result<std::vector<double>> parse_delays(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) {
        return parse_time(text).map([](double delay) { return std::vector{delay}; });
    }
    const std::size_t slash = text.find('/', dots);
    if (slash == std::string_view::npos) {
        return fail("'{}' does not say how many points; write {}/10", text, text);
    }
    const Result<double> low = parse_time(text.substr(0, dots));
    if (!low) return tl::unexpected{low.error()};
    const Result<double> high = parse_time(text.substr(dots + 2, slash - dots - 2));
    if (!high) return tl::unexpected{high.error()};
    if (*low <= 0 || *low >= *high) {
        return fail("'{}' is no sweep; write LOW..HIGH/COUNT with 0 < LOW < HIGH", text);
    }
    return parse_count(text.substr(slash + 1)).map([&](unsigned count) {
        return log_spaced(*low, *high, count);
    });
}

}  // namespace rdam::microbench
