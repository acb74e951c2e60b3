// What calls lost, against the report of the same trace.
#include <array>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "analyzer/report/score_trace.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/rounds.h"
#include "tests/unit/views/call_log.h"

namespace rdam::test {
namespace {

using Kind = score::Baseline::Kind;

bool agree(double a, double b, double margin = 1e-6) {
    return std::abs(a - b) <= margin * std::max(1.0, std::abs(b));
}

/// The same events, some of the call trees taken for samples.
Recording in_samples(const Recording& whole, std::mt19937_64& random) {
    Recording recording{whole.info.functions.size(), 2};
    recording.info = whole.info;
    for (trace::FunctionInfo& function : recording.info.functions)
        function.most_rate = 4;
    for (const ThreadRecording& thread : whole.threads) {
        ThreadRecording& out = recording.threads.emplace_back();
        std::size_t open = 0;
        for (const ThreadRecording::Piece& piece : thread.pieces()) {
            if (piece.gap_before) out.gap();
            for (const trace::Event& event : piece.events) {
                const bool is_enter = event.kind == trace::EventKind::enter;
                const bool begins = is_enter && (open == 0 || random() % 50 == 0);
                out.copy({&event, 1}, static_cast<std::uint8_t>(begins ? 1 + random() % 5 : 0));
                if (is_enter) ++open;
                if (event.kind == trace::EventKind::leave && open > 0) --open;
            }
        }
    }
    return recording;
}

score::Settings random_settings(std::mt19937_64& random, std::size_t functions) {
    score::Settings settings;
    settings.paths = true;
    for (std::size_t f = 0; f < functions; ++f) {
        const std::string name(1, static_cast<char>('a' + f));
        if (random() % 3 == 0) settings.given.keys.push_back(name + ":k");
        if (random() % 10 == 0) settings.given.ignore.push_back(name);
    }
    settings.sequences.deep_keys = random() % 4 == 0;
    settings.sequences.fold_loops = random() % 4 == 0;
    constexpr std::array kKinds = {Kind::thread, Kind::process, Kind::minimum, Kind::percentile};
    settings.baseline.kind = kKinds[random() % kKinds.size()];
    if (settings.baseline.kind == Kind::percentile) settings.baseline.fraction = 0.1;
    if (random() % 3 == 0) settings.selection.since_ns = static_cast<double>(random() % 3000);
    if (random() % 3 == 0) settings.selection.until_ns = 3000 + static_cast<double>(random() % 3000);
    if (random() % 4 == 0) settings.selection.threads = {"100"};
    if (random() % 4 == 0) settings.selection.functions = {"a", "b"};
    settings.selection.may_miss = true;
    return settings;
}

struct Sums {
    double calls = 0, outermost = 0, time = 0, self = 0, lost = 0;
};
using SumsByFunction = std::map<std::uint32_t, Sums>;

SumsByFunction sums_of(const std::vector<LoggedCall>& calls, double ns) {
    SumsByFunction sums;
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> lost;  // by function and sequence
    for (const LoggedCall& each : calls) {
        const views::Closed& call = each.call;
        Sums& sum = sums[call.function];
        const auto weight = static_cast<double>(call.weight);
        sum.calls += weight;
        if (!call.timed) continue;
        sum.outermost += call.outermost ? weight : 0;
        sum.time += call.duration * weight * ns;
        sum.self += std::isnan(call.self) ? 0 : call.self * weight * ns;
        if (call.outermost) lost[{call.function, call.sequence}] += call.lost * weight * ns;
    }
    // A baseline of all threads may be above what a thread's calls took, by less than a step of the clock.
    for (const auto& [sequence, ticks] : lost)
        sums[sequence.first].lost += std::max(ticks, 0.0);
    return sums;
}

/// By a function's number; null: it has no row.
const score::FunctionRow* row_of(const score::Report& report, std::uint32_t function) {
    for (const score::FunctionRow& row : report.functions)
        if (row.function == function) return &row;
    return nullptr;
}

const score::ThreadShare* share_of(const score::Report& report, const score::FunctionRow& row,
                                   std::uint32_t number) {
    for (const score::ThreadShare& share : row.threads)
        if (report.threads[share.thread].number == number) return &share;
    return nullptr;
}

void compare_thread(const score::Report& report, std::uint32_t thread, const SumsByFunction& told,
                    double margin) {
    for (const auto& [function, sums] : told) {
        const score::FunctionRow* const row = row_of(report, function);
        REQUIRE(row != nullptr);
        INFO("function " << row->name << " of thread " << thread);
        const score::ThreadShare* const share = share_of(report, *row, thread);
        REQUIRE(share != nullptr);
        CHECK(static_cast<double>(share->occurrences) == sums.calls);
        const score::ThreadRow& life = report.threads[share->thread];
        // No estimate says that more was lost than there was time.
        const double most =
            row->sampled ? life.duration_ns - life.paused_ns - life.crowded_ns : sums.lost + sums.time;
        const double lost = std::min(sums.lost, most);
        CHECK(std::abs(share->lost_ns - lost) <= 1e-6 * std::max(1.0, lost) + margin * sums.time);
    }
}

void compare_paths_of(const score::Report& report, const SumsByFunction& all) {
    std::map<std::uint32_t, Sums> nodes;
    for (const score::PathNode& node : report.paths.nodes) {
        nodes[node.function].calls += node.calls;
        nodes[node.function].time += node.time_ns;
        nodes[node.function].self += node.self_ns;
    }
    for (const auto& [function, sums] : all) {
        INFO("function " << function);
        CHECK(agree(nodes[function].calls, sums.calls));
        CHECK(agree(nodes[function].time, sums.time));
        CHECK(agree(nodes[function].self, sums.self));
        CHECK(static_cast<double>(row_of(report, function)->outermost) == sums.outermost);
    }
    for (const score::FunctionRow& row : report.functions)
        CHECK((row.occurrences == 0 || all.contains(row.function)));
}

void compare_with_report(const Recording& recording, const score::Settings& settings) {
    const trace::TraceReader reader = reader_of(recording);
    const views::Visit visit = visit_of(reader, settings);
    const auto report = score::score_trace(reader, settings, {});
    REQUIRE(report);
    // Percentiles are taken of a histogram.
    const double margin = settings.baseline.kind == Kind::percentile ? 0.016 : 0;
    SumsByFunction all;
    for (const std::uint32_t thread : visit.threads()) {
        const SumsByFunction sums = sums_of(calls_of(visit, thread), visit.clock().ns_per_tick);
        compare_thread(*report, thread, sums, margin);
        for (const auto& [function, sum] : sums) {
            Sums& to = all[function];
            to.calls += sum.calls, to.outermost += sum.outermost, to.time += sum.time;
            to.self += sum.self, to.lost += sum.lost;
        }
    }
    compare_paths_of(*report, all);
}

}  // namespace

TEST_CASE("calls and what they lost are the report's", "[visit][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(400U); ++seed) {
        std::mt19937_64 random{seed};
        INFO("seed " << seed);
        const bool long_one = seed % 20 == 0;
        const Recording recording = random_recording(
            random, {.functions = 4, .events = long_one ? 2000 : 150, .accidents = seed % 2 == 0});
        compare_with_report(recording, random_settings(random, 4));
    }
}

TEST_CASE("calls of sampled trees and what they lost are the report's", "[visit][random]") {
    for (std::uint64_t seed = 1; seed <= rounds(400U); ++seed) {
        std::mt19937_64 random{1000 + seed};
        INFO("seed " << seed);
        const Recording whole =
            random_recording(random, {.functions = 4, .events = 150, .accidents = seed % 4 == 0});
        compare_with_report(in_samples(whole, random), random_settings(random, 4));
    }
}

TEST_CASE("calls in windows count for themselves, and for nothing around them", "[visit]") {
    constexpr std::uint64_t kEnd = 40'001'000;
    Recording recording{2};
    trace::FunctionInfo& windowed = recording.info.functions[kB];
    windowed.windowed_since = 1000;
    windowed.counted = true;
    ThreadRecording& thread = recording.thread(1000, kEnd);
    std::uint64_t recorded = 0, round = 0;
    for (std::uint64_t begin = 101'000; begin < kEnd - 100'000; begin += 1'000'000, ++round) {
        recording.info.windows.push_back({begin, begin + 20'000});
        // Every other call of a has a call of b recorded inside, which makes it no other sequence.
        for (std::uint64_t at = begin; at < begin + 18'000; at += 1000, ++recorded)
            thread.enter(at, kA).call(at + 100, kB, 200 + recorded % 7 * 10).leave(at + 500, kA);
        thread.call(begin + 50'000, kA, 520);
    }
    recording.info.threads[0].calls = {{kB, 10 * recorded}};
    recording.info.threads[0].calls_until = kEnd;
    const trace::TraceReader reader = reader_of(recording);
    const auto report = score::score_trace(reader, {}, {});
    REQUIRE(report);
    const auto calls = calls_of(visit_of(reader), 0);
    const SumsByFunction sums = sums_of(calls, 1);
    const score::FunctionRow& a = row(*report, "a");
    const score::FunctionRow& b = row(*report, "b");
    REQUIRE_FALSE(b.few_windows);
    CHECK(b.occurrences == 10 * recorded);
    CHECK(static_cast<double>(b.recorded) == sums.at(kB).calls);
    CHECK(sums.at(kB).lost > 0);
    CHECK(agree(10 * sums.at(kB).lost, b.lost_ns));
    CHECK(agree(sums.at(kA).lost, a.lost_ns));
    CHECK(sums.at(kA).lost == Approx(20.0 * static_cast<double>(round)));
    for (const LoggedCall& each : calls) {
        CHECK(each.call.baseline == (each.call.function == kA ? 500 : 200));
        if (each.call.function == kA) CHECK(each.call.self == each.call.duration);
    }
}

}  // namespace rdam::test
