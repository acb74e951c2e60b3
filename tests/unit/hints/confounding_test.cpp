#include <functional>
#include <random>

#include "analyzer/hints/variables.h"
#include "tests/unit/catch.h"

using rdam::hints::goes_with_time;
using rdam::hints::Moment;

namespace {

constexpr std::uint64_t kMoments = 1000;

double of(const std::function<std::uint64_t(std::uint64_t)>& value, std::uint32_t strata = 1) {
    std::vector<Moment> calls;
    for (std::uint64_t i = 0; i < kMoments; ++i)
        calls.push_back(
            {.stratum = static_cast<std::uint32_t>(i % strata), .begin = 10 * i, .value = value(i)});
    return goes_with_time(calls);
}

}  // namespace

TEST_CASE("What counts, or changes once for good, goes with time") {
    CHECK(of([](auto i) { return i; }) > 0.99);
    CHECK(of([](auto i) { return kMoments - i; }) > 0.99);
    CHECK(of([](auto i) { return i; }, 2) > 0.99);
    CHECK(of([](auto i) { return i < kMoments / 2 ? 7 : 3; }) > 0.99);
    CHECK(of([](auto i) { return i < kMoments / 10 ? 7 : 3; }) > 0.99);
    CHECK(of([](auto i) { return i / 100 * 7919 % 101; }) > 0.99);
}

TEST_CASE("What comes again at all times does not go with time") {
    std::mt19937 random;
    for (const std::uint64_t limit : {2, 10, 100, 1'000'000}) {
        INFO(limit << " values");
        CHECK(of([&](auto) { return random() % limit; }) < 0.1);
    }
    CHECK(of([](auto i) { return i % 100; }) < 0.1);
    CHECK(of([](auto i) { return i / 50 % 2; }) < 0.1);
    CHECK(of([](auto) { return 1; }) == 0);
}

TEST_CASE("What comes twice goes with time in part") {
    const double twice = of([](auto i) { return i % (kMoments / 2); });
    CHECK(twice > 0.1);
    CHECK(twice < 0.6);
}

TEST_CASE("Of a few calls nothing is known") {
    std::vector<Moment> calls;
    for (std::uint64_t i = 0; i < 19; ++i)
        calls.push_back({.begin = i, .value = i});
    CHECK(goes_with_time(calls) == 0);
    CHECK(goes_with_time({}) == 0);
}
