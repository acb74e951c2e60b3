// Groups put together again come to what an analysis with the wanted settings comes to.
#include "analyzer/report/regroup.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "analyzer/output/json.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

using Json = nlohmann::json;

/// But for the last digits of sums of doubles.
bool same(const Json& a, const Json& b) {
    if (a.is_number() && b.is_number()) {
        const double x = a.get<double>(), y = b.get<double>();
        return std::abs(x - y) <= 1e-9 * (1 + std::abs(x) + std::abs(y));
    }
    if (a.type() != b.type() || a.size() != b.size()) return false;
    if (a.is_array()) {
        for (std::size_t i = 0; i < a.size(); ++i)
            if (!same(a[i], b[i])) return false;
        return true;
    }
    if (!a.is_object()) return a == b;
    for (const auto& [key, value] : a.items())
        if (!b.contains(key) || !same(value, b[key])) return false;
    return true;
}

Json json(const score::Report& report, const trace::TraceInfo& info) {
    output::TraceSymbols symbols{info};
    return Json::parse(output::to_json({report}, symbols, {}));
}

Json scored(const score::AnalyzedTrace& trace, const score::ResolvedSettings& settings,
            const score::ThreadList& threads) {
    return json(score::leave_out(trace, score::make_report(trace.facts(), settings, threads, 1000)),
                trace.info);
}

score::Settings random_settings(std::mt19937_64& random, const trace::TraceInfo& info) {
    const auto one_in = [&](unsigned n) { return random() % n == 0; };
    score::Settings settings;
    settings.sequences.fold_loops = one_in(3);
    settings.baseline = {.kind = static_cast<score::Baseline::Kind>(random() % 4), .fraction = 0.25};
    for (const trace::FunctionInfo& function : info.functions) {
        for (const trace::ParameterInfo& parameter : function.parameters)
            if (one_in(2))
                (one_in(2) ? settings.given.keys : settings.given.no_keys)
                    .push_back(function.name + ":" + parameter.name);
        if (one_in(3)) settings.given.split_by_context.push_back(function.name);
        if (one_in(8)) settings.given.ignore.push_back(function.name);
    }
    return settings;
}

/// Some functions' parameters are keys by default.
Recording some_recording(std::mt19937_64& random, bool accidents) {
    Recording recording = random_recording(
        random, {.functions = 2 + random() % 4, .threads = 2, .events = 80, .accidents = accidents});
    for (trace::FunctionInfo& function : recording.info.functions)
        for (trace::ParameterInfo& parameter : function.parameters)
            parameter.key = random() % 4 == 0;
    return recording;
}

}  // namespace

TEST_CASE("regrouped threads score as if they had been analyzed so", "[regroup][random]") {
    std::mt19937_64 random{11};
    int regrouped = 0, folded = 0, ignoring = 0;
    for (int round = 0; round < rounds(4000); ++round) {
        const Recording recording = some_recording(random, round % 2 == 0);
        const score::Settings settings = random_settings(random, recording.info);
        score::Settings before;
        if (round % 5 == 0) {
            before = random_settings(random, recording.info);
            before.given.ignore.clear();
        }
        const score::ResolvedSettings kept =
            score::with_candidates(recording.info, resolved(recording, before));
        const score::ResolvedSettings wanted = resolved(recording, settings);
        const score::AnalyzedTrace fine = read(recording, kept);
        if (!score::can_regroup(fine, kept, wanted)) continue;
        ++regrouped;
        folded += settings.sequences.fold_loops ? 1 : 0;
        ignoring += settings.given.ignore.empty() ? 0 : 1;
        const score::ThreadList threads = score::regroup(fine, kept, wanted);
        const score::AnalyzedTrace exact = read(recording, wanted);
        const Json got = scored(fine, wanted, threads);
        const Json want = scored(exact, wanted, exact.threads);
        if (same(got, want)) continue;
        INFO(want.dump(1));
        INFO(got.dump(1));
        FAIL("round " << round);
    }
    CHECK(regrouped > rounds(1500));
    CHECK(folded > rounds(400));
    CHECK(ignoring > rounds(10));
}

TEST_CASE("what is asked of parts of a trace is regrouped too", "[regroup][random]") {
    std::mt19937_64 random{12};
    int regrouped = 0;
    for (int round = 0; round < rounds(500); ++round) {
        const Recording recording = some_recording(random, true);
        score::Settings settings = random_settings(random, recording.info);
        settings.given.ignore.clear();
        settings.selection = {.since_ns = static_cast<double>(random() % 200),
                              .until_ns = static_cast<double>(200 + random() % 2000)};
        const score::ResolvedSettings kept = score::with_candidates(recording.info, resolved(recording));
        const score::ResolvedSettings wanted = resolved(recording, settings);
        const score::AnalyzedTrace fine = read(recording, kept, settings.selection);
        if (!score::can_regroup(fine, kept, wanted)) continue;
        ++regrouped;
        const score::AnalyzedTrace exact = read(recording, wanted, settings.selection);
        CHECK(same(scored(fine, wanted, score::regroup(fine, kept, wanted)),
                   scored(exact, wanted, exact.threads)));
    }
    CHECK(regrouped > rounds(400));
}

TEST_CASE("a parameter with too many values is given up, and the others are kept", "[regroup]") {
    Recording recording{1, 2};
    ThreadRecording& thread = recording.thread(0, 1'000'000);
    std::uint64_t now = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        thread.enter(now += 10, 0, {i, i % 3});
        thread.leave(now += 20 + 100 * (i % 3) + i % 7, 0);
    }
    score::ResolvedSettings kept = score::with_candidates(recording.info, resolved(recording));
    kept.max_candidate_groups = 100;
    kept.candidate_groups_of_thread = 1000;
    const score::AnalyzedTrace fine = read(recording, kept);
    CHECK(fine.threads[0]->given_up[0] == std::vector<bool>{true, false, false});
    CHECK(fine.threads[0]->groups.size() < 200);

    const std::string name = recording.info.functions[0].name + ":";
    const auto with_key = [&](std::size_t parameter) {
        return resolved(recording,
                        {.given = {.keys = {name + recording.info.functions[0].parameters[parameter].name}}});
    };
    CHECK_FALSE(score::can_regroup(fine, kept, with_key(0)));
    const score::ResolvedSettings wanted = with_key(1);
    REQUIRE(score::can_regroup(fine, kept, wanted));
    const score::AnalyzedTrace exact = read(recording, wanted);
    const score::ThreadList threads = score::regroup(fine, kept, wanted);
    CHECK(threads[0]->groups.size() == 3);
    CHECK(same(scored(fine, wanted, threads), scored(exact, wanted, exact.threads)));
}

TEST_CASE("what one function takes the others have not, but for a few groups", "[regroup]") {
    Recording recording{2, 2};
    ThreadRecording& thread = recording.thread(0, 1'000'000);
    std::uint64_t now = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        for (const std::uint32_t function : {0U, 1U}) {
            thread.enter(now += 10, function, {i % 50, i % 3});
            thread.leave(now += 20 + i % 7, function);
        }
    }
    score::ResolvedSettings kept = score::with_candidates(recording.info, resolved(recording));
    kept.candidate_groups_of_thread = 120;
    const score::AnalyzedTrace fine = read(recording, kept);
    const score::GivenUp& given_up = fine.threads[0]->given_up;
    CHECK((given_up[0][0] || given_up[1][0]));
    CHECK_FALSE((given_up[0][1] || given_up[1][1]));
    CHECK(fine.threads[0]->groups.size() < 300);
}

TEST_CASE("keys in force are never given up", "[regroup]") {
    Recording recording{1, 2};
    recording.info.functions[0].parameters[0].key = true;
    ThreadRecording& thread = recording.thread(0, 1'000'000);
    std::uint64_t now = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        thread.enter(now += 10, 0, {i / 2, i % 3});
        thread.leave(now += 20 + i % 7, 0);
    }
    const score::ResolvedSettings plain = resolved(recording);
    score::ResolvedSettings kept = score::with_candidates(recording.info, plain);
    kept.max_candidate_groups = 100;
    kept.candidate_groups_of_thread = 1000;
    const score::AnalyzedTrace fine = read(recording, kept);
    CHECK_FALSE(fine.threads[0]->given_up[0][0]);
    REQUIRE(score::can_regroup(fine, kept, plain));
    const score::AnalyzedTrace exact = read(recording, plain);
    CHECK(same(scored(fine, plain, score::regroup(fine, kept, plain)), scored(exact, plain, exact.threads)));
}

TEST_CASE("deep keys, taking a function in again, and inner functions need the trace", "[regroup]") {
    Recording recording{2, 1};
    ThreadRecording& thread = recording.thread(0, 10'000);
    thread.enter(10, 0, {1});
    thread.enter(20, 1, {1});
    thread.leave(30, 1);
    thread.leave(40, 0);
    const std::string inner = recording.info.functions[1].name, outer = recording.info.functions[0].name;
    const score::ResolvedSettings kept = score::with_candidates(recording.info, resolved(recording));
    const score::AnalyzedTrace fine = read(recording, kept);
    CHECK(score::can_regroup(fine, kept, resolved(recording)));
    CHECK_FALSE(score::can_regroup(fine, kept, resolved(recording, {.sequences = {.deep_keys = true}})));
    CHECK_FALSE(score::can_regroup(fine, kept, resolved(recording, {.given = {.ignore = {inner}}})));
    CHECK(score::can_regroup(fine, kept, resolved(recording, {.given = {.ignore = {outer}}})));

    const score::ResolvedSettings without =
        score::with_candidates(recording.info, resolved(recording, {.given = {.ignore = {outer}}}));
    CHECK_FALSE(score::can_regroup(read(recording, without), without, resolved(recording)));
}

}  // namespace rdam::test
