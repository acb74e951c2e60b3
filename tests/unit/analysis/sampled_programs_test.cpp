// Samples of random programs: threads, recursion, tail calls, pauses, functions that begin call trees and are
// called in those of others, probabilities that change while the program runs.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "tests/unit/analysis/deviations.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr int kPrograms = 300;

/// The events of one outermost call, and its place in the thread's order.
struct TreeEvents {
    std::span<const trace::Event> events;
    double progress = 0;  ///< 0…1
};

/// By thread. Needs a recording without accidents.
std::vector<std::vector<TreeEvents>> trees_of(const Recording& recording) {
    std::vector<std::vector<TreeEvents>> all;
    for (const ThreadRecording& thread : recording.threads) {
        std::vector<TreeEvents>& trees = all.emplace_back();
        const std::vector<trace::Event>& events = thread.pieces().front().events;
        std::size_t begin = 0;
        int depth = 0;
        for (std::size_t i = 0; i < events.size(); ++i) {
            if (events[i].kind == trace::EventKind::enter && depth++ == 0) begin = i;
            if (events[i].kind != trace::EventKind::leave || --depth > 0) continue;
            trees.push_back({.events = std::span{events}.subspan(begin, i + 1 - begin),
                             .progress = static_cast<double>(i) / static_cast<double>(events.size())});
        }
        REQUIRE(depth == 0);
    }
    return all;
}

/// What a recorder would say of the tree: a function of its own rate, one whose rate rises, one whose rate
/// falls, and one that is sampled from some time on.
std::uint8_t sampling_of(const TreeEvents& tree, unsigned rate) {
    const bool late = tree.progress > 0.4;
    switch (tree.events.front().function) {
        case 0:
            return static_cast<std::uint8_t>(late ? 1 + rate : 0);
        case 1:
            return static_cast<std::uint8_t>(1 + (late ? rate : rate - 1));
        case 2:
            return static_cast<std::uint8_t>(1 + (late ? rate - 1 : rate));
        default:
            return static_cast<std::uint8_t>(1 + rate);
    }
}

Recording sample(const Recording& whole, const std::vector<std::vector<TreeEvents>>& trees, unsigned rate,
                 std::uint64_t seed) {
    std::mt19937_64 random{seed};
    Recording recording{whole.info.functions.size(), 2};
    recording.info.clock = whole.info.clock;
    for (std::size_t t = 0; t < trees.size(); ++t) {
        ThreadRecording& thread = recording.thread(whole.info.threads[t].start, whole.info.threads[t].end);
        for (const TreeEvents& tree : trees[t]) {
            const std::uint8_t sampling = sampling_of(tree, rate);
            const std::uint64_t odds = std::uint64_t{1} << (sampling > 0 ? sampling - 1U : 0U);
            if (random() % odds == 0) thread.copy(tree.events, sampling);
        }
    }
    return recording;
}

struct FunctionDeviations {
    Deviations occurrences, mean;
    double largest_variation = 0;  ///< of the estimated counts
};

void check_score(const score::FunctionRow& found, const score::FunctionRow& truth) {
    CHECK(found.rdam <= truth.rdam_high);
    CHECK(found.rdam <= found.rdam_flat);
    CHECK(found.lower_bound);
    CHECK(found.recorded < truth.occurrences);
}

void check_estimates(unsigned rate, int events) {
    std::mt19937_64 random{rate};
    const Recording whole = random_recording(random, {.threads = 3, .events = events, .accidents = false});
    const auto trees = trees_of(whole);
    const score::Report truth = analyze(whole);
    std::map<std::string, FunctionDeviations> functions;
    for (std::uint64_t seed = 1; seed <= kPrograms; ++seed) {
        const score::Report report = analyze(sample(whole, trees, rate, seed));
        for (const score::FunctionRow& all : truth.functions) {
            const score::FunctionRow& found = row(report, all.name);
            FunctionDeviations& function = functions[all.name];
            function.occurrences.add(static_cast<double>(found.occurrences),
                                     static_cast<double>(all.occurrences), found.occurrences_error);
            function.mean.add(found.mean_ns, all.mean_ns, found.mean_error_ns);
            function.largest_variation = std::max(
                function.largest_variation, found.occurrences_error / static_cast<double>(found.occurrences));
            check_score(found, all);
        }
    }
    CHECK(functions.size() == 4);
    for (const auto& [name, function] : functions) {
        CAPTURE(rate, name);
        function.occurrences.check();
        // A ratio of estimates has a bias, of at most so much: Hartley and Ross, Nature 174 (1954) 270.
        function.mean.check(function.largest_variation);
    }
}

}  // namespace

TEST_CASE("counts, means and scores of random programs of which a half is recorded", "[sampling]") {
    check_estimates(1, 2500);
}

TEST_CASE("counts, means and scores of random programs of which an eighth is recorded", "[sampling]") {
    check_estimates(3, 6000);
}

TEST_CASE("counts, means and scores of random programs of which a 64th is recorded", "[sampling]") {
    check_estimates(6, 60000);
}

TEST_CASE("a rate of one call in two to the thirty-first is a weight too", "[sampling]") {
    Recording recording{1};
    recording.thread(1000, std::uint64_t{1} << 37U).tree(31).call(1000, 0, 10).tree(31).call(1100, 0, 30);
    const score::FunctionRow a = row(analyze(recording), "a");
    const double weight = 2147483648.0;
    CHECK(a.recorded == 2);
    CHECK(a.occurrences == 2 * std::uint64_t{2147483648});
    CHECK(a.occurrences_error == Approx(std::sqrt(2 * weight * (weight - 1))));
    CHECK(a.mean_ns == 20);
    CHECK(a.mean_error_ns == Approx(10 / std::sqrt(2.0)));
    CHECK(a.lost_ns == 20 * weight);
    CHECK(a.lost_error_ns == Approx(20 * weight));
    CHECK(a.median_ns == Approx(10).epsilon(0.01));
    CHECK(a.p99_ns == Approx(30).epsilon(0.01));
    CHECK(a.rdam == 0);  // the estimate is one standard error above nothing
}

TEST_CASE("estimates reckoned by hand", "[sampling]") {
    // Tree of weight 4: a 100 with two b of 10 and 20; of weight 2: a 80 with one b of 15; certain: b 5.
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 11000);
    thread.tree(2).enter(1000, 0).call(1010, 1, 10).call(1030, 1, 20).leave(1100, 0);
    thread.tree(1).enter(2000, 0).call(2010, 1, 15).leave(2080, 0);
    thread.tree(0).call(3000, 1, 5);
    const score::Report report = analyze(recording);
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.occurrences == 4 + 2);
    CHECK(a.occurrences_error == Approx(std::sqrt(4 * 3 + 2 * 1)));
    CHECK(a.mean_ns == Approx((4 * 100 + 2 * 80) / 6.0));
    CHECK(a.lost_ns == 0);  // two sequences, of one recorded call each
    CHECK(a.single_sequences == 2);
    CHECK(a.scored_sequences == 0);
    const score::FunctionRow& b = row(report, "b");
    CHECK(b.occurrences == 4 * 2 + 2 + 1);
    CHECK(b.recorded == 4);
    CHECK(b.occurrences_error == Approx(std::sqrt(4 * 3 * 2 * 2 + 2 * 1)));
    const double mean = (4 * 30 + 2 * 15 + 5) / 11.0;
    CHECK(b.mean_ns == Approx(mean));
    const double in_first = 30 - 2 * mean, in_second = 15 - mean;
    CHECK(b.mean_error_ns == Approx(std::sqrt(12 * in_first * in_first + 2 * in_second * in_second) / 11));
    CHECK(b.lost_ns == 4 * (5 + 15) + 2 * 10);
    const double error = std::sqrt(12 * 20 * 20 + 2 * 10 * 10);
    CHECK(b.lost_error_ns == Approx(error));
    CHECK(b.rdam_error == Approx(error / 10000));
    CHECK(b.rdam == 0);  // 100 less two standard errors
    CHECK(b.rdam_all == Approx(0.01));
    CHECK(b.min_ns == 5);
    CHECK(b.p99_ns == 20);
}

TEST_CASE("few recorded occurrences are few, whatever their weight", "[sampling]") {
    const auto few = [](std::uint64_t calls) {
        Recording recording{1};
        ThreadRecording& thread = recording.thread(1, 1000001);
        for (std::uint64_t i = 0; i < calls; ++i)
            thread.tree(6).call(100 + 100 * i, 0, 10);
        return row(analyze(recording), "a");
    };
    CHECK(few(29).few_occurrences);
    CHECK_FALSE(few(30).few_occurrences);
    CHECK(few(30).lower_bound);
    CHECK(few(1).scored_sequences == 0);
    CHECK(few(1).single_sequences == 1);
    CHECK(few(2).scored_sequences == 1);
}

TEST_CASE("the score of a recursion's inner sequence takes their error off too", "[sampling]") {
    Recording recording{1};
    ThreadRecording& thread = recording.thread(1, 100001);
    for (std::uint64_t i = 0; i < 10; ++i) {
        const std::uint64_t begin = 1000 * (i + 1), longer = i % 2 == 0 ? 0 : 100;
        thread.tree(1).enter(begin, 0).call(begin + 1, 0, 10 + longer).leave(begin + 200, 0);
    }
    const score::FunctionRow a = row(analyze(recording), "a");
    REQUIRE(a.sequences.size() == 2);
    const score::SequenceRow& inner = a.sequences[0];
    CHECK(inner.occurrences == 20);
    CHECK(inner.lost_ns == 5 * 2 * 100);
    CHECK(inner.rdam == Approx((1000 - 2 * std::sqrt(5 * 2 * 1 * 100.0 * 100)) / 100000));
}

}  // namespace rdam::test
