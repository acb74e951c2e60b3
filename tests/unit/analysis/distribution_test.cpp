#include "analyzer/score/distribution.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

namespace rdam::score {
namespace {

std::uint64_t nearest_rank(std::vector<std::uint64_t> values, double fraction) {
    std::ranges::sort(values);
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size())));
    return values[std::max<std::size_t>(rank, 1) - 1];
}

Distribution of(const std::vector<std::uint64_t>& values) {
    Distribution distribution;
    for (const std::uint64_t value : values)
        distribution.add(value);
    return distribution;
}

std::vector<std::uint64_t> random_values(std::mt19937_64& random, std::size_t count) {
    std::lognormal_distribution<double> durations{8, 3};
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < count; ++i)
        values.push_back(static_cast<std::uint64_t>(durations(random)));
    return values;
}

void check_against(const Distribution& found, const std::vector<std::uint64_t>& values) {
    std::uint64_t sum = 0;
    for (const std::uint64_t value : values)
        sum += value;
    CHECK(found.count() == values.size());
    CHECK(found.sum() == sum);
    CHECK(found.min() == *std::ranges::min_element(values));
    CHECK(found.max() == *std::ranges::max_element(values));
    CHECK(found.lost() == sum - values.size() * found.min());
    for (const double fraction : {0.0, 0.01, 0.5, 0.9, 0.99, 1.0}) {
        const auto exact = static_cast<double>(nearest_rank(values, fraction));
        CHECK(std::abs(static_cast<double>(found.percentile(fraction)) - exact) <= 0.008 * exact);
    }
}

}  // namespace

TEST_CASE("an empty distribution has nothing to say", "[distribution]") {
    const Distribution none;
    CHECK(none.count() == 0);
    CHECK(none.min() == 0);
    CHECK(none.lost() == 0);
    CHECK(none.percentile(0.5) == 0);
}

TEST_CASE("few values are kept exactly", "[distribution]") {
    const Distribution few = of({1000003, 7, 1000001, 1000002});
    CHECK(few.percentile(0.5) == 1000001);
    CHECK(few.percentile(0.75) == 1000002);
    CHECK(few.percentile(1.0) == 1000003);
}

TEST_CASE("percentiles of many values are within 0.8 %, all else is exact", "[distribution]") {
    std::mt19937_64 random{1};
    for (const std::size_t count : {1U, 2U, 31U, 32U, 33U, 34U, 100U, 5000U}) {
        for (int i = 0; i < 20; ++i) {
            const auto values = random_values(random, count);
            check_against(of(values), values);
        }
    }
}

TEST_CASE("merged distributions are as if filled at once", "[distribution]") {
    std::mt19937_64 random{2};
    for (const std::size_t first : {0U, 5U, 32U, 33U, 400U}) {
        for (const std::size_t second : {0U, 1U, 30U, 32U, 40U, 500U}) {
            auto values = random_values(random, first);
            const auto more = random_values(random, second);
            Distribution merged = of(values);
            merged.merge(of(more));
            values.insert(values.end(), more.begin(), more.end());
            if (!values.empty()) check_against(merged, values);
        }
    }
}

TEST_CASE("every value lies in a bucket whose middle is near it", "[distribution]") {
    std::mt19937_64 random{3};
    for (int i = 0; i < 100000; ++i) {
        const std::uint64_t value = random() >> (random() % 64);
        const std::uint64_t middle = Distribution::middle_of(Distribution::bucket_of(value));
        CHECK(Distribution::bucket_of(middle) == Distribution::bucket_of(value));
        const double off = std::abs(static_cast<double>(middle) - static_cast<double>(value));
        CHECK(off <= 0.008 * static_cast<double>(value));
    }
    CHECK(Distribution::middle_of(Distribution::bucket_of(63)) == 63);
    CHECK(Distribution::bucket_of(UINT64_MAX) < 4096);
}

TEST_CASE("sums that would overflow stay at the largest number", "[distribution]") {
    const Distribution huge = of({UINT64_MAX, UINT64_MAX, UINT64_MAX - 5});
    CHECK(huge.sum() == UINT64_MAX);
    CHECK(huge.lost() == 0);
}

}  // namespace rdam::score
