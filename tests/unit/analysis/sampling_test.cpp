// Estimates from samples of call trees, against the populations they were drawn from.
#include "analyzer/statistics/sampling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analyzer/statistics/distribution.h"
#include "tests/unit/analysis/deviations.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr int kSeeds = 400;

struct SampledTree {
    std::uint32_t function = 0;
    std::uint64_t own = 0;
    std::vector<std::uint64_t> inside;  ///< durations of calls of c
    std::uint8_t rate = 0;              ///< with which it is sampled
};

/// Often a and its rates change; b with one to four calls of c; d always recorded; e twice in a hundred.
std::vector<SampledTree> population() {
    std::mt19937_64 random(2018);
    const auto duration = [&](std::uint64_t least) {
        return least + random() % 50 + (random() % 10 == 0 ? 300 + random() % 200 : 0);
    };
    std::vector<SampledTree> trees;
    for (int i = 0; i < 6000; ++i) {
        const bool late = i >= 2500;
        const std::uint64_t kind = random() % 100;
        if (kind < 60)
            trees.push_back({kA, duration(100), {}, static_cast<std::uint8_t>(late ? 4 : 2)});
        else if (kind < 95)
            trees.push_back({kB, duration(40), {}, static_cast<std::uint8_t>(late ? 1 : 3)});
        else if (kind < 98)
            trees.push_back({kD, duration(70), {}, 0});
        else
            trees.push_back({kE, duration(900), {}, 2});
        if (trees.back().function == kB)
            for (std::uint64_t j = random() % 4 + 1; j > 0; --j)
                trees.back().inside.push_back(duration(20));
    }
    return trees;
}

void record(ThreadRecording& thread, const SampledTree& tree, std::uint64_t& now) {
    thread.enter(now, tree.function);
    for (const std::uint64_t inside : tree.inside) {
        thread.call(now + 5, kC, inside);
        now += inside;
    }
    now += tree.own;
    thread.leave(now, tree.function);
    now += 10;
}

Recording whole(const std::vector<SampledTree>& trees) {
    Recording recording(5);
    std::uint64_t now = 1000;
    ThreadRecording& thread = recording.thread(1000, 4'000'000);
    for (const SampledTree& tree : trees)
        record(thread, tree, now);
    return recording;
}

Recording sample(const std::vector<SampledTree>& trees, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Recording recording(5);
    std::uint64_t now = 1000;
    ThreadRecording& thread = recording.thread(1000, 4'000'000);
    for (const SampledTree& tree : trees) {
        if ((random() & ((std::uint64_t{1} << tree.rate) - 1)) == 0)
            record(thread.tree(tree.rate), tree, now);
        else
            for (now += tree.own + 10; const std::uint64_t inside : tree.inside)
                now += inside;
    }
    return recording;
}

const std::vector<SampledTree>& trees() {
    static const std::vector<SampledTree> all = population();
    return all;
}

}  // namespace

TEST_CASE("the highest of several normal values", "[sampling]") {
    CHECK(score::highest_of_normals(0) == 0);
    CHECK(score::highest_of_normals(1) == 0);
    std::mt19937_64 random(4);
    std::normal_distribution<double> normal;
    for (const std::size_t count : {2, 3, 4, 6, 16, 48}) {
        constexpr int kTimes = 20'000;
        double sum = 0;
        for (int i = 0; i < kTimes; ++i) {
            double highest = -100;
            for (std::size_t n = 0; n < count; ++n)
                highest = std::max(highest, normal(random));
            sum += highest;
        }
        INFO(count << " values");
        CHECK(score::highest_of_normals(count) == Approx(sum / kTimes).epsilon(0.04));
    }
    CHECK(score::highest_of_normals(100'000) == score::highest_of_normals(64));
}

TEST_CASE("what a difference is beyond chance", "[sampling]") {
    CHECK(score::beyond_chance(10, 0) == 10);
    CHECK(score::beyond_chance(10, 5) == 7.5);
    CHECK(score::beyond_chance(10, 10) == 0);
    CHECK(score::beyond_chance(10, 20) == 0);
    CHECK(score::beyond_chance(-3, 1) == 0);
    CHECK(score::beyond_chance(0, 0) == 0);
}

TEST_CASE(
    "lost time is estimated within its standard error, each sequence's against its own least, and scores are "
    "bounds",
    "[sampling]") {
    const score::Report truth = analyze(whole(trees()));
    CHECK(row(truth, "b").sequences.size() == 4);
    std::map<std::string, Deviations> lost;
    std::map<std::string, int> above;
    std::map<std::string, double> highest;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const score::Report report = analyze(sample(trees(), seed));
        for (const char* name : {"a", "b", "c"}) {
            const score::FunctionRow &all = row(truth, name), &found = row(report, name);
            std::map<std::uint64_t, double> least;
            for (const score::SequenceRow& sequence : found.sequences)
                least[sequence.id] = sequence.min_ns;
            double expected = 0;
            for (const score::SequenceRow& sequence : all.sequences)
                expected += sequence.lost_ns - static_cast<double>(sequence.occurrences) *
                                                   (least.at(sequence.id) - sequence.min_ns);
            lost[name].add(found.lost_ns, expected, found.lost_error_ns);
            CHECK(found.sampled);
            CHECK(found.rdam <= all.rdam + 2 * found.rdam_error);
            above[name] += found.rdam > all.rdam ? 1 : 0;
            highest[name] = std::max(highest[name], found.rdam);
        }
        const score::FunctionRow& certain = row(report, "d");
        CHECK_FALSE(certain.sampled);
        CHECK(certain.occurrences == row(truth, "d").occurrences);
        CHECK(certain.occurrences_error == 0);
        CHECK(certain.lost_ns == row(truth, "d").lost_ns);
    }
    for (const auto& [name, each] : lost) {
        CAPTURE(name);
        each.check();
        CHECK(above[name] <= kSeeds * 4 / 100);
        // A bound that is worth something: within the error of the whole's.
        CHECK(highest[name] > 0.8 * row(truth, name).rdam);
    }
}

TEST_CASE("a trace of which nothing was left out is as one without a budget", "[sampling]") {
    std::vector<SampledTree> certain = trees();
    for (SampledTree& tree : certain)
        tree.rate = 0;
    const score::Report truth = analyze(whole(certain));
    const score::Report report = analyze(sample(certain, 1));
    REQUIRE(report.functions.size() == truth.functions.size());
    for (std::size_t i = 0; i < truth.functions.size(); ++i) {
        CHECK(report.functions[i].rdam == truth.functions[i].rdam);
        CHECK(report.functions[i].occurrences == truth.functions[i].occurrences);
        CHECK(report.functions[i].median_ns == truth.functions[i].median_ns);
        CHECK_FALSE(report.functions[i].sampled);
    }
}

TEST_CASE("a tree that begins while calls are open has its own weight", "[sampling]") {
    Recording recording(3);
    ThreadRecording& thread = recording.thread(0, 10'000);
    // In a tree of weight 4 a signal handler begins one of weight 8; what comes behind it weighs 4 again.
    thread.tree(2).enter(100, kA).call(110, kC, 10).tree(3).enter(200, kB).call(210, kC, 10).leave(300, kB);
    thread.call(310, kC, 10).leave(400, kA);
    // Behind it nothing was sampled.
    thread.call(500, kC, 10);
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").occurrences == 4);
    CHECK(row(report, "b").occurrences == 8);
    CHECK(row(report, "c").occurrences == 4 + 8 + 4 + 1);
    CHECK(row(report, "c").recorded == 4);
}

TEST_CASE("a frame that was left by a jump does not change the weights of later trees", "[sampling]") {
    Recording recording(3);
    ThreadRecording& thread = recording.thread(0, 10'000);
    thread.tree(5).enter(100, kA);
    for (std::uint64_t i = 0; i < 3; ++i)
        thread.tree(1).call(200 + i * 100, kB, 10);
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").occurrences == 32);
    CHECK(row(report, "b").occurrences == 6);
    CHECK(row(report, "b").occurrences_error == Approx(std::sqrt(3 * 2.0)));
}

TEST_CASE("a function whose trees were sampled is an estimate, should none of those be in the trace",
          "[sampling]") {
    Recording recording(3);
    recording.info.functions[kA].most_rate = 3;
    ThreadRecording& thread = recording.thread(0, 10'000);
    for (std::uint64_t i = 0; i < 5; ++i) {
        thread.tree(0).call(100 + i * 100, kA, 10);
        thread.tree(0).call(150 + i * 100, kB, 10);
    }
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").occurrences == 5);
    CHECK(row(report, "a").sampled);
    CHECK(row(report, "a").lower_bound);
    CHECK(row(report, "a").occurrences_error == Approx(std::sqrt(8 * 7.0)));
    CHECK_FALSE(row(report, "b").sampled);
    CHECK(row(report, "b").occurrences_error == 0);
}

TEST_CASE("weights are repetitions: distributions", "[sampling]") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 200; ++round) {
        score::Distribution weighted;
        score::Distribution repeated;
        score::Distribution merged;
        for (std::uint64_t i = random() % 40; i > 0; --i) {
            const std::uint64_t value = random() % (round % 2 == 0 ? 100 : 1'000'000);
            const std::uint64_t times = random() % 3 == 0 ? random() % 50 + 1 : 1;
            weighted.add(value, times);
            score::Distribution one;
            one.add(value, times);
            merged.merge(one);
            for (std::uint64_t j = 0; j < times; ++j)
                repeated.add(value);
        }
        for (const score::Distribution* each : {&weighted, &merged}) {
            CHECK(each->count() == repeated.count());
            CHECK(each->sum() == repeated.sum());
            CHECK(each->min() == repeated.min());
            CHECK(each->max() == repeated.max());
            CHECK(each->lost() == repeated.lost());
            for (const double fraction : {0.0, 0.01, 0.5, 0.99, 1.0})
                CHECK(each->percentile(fraction) == repeated.percentile(fraction));
        }
    }
}

TEST_CASE("the variance of several sequences in one tree is not below that of their sum", "[sampling]") {
    score::TreeSums sums(1);
    sums.time(0, 0, 100, true);
    sums.time(0, 1, 50, true);
    sums.time(0, 1, 70, true);
    sums.end(4);
    REQUIRE(sums.group(0) != nullptr);
    REQUIRE(sums.group(1) != nullptr);
    CHECK(sums.group(2) == nullptr);
    const double together = 4 * 3 * (100.0 + 50 + 70) * (100 + 50 + 70);
    CHECK(sums.functions()[0].times.variance(0) == Approx(together));
    CHECK(sums.group(0)->outermost.variance(0) + sums.group(1)->outermost.variance(0) >= together);
}

}  // namespace rdam::test
