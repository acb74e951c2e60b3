#include "analyzer/hints/intervals.h"

#include <bitset>
#include <catch2/catch.hpp>
#include <random>

using namespace rdam::hints;

namespace {

constexpr std::size_t kTimes = 64;
using Times = std::bitset<kTimes>;

Times times_of(const Intervals& intervals) {
    Times times;
    for (const Interval& each : intervals)
        for (std::uint64_t t = each.begin; t < each.end; ++t)
            times.set(t);
    return times;
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
    const auto some = [&] {
        Intervals intervals;
        for (unsigned i = random() % 8; i > 0; --i) {
            const std::uint64_t begin = random() % kTimes;
            intervals.push_back({begin, begin + random() % (kTimes - begin)});
        }
        return intervals;
    };
    for (int round = 0; round < 2000; ++round) {
        const Intervals a = some(), b = some();
        const Intervals all_a = united(a), all_b = united(b);
        REQUIRE(is_a_set(all_a));
        REQUIRE(times_of(all_a) == times_of(a));
        const Intervals both = intersection(all_a, all_b);
        REQUIRE(times_of(both) == (times_of(a) & times_of(b)));
        REQUIRE(length(both) == static_cast<double>(times_of(both).count()));
    }
}
