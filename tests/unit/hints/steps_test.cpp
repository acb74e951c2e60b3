#include <array>
#include <random>

#include "analyzer/hints/activities.h"
#include "tests/unit/catch.h"

using namespace rdam::hints;

namespace {

constexpr std::size_t kTimesOfSteps = 64;
using Values = std::array<double, kTimesOfSteps>;

Interval some_time(std::mt19937& random) {
    const std::uint64_t begin = random() % kTimesOfSteps;
    return {begin, begin + random() % (kTimesOfSteps - begin)};
}

std::vector<Steps::Part> some_parts(std::mt19937& random) {
    std::vector<Steps::Part> parts;
    for (unsigned i = random() % 8; i > 0; --i)
        parts.push_back({some_time(random), static_cast<double>(random() % 9) - 4});
    return parts;
}

Values by_time(const std::vector<Steps::Part>& parts) {
    Values values{};
    for (const Steps::Part& part : parts)
        for (std::uint64_t t = part.time.begin; t < part.time.end; ++t)
            values[t] += part.value;
    return values;
}

double integral(const Steps& steps, const Interval& time) {
    return product(steps, Steps{united({time})});
}

bool is_a_set(const Intervals& intervals) {
    for (std::size_t i = 0; i < intervals.size(); ++i) {
        if (intervals[i].begin >= intervals[i].end) return false;
        if (i > 0 && intervals[i - 1].end >= intervals[i].begin) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("Sets of times are what they are time by time") {
    std::mt19937 random;
    for (int round = 0; round < 2000; ++round) {
        Intervals intervals;
        std::vector<Steps::Part> parts;
        for (unsigned i = random() % 8; i > 0; --i)
            parts.push_back({intervals.emplace_back(some_time(random)), 1});
        Values expected = by_time(parts);
        for (double& value : expected)
            value = value > 0 ? 1 : 0;
        const Intervals all = united(intervals);
        REQUIRE(is_a_set(all));
        parts.clear();
        for (const Interval& each : all)
            parts.push_back({each, 1});
        REQUIRE(by_time(parts) == expected);
        for (std::uint64_t t = 0; t < kTimesOfSteps; ++t)
            REQUIRE(integral(Steps{all}, {t, t + 1}) == Approx(expected[t]));
    }
}

TEST_CASE("Steps are what they are time by time, and so is their product") {
    std::mt19937 random;
    for (int round = 0; round < 2000; ++round) {
        const auto a = some_parts(random), b = some_parts(random);
        const Values of_a = by_time(a), of_b = by_time(b);
        const Interval time = some_time(random);
        double over_time = 0, expected = 0;
        for (std::uint64_t t = time.begin; t < time.end; ++t)
            over_time += of_a[t];
        for (std::size_t t = 0; t < kTimesOfSteps; ++t)
            expected += of_a[t] * of_b[t];
        REQUIRE(integral(Steps{a}, time) == Approx(over_time).margin(1e-9));
        REQUIRE(product(Steps{a}, Steps{b}) == Approx(expected).margin(1e-9));
        REQUIRE(product(Steps{b}, Steps{a}) == Approx(expected).margin(1e-9));
    }
}
