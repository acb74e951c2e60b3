// Patterns among siblings: found, timed and named as the definitions say.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/sequences/pattern_store.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/reference.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

/// A pattern of a thread as both tell it: functions, occurrences, least duration, lost time.
using Told = std::string;

std::vector<Told> told(const score::Report& report) {
    std::vector<Told> out;
    for (const score::PatternRow& row : report.patterns) {
        std::string functions;
        for (const std::string& name : row.calls)
            functions += name;
        if (row.length > row.calls.size()) functions += "+" + std::to_string(row.length - row.calls.size());
        out.push_back(fmt::format("{} {} ×{} {} {}", row.thread, functions, row.occurrences,
                                  std::llround(row.min_ns), std::llround(row.lost_ns)));
    }
    std::ranges::sort(out);
    return out;
}

std::vector<Told> expected(const Recording& recording, const ReferenceSettings& settings) {
    std::vector<Told> out;
    const auto threads = reference_patterns(recording, settings);
    for (std::size_t t = 0; t < threads.size(); ++t) {
        for (const auto& [name, pattern] : threads[t]) {
            std::string functions;
            const std::size_t shown = std::min(pattern.functions.size(), score::kMaxPatternCalls);
            for (std::size_t i = 0; i < shown; ++i)
                functions += recording.info.functions[pattern.functions[i]].name;
            if (shown < pattern.functions.size())
                functions += "+" + std::to_string(pattern.functions.size() - shown);
            const std::uint64_t step = recording.info.clock.step_ticks;
            const double base = reference_base(pattern.durations.for_base(), step);
            double lost = 0;
            std::uint64_t least = UINT64_MAX;
            for (const std::uint64_t duration : pattern.durations.taken(step)) {
                lost += static_cast<double>(duration) - base;
                least = std::min(least, duration);
            }
            out.push_back(fmt::format("{} {} ×{} {} {}", t, functions, pattern.occurrences,
                                      least == UINT64_MAX ? 0 : least, std::llround(std::max(lost, 0.0))));
        }
    }
    std::ranges::sort(out);
    return out;
}

void run(std::uint64_t seed, const RandomShape& shape, std::size_t& found) {
    std::mt19937_64 random{seed};
    const Recording recording = random_recording(random, shape);
    score::Settings settings;
    settings.patterns = true;
    ReferenceSettings reference;
    reference.keys.assign(shape.functions, 0);
    reference.ignored.assign(shape.functions, false);
    settings.sequences.fold_loops = reference.fold_loops = random() % 4 == 0;
    if (random() % 4 == 0) {
        settings.given.ignore.emplace_back("a");
        reference.ignored[0] = true;
    }
    INFO("seed " << seed);
    const auto patterns = told(analyze(recording, settings));
    REQUIRE(patterns == expected(recording, reference));
    found += patterns.size();
}

std::vector<std::string> names_of(const score::Report& report) {
    std::vector<std::string> names;
    for (const score::PatternRow& row : report.patterns)
        names.push_back(row.name + " " + std::to_string(row.occurrences));
    std::ranges::sort(names);
    return names;
}

score::Report patterns_of(const Recording& recording, bool fold_loops = false) {
    score::Settings settings;
    settings.patterns = true;
    settings.sequences.fold_loops = fold_loops;
    return analyze(recording, settings);
}

void add_calls(ThreadRecording& thread, const std::string& letters, std::uint64_t from,
               std::uint64_t step = 100) {
    for (const char letter : letters) {
        thread.call(from, static_cast<std::uint32_t>(letter - 'a'), step / 2);
        from += step;
    }
}

}  // namespace

TEST_CASE("patterns of random programs are those of the definitions", "[patterns][random]") {
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= rounds(10000U); ++seed)
        run(seed, {.functions = 3, .accidents = false}, found);
    CHECK(found > rounds(5000U));
}

TEST_CASE("patterns of random programs with accidents are those of the definitions", "[patterns][random]") {
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= rounds(10000U); ++seed)
        run(1'000'000 + seed, {.functions = 3}, found);
    CHECK(found > rounds(5000U));
}

TEST_CASE("patterns of long random programs are those of the definitions", "[patterns][random]") {
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= rounds(30U); ++seed)
        run(2'000'000 + seed, {.functions = 4, .threads = 3, .events = 1500, .accidents = seed % 2 == 0},
            found);
    CHECK(found > rounds(640U));
}

TEST_CASE("the top level of a thread is a sequence of siblings", "[patterns]") {
    Recording recording(5);
    add_calls(recording.thread(1, 10'000), "abcbdabeabc", 100);
    CHECK(names_of(patterns_of(recording)) == std::vector<std::string>{"a b 3", "a b c 2"});
}

TEST_CASE("a pattern lasts from its first event to its last", "[patterns]") {
    Recording recording(3);
    ThreadRecording& thread = recording.thread(1, 100'001);
    for (std::uint64_t i = 0; i < 3; ++i) {
        const std::uint64_t at = 1000 * (i + 1);
        thread.call(at, 0, 10).call(at + 100 + 20 * i, 1, 30).call(at + 500, 2, 1 + i);
    }
    const score::Report report = patterns_of(recording);
    REQUIRE_FALSE(report.patterns.empty());
    const auto pair = std::ranges::find(report.patterns, "a b", &score::PatternRow::name);
    REQUIRE(pair != report.patterns.end());
    CHECK(pair->min_ns == 130);
    CHECK(pair->median_ns == 150);
    CHECK(pair->lost_ns == 20 + 40);
    CHECK(pair->rdam == Approx(60 / 100'000.0));
    CHECK(pair->rdam_low <= pair->rdam);
    CHECK(pair->rdam_high >= pair->rdam);
}

TEST_CASE("repetitions are folded for the eye", "[patterns]") {
    Recording recording(3);
    std::string letters;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 64; ++j)
            letters += "ab";
        letters += "c";
    }
    add_calls(recording.thread(1, 100'000), letters, 100);
    const auto names = names_of(patterns_of(recording));
    CHECK(std::ranges::find(names, "(a b)×64 3") != names.end());
    CHECK(std::ranges::find(names, "(a b)×64 c 3") != names.end());
    CHECK(std::ranges::find(names, "a b 192") != names.end());
}

TEST_CASE("children of the same sequence are mined once and timed each time", "[patterns]") {
    Recording recording(3);
    ThreadRecording& thread = recording.thread(1, 100'000);
    for (std::uint64_t i = 0; i < 5; ++i) {
        const std::uint64_t at = 1000 * (i + 1);
        thread.enter(at, 2);
        for (std::uint64_t j = 0; j < 2; ++j)
            thread.call(at + 10 + 100 * j, 0, 10).call(at + 50 + 100 * j, 1, 20 + i);
        thread.leave(at + 400, 2);
    }
    const score::Report report = patterns_of(recording);
    const auto pair = std::ranges::find(report.patterns, "a b", &score::PatternRow::name);
    REQUIRE(pair != report.patterns.end());
    CHECK(pair->occurrences == 10);
    CHECK(pair->min_ns == 60);
    CHECK(pair->lost_ns == 2 * (1 + 2 + 3 + 4));
}

TEST_CASE("folded loops are one element", "[patterns]") {
    Recording recording(2);
    add_calls(recording.thread(1, 100'000), "aaabaab", 100);
    CHECK(names_of(patterns_of(recording, true)) == std::vector<std::string>{"a b 2"});
}

TEST_CASE("the calls of a long pattern", "[patterns]") {
    Recording recording(2);
    std::string letters(128, 'a');
    letters += 'b';
    add_calls(recording.thread(1, 100'000), letters + letters, 100);
    const score::Report report = patterns_of(recording);
    const auto longest = std::ranges::max_element(report.patterns, {}, &score::PatternRow::length);
    REQUIRE(longest != report.patterns.end());
    CHECK(longest->length == 129);
    CHECK(longest->calls.size() == score::kMaxPatternCalls);
    CHECK(longest->name == "a×128 b");
}

TEST_CASE("patterns whose least time is not to be trusted", "[patterns]") {
    const auto row = [](std::uint64_t times, std::uint64_t fast) {
        Recording recording(2);
        ThreadRecording& thread = recording.thread(1, 1'000'000);
        for (std::uint64_t i = 0; i < times; ++i)
            thread.call(100 + 1000 * i, 0, 10)
                .call(i < fast ? 115 + 1000 * i : 500 + 1000 * i, 1, 10 + i % 3);
        const score::Report report = patterns_of(recording);
        const auto found = std::ranges::find(report.patterns, "a b", &score::PatternRow::name);
        REQUIRE(found != report.patterns.end());
        REQUIRE(found->occurrences == times);
        return *found;
    };
    CHECK(row(29, 0).lower_bound);
    CHECK_FALSE(row(30, 0).lower_bound);
    CHECK_FALSE(row(200, 0).minimum_alone);
    CHECK(row(200, 1).minimum_alone);
    CHECK_FALSE(row(200, 100).minimum_alone);
}

TEST_CASE("what a pause was taken from sets no baseline of a pattern", "[patterns]") {
    const auto lost = [](bool between) {
        Recording recording(2);
        ThreadRecording& thread = recording.thread(1, 1'000'000);
        for (std::uint64_t i = 0; i < 40; ++i) {
            const std::uint64_t begin = 100 + 1000 * i;
            thread.call(begin, 0, 10);
            // What goes by the clock goes on while the recorder has the processor: less is left of it.
            if (i == 20) thread.pause(begin + (between ? 100 : 220), begin + (between ? 160 : 280));
            thread.call(begin + 200, 1, 100);
        }
        const score::Report report = patterns_of(recording);
        const auto found = std::ranges::find(report.patterns, "a b", &score::PatternRow::name);
        REQUIRE(found != report.patterns.end());
        REQUIRE(found->occurrences == 40);
        CHECK(found->min_ns == 300);
        return found->lost_ns;
    };
    CHECK(lost(false) == 0);
    CHECK(lost(true) == 0);
}

TEST_CASE("patterns against the least of the process", "[patterns]") {
    Recording recording(2);
    for (std::uint64_t number = 0; number < 2; ++number) {
        ThreadRecording& thread = recording.thread(1, 100'000);
        for (std::uint64_t i = 0; i < 3; ++i)
            thread.call(100 + 1000 * i, 0, 10).call(200 + 1000 * i, 1, 10 + number * 50);
    }
    score::Settings settings;
    settings.patterns = true;
    settings.baseline.kind = score::Baseline::Kind::process;
    const score::Report report = analyze(recording, settings);
    double lost[2] = {-1, -1};
    for (const score::PatternRow& row : report.patterns)
        if (row.name == "a b") lost[row.thread] = row.lost_ns;
    CHECK(lost[0] == 0);
    CHECK(lost[1] == 150);
}

TEST_CASE("patterns with the same calls are one, whatever they were made from", "[patterns]") {
    sequences::PatternStore store;
    const auto ab = sequences::kFirstMeta + store.intern(0, 1);
    const auto bc = sequences::kFirstMeta + store.intern(1, 2);
    const auto abc = store.intern(ab, 2);
    CHECK(store.intern(0, bc) == abc);
    CHECK(store.intern(0, 1) == ab - sequences::kFirstMeta);
    CHECK(store.intern(0, ab) != abc);
    CHECK(store.calls(abc, 10) == std::vector<sequences::ShapeId>{0, 1, 2});
    CHECK(store.calls(abc, 2) == std::vector<sequences::ShapeId>{0, 1});
    CHECK(store[abc].length == 3);
    CHECK(store.size() == 4);
}

}  // namespace rdam::test
