#include "analyzer/statistics/distribution.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <random>

#include "tests/unit/catch.h"
#include "tools/base/byte_archive.h"

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

using Weighted = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // value and times

/// Bucket by bucket.
void check_histogram(const Distribution& found, const Weighted& values) {
    std::uint64_t count = 0, sum = 0, min = UINT64_MAX, max = 0;
    std::map<std::size_t, std::uint64_t> buckets;
    for (const auto& [value, times] : values) {
        count += times;
        sum += value * times;
        min = std::min(min, value);
        max = std::max(max, value);
        buckets[Distribution::bucket_of(value)] += times;
    }
    REQUIRE(found.count() == count);
    CHECK(found.sum() == sum);
    const double mean = static_cast<double>(sum) / static_cast<double>(count);
    double squares = 0;
    std::uint64_t seen = 0;
    for (const auto& [bucket, times] : buckets) {
        const std::uint64_t middle = std::clamp(Distribution::middle_of(bucket), min, max);
        CHECK(found.count_below(middle) == seen);
        seen += times;
        CHECK(found.percentile((static_cast<double>(seen) - 0.5) / static_cast<double>(count)) == middle);
        squares += (static_cast<double>(middle) - mean) * (static_cast<double>(middle) - mean) *
                   static_cast<double>(times);
    }
    CHECK(found.variance() == squares / static_cast<double>(count));
}

/// Values of up to 2^bits.
Weighted weighted_values(std::mt19937_64& random, std::size_t count, unsigned bits, std::uint64_t times) {
    Weighted values;
    for (std::size_t i = 0; i < count; ++i)
        values.emplace_back(random() >> (64 - bits + random() % 4), 1 + random() % times);
    return values;
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

TEST_CASE("a histogram is the same however it is kept", "[distribution]") {
    std::mt19937_64 random{4};
    for (const std::size_t count : {33U, 64U, 65U, 300U, 5000U}) {
        for (const unsigned bits : {8U, 20U, 40U}) {
            for (const std::uint64_t times : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{1} << 10}) {
                CAPTURE(count, bits, times);
                Weighted values = weighted_values(random, count, bits, times);
                Distribution all, first, second;
                for (const auto& [value, n] : values) {
                    all.add(value, n);
                    (random() % 2 == 0 ? first : second).add(value, n);
                }
                check_histogram(all, values);
                all.seal();
                check_histogram(all, values);
                first.merge(second);
                check_histogram(first, values);
                // What is sealed can be added to.
                values.emplace_back(1, 1);
                all.add(1);
                check_histogram(all, values);
                check_histogram(Distribution{all}, values);
            }
        }
    }
}

TEST_CASE("more values of a bucket than 32 bits can count are counted", "[distribution]") {
    Distribution many;
    for (int i = 0; i < 3; ++i)
        many.add(100, UINT32_MAX);
    many.add(200);
    many.add(1);
    CHECK(many.count_below(200) == std::uint64_t{3} * UINT32_MAX + 1);
    CHECK(many.percentile(0.5) == 100);
}

TEST_CASE("few values are kept in the order in which they came", "[distribution]") {
    // Sums of deviations that do not commute tell the order.
    const std::vector<std::uint64_t> values{std::uint64_t{1} << 40, 3, std::uint64_t{1} << 33, 7, 11, 13};
    for (std::size_t count = 1; count <= values.size(); ++count) {
        Distribution merged = of({1, 2, 5});
        merged.merge(of({values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count)}));
        std::vector<std::uint64_t> all{1, 2, 5};
        all.insert(all.end(), values.begin(), values.begin() + static_cast<std::ptrdiff_t>(count));
        CHECK(merged.variance() == of(all).variance());
        check_against(merged, all);
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

TEST_CASE("values that are not sure set no minimum", "[distribution]") {
    std::mt19937_64 random{3};
    for (int round = 0; round < 200; ++round) {
        const std::vector<std::uint64_t> sure = random_values(random, 1 + random() % 60);
        const std::vector<std::uint64_t> unsure = random_values(random, random() % 60);
        Distribution found = of(sure);
        Least bounds;
        if (random() % 2 == 0)
            for (const std::uint64_t value : unsure)
                bounds.add(Distribution::saturating_sum(value, random() % 1000));
        Least least = found.least();
        least.merge(bounds);
        const std::uint64_t floor = random() % 2 == 0 ? 0 : least.floor(1000);
        found.merge_unsure(of(unsure), bounds, floor);
        std::vector<std::uint64_t> all = sure;
        std::uint64_t low = 0;  // the values that were raised are known within half a bucket
        for (const std::uint64_t value : unsure) {
            all.push_back(std::max({value, floor, least.min()}));
            low += all.back() > value ? value : 0;
        }
        std::uint64_t sum = 0;
        for (const std::uint64_t value : all)
            sum += value;
        CHECK(found.count() == all.size());
        CHECK(std::abs(static_cast<double>(found.sum()) - static_cast<double>(sum)) <=
              0.008 * static_cast<double>(low));
        CHECK(found.min() == least.min());
        CHECK(found.max() == *std::ranges::max_element(all));
        CHECK(found.least().fastest(1000) == least.fastest(1000));
        CHECK(found.second() == std::min(least.second(), found.max()));

        // … nor does what they were added to, where that is added to others.
        Distribution together = of({least.min() + 1});
        together.merge(found);
        CHECK(together.least().floor(0) == least.min());
        CHECK(together.count() == all.size() + 1);
        CHECK(together.sum() == found.sum() + least.min() + 1);
    }
    // A bound is no value, and a clock that moves in steps may tell less than it.
    Least bound;
    bound.add(80);
    Distribution few = of({100});
    few.merge_unsure(of({50}), bound, 100);
    CHECK(few.min() == 80);
    CHECK(few.percentile(0) == 100);
    Distribution fewer;
    fewer.merge(few);
    CHECK(fewer.min() == 80);
    CHECK(fewer.percentile(0) == 100);
    CHECK(fewer.sum() == 200);
    Distribution alone;
    alone.merge_unsure(of({5, 7}), {}, 0);
    CHECK(alone.min() == 5);
    Distribution raised;
    raised.merge_unsure(of({5, 7}), {}, 6);
    CHECK(raised.min() == 6);
    CHECK(raised.sum() == 13);
}

TEST_CASE("what is kept of the least values is refused where it contradicts itself", "[distribution][kept]") {
    const auto good = [](std::array<std::uint64_t, 5> least_next_counts_and_all) {
        ByteWriter written;
        written(least_next_counts_and_all);
        ByteReader read{written.bytes()};
        Least least;
        read(least);
        return read.good();
    };
    constexpr std::uint64_t kNone = Least::kNone;
    CHECK(good({kNone, kNone, 0, 0, 0}));
    CHECK(good({5, kNone, 2, 0, 2}));
    CHECK(good({5, 7, 2, 1, 9}));
    // Largest values are values, too.
    CHECK(good({kNone, kNone, 2, 0, 2}));
    CHECK(good({5, kNone, 1, 1, 2}));
    for (const std::uint64_t all : {0, 2})
        CHECK_FALSE(good({5, 7, 2, 1, all}));
    CHECK_FALSE(good({5, 7, UINT64_MAX, 2, UINT64_MAX}));
    CHECK_FALSE(good({kNone, kNone, 0, 0, 3}));
    CHECK_FALSE(good({5, kNone, 0, 0, 0}));
    CHECK_FALSE(good({kNone, 7, 0, 1, 1}));
    CHECK_FALSE(good({5, 5, 1, 1, 2}));
    CHECK_FALSE(good({7, 5, 1, 1, 2}));
    CHECK_FALSE(good({5, 7, 1, 0, 1}));
}

}  // namespace rdam::score
