#include "analyzer/score/call_sample.h"

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "tests/unit/catch.h"

using rdam::samples::CallSample;
using rdam::samples::CallWindows;
using rdam::samples::WindowCall;

namespace {

struct Totals {
    double calls = 0;
    double time = 0;
};

/// Durations over five powers of ten, in a sample of `most`; the words tell whether a call is odd.
struct Sampled {
    Sampled(std::size_t most, std::uint64_t calls) : sample{most, 2, 1} {
        std::mt19937 random;
        std::lognormal_distribution<double> durations{5, 2};
        for (std::uint64_t i = 0; i < calls; ++i) {
            const auto duration = static_cast<std::uint64_t>(durations(random));
            truth[i % 2].calls += 1;
            truth[i % 2].time += static_cast<double>(duration);
            const std::uint64_t words[] = {i % 2, duration};
            if (sample.wants(duration)) sample.take({.begin = i, .duration = duration}, words);
        }
        sample.finish();
        for (std::size_t i = 0; i < sample.taken().size(); ++i) {
            const auto& call = sample.taken()[i];
            if (sample.words(i)[1] != call.duration) mixed_up = true;
            Totals& sums = estimate[sample.words(i)[0]];
            sums.calls += call.weight;
            sums.time += call.weight * static_cast<double>(call.duration);
        }
    }
    CallSample sample;
    Totals truth[2];
    Totals estimate[2];
    bool mixed_up = false;
};

}  // namespace

TEST_CASE("A sample that has room for all calls is all calls") {
    const Sampled all{1000, 900};
    REQUIRE(all.sample.taken().size() == 900);
    for (int odd : {0, 1}) {
        CHECK(all.estimate[odd].calls == Approx(all.truth[odd].calls));
        CHECK(all.estimate[odd].time == Approx(all.truth[odd].time));
    }
}

TEST_CASE("What a sample says of any part of the calls is near the truth") {
    const Sampled part{2000, 300'000};
    REQUIRE(part.sample.taken().size() == 2000);
    CHECK(part.sample.calls() == 300'000);
    CHECK_FALSE(part.mixed_up);
    for (int odd : {0, 1}) {
        CHECK(part.estimate[odd].calls == Approx(part.truth[odd].calls).epsilon(0.1));
        CHECK(part.estimate[odd].time == Approx(part.truth[odd].time).epsilon(0.1));
    }
}

TEST_CASE("Estimates are right on average") {
    constexpr std::uint64_t kRounds = 1000;
    double time = 0;
    std::mt19937 random;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        std::vector<std::uint64_t> durations;
        for (std::uint64_t i = 1; i <= 1000; ++i)
            durations.push_back(i * i);
        std::ranges::shuffle(durations, random);
        CallSample each{50, 0, round};
        for (const std::uint64_t duration : durations)
            if (each.wants(duration)) each.take({.duration = duration}, {});
        each.finish();
        for (const auto& call : each.taken())
            time += call.weight * static_cast<double>(call.duration) / kRounds;
    }
    CHECK(time == Approx(1000.0 * 1001 * 2001 / 6).epsilon(0.02));
}

TEST_CASE("Nothing is kept where nothing is wanted") {
    CallSample none{0, 0, 0};
    CHECK_FALSE(none.wants(5));
    none.finish();
    CHECK(none.taken().empty());
}

TEST_CASE("Calls that say who waits for whom are kept when many others are not") {
    constexpr std::size_t kMost = 1000;
    const auto about = std::make_shared<std::vector<bool>>(std::vector<bool>{false, true});
    CallWindows windows{kMost, 10, about};
    CallWindows without{kMost, 10, nullptr};
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        const WindowCall call{.begin = 500 * i, .end = 500 * i + 400, .function = i % 500 == 0 ? 1U : 0U};
        const bool kept = windows.offer(call, windows.is_about_waits(call.function));
        CHECK((kept || call.function == 0));
        without.offer(call, without.is_about_waits(call.function));
    }
    CHECK(windows.of_waits().windows().all());
    CHECK(windows.of_waits().calls().size() == 200);
    CHECK(without.of_waits().calls().empty());
    // The others are as if there were none of these.
    CHECK(windows.all().calls().size() == without.all().calls().size());
    CHECK(windows.all().windows().limit == without.all().windows().limit);
    CHECK(windows.all().calls().size() <= kMost);
    CHECK_FALSE(windows.all().windows().all());
}
