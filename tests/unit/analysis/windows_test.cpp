// Functions that are sampled in windows: what their calls stand for, and what they are to other calls.
#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/output/json.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/text.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/regroup.h"
#include "analyzer/score/sampling_windows.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr std::uint64_t kStart = 1000;
constexpr std::uint64_t kDisturbedLife = 200'000'000;
constexpr std::uint64_t kDuration = 300, kDisturbed = 900, kOwn = 700;

/// Windows at random moments, some 2 % of the life.
std::vector<trace::Window> random_windows(std::uint64_t seed, std::uint64_t end = kStart + kDisturbedLife) {
    std::mt19937_64 random{seed};
    std::vector<trace::Window> windows;
    for (std::uint64_t at = kStart;;) {
        at += 500'000 + random() % 1'000'000;
        const std::uint64_t length = 10'000 + random() % 20'000;
        if (at + length > end) return windows;
        windows.push_back({at, at + length});
        at += length;
    }
}

/// A thread that calls `a` again and again; in bursts, three tenths of the time, each call loses kDisturbed.
/// Calls that begin after `since` are there only in windows; 0: all are.
struct Program {
    Recording recording{2};
    double truth = 0;  ///< the score
    std::uint64_t calls = 0;

    Program(std::vector<trace::Window> windows, std::uint64_t since, std::uint64_t seed = 5) {
        recording.info.windows = std::move(windows);
        recording.info.functions[0].windowed_since = since;
        ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
        std::mt19937_64 random{seed};
        std::size_t window = 0;
        const auto& all = recording.info.windows;
        bool disturbed = false;
        std::uint64_t until = kStart, lost = 0, at = kStart;
        while (at < kStart + kDisturbedLife - 2000) {
            if (at >= until) {
                disturbed = random() % 10 < 3;
                until = at + 200'000 + random() % 400'000;
            }
            const std::uint64_t duration = kDuration + (disturbed ? kDisturbed : random() % 3);
            while (window < all.size() && all[window].end <= at)
                ++window;
            const bool open = window < all.size() && all[window].begin <= at;
            if (since == 0 || at < since || open) thread.call(at, 0, duration);
            lost += duration - kDuration;
            ++calls;
            at += duration + kOwn;
        }
        truth = static_cast<double>(lost) / static_cast<double>(kDisturbedLife);
    }
};

bool contains(const score::FunctionRow& row, double score) {
    return row.rdam_low <= score && score <= row.rdam_high;
}

}  // namespace

TEST_CASE("a loss that is sampled in windows is estimated within its interval", "[windows]") {
    int inside = 0;
    constexpr int kTries = 40;
    for (int i = 0; i < kTries; ++i) {
        const Program program{random_windows(static_cast<std::uint64_t>(i)), kStart,
                              static_cast<std::uint64_t>(i)};
        const score::Report report = analyze(program.recording);
        const score::FunctionRow& row = test::row(report, "a");
        CHECK(row.windowed);
        CHECK(row.sampled);
        CHECK(row.lower_bound);
        CHECK_FALSE(row.few_windows);
        CHECK(row.windows_cover == Approx(0.02).margin(0.005));
        CHECK(row.rdam == Approx(program.truth).margin(0.1));
        CHECK(contains(row, row.rdam));
        CHECK(std::abs(static_cast<double>(row.occurrences) - static_cast<double>(program.calls)) <
              5 * row.occurrences_error);
        CHECK(row.occurrences_error < 0.1 * static_cast<double>(program.calls));
        CHECK(row.rdam_error > 0);
        inside += contains(row, program.truth) ? 1 : 0;
    }
    // 95 of 100 of normal estimates; as few as this only once in some thousand such tests.
    CHECK(inside >= kTries * 8 / 10);
}

TEST_CASE("the complete beginning counts for itself, and windows for the rest", "[windows]") {
    const std::uint64_t since = kStart + kDisturbedLife / 2;
    const Program program{random_windows(3), since};
    const score::Report report = analyze(program.recording);
    const score::FunctionRow& row = test::row(report, "a");
    CHECK(row.windows_cover == Approx(0.51).margin(0.01));
    CHECK(row.rdam == Approx(program.truth).margin(0.05));
    CHECK(contains(row, program.truth));
    CHECK(static_cast<double>(row.occurrences) == Approx(static_cast<double>(program.calls)).epsilon(0.05));

    // Were it the other way round, half a run of known calls would be thrown away.
    Program whole{{}, kStart + kDisturbedLife};
    const score::Report complete = analyze(whole.recording);
    CHECK(test::row(complete, "a").rdam == Approx(whole.truth));
    CHECK(test::row(complete, "a").occurrences == whole.calls);
}

TEST_CASE("the time that recording takes in a window is not the program's", "[windows]") {
    constexpr std::uint64_t kProbe = 400, kEvery = 100;
    Recording recording{1};
    recording.info.functions[0].windowed_since = kStart;
    recording.info.clock.probe_ticks = kProbe;
    ThreadRecording& thread = recording.thread(kStart, kStart + 40'000'000);
    // The program calls once in kEvery of its own ticks, five times as rarely where the probes are.
    std::uint64_t recorded = 0, slower = 0;
    for (std::uint64_t begin = kStart + 100'000; begin < kStart + 40'000'000; begin += 1'000'000) {
        recording.info.windows.push_back({begin, begin + 50'000});
        for (std::uint64_t at = begin; at < begin + 40'000; at += kEvery + kProbe, ++recorded)
            thread.call(at, 0, 50);
        thread.pause(begin + 40'000, begin + 50'000);
        slower += 10'000;
    }
    slower += recorded * kProbe;
    const auto own = static_cast<double>(40'000'000 - slower);
    const score::Report report = analyze(recording);
    CHECK(static_cast<double>(row(report, "a").occurrences) == Approx(own / kEvery).epsilon(0.02));
}

namespace {

/// A program that calls once in kEvery of its own ticks, and probes that take a quarter more than they were
/// measured to take.
struct CostlyProbes {
    static constexpr std::uint64_t kMeasured = 200, kReal = 250, kEvery = 100, kEnd = kStart + 40'000'000;
    Recording recording{1};
    std::uint64_t calls = 0;

    CostlyProbes() {
        recording.info.functions[0].windowed_since = kStart;
        recording.info.clock.probe_ticks = kMeasured;
        ThreadRecording& thread = recording.thread(kStart, kEnd);
        std::uint64_t at = kStart;
        for (std::uint64_t begin = kStart + 100'000; begin < kEnd; begin += 1'000'000) {
            recording.info.windows.push_back({begin, begin + 50'000});
            for (; at < begin; at += kEvery)
                ++calls;
            for (; at < begin + 50'000; at += kEvery + kReal, ++calls)
                thread.call(at, 0, 50 + calls % 7);
        }
        for (; at < kEnd; at += kEvery)
            ++calls;
    }

    void count(std::uint64_t function_calls, std::uint64_t until) {
        recording.info.functions[0].counted = true;
        recording.info.threads[0].calls = {{0, function_calls}};
        recording.info.threads[0].calls_until = until;
    }
};

double number(std::uint64_t value) {
    return static_cast<double>(value);
}

}  // namespace

TEST_CASE("a call that seems to take nothing beside the probe inside it is no baseline", "[windows]") {
    constexpr std::uint64_t kProbe = 40, kLeft = 36, kGap = 20, kSince = kStart + 100'000;
    Recording recording{2};
    recording.info.clock.probe_ticks = kProbe;
    recording.info.windows = random_windows(1);
    for (trace::FunctionInfo& function : recording.info.functions)
        function.windowed_since = kSince;
    recording.info.functions[kB].window_group = 1;  // it has no window
    recording.info.functions[kA].counted = recording.info.functions[kB].counted = true;
    ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
    std::uint64_t calls = 0, window = 0;
    for (std::uint64_t at = kStart; at < kStart + kDisturbedLife - 1000; ++calls) {
        const bool complete = at < kSince;
        const auto& windows = recording.info.windows;
        while (window < windows.size() && windows[window].end <= at)
            ++window;
        const bool seen = complete || (window < windows.size() && windows[window].begin <= at);
        // Of the probe of the call inside, less than kProbe delays the one around it.
        if (complete)
            thread.enter(at, kA).call(at + 2, kB, 2).leave(at + kLeft + 8, kA);
        else if (seen)
            thread.call(at, kA, 8);
        at += (complete ? kLeft : seen ? kProbe : 0) + 8 + kGap;
    }
    recording.info.threads[0].calls = {{kA, calls}, {kB, calls}};
    recording.info.threads[0].calls_until = kStart + kDisturbedLife;
    const score::FunctionRow row = test::row(analyze(recording), "a");
    CHECK(row.rdam_high < 0.01);
    CHECK(row.min_ns == 8);
}

TEST_CASE("what was counted needs no estimate, whatever the probes cost", "[windows]") {
    CostlyProbes program;
    const score::FunctionRow guessed = row(analyze(program.recording), "a");
    CHECK_FALSE(guessed.counted);
    CHECK(guessed.estimates_occurrences());
    CHECK(guessed.occurrences_error > 0);
    // Off by a third: the windows seem to hold more of the program's own time than they did.
    CHECK(number(guessed.occurrences) < 0.75 * number(program.calls));

    program.count(program.calls, CostlyProbes::kEnd);
    const score::Report report = analyze(program.recording);
    const score::FunctionRow& counted = row(report, "a");
    CHECK(counted.counted);
    CHECK(counted.sampled);
    CHECK(counted.lower_bound);
    CHECK_FALSE(counted.estimates_occurrences());
    CHECK(counted.occurrences == program.calls);
    CHECK(counted.occurrences_error == 0);
    CHECK(counted.outermost == program.calls);
    CHECK(counted.threads.at(0).occurrences == program.calls);
    CHECK(counted.recorded == guessed.recorded);
    CHECK(counted.windows_cover == Approx(guessed.windows_cover));
    // Three ticks of each call are lost. The cost of probes that is not known looks like slowness.
    CHECK(counted.lost_ns < 3 * number(program.calls));
    CHECK(contains(counted, 3 * number(program.calls) / 40e6));
    const auto notes = output::notes(report);
    CHECK(notes.front().ends_with("Lost times are estimates; calls were counted."));
}

TEST_CASE("what calls take in windows alone they have not lost", "[windows]") {
    // Work that takes 50 ticks of each 100; in windows, where a probe costs 40, every other call takes
    // `longer`.
    constexpr std::uint64_t kProbe = 40, kCall = 50, kGap = 50;
    const auto score_with = [&](std::uint64_t longer, bool outside) {
        Recording recording{1};
        recording.info.clock.probe_ticks = recording.info.clock.flow_ticks = kProbe;
        recording.info.windows = random_windows(2);
        recording.info.functions[0].windowed_since = kStart;
        recording.info.functions[0].counted = true;
        ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
        std::uint64_t calls = 0, window = 0;
        const auto& windows = recording.info.windows;
        for (std::uint64_t at = kStart; at < kStart + kDisturbedLife - 1000; ++calls) {
            while (window < windows.size() && windows[window].end <= at)
                ++window;
            const bool open = window < windows.size() && windows[window].begin <= at;
            const std::uint64_t duration = kCall + ((open || outside) && calls % 2 == 0 ? longer : 0);
            if (open) thread.call(at, 0, duration);
            at += duration + (open ? kProbe : 0) + kGap;
        }
        recording.info.threads[0].calls = {{0, calls}};
        recording.info.threads[0].calls_until = kStart + kDisturbedLife;
        return row(analyze(recording), "a");
    };
    const score::FunctionRow slowed = score_with(30, false);
    CHECK(slowed.rdam_low < 0.01);
    CHECK(slowed.rdam < 0.13);
    CHECK(slowed.rdam_high > 0.14);  // 15 of 100 ticks, if it were so outside
    const score::FunctionRow lost = score_with(30, true);
    CHECK(lost.rdam == Approx(15. / 115).margin(0.01));
    CHECK(lost.rdam_low > 0.1);
    CHECK(lost.rdam_high < 0.16);
}

TEST_CASE("a function that windows cut in the middle of its recursions has no score", "[windows]") {
    // Of each outermost call of `a`, `inner` ones of 30 ticks, each in one of `b`.
    const auto report_with = [](std::uint64_t inner) {
        Recording recording{2};
        recording.info.windows = random_windows(4);
        for (trace::FunctionInfo& function : recording.info.functions)
            function.windowed_since = kStart;
        ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
        for (const trace::Window& window : recording.info.windows) {
            const std::uint64_t length = 50 * inner + 50;
            for (std::uint64_t at = window.begin; at + length < window.end; at += length) {
                thread.enter(at, kA);
                for (std::uint64_t i = 0; i < inner; ++i)
                    thread.enter(at + 50 * i + 2, kB)
                        .call(at + 50 * i + 5, kA, 30)
                        .leave(at + 50 * i + 40, kB);
                thread.leave(at + length - 5, kA);
            }
        }
        return analyze(recording);
    };
    const score::Report deep = report_with(100);
    CHECK(row(deep, "a").few_windows);
    CHECK_FALSE(row(deep, "b").few_windows);
    CHECK(row(deep, "b").has_score);
    const auto notes = output::notes(deep);
    CHECK(std::ranges::count_if(
              notes, [](const std::string& note) { return note.ends_with("inside a recursion): a."); }) == 1);
    CHECK_FALSE(row(report_with(2), "a").few_windows);
}

TEST_CASE("by how much the program is slower in windows", "[windows]") {
    std::vector<trace::Window> windows;
    for (std::uint64_t at = 0; at < 6000; at += 1000)
        windows.push_back({at, at + 100});
    const auto slowing = [&](std::uint64_t counted, double probe, std::size_t with_calls = 6,
                             std::uint64_t by_turns = 0) {
        score::ThreadWindows thread{std::make_shared<const score::WindowTable>(windows), {0, 6000}};
        score::WindowedCalls recorded;
        for (std::size_t i = 0; i < with_calls; ++i) {
            thread.note_probe(windows[i].begin + 10, 20);
            const std::uint64_t calls = i % 2 == 0 ? 3 + by_turns : 3 - by_turns;
            recorded.clusters.add(static_cast<std::uint32_t>(i), number(calls), 0);
            recorded.inside += calls;
        }
        const auto estimate = score::WindowEstimate::by_calls(thread, {0, 6000}, {}, recorded,
                                                              {.calls = number(counted)}, probe);
        return estimate.slowing() != nullptr ? std::optional{*estimate.slowing()} : std::nullopt;
    };
    // Three calls in each 75 to 80 ticks of its own.
    const double own = 6000 - 6 * 20;
    CHECK(slowing(400, 1)->part == Approx(1 - 3. / 75 * own / 400));
    CHECK(slowing(400, 1)->ticks == Approx((1 - 3. / 80 * own / 400) * 6 * 80));
    CHECK(slowing(400, 1)->error == Approx(0).margin(1e-6));  // all windows are alike
    // A call more or less in each of six windows, about.
    CHECK(slowing(400, 1, 6, 1)->error == Approx(1. / 80 / std::sqrt(5.) * own / 400 * 6 * 80).epsilon(0.1));
    CHECK(slowing(400, 2)->part == Approx(1 - 3. / 50 * own / 400));
    CHECK(slowing(200, 1)->part == 0);
    CHECK(slowing(200, 1)->ticks == Approx((1 - 3. / 80 * own / 200) * 6 * 80));  // it is faster
    CHECK_FALSE(slowing(4000, 1, 4));  // too few windows with calls
}

TEST_CASE("phases, and windows that are short in hot ones, are no slowness", "[windows]") {
    // A call each 10 ticks, or each 1,000, by turns; six windows in each phase, of 50 or of 2,000 ticks.
    constexpr std::uint64_t kPhase = 60'000, kPhases = 20, kInPhase = 6;
    std::vector<trace::Window> windows;
    score::WindowedCalls recorded;
    std::uint64_t calls = 0;
    for (std::uint64_t i = 0; i < kPhases; ++i) {
        const std::uint64_t every = i % 2 == 0 ? 10 : 1000, length = i % 2 == 0 ? 50 : 2000;
        calls += kPhase / every;
        for (std::uint64_t n = 0; n < kInPhase; ++n) {
            const std::uint64_t begin = i * kPhase + n * kPhase / kInPhase + 4000;
            recorded.clusters.add(static_cast<std::uint32_t>(windows.size()), number(length / every), 0);
            windows.push_back({begin, begin + length});
        }
    }
    const trace::TickRange life{0, kPhase * kPhases};
    const score::ThreadWindows thread{std::make_shared<const score::WindowTable>(windows), life};
    const auto slowing = [&](std::uint64_t counted) {
        const auto estimate =
            score::WindowEstimate::by_calls(thread, life, {}, recorded, {.calls = number(counted)}, 1);
        return *estimate.slowing();
    };
    double inside = 0;
    for (const trace::Window& window : windows)
        inside += number(window.end - window.begin);
    CHECK(slowing(calls).part == 0);
    CHECK(std::abs(slowing(calls).ticks) < 0.05 * inside);
    CHECK(slowing(2 * calls).part > 0.3);
    CHECK(slowing(2 * calls).ticks == Approx(0.5 * inside).epsilon(0.05));
}

TEST_CASE("calls that were counted up to some time stand for the rest of the life", "[windows]") {
    CostlyProbes program;
    const double life = number(CostlyProbes::kEnd - kStart);
    program.count(program.calls * 3 / 4, kStart + (CostlyProbes::kEnd - kStart) * 3 / 4);
    const score::FunctionRow late = row(analyze(program.recording), "a");
    CHECK(number(late.occurrences) == Approx(number(program.calls)).epsilon(0.001));
    CHECK_FALSE(late.counted);
    // As uncertain as what was added is large.
    CHECK(late.occurrences_error == Approx(number(program.calls) / 4).epsilon(0.001));

    // Too little is known for that: as if nothing were.
    program.count(program.calls / 3, kStart + static_cast<std::uint64_t>(life / 3));
    const score::FunctionRow early = row(analyze(program.recording), "a");
    program.recording.info.functions[0].counted = false;
    const score::FunctionRow unknown = row(analyze(program.recording), "a");
    CHECK(early.occurrences == unknown.occurrences);
    CHECK(early.occurrences_error == Approx(unknown.occurrences_error));

    // Less than a call was missed: there is nothing to estimate.
    program.count(program.calls, CostlyProbes::kEnd - 10);
    CHECK(row(analyze(program.recording), "a").counted);
}

TEST_CASE("what a thread has counted is kept where no window says more", "[windows]") {
    CostlyProbes program;
    program.count(program.calls, CostlyProbes::kEnd);
    const std::uint64_t alone = row(analyze(program.recording), "a").occurrences;
    program.recording.thread(kStart, CostlyProbes::kEnd);
    trace::ThreadInfo& silent = program.recording.info.threads.back();
    silent.calls = {{.function = 0, .calls = 500}};
    silent.calls_until = kStart + (CostlyProbes::kEnd - kStart) / 4;
    const score::FunctionRow both = row(analyze(program.recording), "a");
    CHECK(both.occurrences == alone + 500);
    CHECK(both.occurrences_error == Approx(500));
}

TEST_CASE("a thread makes no calls while it is off the processors", "[windows]") {
    constexpr std::uint64_t kEnd = 256'000;
    const auto table = std::make_shared<const score::WindowTable>(std::vector<trace::Window>{{0, 1000}});
    score::ThreadWindows windows{table, {0, kEnd}};
    trace::ThreadInfo thread;
    thread.calls = {{.function = 0, .calls = 5000}};
    thread.calls_until = 100'000;
    trace::FunctionInfo function;
    function.counted = true;
    const auto counted = [&] { return counted_calls(function, 0, thread, {0, kEnd}, windows, 0); };
    // More than was seen is left, and no window tells of it: it is not taken to be more.
    REQUIRE(counted());
    CHECK(counted()->calls == 10'000);
    CHECK(counted()->error == 5000);
    std::vector<trace::Window> many;
    for (std::uint64_t at = 0; at < kEnd; at += 20'000)
        many.push_back({at, at + 1000});
    const score::ThreadWindows told{std::make_shared<const score::WindowTable>(many), {0, kEnd}};
    CHECK_FALSE(counted_calls(function, 0, thread, {0, kEnd}, told, 0));
    windows.note_off_cpu(std::vector<trace::OffCpu>{{.out = 40'000, .in = 90'000, .preempted = true},
                                                    {.out = 120'000, .in = 250'000}});
    REQUIRE(counted());
    CHECK(counted()->error == Approx(5000.0 * 26 / 50).epsilon(0.01));
    CHECK(counted()->calls == 5000 + counted()->error);

    // Off for nearly all of the time that is known.
    score::ThreadWindows off{table, {0, kEnd}};
    off.note_off_cpu(std::vector<trace::OffCpu>{{.out = 1000, .in = 199'000}});
    thread.calls_until = 200'000;
    const auto rest = counted_calls(function, 0, thread, {0, kEnd}, off, 0);
    REQUIRE(rest);
    CHECK(rest->error == Approx(5000.0 * 56 / 200));
}

TEST_CASE("of a part of the run it is not known how many calls were counted", "[windows]") {
    CostlyProbes program;
    program.count(program.calls, CostlyProbes::kEnd);
    score::Settings settings;
    settings.selection.until_ns = 20e6;
    const score::FunctionRow part = row(analyze(program.recording, settings), "a");
    CHECK_FALSE(part.counted);
    CHECK(part.occurrences < program.calls / 2);
    settings.selection.until_ns = 50e6;
    CHECK(row(analyze(program.recording, settings), "a").counted);
}

TEST_CASE("calls that were counted and never recorded are told, without a score", "[windows]") {
    Recording recording{2};
    recording.info.windows = random_windows(1);
    for (trace::FunctionInfo& function : recording.info.functions) {
        function.windowed_since = kStart;
        function.counted = true;
    }
    // Of b nothing was recorded in the one thread, and the other one has called neither.
    ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
    recording.thread(kStart, kStart + kDisturbedLife);
    for (const trace::Window& window : recording.info.windows)
        thread.call(window.begin, 0, 10);
    recording.info.threads[0].calls = {{0, 5000}, {1, 17}};
    for (trace::ThreadInfo& each : recording.info.threads)
        each.calls_until = kStart + kDisturbedLife;
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").counted);
    CHECK(row(report, "a").occurrences == 5000);
    CHECK(row(report, "a").threads.size() == 1);
    const score::FunctionRow& never = row(report, "b");
    CHECK(never.counted);
    CHECK(never.occurrences == 17);
    CHECK(never.recorded == 0);
    CHECK(never.few_windows);
    CHECK(never.rdam_high == 1);
    CHECK(never.min_ns == 0);
    output::TraceSymbols symbols{recording.info};
    const std::string text = output::to_text({report}, symbols, {.threads = true, .sequences = true});
    CHECK_THAT(text, Catch::Matches("[^]* b +17 [^]*"));
    CHECK(output::to_json({report}, symbols, {}).find("\"occurrences\": 17,") != std::string::npos);

    // Where one thread does not tell, the sum is an estimate.
    recording.info.threads[1].calls_until = 0;
    CHECK_FALSE(row(analyze(recording), "a").counted);
}

TEST_CASE("the calls before a function was sampled are not those that the windows stand for", "[windows]") {
    const std::uint64_t since = kStart + kDisturbedLife / 2;
    Program program{random_windows(3), since};
    program.recording.info.functions[0].counted = true;
    program.recording.info.threads[0].calls = {{0, program.calls}};
    program.recording.info.threads[0].calls_until = kStart + kDisturbedLife;
    const score::FunctionRow found = row(analyze(program.recording), "a");
    CHECK(found.counted);
    CHECK(found.occurrences == program.calls);
    CHECK(found.outermost == program.calls);
    CHECK(found.rdam == Approx(program.truth).margin(0.05));
    CHECK(contains(found, program.truth));
    // All of its calls are of one sequence.
    REQUIRE(found.sequences.size() == 1);
    CHECK(found.rdam_error > 0);
    CHECK(found.sequences.front().rdam == Approx(found.rdam));
    // Of one thread's estimate nothing is subtracted.
    CHECK(found.rdam == Approx(found.lost_ns / number(kDisturbedLife)));
}

TEST_CASE("a recursion is sampled by all of its calls", "[windows]") {
    Recording recording{1};
    recording.info.functions[0].windowed_since = kStart;
    recording.info.functions[0].counted = true;
    ThreadRecording& thread = recording.thread(kStart, kStart + 40'000'000);
    std::uint64_t outermost = 0;
    for (std::uint64_t begin = kStart; begin < kStart + 40'000'000; begin += 1'000'000, outermost += 500) {
        recording.info.windows.push_back({begin, begin + 20'000});
        for (std::uint64_t at = begin; at < begin + 20'000; at += 2000)
            thread.enter(at, 0).call(at + 100, 0, 200).leave(at + 400, 0);
    }
    recording.info.threads[0].calls = {{0, 2 * outermost}};
    recording.info.threads[0].calls_until = kStart + 40'000'000;
    const score::FunctionRow found = row(analyze(recording), "a");
    CHECK(found.occurrences == 2 * outermost);
    CHECK(found.outermost == outermost);
}

TEST_CASE("a function whose probes are most of what was seen has no score", "[windows]") {
    Recording recording{1};
    recording.info.functions[0].windowed_since = kStart;
    recording.info.clock.probe_ticks = 400;
    ThreadRecording& thread = recording.thread(kStart, kStart + 20'000'000);
    for (std::uint64_t begin = kStart + 100'000; begin < kStart + 19'000'000; begin += 1'000'000) {
        recording.info.windows.push_back({begin, begin + 50'000});
        for (std::uint64_t at = begin; at < begin + 49'000; at += 405)
            thread.call(at, 0, 3);
    }
    const score::Report report = analyze(recording);
    CHECK(row(report, "a").few_windows);
    CHECK(row(report, "a").rdam == 0);
    CHECK(row(report, "a").rdam_high == 1);

    // How often it was called may be known all the same.
    recording.info.functions[0].counted = true;
    recording.info.threads[0].calls = {{0, 2'000'000}};
    recording.info.threads[0].calls_until = kStart + 20'000'000;
    const score::FunctionRow counted = row(analyze(recording), "a");
    CHECK(counted.few_windows);
    CHECK(counted.occurrences == 2'000'000);
    CHECK(counted.occurrences_error == 0);
}

TEST_CASE("calls that cannot all have been like those in windows have no score", "[windows]") {
    for (const std::uint64_t calls :
         {kDisturbedLife / 1000, kDisturbedLife * 3 / 2000, kDisturbedLife / 100}) {
        Recording recording{1};
        recording.info.windows = random_windows(3);
        recording.info.functions[kA].windowed_since = kStart;
        recording.info.functions[kA].counted = true;
        ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
        for (const trace::Window& window : recording.info.windows)
            for (std::uint64_t at = window.begin; at < window.end; at += 1000)
                thread.call(at, kA, 900);
        recording.info.threads[0].calls = {{kA, calls}};
        recording.info.threads[0].calls_until = kStart + kDisturbedLife;
        const score::FunctionRow row = test::row(analyze(recording), "a");
        const bool possible = static_cast<double>(calls) * 900 < 1.25 * static_cast<double>(kDisturbedLife);
        CHECK(row.few_windows == !possible);
        CHECK(row.occurrences == calls);
    }
}

TEST_CASE("too few windows are no score but a note, and nothing is said to be lost", "[windows]") {
    Recording recording{2};
    recording.info.functions[0].windowed_since = kStart;
    recording.info.windows = random_windows(1);
    ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
    for (std::size_t i = 0; i < 4; ++i)
        for (std::uint64_t k = 0; k < 5; ++k)
            thread.call(recording.info.windows[10 * i].begin + 1000 * k, 0, 10 + 100 * k);
    thread.call(kStart + kDisturbedLife - 1000, 1, 10);
    const score::Report report = analyze(recording);
    CHECK_FALSE(row(report, "b").few_windows);
    const score::FunctionRow& found = row(report, "a");
    REQUIRE(found.few_windows);
    CHECK(found.rdam == 0);
    CHECK(found.rdam_low == 0);
    CHECK(found.rdam_high == 1);
    CHECK(found.lost_ns == 0);
    CHECK(found.lost_error_ns == 0);
    CHECK(found.rdam_all == 0);
    CHECK(found.rdam_all_high == 1);
    CHECK(found.rdam_self == 0);
    CHECK(found.rdam_self_high == 1);
    CHECK(found.threads.front().lost_ns == 0);
    REQUIRE(found.sequences.size() == 1);
    CHECK(found.sequences.front().rdam == 0);
    CHECK(found.sequences.front().rdam_high == 1);
    CHECK(found.sequences.front().lost_ns == 0);
    for (const score::CallerRow& caller : found.callers)
        CHECK(caller.lost_ns == 0);
    const auto notes = output::notes(report);
    CHECK(std::ranges::any_of(
        notes, [](const auto& note) { return note.find("These functions have no score") == 0; }));
    output::TraceSymbols symbols{recording.info};
    const std::string text =
        output::to_text({report}, symbols, {.threads = true, .sequences = true, .verbose = true});
    CHECK(text.find("  -      -/1\n") != std::string::npos);
    CHECK(text.find("lost ±") == std::string::npos);
}

TEST_CASE("what sampled calls took and lost is no more than the thread's life", "[windows]") {
    constexpr std::uint64_t kShort = 10, kLong = 22010;
    constexpr auto kCalls = static_cast<std::uint64_t>(1.1 * kDisturbedLife / 11000);
    Recording recording{1};
    trace::FunctionInfo& function = recording.info.functions[0];
    function.windowed_since = kStart;
    function.counted = true;
    recording.info.windows = random_windows(1);
    ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
    for (const trace::Window& window : recording.info.windows) {
        thread.enter(window.begin, 0, {}, 0x1000).leave(window.begin + kShort, 0);
        thread.enter(window.begin + 100, 0, {}, 0x2000).leave(window.begin + 100 + kLong, 0);
    }
    recording.info.threads[0].calls = {{0, kCalls}};
    recording.info.threads[0].calls_until = kStart + kDisturbedLife;
    const score::Report report = analyze(recording);
    const score::FunctionRow& found = row(report, "a");
    CHECK(found.lost_ns == Approx(report.threads_ns));
    CHECK(found.mean_ns == Approx(report.threads_ns / kCalls));
    CHECK(found.rdam_all == Approx(1));
    CHECK(found.threads.front().lost_ns == Approx(found.lost_ns));
    REQUIRE(found.sequences.size() == 1);
    CHECK(found.sequences.front().lost_ns == Approx(found.lost_ns));
    double lost = 0, shares = 0;
    for (const score::CallerRow& caller : found.callers) {
        lost += caller.lost_ns;
        shares += caller.share;
    }
    CHECK(lost == Approx(found.lost_ns));
    CHECK(shares == Approx(1));
    CHECK(found.rdam_low <= found.rdam);
    CHECK(found.rdam <= found.rdam_high);
    // What is far beyond that life is no estimate.
    recording.info.threads[0].calls = {{0, 2 * kCalls}};
    const score::Report impossible = analyze(recording);
    CHECK(row(impossible, "a").few_windows);
    CHECK(row(impossible, "a").lost_ns == 0);
    CHECK(row(impossible, "a").occurrences == 2 * kCalls);
}

TEST_CASE("one note is for all functions that were sampled, details are apart", "[windows]") {
    Recording recording{8};
    recording.info.windows = random_windows(1);
    ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
    for (std::size_t f = 0; f < 7; ++f)
        recording.info.functions[f].windowed_since = kStart;
    for (const trace::Window& window : recording.info.windows)
        for (std::uint32_t f = 0; f < 7; ++f)
            thread.call(window.begin + 100 * f, f, 10);
    const score::Report report = analyze(recording);
    const auto notes = output::notes(report);
    const auto about = std::ranges::count_if(
        notes, [](const auto& note) { return note.find("sampled in windows") != std::string::npos; });
    CHECK(about == 1);
    CHECK(notes.front().starts_with("7 functions were sampled in windows that cover "));
    CHECK(notes.front().find(" % of the run: a, b, c, d, e and 2 more.") != std::string::npos);
    CHECK(output::sampling_details(report).size() == 7);
}

TEST_CASE("a call that begins outside the windows is no part of the sample", "[windows]") {
    Program program{random_windows(2), kStart};
    const score::Report before = analyze(program.recording);
    // Accidents at edges, each of which lost a lot.
    ThreadRecording& thread = program.recording.thread(kStart, kStart + kDisturbedLife);
    for (const trace::Window& window : program.recording.info.windows) {
        thread.call(window.begin, 0, kDuration);
        thread.call(window.end, 0, 100'000);
    }
    const score::Report report = analyze(program.recording);
    CHECK(row(report, "a").max_ns == row(before, "a").max_ns);
    CHECK(row(report, "a").rdam == row(before, "a").rdam);
    CHECK(row(report, "a").recorded == row(before, "a").recorded + 2 * program.recording.info.windows.size());
}

TEST_CASE("a part of the run is scored by the windows in it", "[windows]") {
    const Program program{random_windows(4), kStart};
    score::Settings settings;
    settings.selection.since_ns = 50e6;
    settings.selection.until_ns = 150e6;
    const score::Report report = analyze(program.recording, settings);
    const score::FunctionRow& part = row(report, "a");
    CHECK(part.windows_cover == Approx(0.02).margin(0.005));
    CHECK(static_cast<double>(part.occurrences) ==
          Approx(static_cast<double>(program.calls) / 2).epsilon(0.25));
    settings.selection.until_ns = 51e6;
    CHECK(row(analyze(program.recording, settings), "a").few_windows);
}

TEST_CASE("the same recording in windows and complete: the difference is not taken for one", "[windows]") {
    const Program sampled{random_windows(6), kStart}, complete{{}, 0};
    const score::Report a = analyze(sampled.recording), b = analyze(complete.recording);
    const auto rows = score::compare_reports(a, b);
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].verdict == score::DiffVerdict::same);
    const std::string text = output::diff_text({{"a.bin", a}, {"b.bin", b}, rows}, {});
    CHECK(text.find("~ same, before is sampled") != std::string::npos);
    CHECK(text.find("compared only by their intervals") != std::string::npos);
}

TEST_CASE("whether a windowed call was recorded is no matter to the calls around it", "[windows]") {
    // a calls b, which is sampled and calls c; a calls c itself as well.
    Recording recording{3};
    recording.info.functions[1].windowed_since = kStart;
    recording.info.windows = {{kStart, kStart + 50'000}};
    ThreadRecording& thread = recording.thread(kStart, kStart + 100'000);
    for (std::uint64_t at = kStart; at < kStart + 90'000; at += 1000) {
        const bool recorded = at < kStart + 50'000;
        thread.enter(at, 0).call(at + 100, 2, 50);
        if (recorded) thread.enter(at + 200, 1);
        thread.call(at + 300, 2, 50);
        if (recorded) thread.leave(at + 400, 1);
        thread.leave(at + 600, 0);
    }
    const score::Report report = analyze(recording);
    const score::FunctionRow& outer = row(report, "a");
    CHECK(outer.scored_sequences == 1);
    CHECK(outer.single_sequences == 0);
    CHECK(outer.sequences[0].occurrences == 90);
    CHECK(outer.sequences[0].name.find('b') == std::string::npos);
    // The time of b is a's own, in windows as elsewhere.
    CHECK(outer.rdam_self == 0);
    // And b has a sequence of its own, with its child.
    const score::FunctionRow& inner = row(report, "b");
    CHECK(inner.recorded == 50);
    CHECK(inner.sequences.at(0).name.find('c') != std::string::npos);
}

TEST_CASE("patterns are those without windowed calls", "[windows]") {
    const auto patterns_of = [](bool with_b) {
        Recording recording{3};
        recording.info.functions[1].windowed_since = kStart;
        recording.info.windows = {{kStart, kStart + 100'000}};
        ThreadRecording& thread = recording.thread(kStart, kStart + 100'000);
        for (std::uint64_t at = kStart; at < kStart + 90'000; at += 1000) {
            thread.call(at, 0, 50);
            const bool recorded = with_b && at < kStart + 50'000;
            if (recorded) thread.enter(at + 100, 1);
            thread.call(at + 200, 2, 50);
            if (recorded) thread.leave(at + 300, 1);
        }
        return analyze(recording, {.patterns = true}).patterns;
    };
    const auto with = patterns_of(true), without = patterns_of(false);
    REQUIRE(with.size() == without.size());
    REQUIRE_FALSE(with.empty());
    for (std::size_t i = 0; i < with.size(); ++i) {
        CHECK(with[i].name == without[i].name);
        CHECK(with[i].occurrences == without[i].occurrences);
    }
}

TEST_CASE("a windowed call that never ends leaves no trace in the call around it", "[windows]") {
    Recording recording{3};
    recording.info.functions[1].windowed_since = kStart;
    recording.info.windows = {{kStart, kStart + 50'000}};
    ThreadRecording& thread = recording.thread(kStart, kStart + 100'000);
    for (std::uint64_t at = kStart; at < kStart + 90'000; at += 1000) {
        thread.enter(at, 0);
        if (at < kStart + 50'000) thread.enter(at + 200, 1);
        thread.call(at + 300, 2, 50).leave(at + 600, 0);
    }
    const score::Report report = analyze(recording, {.patterns = true});
    CHECK(row(report, "a").scored_sequences == 1);
    CHECK(row(report, "b").unscored == 50);
}

TEST_CASE("groups of windowed calls that are put together are those of an analysis with other keys",
          "[windows]") {
    Recording recording{1, 2};
    recording.info.functions[0].windowed_since = kStart + 20'000'000;
    recording.info.windows = random_windows(8);
    ThreadRecording& thread = recording.thread(kStart, kStart + kDisturbedLife);
    std::mt19937_64 random{8};
    for (std::uint64_t at = kStart; at < kStart + kDisturbedLife - 5000; at += 2000 + random() % 2000) {
        const bool complete = at < kStart + 20'000'000;
        const auto& all = recording.info.windows;
        const auto next = std::ranges::upper_bound(all, at, {}, &trace::Window::end);
        if (complete || (next != all.end() && next->begin <= at))
            thread.call(at, 0, 100 + random() % 500, {random() % 3, random() % 2});
    }
    const score::ResolvedSettings kept = score::with_candidates(recording.info, resolved(recording));
    const score::AnalyzedTrace trace = read(recording, kept);
    for (const bool keyed : {false, true}) {
        score::Settings settings;
        if (keyed) settings.given.keys = {"a:k"};
        const score::ResolvedSettings wanted = resolved(recording, settings);
        REQUIRE(score::can_regroup(trace, kept, wanted));
        const score::ThreadList threads = score::regroup(trace, kept, wanted);
        const score::Report put_together = score::make_report(trace.facts(), wanted, threads, 1000);
        const score::Report read_anew = analyze(recording, settings);
        const score::FunctionRow &a = row(put_together, "a"), &b = row(read_anew, "a");
        CHECK(a.scored_sequences == (keyed ? 3 : 1));
        CHECK(a.scored_sequences == b.scored_sequences);
        CHECK(a.rdam == Approx(b.rdam));
        CHECK(a.rdam_low == Approx(b.rdam_low));
        CHECK(a.rdam_high == Approx(b.rdam_high));
        CHECK(a.rdam_self == Approx(b.rdam_self));
        CHECK(a.occurrences == b.occurrences);
        CHECK(a.occurrences_error == Approx(b.occurrences_error));
        CHECK(a.lost_error_ns == Approx(b.lost_error_ns));
    }
}

TEST_CASE("more windows than clusters: neighbours are put together", "[windows]") {
    std::vector<trace::Window> windows;
    for (std::uint64_t i = 0; i < 1000; ++i)
        windows.push_back({1000 * i + 100, 1000 * i + 200});
    const auto table = std::make_shared<const score::WindowTable>(windows);
    score::ThreadWindows thread{table, {100'000, 900'000}};
    std::vector<double> found(score::ThreadWindows::kMaxClusters);
    for (std::uint64_t t = 100'000; t < 900'000; t += 10)
        if (const std::uint32_t cluster = thread.cluster_at(t, 0, 1);
            cluster != score::ThreadWindows::kOutside)
            found.at(cluster) += 10;
    CHECK(thread.lives({100'000, 900'000}, 0, 1) == found);
    CHECK(thread.cluster_at(500'100, 0, 1) != score::ThreadWindows::kOutside);
    CHECK(thread.cluster_at(500'200, 0, 1) == score::ThreadWindows::kOutside);
    CHECK(thread.cluster_at(99'150, 0, 1) == score::ThreadWindows::kOutside);
    double sum = 0;
    for (const double each : thread.lives({150'150, 250'150}, 0, 1))
        sum += each;
    CHECK(sum == 100 * 100);
    // Of a function that is sampled since the middle of a cluster, that one says nothing.
    const auto late = thread.lives({100'000, 900'000}, 0, 500'150);
    const std::uint32_t cluster = thread.cluster_at(500'150, 0, 1);
    CHECK(late[cluster] == 0);
    CHECK(late[cluster + 1] == found[cluster + 1]);
    CHECK(thread.cluster_at(500'160, 0, 500'150) == score::ThreadWindows::kOutside);
}

TEST_CASE("time off the processors is not the program's own, and pauses are not taken twice", "[windows]") {
    const auto table =
        std::make_shared<const score::WindowTable>(std::vector<trace::Window>{{100, 200}, {300, 400}});
    score::ThreadWindows thread{table, {0, 1000}};
    thread.note_pause(150, 250);
    const std::vector<trace::OffCpu> off{
        {.out = 120, .in = 160}, {.out = 240, .in = 320}, {.out = 900, .in = 950}};
    thread.note_off_cpu(off);
    CHECK(thread.inside(0, 0) == 80);  // 120…200
    CHECK(thread.inside(0, 1) == 20);
    // Besides, 200…250, 250…300 and 900…950.
    CHECK(thread.taken_since(0) == Approx(80 + 20 + 50 + 50 + 50));
    CHECK(thread.taken_since(500) == Approx(50));
}

TEST_CASE("of a part of a thread's life, only the time off the processors in it counts", "[windows]") {
    const auto table = std::make_shared<const score::WindowTable>(
        std::vector<trace::Window>{{100, 200}, {300, 400}, {500, 600}});
    score::ThreadWindows thread{table, {310, 550}};
    const std::vector<trace::OffCpu> off{
        {.out = 0, .in = 250}, {.out = 305, .in = 320}, {.out = 540, .in = 700}, {.out = 800, .in = 900}};
    thread.note_off_cpu(off);
    REQUIRE(thread.lives({310, 550}, 0, 0).size() == 2);
    CHECK(thread.inside(0, 0) == 10);
    CHECK(thread.inside(0, 1) == 10);
    CHECK(thread.taken_since(310) == Approx(20));
}

TEST_CASE("each group has its own windows", "[windows]") {
    const auto table = std::make_shared<const score::WindowTable>(
        std::vector<trace::Window>{{100, 200, 0}, {300, 400, 1}, {500, 600, 0}, {700, 900, 1}});
    score::ThreadWindows thread{table, {0, 1000}};
    CHECK(thread.cluster_at(150, 0, 0) == 0);
    CHECK(thread.cluster_at(150, 1, 0) == score::ThreadWindows::kOutside);
    CHECK(thread.cluster_at(350, 0, 0) == score::ThreadWindows::kOutside);
    CHECK(thread.cluster_at(350, 1, 0) == 0);
    CHECK(thread.cluster_at(550, 0, 0) == 1);
    CHECK(thread.cluster_at(550, 2, 0) == score::ThreadWindows::kOutside);
    CHECK(thread.lives({0, 1000}, 0, 0) == std::vector<double>{100, 100});
    CHECK(thread.lives({0, 1000}, 1, 0) == std::vector<double>{100, 200});
    thread.note_probe(350, 7);
    thread.note_pause(590, 710);
    CHECK(thread.probes(1, 0) == 7);
    CHECK(thread.probes(0, 0) == 0);
    CHECK(thread.inside(0, 1) == 10);
    CHECK(thread.inside(1, 1) == 10);
    CHECK(thread.taken_since(0) == Approx(127));
}

TEST_CASE("the variance between windows is that of a ratio", "[windows]") {
    const auto table = std::make_shared<const score::WindowTable>(
        std::vector<trace::Window>{{0, 10}, {100, 130}, {200, 220}});
    const score::ThreadWindows thread{table, {0, 600}};
    const auto estimate = score::WindowEstimate::by_time(thread, {0, 600}, {});
    const double expansion = 600.0 / 60;
    CHECK(estimate.expansion() == Approx(expansion));
    const std::vector<double> y{10, 60, 50};  // 2 a tick of 10, 30 and 20, but for −10, 0 and 10
    CHECK(estimate.variance(y) ==
          Approx(expansion * expansion * (100 + 0 + 100) * 3 / 2 * (1 - 1 / expansion)));
}

TEST_CASE("the variance between windows is that of a ratio to the calls, where they were counted",
          "[windows]") {
    const auto table = std::make_shared<const score::WindowTable>(
        std::vector<trace::Window>{{0, 10}, {100, 130}, {200, 220}});
    const score::ThreadWindows thread{table, {0, 600}};
    score::WindowedCalls recorded{.before = 40, .inside = 60, .clusters = {}};
    recorded.clusters.add(0, 10, 0);
    recorded.clusters.add(1, 20, 0);
    recorded.clusters.add(2, 30, 0);
    const auto estimate = score::WindowEstimate::by_calls(thread, {0, 600}, {}, recorded, {.calls = 340}, 1);
    const double expansion = 300.0 / 60;
    CHECK(estimate.expansion() == Approx(expansion));
    CHECK(estimate.calls(recorded) == 340);
    CHECK(estimate.calls_variance(recorded) == 0);
    const std::vector<double> y{10, 40, 70};  // 2 a call of 10, 20 and 30, but for −10, 0 and 10
    const double between = expansion * expansion * (100 + 0 + 100) * 3 / 2 * (1 - 1 / expansion);
    CHECK(estimate.variance(y) == Approx(between));
    const auto unsure =
        score::WindowEstimate::by_calls(thread, {0, 600}, {}, recorded, {.calls = 340, .error = 30}, 1);
    CHECK(unsure.calls_variance(recorded) == 900);
    CHECK(unsure.variance(y) == Approx(between + 0.1 * expansion * 120 * 0.1 * expansion * 120));
}

}  // namespace rdam::test
