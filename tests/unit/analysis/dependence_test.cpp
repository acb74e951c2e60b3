// How much the losses of neighbouring calls have to do with one another.
#include "analyzer/score/dependence.h"

#include <cmath>
#include <functional>
#include <random>

#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

using score::LossAt;
using score::variance_over_time;

constexpr std::size_t kCalls = 4000;
constexpr trace::TickRange kLife{1000, 1000 + 10 * kCalls};

std::vector<LossAt> calls(const std::function<double(std::size_t)>& lost) {
    std::vector<LossAt> out;
    for (std::size_t i = 0; i < kCalls; ++i)
        out.push_back({.begin = kLife.begin + 10 * i, .lost = lost(i)});
    return out;
}

double sum(const std::vector<LossAt>& calls) {
    double out = 0;
    for (const LossAt& call : calls)
        out += call.lost * call.weight;
    return out;
}

/// How often the interval of one of two runs holds the other's sum, in units of what independent runs do.
double held(std::mt19937& random, const std::function<std::vector<LossAt>(std::mt19937&)>& run) {
    constexpr int kRounds = 300;
    int count = 0;
    for (int round = 0; round < kRounds; ++round) {
        const auto one = run(random), other = run(random);
        const double variance = *variance_over_time(one, kLife, 1e300);
        if (std::abs(sum(one) - sum(other)) <= 1.96 * std::sqrt(2 * variance)) ++count;
    }
    return static_cast<double>(count) / kRounds;
}

}  // namespace

TEST_CASE("calls that have nothing to do with one another vary as much as that", "[dependence]") {
    std::mt19937 random{3};
    const auto run = [](std::mt19937& from) {
        return calls([&](std::size_t) { return from() % 4 == 0 ? 100 : 0; });
    };
    CHECK(held(random, run) > 0.9);
    const double truth = static_cast<double>(kCalls) * 100 * 100 * 0.25 * 0.75;
    double mean = 0;
    constexpr int kRounds = 100;
    for (int round = 0; round < kRounds; ++round)
        mean += *variance_over_time(run(random), kLife, truth) / kRounds;
    CHECK(mean > truth);
    CHECK(mean < 2 * truth);
}

TEST_CASE("bursts make the loss vary more than as many calls would", "[dependence]") {
    std::mt19937 random{4};
    const auto run = [](std::mt19937& from) {
        bool on = from() % 3 == 0;
        return calls([&](std::size_t) {
            if (from() % (on ? 50 : 100) == 0) on = !on;
            return on ? 100 : 0;
        });
    };
    CHECK(held(random, run) > 0.85);
    const double independent = static_cast<double>(kCalls) * 100 * 100 * 2 / 9;
    CHECK(*variance_over_time(run(random), kLife, independent) > 10 * independent);
}

TEST_CASE("a trend is the program's own, and so is most of a phase", "[dependence]") {
    const auto trend = calls([](std::size_t i) { return static_cast<double>(i); });
    CHECK(std::sqrt(*variance_over_time(trend, kLife, 1e300)) < 0.03 * sum(trend));
    const auto phase = calls([](std::size_t i) { return i < kCalls / 3 ? 1.0 : 0.0; });
    CHECK(std::sqrt(*variance_over_time(phase, kLife, 1e300)) < 0.2 * sum(phase));
}

TEST_CASE("what a sample of calls leaves to chance is not in it", "[dependence]") {
    std::mt19937 random{5};
    std::vector<LossAt> sampled;
    for (const LossAt& call : calls([](std::size_t) { return 1.0; }))
        if (random() % 10 == 0) sampled.push_back({call.begin, call.lost, 10});
    const double independent = 1;
    CHECK(*variance_over_time(sampled, kLife, independent) >= independent);
    CHECK(*variance_over_time(sampled, kLife, independent) < 36.0 * kCalls);
}

TEST_CASE("of a few calls or of no time nothing is said", "[dependence]") {
    auto few = calls([](std::size_t) { return 1.0; });
    CHECK_FALSE(variance_over_time(few, {5, 5}, 1));
    few.resize(score::kMinOverTime - 1);
    CHECK_FALSE(variance_over_time(few, kLife, 1));
    CHECK_FALSE(variance_over_time({}, kLife, 1));
}

}  // namespace rdam::test
