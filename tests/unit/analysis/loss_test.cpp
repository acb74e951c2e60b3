// Baselines, and how sure a loss is.
#include "analyzer/statistics/loss.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <random>

#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

using score::Baseline;
using score::Distribution;
using score::Least;
using score::Loss;

Distribution distribution(std::initializer_list<std::uint64_t> values) {
    Distribution out;
    for (const std::uint64_t value : values)
        out.add(value);
    return out;
}

Loss loss_of(const Distribution& calls) {
    Loss loss;
    loss.add(calls, {.ticks = static_cast<double>(calls.min())});
    return loss;
}

}  // namespace

TEST_CASE("the two fastest calls", "[loss]") {
    CHECK(distribution({}).second() == 0);
    CHECK(distribution({7}).second() == 7);
    CHECK(distribution({7, 5}).second() == 7);
    CHECK(distribution({5, 7, 5}).second() == 5);
    CHECK(distribution({9, 7, 8, 5}).second() == 7);
    std::mt19937 random{5};
    for (int round = 0; round < 500; ++round) {
        std::vector<std::uint64_t> values(2 + random() % 60);
        Distribution all;
        Distribution halves[2];
        for (std::uint64_t& value : values) {
            value = random() % 100;
            all.add(value);
            halves[random() % 2].add(value);
        }
        halves[0].merge(halves[1]);
        std::ranges::sort(values);
        CHECK(all.min() == values[0]);
        CHECK(all.second() == values[1]);
        CHECK(halves[0].second() == values[1]);
    }
}

TEST_CASE("the same value several times", "[loss]") {
    Distribution calls;
    calls.add(10);
    calls.add(5, 3);
    CHECK(calls.second() == 5);
    calls.add(4, 1);
    CHECK(calls.second() == 5);
}

TEST_CASE("variances and losses are those of the values", "[loss]") {
    std::mt19937 random{6};
    for (const std::size_t count : {1U, 2U, 30U, 5000U}) {
        Distribution calls;
        std::vector<double> values;
        for (std::size_t i = 0; i < count; ++i) {
            values.push_back(static_cast<double>(1000 + random() % 4000));
            calls.add(static_cast<std::uint64_t>(values.back()));
        }
        double sum = 0, squares = 0, above = 0;
        for (const double value : values)
            sum += value;
        for (const double value : values) {
            squares += std::pow(value - sum / static_cast<double>(count), 2);
            above += std::max(value - 2000, 0.0);
        }
        CHECK(calls.variance() == Approx(squares / static_cast<double>(count)).epsilon(0.01).margin(1e-6));
        CHECK(calls.lost_above(2000) == Approx(above).epsilon(0.01));
        CHECK(calls.lost_above(static_cast<double>(calls.min())) == static_cast<double>(calls.lost()));
        CHECK(calls.lost_above(0) == sum);
    }
}

TEST_CASE("baselines", "[loss]") {
    const Distribution calls = distribution({10, 20, 30, 40, 50, 60, 70, 80, 90, 100});
    const Distribution other = distribution({3});
    Least process = calls.least();
    process.merge(other.least());
    const auto base = [&](const Baseline& baseline) {
        return base_of(baseline, calls, calls.least(), process).ticks;
    };
    CHECK(base({}) == 10);
    CHECK(base({.kind = Baseline::Kind::process}) == 3);
    CHECK(base({.kind = Baseline::Kind::percentile, .fraction = 0.2}) == 20);
    Loss loss;
    loss.add(calls, {.ticks = 20, .cuts = true});
    CHECK(loss.lost() == 360);
}

TEST_CASE("work that takes equally long falls on two steps of the clock", "[loss]") {
    const Distribution calls = distribution({100, 110, 110, 110, 100, 110, 110, 110});
    const auto lost = [&](const Baseline& baseline) {
        return score::lost(calls, base_of(baseline, calls, calls.least(), calls.least()));
    };
    CHECK(lost({.step = 10}) == 0);
    CHECK(lost({.step = 9}) == 60);
    CHECK(lost({}) == 60);
    CHECK(lost({.kind = Baseline::Kind::minimum, .step = 10}) == 60);
    Distribution disturbed = calls;
    disturbed.add(1000);
    CHECK(score::lost(disturbed, base_of({.step = 10}, disturbed, disturbed.least(), disturbed.least())) ==
          Approx(1000 - 107.5));
}

TEST_CASE("what equal work seems to last longer than its fastest is not lost", "[loss]") {
    const Distribution calls = distribution({100, 110, 103, 103, 101, 102, 102, 103});
    const auto lost = [](const Distribution& some, const Baseline& baseline) {
        return score::lost(some, base_of(baseline, some, some.least(), some.least()));
    };
    using Kind = Baseline::Kind;
    for (const Kind kind : {Kind::thread, Kind::process}) {
        CHECK(lost(calls, {.kind = kind, .error = 2}) == 24 - 7 * 2);
        CHECK(lost(calls, {.kind = kind, .error = 5}) == 0);
        CHECK(lost(distribution({100, 110, 100, 110}), {.kind = kind, .step = 10, .error = 0.5}) == 0);
    }
    CHECK(lost(calls, {.kind = Kind::minimum, .error = 2}) == 24);
    CHECK(lost(calls, {.kind = Kind::percentile, .fraction = 0.1, .error = 2}) == 24);
    CHECK(lost(distribution({100}), {.error = 2}) == 0);
    Least merged = calls.least();
    merged.merge(distribution({99, 120, 130, 140}).least());
    CHECK(merged.usual(0, 6) == Approx(99 + 6 * (1 - 1. / 12)));
    CHECK(Least{}.usual(0, 6) == 0);
}

TEST_CASE("equal work has lost nothing on average, however often it was done", "[loss]") {
    std::mt19937_64 random{3};
    std::exponential_distribution<double> late{1. / 1000};
    for (const int calls : {1, 2, 3, 10, 1000}) {
        double sum = 0;
        const int rounds = 200000 / calls;
        for (int round = 0; round < rounds; ++round) {
            Distribution all;
            for (int call = 0; call < calls; ++call)
                all.add(static_cast<std::uint64_t>(1e6 + late(random)));
            sum += static_cast<double>(all.sum()) - calls * all.least().usual(0, 1000);
        }
        CHECK(std::abs(sum / rounds / calls) < 20);
    }
}

TEST_CASE("the least two are exact however they are merged", "[loss]") {
    std::mt19937 random{8};
    for (int round = 0; round < 500; ++round) {
        std::map<std::uint64_t, double> counts;
        Least parts[3];
        for (std::uint32_t i = 0; i < 1 + random() % 40; ++i) {
            const std::uint64_t value = 50 + random() % 20;
            const std::uint64_t times = 1 + random() % 3;
            parts[random() % 3].add(value, times);
            counts[value] += static_cast<double>(times);
        }
        parts[0].merge(parts[1]);
        parts[0].merge(parts[2]);
        const auto [least, at_least] = *counts.begin();
        CHECK(parts[0].min() == least);
        double base = static_cast<double>(least);
        if (const auto next = std::next(counts.begin()); next != counts.end() && next->first - least <= 2)
            base = (base * at_least + static_cast<double>(next->first) * next->second) /
                   (at_least + next->second);
        CHECK(parts[0].fastest(2) == Approx(base));
    }
    CHECK(Least{}.empty());
}

TEST_CASE("95 of 100 intervals contain what is lost on average", "[loss]") {
    std::mt19937_64 random{7};
    constexpr double kBase = 1000;
    constexpr double kMean = 300;
    constexpr int kRounds = 1000;
    for (const int calls : {10, 100, 3000}) {
        int inside = 0;
        for (int round = 0; round < kRounds; ++round) {
            std::exponential_distribution<double> disturbance{1 / kMean};
            Distribution durations;
            for (int i = 0; i < calls; ++i)
                durations.add(static_cast<std::uint64_t>(std::lround(kBase + disturbance(random))));
            const Loss loss = loss_of(durations);
            const double truth = kMean * calls;
            if (loss.low() <= truth && truth <= loss.high()) ++inside;
        }
        // The normal approximation is poor for the skewed sum of ten.
        CHECK(inside >= (calls < 100 ? 0.88 : 0.93) * kRounds);
    }
}

TEST_CASE("the only call of its kind may have lost anything", "[loss]") {
    const Loss loss = loss_of(distribution({500}));
    CHECK(loss.lost() == 0);
    CHECK(loss.low() == 0);
    CHECK(loss.high() == 500);
}

TEST_CASE("a minimum that stands alone among few calls", "[loss]") {
    // Blocks that are compressed one after the other, the last of them nearly empty.
    CHECK(loss_of(distribution({97, 98, 95, 99, 97, 96, 98, 2})).minimum_stands_alone());
    CHECK_FALSE(loss_of(distribution({10, 20, 12, 90, 11, 30, 13, 80})).minimum_stands_alone());
    // Any three are some way apart.
    CHECK_FALSE(loss_of(distribution({97, 98, 2})).minimum_stands_alone());
}

TEST_CASE("a minimum that stands alone", "[loss]") {
    Distribution steady;
    for (std::uint64_t i = 0; i < 400; ++i)
        steady.add(1000 + i);
    CHECK_FALSE(loss_of(steady).minimum_stands_alone());
    Distribution early_return = steady;
    early_return.add(5);
    early_return.add(6);
    CHECK(loss_of(early_return).minimum_stands_alone());
    Distribution few = distribution({5, 1000, 1001, 1002});
    CHECK_FALSE(loss_of(few).minimum_stands_alone());
}

TEST_CASE("the interval of a function is that of the thread that sets its score", "[loss]") {
    Recording recording(1);
    for (std::uint64_t number = 0; number < 2; ++number) {
        ThreadRecording& thread = recording.thread(100, 100'100);
        for (std::uint64_t i = 0; i < 100; ++i)
            thread.call(100 + i * 900, 0, 100 + (i % 10) * (number + 1) * 10);
    }
    const score::Report report = analyze(recording);
    REQUIRE(report.functions.size() == 1);
    const score::FunctionRow& row = report.functions.front();
    CHECK(row.rdam == Approx(100 * 90 / 100'000.0));
    CHECK(row.rdam_low < row.rdam);
    CHECK(row.rdam_high > row.rdam);
    CHECK(row.rdam_low == row.threads[0].rdam_low);
    CHECK(row.rdam_high == row.threads[0].rdam_high);
    // 100 times the variance of 0, 20, … 180.
    CHECK(row.rdam - row.rdam_low == Approx(1.96 * std::sqrt(100 * 3300.0) / 100'000).epsilon(0.01));
}

TEST_CASE("every score has an interval", "[loss]") {
    Recording recording(2);
    ThreadRecording& thread = recording.thread(100, 100'100);
    for (std::uint64_t i = 0; i < 40; ++i) {
        const std::uint64_t at = 100 + i * 2000;
        thread.enter(at, 0).call(at + 10, 1, 100 + i % 7).leave(at + 300 + 3 * (i % 5) + i % 7, 0);
    }
    const score::FunctionRow outer = row(analyze(recording), "a");
    CHECK(outer.rdam_all_low < outer.rdam_all);
    CHECK(outer.rdam_all < outer.rdam_all_high);
    CHECK(outer.rdam_flat_low < outer.rdam_flat);
    CHECK(outer.rdam_flat < outer.rdam_flat_high);
    // Self times are 200, 203, … 212, eight of each.
    double squares = 0;
    for (const double deviation : {-6.0, -3.0, 0.0, 3.0, 6.0})
        squares += 8 * deviation * deviation;
    CHECK(outer.rdam_self == Approx(8 * (3 + 6 + 9 + 12) / 100'000.0));
    CHECK(outer.rdam_self - outer.rdam_self_low == Approx(1.96 * std::sqrt(squares) / 100'000));
    CHECK(outer.rdam_self_high - outer.rdam_self == Approx(1.96 * std::sqrt(squares) / 100'000));
}

TEST_CASE("a percentile as baseline, of self times too", "[loss]") {
    Recording recording(2);
    ThreadRecording& thread = recording.thread(100, 100'100);
    for (std::uint64_t i = 0; i < 20; ++i) {
        thread.enter(100 + i * 1000, 0);
        thread.call(110 + i * 1000, 1, 50);
        thread.leave(200 + i * 1000 + i, 0);
    }
    score::Settings settings;
    settings.baseline = {.kind = Baseline::Kind::percentile, .fraction = 0.5};
    const score::Report report = analyze(recording, settings);
    const score::FunctionRow& outer = report.functions.front();
    REQUIRE(outer.name == "a");
    // The median of 100 … 119 is 109: 1 + 2 + … + 10 are lost.
    CHECK(outer.lost_ns == Approx(55));
    CHECK(outer.rdam_self == Approx(55.0 / 100'000));
}

}  // namespace rdam::test
