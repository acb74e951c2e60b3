// The times of threads as they are kept in files: what they depend on, and what is not believed of them. That they come to
// the same as those that were just made is part of every other test here (recording.cpp).
#include "analyzer/score/kept_times.h"

#include <random>
#include <set>

#include "analyzer/calls/call_stream.h"
#include "analyzer/report/regroup.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

namespace rdam::test {
namespace {

/// Two functions of some are sampled in windows; everything is kept that can be.
Recording some_recording(std::mt19937_64& random) {
    Recording recording = random_recording(
        random, {.functions = 3, .threads = 2, .events = 60, .accidents = random() % 2 == 0});
    trace::TraceInfo& info = recording.info;
    if (random() % 2 == 0) {
        info.functions[1].windowed_since = info.threads[0].start + 1;
        info.functions[1].counted = true;
        for (std::uint64_t at = info.threads[0].start; at < info.threads[0].end && info.windows.size() < 50;
             at += 100)
            info.windows.push_back({at, at + 60});
    }
    return recording;
}

score::ResolvedSettings some_settings(std::mt19937_64& random, const Recording& recording) {
    score::Settings settings{.paths = true, .course = true};
    settings.baseline = {.kind = static_cast<score::Baseline::Kind>(random() % 4), .fraction = 0.25};
    settings.sequences.deep_keys = random() % 4 == 0;
    score::ResolvedSettings all = score::with_samples(recording.info, resolved(recording, settings));
    return random() % 3 == 0 ? score::with_candidates(recording.info, std::move(all)) : all;
}

}  // namespace

TEST_CASE("times are kept by everything that groups calls, or says what is known of them", "[kept]") {
    Recording recording{3, 2};
    const auto key = [&](const score::Settings& settings) {
        return score::times_key(score::with_samples(recording.info, resolved(recording, settings)));
    };
    const score::Settings usual;
    std::set<std::vector<std::uint8_t>> keys{key(usual)};
    score::Settings deep, folded, percentile, paths, callers, course;
    deep.sequences.deep_keys = true;
    folded.sequences.fold_loops = true;
    percentile.baseline = {.kind = score::Baseline::Kind::percentile, .fraction = 0.05};
    paths.paths = true;
    callers.paths = callers.path_callers = true;
    course.course = true;
    for (const score::Settings& other :
         {score::Settings{.given = {.keys = {"a:k"}}}, score::Settings{.given = {.keys = {"a:n"}}},
          score::Settings{.given = {.keys = {"b:k"}}}, score::Settings{.given = {.split_by_context = {"a"}}},
          score::Settings{.given = {.ignore = {"a"}}}, score::Settings{.given = {.ignore = {"b"}}},
          score::Settings{.given = {.given_back_by = {"a=b"}}}, deep, folded, percentile, paths, callers,
          course})
        CHECK(keys.insert(key(other)).second);
    CHECK(keys.insert(score::times_key(score::with_candidates(
                          recording.info, score::with_samples(recording.info, resolved(recording)))))
              .second);
    CHECK(keys.insert(score::times_key(resolved(recording))).second);
    // What is made of the times later has no part in them.
    for (const score::Settings& same :
         {score::Settings{.threshold = 0.5}, score::Settings{.bars = 40},
          score::Settings{.largest_sampled = 3},
          score::Settings{.baseline = {.kind = score::Baseline::Kind::process}}, score::Settings{.jobs = 7}})
        CHECK(key(same) == key(usual));
}

TEST_CASE("whatever bytes say of a thread, a report can be made of what is believed", "[kept][random]") {
    std::mt19937_64 random{5};
    int believed = 0, refused = 0;
    for (int round = 0; round < rounds(6000); ++round) {
        const Recording recording = some_recording(random);
        const score::ResolvedSettings settings = some_settings(random, recording);
        score::AnalyzedTrace trace = read(recording, settings);
        const std::size_t changed = random() % trace.threads.size();
        std::vector<std::uint8_t> bytes = score::kept_times(*trace.threads[changed]);
        for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
            // Small numbers are counts, places and flags.
            const std::uint64_t with = random();
            bytes[random() % bytes.size()] = static_cast<std::uint8_t>(with % 2 == 0 ? with % 4 : with >> 8U);
        }
        auto times = score::times_from(bytes, recording.info, settings,
                                       calls::life_in(recording.info.threads[changed], {}));
        if (times == nullptr) {
            ++refused;
            continue;
        }
        ++believed;
        trace.threads[changed] = std::move(times);
        const score::Report report = score::make_report(trace.facts(), settings, trace.threads, 100);
        CHECK(report.functions.size() <= recording.info.functions.size());
        if (settings.candidates.empty()) continue;
        const score::ResolvedSettings wanted = resolved(recording);
        if (!score::can_regroup(trace, settings, wanted)) continue;
        const score::ThreadList again = score::regroup(trace, settings, wanted);
        CHECK(score::make_report(trace.facts(), wanted, again, 100).functions.size() <= 3);
    }
    CHECK(believed > rounds(600));
    CHECK(refused > rounds(600));
}

}  // namespace rdam::test
