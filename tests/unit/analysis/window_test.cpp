// A part of a trace: windows of time, threads, functions.
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/calls/call_stream.h"
#include "analyzer/calls/matcher.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/selection.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

score::Settings window(double since, double until) {
    score::Settings settings;
    settings.selection.since_ns = since;
    settings.selection.until_ns = until;
    return settings;
}

struct SeenCall {
    std::uint32_t function = 0;
    std::uint64_t begin = 0, end = 0, duration = 0;
    std::uint64_t opener_begin = 0;  ///< of a tail call's frame; else = begin

    friend auto operator<=>(const SeenCall&,
                            const SeenCall&) = default;  // NOLINT(modernize-use-nullptr): there is none
};

/// The calls of a thread with their times, events being fed one by one.
class WindowCollector : public calls::CallSink {
  public:
    explicit WindowCollector(std::size_t functions) : matcher_(functions, {}, {}, *this) {}

    void feed(std::span<const trace::Event> events) {
        for (const trace::Event& event : events) {
            now_ = event.tsc;
            matcher_.consume({&event, 1});
        }
    }

    std::vector<SeenCall> take() {
        matcher_.finish();
        std::ranges::sort(seen_);
        return seen_;
    }
    const calls::MatchCounts& counts() const { return matcher_.counts(); }

  private:
    void opened(const trace::Event& enter, std::uint64_t /*weight*/) override {
        const bool tail = enter.kind == trace::EventKind::tail_enter;
        open_.emplace_back(enter.tsc, tail ? open_.back().first : enter.tsc);
    }
    void closed(const calls::Call& call) override {
        const auto [begin, opener] = open_.back();
        open_.pop_back();
        seen_.push_back({call.function, begin, now_, call.duration, opener});
    }
    void abandoned(std::size_t count) override { open_.resize(open_.size() - count); }
    void tree_ended(std::uint64_t /*weight*/) override {}

    calls::Matcher matcher_;
    std::uint64_t now_ = 0;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> open_;
    std::vector<SeenCall> seen_;
};

}  // namespace

TEST_CASE("calls that do not lie wholly inside the window are cut off", "[window]") {
    Recording recording{3};
    ThreadRecording& thread = recording.thread(1000, 2000);
    thread.call(1010, kA, 10).enter(1050, kB).call(1060, kC, 10);  // c: before the window
    thread.call(1110, kC, 10).call(1130, kC, 20).leave(1160, kB);  // b: reaches into it
    thread.call(1170, kA, 10).call(1190, kA, 15);
    thread.enter(1290, kA).call(1292, kC, 5).leave(1310, kA);  // reaches out of it
    thread.call(1320, kA, 10);

    const score::Report report = analyze(recording, window(100, 300));
    CHECK(report.duration_ns == 200);
    CHECK(report.threads[0].duration_ns == 200);
    CHECK(report.left_out.cut_off == 2);
    CHECK(report.counts.unmatched_leaves == 0);
    CHECK(report.counts.abandoned_at_end == 0);
    CHECK(row(report, "a").occurrences == 3);
    CHECK(row(report, "a").outermost == 2);
    CHECK(row(report, "a").unscored == 1);
    CHECK(row(report, "a").lost_ns == 5);
    CHECK(row(report, "a").rdam == Approx(5.0 / 200));
    CHECK(row(report, "c").occurrences == 3);
    CHECK(row(report, "c").lost_ns == 5 + 15);
    CHECK(report.never_called == std::vector<std::string>{"app:b"});

    // Each call is counted in the window in which it begins.
    for (const char* name : {"a", "b", "c"}) {
        std::uint64_t sum = 0;
        for (const double begin : {0, 100, 160, 300, 320}) {
            const double ends[] = {100, 160, 300, 320, 1000};
            const double end = *std::ranges::upper_bound(ends, begin);
            for (const score::FunctionRow& part : analyze(recording, window(begin, end)).functions)
                sum += part.name == name ? part.occurrences : 0;
        }
        CHECK(sum == row(analyze(recording), name).occurrences);
    }
}

TEST_CASE("what the recorder took outside of the window does not count", "[window]") {
    Recording recording{1};
    recording.thread(1000, 2000)
        .pause(1090, 1120)  // reaches into it
        .enter(1150, kA)
        .pause(1160, 1170)
        .leave(1200, kA)
        .pause(1280, 1330)
        .pause(1400, 1500);
    const score::Report report = analyze(recording, window(100, 300));
    CHECK(report.paused_ns == 20 + 10 + 20);
    CHECK(row(report, "a").min_ns == 40);
}

TEST_CASE("a window that holds the whole run changes nothing", "[window]") {
    std::mt19937_64 random{11};
    for (int round = 0; round < 200; ++round) {
        const Recording recording = random_recording(random, {.threads = 3, .events = 80});
        const score::Report whole = analyze(recording);
        score::Report part = analyze(recording, window(0, 1e9));
        CHECK(part.left_out.cut_off <= whole.counts.abandoned_at_end + whole.counts.bad_clock);
        REQUIRE(part.functions.size() == whole.functions.size());
        // Times before the run's start lie outside.
        const auto start = std::ranges::min(recording.info.threads, {}, &trace::ThreadInfo::start).start;
        const auto end = std::ranges::max(recording.info.threads, {}, &trace::ThreadInfo::end).end;
        if (whole.counts.bad_clock > 0 || whole.duration_ns > static_cast<double>(end - start)) continue;
        for (std::size_t i = 0; i < whole.functions.size(); ++i) {
            CHECK(part.functions[i].name == whole.functions[i].name);
            CHECK(part.functions[i].occurrences == whole.functions[i].occurrences);
            CHECK(part.functions[i].rdam == whole.functions[i].rdam);
            CHECK(part.functions[i].lost_ns == whole.functions[i].lost_ns);
        }
    }
}

TEST_CASE("of random programs the scored calls are those wholly inside", "[window]") {
    std::mt19937_64 random{12};
    for (int round = 0; round < 3000; ++round) {
        const Recording recording =
            random_recording(random, {.threads = 1, .events = 60, .accidents = false});
        const std::vector<trace::Event>& events = recording.threads[0].pieces()[0].events;
        WindowCollector whole{recording.info.functions.size()};
        whole.feed(events);
        const trace::TickRange range{events[random() % events.size()].tsc + random() % 3,
                                     events[random() % events.size()].tsc + random() % 3};
        calls::EventWindow window{range, recording.info.functions.size(), {}};
        WindowCollector part{recording.info.functions.size()};
        for (std::size_t at = 0; at < events.size();) {
            const std::size_t count = std::min<std::size_t>(1 + random() % 20, events.size() - at);
            part.feed(window.inside(std::span{events}.subspan(at, count)));
            at += count;
        }
        std::vector<SeenCall> expected;
        std::uint64_t cut_at_begin = 0;
        for (const SeenCall& call : whole.take()) {
            const bool from_before = call.begin < range.begin || call.opener_begin < range.begin;
            const bool reaches_in = call.end >= range.begin && call.begin < range.end;
            if (!from_before && range.contains(call.begin) && range.contains(call.end))
                expected.push_back(call);
            if (from_before && call.end >= range.begin && (call.begin < range.begin || reaches_in))
                ++cut_at_begin;
        }
        CHECK(part.take() == expected);
        CHECK(part.counts().unmatched_leaves == 0);
        CHECK(part.counts().stray_tail_enters == 0);
        if (range.begin < range.end) CHECK(window.cut_at_begin() == cut_at_begin);
    }
}

TEST_CASE("a call keeps the weight of the tree that began before the window", "[window]") {
    Recording recording{2};
    ThreadRecording& thread = recording.thread(1000, 2000);
    thread.tree(3).enter(1010, kA).call(1110, kB, 10).call(1130, kB, 20).leave(1200, kA);
    const score::FunctionRow part = row(analyze(recording, window(100, 1000)), "b");
    CHECK(part.occurrences == 16);
    CHECK(part.sampled);
    CHECK(part.lost_ns == 80);
}

TEST_CASE("threads without a life in the window are left out", "[window]") {
    Recording recording{1};
    recording.thread(1000, 5000).call(1500, kA, 10).call(2500, kA, 20).call(2600, kA, 10);
    recording.thread(1000, 2000).call(1500, kA, 10);              // over before it
    recording.thread(3000, 4000).call(3500, kA, 10);              // begins behind it
    recording.thread(2500, 2600).call(2520, kA, 10);              // inside
    recording.thread(0, 0).call(1500, kA, 10).call(2100, kA, 5);  // killed: to its last event
    recording.thread(0, 0).call(1500, kA, 10).call(4100, kA, 5);  // lives on behind the window
    recording.thread(1100, 0).call(1500, kA, 10);                 // killed before it
    const score::Report report = analyze(recording, window(1000, 2000));
    CHECK(report.left_out.threads == 3);
    std::vector<std::pair<std::uint32_t, double>> lives;
    for (const score::ThreadRow& thread : report.threads)
        lives.emplace_back(thread.tid, thread.duration_ns);
    CHECK(lives ==
          std::vector<std::pair<std::uint32_t, double>>{{100, 1000}, {103, 100}, {104, 105}, {105, 1000}});
    CHECK(row(report, "a").occurrences == 4);
    CHECK(row(report, "a").rdam == Approx(10.0 / 1000));
}

TEST_CASE("the window counts from the start of the run's first process", "[window]") {
    Recording recording{1};
    recording.thread(1000, 9000).call(2000, kA, 10).call(3000, kA, 10).call(4000, kA, 10);
    recording.info.clock.start_tsc = 500;
    recording.info.clock.start_unix_ns = 1'000'000'000;
    CHECK(score::start_unix_ns(recording.info) == 1'000'000'500);
    score::Settings settings = window(1500, 3000);
    CHECK(row(analyze(recording, settings), "a").occurrences == 1);
    settings.selection.run_start_unix_ns = 1'000'000'500 - 1000;  // 1000 ns older than the process
    const score::Report report = analyze(recording, settings);
    CHECK(row(report, "a").occurrences == 1);
    CHECK(report.duration_ns == 1500);
    settings.selection.until_ns = 4500;
    CHECK(row(analyze(recording, settings), "a").occurrences == 3);
    CHECK(report.left_out.since_ns == 1500);
}

TEST_CASE("what was switched off is said with its time in the run, not in the window", "[window]") {
    Recording recording{1};
    recording.thread(1000, 9000).call(2000, kA, 10).call(3000, kA, 10);
    recording.info.functions[kA].switched_off = 4000;
    CHECK(row(analyze(recording, window(1500, 8000)), "a").switched_off_ns == 3000.0);
}

TEST_CASE("threads are chosen by tid or name, functions by name", "[selection]") {
    Recording recording{3};
    recording.thread(1000, 2000).call(1100, kA, 10).call(1200, kA, 30).call(1300, kB, 10);
    recording.thread(1000, 2000).call(1100, kA, 10).call(1200, kA, 90).call(1300, kC, 10);
    recording.thread(1000, 2000).call(1100, kC, 10);
    recording.info.threads[2].name = "other";

    const auto chosen = [&](const std::vector<std::string>& threads,
                            const std::vector<std::string>& functions) {
        score::Settings settings;
        settings.selection.threads = threads;
        settings.selection.functions = functions;
        return analyze(recording, settings);
    };
    CHECK(chosen({"100"}, {}).threads.size() == 1);
    CHECK(row(chosen({"100"}, {}), "a").lost_ns == 20);
    CHECK(row(chosen({"thread-*"}, {}), "a").lost_ns == 100);
    CHECK(chosen({"thread-1", "other"}, {}).left_out.threads == 1);
    CHECK(chosen({"other"}, {}).never_called == std::vector<std::string>{"app:a", "app:b"});

    const score::Report shown = chosen({}, {"app:a", "b"});
    CHECK(shown.functions.size() == 2);
    CHECK(shown.left_out.functions == 1);
    CHECK(row(shown, "a").rdam == row(analyze(recording), "a").rdam);
    CHECK(chosen({}, {"a?p:[bc]"}).functions.size() == 2);
    CHECK(chosen({}, {"*"}).functions.size() == 3);
    CHECK(chosen({"other"}, {"b"}).never_called == std::vector<std::string>{"app:b"});

    const auto error = [&](const score::Selection& selection) {
        const auto resolved = score::resolve_selection(recording.info, selection);
        return resolved ? std::string{} : resolved.error().message;
    };
    CHECK(error({.threads = {"7"}}) ==
          "7: the trace has no thread with this tid or name; it has 100 (thread-0), 101 (thread-1), 102 "
          "(other)");
    CHECK(error({.functions = {"x*"}}) == "x*: the trace has no such function; it has a, b, c");
    CHECK(error({.threads = {"7"}, .functions = {"x*"}, .may_miss = true}).empty());
}

TEST_CASE("when the selected threads run is known without their events", "[selection]") {
    Recording recording{1};
    recording.thread(1000, 2000).call(1100, kA, 10);
    recording.thread(4000, 5000).call(4100, kA, 10);
    const trace::TraceReader reader = reader_of(recording);
    const auto found = [&](const score::Selection& selection) {
        const auto presence = score::presence(reader, selection);
        REQUIRE(presence);
        REQUIRE(*presence);
        return **presence;
    };
    const score::Presence all = found({});
    CHECK(std::tuple{all.begin_ns, all.end_ns, all.in_window} == std::tuple{0.0, 4000.0, true});
    const score::Presence second = found({.threads = {"101"}});
    CHECK(std::tuple{second.begin_ns, second.end_ns} == std::tuple{3000.0, 4000.0});
    using Window = std::pair<std::optional<double>, std::optional<double>>;
    for (const auto& [since, until] :
         {Window{4000, {}}, Window{{}, 0}, Window{1000, 3000}, Window{9000, 9100}})
        CHECK_FALSE(found({.since_ns = since, .until_ns = until}).in_window);
    for (const auto& [since, until] :
         {Window{3999, {}}, Window{{}, 1}, Window{999, 3000}, Window{1000, 3001}})
        CHECK(found({.since_ns = since, .until_ns = until}).in_window);
    CHECK_FALSE(found({.since_ns = 1000, .threads = {"100"}}).in_window);
    CHECK_FALSE(score::presence(reader, {.threads = {"7"}}).has_value());
}

TEST_CASE("no events and no window whatever lead to scores beyond their range", "[window]") {
    std::mt19937_64 random{13};
    for (int round = 0; round < 2000; ++round) {
        Recording recording = random_recording(random, {.threads = 2, .events = 40});
        for (trace::ThreadInfo& thread : recording.info.threads) {
            if (random() % 4 == 0) thread.end = random() >> (random() % 64);
            if (random() % 4 == 0) thread.start = random() >> (random() % 64);
        }
        if (round % 3 == 0) recording.info.clock.ticks_per_second = std::pow(10, random() % 30);
        recording.info.clock.start_unix_ns = random();
        recording.info.clock.start_tsc = random() >> (random() % 64);
        score::Settings settings = window(static_cast<double>(random() % 3000), 1e4);
        if (round % 2 == 0) settings.selection.run_start_unix_ns = random();
        const score::Report report = analyze(recording, settings);
        for (const score::FunctionRow& function : report.functions) {
            for (const double value :
                 {function.rdam, function.rdam_all, function.rdam_self, function.rdam_flat})
                CHECK((value >= 0 && value <= 1));
        }
        CHECK(std::isfinite(report.duration_ns));
    }
}

}  // namespace rdam::test
