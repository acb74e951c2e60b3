// What the recorder's own threads took is no call's time, no lost time, and no part of a thread's life.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyzer/calls/call_stream.h"
#include "analyzer/calls/matcher.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/text.h"
#include "analyzer/report/report.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tools/trace/reader.h"

namespace rdam::test {
namespace {

trace::OffCpu by_recorder(std::uint64_t out, std::uint64_t in) {
    return {.out = out, .in = in, .cpu = 0, .preempted = true, .by_recorder = true};
}

std::vector<trace::Event> calls_at(const std::vector<std::uint64_t>& times) {
    std::vector<trace::Event> events;
    for (const std::uint64_t time : times) {
        trace::Event& event = events.emplace_back();
        event.tsc = time;
    }
    return events;
}

/// The events by their begins, pauses in brackets.
std::string order(std::span<const trace::Event> events) {
    std::string text;
    for (const trace::Event& event : events) {
        const bool pause = event.kind == trace::EventKind::pause;
        text += pause ? "[" + std::to_string(event.tsc) + "-" + std::to_string(event.until) + "] "
                      : std::to_string(event.tsc) + " ";
    }
    return text;
}

/// A thousand calls of the same work, in every tenth of which somebody has the processor for five times as
/// long.
void disturb(ThreadRecording& thread, bool by_the_recorder, bool told) {
    std::uint64_t now = 1000;
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t off = i % 10 == 0 ? 500 : 0;
        thread.enter(now, kA).enter(now + 10, kB).leave(now + 70 + off, kB).leave(now + 100 + off, kA);
        if (off > 0 && told)
            thread.off({.out = now + 20,
                        .in = now + 20 + off,
                        .cpu = 0,
                        .preempted = true,
                        .by_recorder = by_the_recorder});
        now += 100 + off + 10;
    }
}

Recording disturbed_work(bool by_the_recorder, int threads = 1) {
    Recording recording{2};
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    for (int t = 0; t < threads; ++t)
        disturb(recording.thread(1, 200'001), by_the_recorder, threads == 1);
    return recording;
}

score::Report report_of(const Recording& recording, const score::Settings& settings = {}) {
    const MemoryFile file;
    write_file(recording, file.path());
    const auto reader = trace::TraceReader::open(file.path());
    REQUIRE(reader);
    const auto report =
        score::score_trace(*reader, settings, {.max_patterns = 100, .samples = true, .progress = {}});
    REQUIRE(report);
    return *report;
}

}  // namespace

TEST_CASE("pauses stand in front of the first event behind their begin", "[pauses]") {
    const std::vector<trace::OffCpu> intervals = {by_recorder(5, 8), by_recorder(15, 18), by_recorder(19, 25),
                                                  by_recorder(40, 41)};
    calls::OffCpuPauses pauses{intervals, UINT64_MAX};
    const auto first = calls_at({10, 12});
    CHECK(order(pauses.among(first)) == "[5-8] 10 12 ");
    const auto second = calls_at({13, 20, 30});
    CHECK(order(pauses.among(second)) == "13 [15-18] [19-25] 20 30 ");
    const auto third = calls_at({31});
    CHECK(pauses.among(third).data() == third.data());
    CHECK(order(pauses.rest()) == "[40-41] ");
    CHECK(pauses.rest().empty());
}

TEST_CASE("times off the processor that are not the recorder's are no pauses", "[pauses]") {
    const std::vector<trace::OffCpu> intervals = {{.out = 5, .in = 8, .preempted = true},
                                                  {.out = 9, .in = 11}};
    calls::OffCpuPauses pauses{intervals, UINT64_MAX};
    const auto events = calls_at({7, 20});
    CHECK(order(pauses.among(events)) == "7 20 ");
    CHECK(pauses.rest().empty());
}

TEST_CASE("time off the processor while the recorder packs is told apart", "[pauses]") {
    const std::vector<trace::OffCpu> intervals = {{.out = 5, .in = 8},
                                                  {.out = 12, .in = 14, .preempted = true},
                                                  by_recorder(14, 30),
                                                  {.out = 90, .in = 95}};
    calls::OffCpuPauses pauses{intervals, UINT64_MAX};
    std::vector<trace::Event> events = calls_at({1, 7, 20, 60, 80});
    const auto hold = [&](std::size_t event, std::uint64_t until, trace::PauseReason reason) {
        events[event].kind = trace::EventKind::pause;
        events[event].until = until;
        events[event].reason = reason;
    };
    hold(1, 13, trace::PauseReason::new_chunk);    // 7–8, 12–13
    hold(2, 22, trace::PauseReason::stack_copy);   // 20–22
    hold(3, 70, trace::PauseReason::new_chunk);    // never off
    hold(4, 99, trace::PauseReason::buffer_full);  // waits anyway
    pauses.note_pauses(std::span{events}.first(2));
    CHECK(pauses.off_cpu_in_pauses() == 2);
    pauses.note_pauses(std::span{events}.subspan(2));
    CHECK(pauses.off_cpu_in_pauses() == 4);
}

TEST_CASE("an impossible time-stamp does not bring all pauses forward", "[pauses]") {
    const std::vector<trace::OffCpu> intervals = {by_recorder(50, 60)};
    calls::OffCpuPauses pauses{intervals, 1000};
    const auto events = calls_at({10, 1'000'000, 20, 70});
    CHECK(order(pauses.among(events)) == "10 1000000 20 [50-60] 70 ");
}

TEST_CASE("constant work that only the recorder preempted loses nothing", "[pauses]") {
    const score::Report report = report_of(disturbed_work(true), {.patterns = true});
    for (const score::FunctionRow& row : report.functions) {
        CAPTURE(row.name);
        CHECK(row.rdam == 0);
        CHECK(row.rdam_flat == 0);
        CHECK(row.lost_ns == 0);
        CHECK(row.max_ns == row.min_ns);
    }
    for (const score::PatternRow& pattern : report.patterns)
        CHECK(pattern.lost_ns == 0);
    REQUIRE(report.threads.size() == 1);
    CHECK(report.threads[0].paused_ns == 100 * 500);
    CHECK(report.threads_ns == report.threads[0].duration_ns - 100 * 500);
    CHECK(report.agent_ns == 100 * 500);
    CHECK(report.perturbation == Approx(100 * 500 / report.threads_ns));
    REQUIRE(report.threads[0].off_cpu);
    CHECK(report.threads[0].off_cpu->preempted_ns == 0);
    CHECK(report.threads[0].off_cpu->recorder_ns == 100 * 500);
    CHECK(report.threads[0].off_cpu->switches == 100);
    CHECK(report.cost.switches_ns == 100 * 2400);
    CHECK(output::recording_cost(report).ends_with(
        ", context switches 240 µs, agent 50.0 µs on busy processors"));
}

TEST_CASE("the same preempted by others is lost time", "[pauses]") {
    const score::Report report = report_of(disturbed_work(false));
    CHECK(row(report, "a").lost_ns == 100 * 500);
    CHECK(row(report, "a").rdam == Approx(100 * 500 / report.threads_ns));
    CHECK(report.agent_ns == 0);
    CHECK(report.threads[0].off_cpu->preempted_ns == 100 * 500);
    // 240 µs of records do not fit into the 150 µs on the processor.
    CHECK(report.cost.slowdown == Approx(10));
    Recording handed_over = disturbed_work(false);
    handed_over.info.switches.handed_over = 50;
    CHECK(report_of(handed_over).cost.switches_ns == Approx(100 * 1800));
}

TEST_CASE("recording makes a run as much longer as it has of the processors' time that the run gets") {
    const score::ThreadCost half{.probes_ns = 500};
    CHECK(score::recording_cost({half}, 1000, 1).slowdown == Approx(2));
    CHECK(score::recording_cost({half, half}, 1000, 2).slowdown == Approx(2));
    // Of 150 on the processor 100 are recording: without it, others would have taken less, too.
    const score::ThreadCost displaced{.switches_ns = 100, .stretch = 200.0 / 150};
    CHECK(score::recording_cost({displaced}, 200, 1).slowdown == Approx(3));
    score::ThreadCost shared{.probes_ns = 100, .stretch = 5};
    CHECK(score::recording_cost({shared}, 1000, 1).slowdown == Approx(2));
    CHECK(score::recording_cost({shared, shared}, 1000, 2).slowdown == Approx(2));
    // Four threads on two processors that are all at work.
    const score::ThreadCost crowded{.probes_ns = 250, .stretch = 2};
    CHECK(score::recording_cost({crowded, crowded, crowded, crowded}, 1000, 4).slowdown == Approx(2));
    // The agent's own time is not stretched: it took just that.
    shared.agent_ns = 250;
    CHECK(score::recording_cost({shared}, 1000, 1).slowdown == Approx(4));
    CHECK(score::recording_cost({{.probes_ns = 1100}}, 1000, 1).slowdown == score::kMaxSlowdown);
    CHECK(score::recording_cost({}, 0, 0).slowdown == 1);
    CHECK(score::recording_cost({}, 1000, 1).slowdown_high == 1);
    // Half a gate is felt where there are few, and a whole one where there are more of them than of the
    // program. What is not seen, 0.08, and how wrong that is have nothing to do with each other. A start of
    // 35 ms.
    const auto gates = [](double part) { return score::recording_cost({{.gates_ns = part * 1e9}}, 1e9, 1); };
    CHECK(gates(0.2).slowdown_low == Approx(1 / (1 - 0.25 * 0.2)));
    const double low = 1 / (1 - 0.25 * 0.2), high = 1 / (1 - 0.58 * 0.2);
    CHECK(gates(0.2).slowdown_high == Approx((low + high) / 2 + std::hypot((high - low) / 2, 0.08) + 0.035));
    CHECK(gates(0.39).slowdown_high == Approx(gates(0.41).slowdown_high).epsilon(0.05));
    CHECK(gates(0.9).slowdown_high == score::kMaxSlowdown);
    CHECK(score::recording_cost({{.probes_ns = 1}}, 1e6, 1).slowdown_high == Approx(1.28).epsilon(0.001));
}

TEST_CASE("what is not known of a run's length is not said of it") {
    score::Report report;
    report.cost = {.probes_ns = 1000, .slowdown = 1.07, .slowdown_low = 1.04, .slowdown_high = 1.12};
    CHECK(output::recording_cost(report) == "recording made this run 1.04 to 1.12 × as long: probes 1.00 µs");
    report.cost.idle_machine = true;
    CHECK(output::recording_cost(report) ==
          "recording made this run 1.04 to 1.12 × as long (assuming no other load): probes "
          "1.00 µs");
    report.cost.slowdown = report.cost.slowdown_high = score::kMaxSlowdown;
    report.cost.slowdown_low = 6.2;
    CHECK(output::recording_cost(report).starts_with("recording made this run 6 × as long or more"));
    CHECK(output::made_longer(report.cost) == "≥10 ×");
}

TEST_CASE("a window takes the part of a recorder's pause that lies in it", "[pauses]") {
    score::Settings settings;
    settings.selection.since_ns = 1000;
    settings.selection.until_ns = 1249;  // 250 ticks behind the first call's begin
    const score::Report report = report_of(disturbed_work(true), settings);
    CHECK(report.agent_ns == 1250 - 1020);
}

TEST_CASE("where switches are not known the agent's time bounds what it may have done", "[pauses]") {
    Recording recording = disturbed_work(false);
    recording.info.switches.state = trace::SwitchInfo::State::unavailable;
    recording.info.agent = {.cpu_seconds = 1, .running_cpu_seconds = 60e-6, .told = true};
    const score::Report report = report_of(recording);
    CHECK(report.agent_bound_ns == Approx(60'000));
    CHECK(row(report, "a").maybe_recorder);
    CHECK(std::ranges::any_of(output::notes(report), [](const std::string& note) {
        return note.ends_with("it may have caused the lost time of 2 functions (marked ?).");
    }));
    output::TraceSymbols symbols{recording.info};
    const std::string text = output::to_text({report}, symbols, {});
    CHECK(text.find("?0.") != std::string::npos);
    CHECK(text.find("?: The recorder may have caused this loss") != std::string::npos);

    recording.info.agent.running_cpu_seconds = 40e-6;
    CHECK_FALSE(row(report_of(recording), "a").maybe_recorder);
    recording.info.agent = {};
    CHECK_FALSE(row(report_of(recording), "a").maybe_recorder);
    recording.info.agent = {.cpu_seconds = 1, .running_cpu_seconds = 1, .told = true};
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    CHECK_FALSE(row(report_of(recording), "a").maybe_recorder);
}

TEST_CASE("in a part of the run the agent has run for no longer than that lasts", "[pauses]") {
    Recording recording = disturbed_work(false, 5);
    recording.info.switches.state = trace::SwitchInfo::State::unavailable;
    recording.info.agent = {.cpu_seconds = 1, .running_cpu_seconds = 60e-6, .told = true};
    score::Settings part;
    part.selection.until_ns = 30'000;
    const score::Report report = report_of(recording, part);
    CHECK(report.agent_bound_ns == report.duration_ns);
    CHECK(report.duration_ns <= 30'000);
    const score::FunctionRow a = row(report, "a");
    CHECK(a.lost_ns > 30'000);
    CHECK(a.lost_ns < 60'000);
    CHECK_FALSE(a.maybe_recorder);

    part.selection.threads = {"101"};
    const score::Report one = report_of(recording, part);
    CHECK(row(one, "a").maybe_recorder);
    CHECK(std::ranges::any_of(output::notes(one), [](const std::string& note) {
        return note.starts_with("rdam-agent may have run for all of these 30.0 µs, perhaps");
    }));
}

TEST_CASE("a call in which the recorder had the processor sets no baseline", "[off_cpu_pauses]") {
    // It goes by the clock: what the recorder took of it is not missing at its end.
    Recording recording{1};
    recording.info.switches.state = trace::SwitchInfo::State::recorded;
    ThreadRecording& thread = recording.thread(1, 300'001);
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::uint64_t begin = 1000 + 210 * i;
        thread.enter(begin, kA).leave(begin + 200, kA);
        if (i % 250 == 17) thread.off(by_recorder(begin + 5, begin + 195));
    }
    for (const auto kind :
         {score::Baseline::Kind::thread, score::Baseline::Kind::process, score::Baseline::Kind::minimum}) {
        score::Settings settings;
        settings.baseline.kind = kind;
        const score::Report report = report_of(recording, settings);
        REQUIRE(report.functions.size() == 1);
        CHECK(report.functions[0].rdam == 0);
        CHECK(report.functions[0].rdam_flat == 0);
        CHECK(report.functions[0].rdam_self == 0);
        CHECK(report.functions[0].min_ns == 200);
        CHECK(report.functions[0].outermost == 1000);
    }
}

}  // namespace rdam::test
