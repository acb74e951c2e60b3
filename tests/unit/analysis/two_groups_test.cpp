// The test of two groups of runs, against figures that were counted by hand.
#include "analyzer/statistics/two_groups.h"

#include <cmath>
#include <random>
#include <vector>

#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

using score::compare_groups;
using score::least_p;
using Values = std::vector<std::vector<double>>;

constexpr std::size_t kEach = 5;

}  // namespace

TEST_CASE("Two groups: the least p is one of all ways to divide the runs") {
    CHECK(least_p(3, 3) == Approx(1.0 / 20));
    CHECK(least_p(5, 5) == Approx(1.0 / 252));
    CHECK(least_p(1, 5) == Approx(1.0 / 6));
    CHECK(least_p(0, 5) == 1);
    CHECK(least_p(30, 30) == Approx(1.0 / score::kMostDivisions));
}

TEST_CASE("Two groups: p counts the divisions that are as far apart") {
    // All of the second group above all of the first: only this division is.
    CHECK(compare_groups(Values{{1, 2, 3, 11, 12, 13}}, 3).front().p == Approx(1.0 / 20));
    // 3 and 4 changed over: {4, 5, 6} is further apart, {3, 5, 6} this far.
    CHECK(compare_groups(Values{{1, 2, 4, 3, 5, 6}}, 3).front().p == Approx(2.0 / 20));
    // Less is not greater: all divisions are as far up.
    CHECK(compare_groups(Values{{11, 12, 13, 1, 2, 3}}, 3).front().p == Approx(1));
    CHECK(compare_groups(Values{{7, 7, 7, 7, 7, 7}}, 3).front().p == Approx(1));
}

TEST_CASE("Two groups: a value that is certain does not hide another") {
    // The first value's division is the only one that far apart; stepped down, so is the second's.
    const auto both = compare_groups(Values{{0, 0, 0, 9, 9, 9}, {1, 2, 3, 11, 12, 13}}, 3);
    CHECK(both[0].p == Approx(1.0 / 20));
    CHECK(both[1].p == Approx(1.0 / 20));
}

TEST_CASE("Two groups: the interval has the shifts that are not rejected") {
    // 2.5 % of 252 divisions are six: the sixth least and greatest mean of what leaves the group over what comes.
    const auto shift = compare_groups(Values{{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}}, kEach).front();
    CHECK(shift.difference == Approx(1));
    REQUIRE(shift.low);
    CHECK(*shift.low == Approx(1));
    CHECK(*shift.high == Approx(1));
    const auto few = compare_groups(Values{{1, 2, 3, 11, 12, 13}}, 3).front();
    CHECK(few.difference == Approx(10));
    CHECK_FALSE(few.low);
}

TEST_CASE("Two groups: equal ones are seldom declared, and the interval has the shift that was made") {
    std::mt19937_64 random{7};
    std::lognormal_distribution<double> draw{0, 0.5};
    constexpr int kTimes = 400;
    constexpr std::size_t kValues = 10;
    constexpr double kShift = 0.3;
    int declared = 0, contained = 0;
    for (int i = 0; i < kTimes; ++i) {
        Values values(kValues, std::vector<double>(2 * kEach));
        for (auto& runs : values)
            for (double& run : runs)
                run = draw(random);
        bool any = false;
        for (const auto& shift : compare_groups(values, kEach))
            any = any || shift.p <= 0.05;
        declared += any ? 1 : 0;
        for (std::size_t run = kEach; run < 2 * kEach; ++run)
            values[0][run] += kShift;
        const auto shift = compare_groups(Values{values[0]}, kEach).front();
        contained += *shift.low <= kShift && kShift <= *shift.high ? 1 : 0;
    }
    // 5 % are 20, and 95 % 380; four standard deviations around them.
    CHECK(declared > 2);
    CHECK(declared <= 38);
    CHECK(contained >= 362);
}

TEST_CASE("Two groups: a tenth more is found among ten values of runs that vary by 2 %") {
    std::mt19937_64 random{8};
    std::normal_distribution<double> draw{0, 0.02};
    constexpr int kTimes = 300;
    constexpr std::size_t kValues = 10;
    int found = 0;
    for (int i = 0; i < kTimes; ++i) {
        Values values(kValues, std::vector<double>(2 * kEach));
        for (auto& runs : values)
            for (double& run : runs)
                run = draw(random);
        for (std::size_t run = kEach; run < 2 * kEach; ++run)
            values[0][run] += std::log(1.1);
        found += compare_groups(values, kEach).front().p <= 0.01 ? 1 : 0;
    }
    CHECK(found >= 0.95 * kTimes);
}

}  // namespace rdam::test
