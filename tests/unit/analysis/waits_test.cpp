// Waits that are recorded apart from the calls that wait: what a sampled lock has lost is known, not
// estimated.
#include <algorithm>
#include <cmath>
#include <random>

#include "analyzer/report/function_row.h"
#include "analyzer/report/regroup.h"
#include "libprobe/format/plan.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr std::uint64_t kBegin = 1000, kLife = 100'000'000, kFast = 40, kGap = 400;

/// Of a trace that knows times off the processors.
score::Report report_on(const Recording& recording) {
    const MemoryFile file;
    write_file(recording, file.path());
    const auto reader = trace::TraceReader::open(file.path());
    REQUIRE(reader);
    const auto report = score::score_trace(*reader, {}, {});
    REQUIRE(report);
    return *report;
}

/// A thread takes a lock all the time, and one time in some hundred it waits: a few of these waits take more
/// than all others. `since`: its calls are recorded in windows from then on, all waits always.
struct Lock {
    Recording recording{2};
    double truth = 0;  ///< the score
    std::uint64_t waits = 0;
    double waited = 0;

    /// `all`: calls that wait for nobody have such a part, too, and a mutex says whom they wait for.
    explicit Lock(std::uint64_t since, std::uint64_t seed = 1, std::uint64_t window_every = 1'000'000,
                  bool all = false) {
        trace::TraceInfo& info = recording.info;
        info.functions[kA].address = 0x40;
        info.functions[kA].windowed_since = since;
        info.functions[kA].counted = true;
        info.functions[kB].name = "a (waiting)";
        info.functions[kB].address = 0x50;
        info.functions[kB].wait_of = 0x40;
        if (all) {
            info.functions[kB].partner = true;
            info.functions[kB].enter_words = 2;
            for (const char* name : {"mutex", plan::kOwnerName})
                info.functions[kB].parameters.push_back(
                    {.name = name, .word = static_cast<std::uint16_t>(*name == 'm' ? 0 : 1), .type = {}});
        }
        ThreadRecording& thread = recording.thread(kBegin, kBegin + kLife);
        std::mt19937_64 random{seed};
        for (std::uint64_t at = kBegin + window_every / 2; at < kBegin + kLife; at += window_every)
            info.windows.push_back({at + random() % 100'000, at + 120'000});
        std::uint64_t calls = 0;
        double lost = 0;
        for (std::uint64_t at = kBegin; at < kBegin + kLife - 3'000'000; ++calls) {
            const std::uint64_t wait = random() % 300 != 0 ? 0 : random() % 50 == 0 ? 2'000'000 : 4000;
            const std::uint64_t extra = random() % 3;
            const std::uint64_t end = at + kFast + extra + wait;
            const auto next = std::ranges::upper_bound(info.windows, at, {}, &trace::Window::end);
            const bool seen = since == 0 || at < since || (next != info.windows.end() && next->begin <= at);
            if (seen) thread.enter(at, kA, {}, 0x401000 + calls % 2);
            if (all)
                thread.enter(at + kFast / 2, kB, {0x5000, wait > 0 ? 99U : 0U})
                    .leave(at + kFast / 2 + std::max<std::uint64_t>(wait, 1), kB);
            else if (wait > 0)
                thread.call(at + kFast / 2, kB, wait);
            if (seen) thread.leave(end, kA);
            if (wait > 0 && since != 0) {
                ++waits;
                waited += static_cast<double>(wait);
            }
            lost += static_cast<double>(wait + extra);
            at = end + kGap;
        }
        info.threads[0].calls = {{kA, calls}};
        info.threads[0].calls_until = kBegin + kLife;
        truth = lost / static_cast<double>(kLife);
    }

    score::FunctionRow row() const { return test::row(analyze(recording), "a"); }
};

/// A thread calls `a` and `b` in turns, all the time, each of which takes half of it. Once in some thousand
/// calls it loses its processor for long, whichever it is in, and as rarely `b` blocks. Calls are recorded in
/// windows.
struct OffCpu {
    static constexpr std::uint64_t kWork = 100, kOff = 300'000;
    Recording recording{2};
    double lost[2] = {};  ///< shares of the life

    explicit OffCpu(std::uint64_t seed) {
        trace::TraceInfo& info = recording.info;
        info.switches.state = trace::SwitchInfo::State::recorded;
        ThreadRecording& thread = recording.thread(kBegin, kBegin + kLife);
        std::mt19937_64 random{seed};
        for (std::uint64_t at = kBegin + 200'000; at < kBegin + kLife; at += 2'000'000)
            info.windows.push_back({at + random() % 100'000, at + 120'000});
        std::uint64_t calls = 0;
        for (std::uint64_t at = kBegin; at < kBegin + kLife - 2 * kOff; ++calls) {
            const std::uint32_t function = calls % 2;
            const bool preempted = random() % 2000 == 0;
            const std::uint64_t off = preempted || (function == kB && random() % 2000 == 0) ? kOff : 0;
            const auto next = std::ranges::upper_bound(info.windows, at, {}, &trace::Window::end);
            if (next != info.windows.end() && next->begin <= at) thread.call(at, function, kWork + off);
            if (off > 0) thread.off({.out = at + 10, .in = at + 10 + off, .cpu = 0, .preempted = preempted});
            lost[function] += static_cast<double>(off) / static_cast<double>(kLife);
            at += kWork + off;
        }
        for (trace::FunctionInfo& function : info.functions) {
            function.windowed_since = kBegin;
            function.counted = true;
        }
        info.threads[0].calls = {{kA, (calls + 1) / 2}, {kB, calls / 2}};
        info.threads[0].calls_until = kBegin + kLife;
    }
};

/// `a` calls the lock `b`, whose waits are `c`: both are sampled since then, and counted.
void sample_lock(trace::TraceInfo& info, std::uint64_t since) {
    info.objects.emplace_back().base = 0x400000;
    for (const std::uint32_t function : {kA, kB}) {
        info.functions[function].address = 0x1000 * (function + 1);
        info.functions[function].size = 0x100;
        info.functions[function].windowed_since = since;
        info.functions[function].counted = true;
    }
    info.functions[kC].address = 0x50;
    info.functions[kC].wait_of = info.functions[kB].address;
}

/// A thread calls `a` all the time, which takes a lock each time, `b`, and rarely waits for it. The windows of
/// `a` are not those of `b`; all waits are recorded.
struct Around {
    static constexpr std::uint64_t kWork = 100, kWait = 500'000;
    /// `elsewhere`: so many calls of `b` in each thread, spread over the run, are not made by `a`; they wait, too.
    /// `rest`: so much longer takes a call of `a` now and then, for no known reason.
    /// One call in `every` waits for `wait`. `lock_windows`: so many windows of `b` at most.
    struct Options {
        std::uint64_t elsewhere = 0, rest = 0;
        int threads = 1;
        std::uint64_t wait = kWait, every = 2000;
        std::size_t lock_windows = SIZE_MAX;
    };
    Options options;
    Recording recording{3};
    double truth = 0;         ///< the score of `a`, but for `rest`
    std::uint64_t calls = 0;  ///< of `a`, by the last thread

    Around(std::uint64_t seed, const Options& of) : options(of) {
        trace::TraceInfo& info = recording.info;
        sample_lock(info, kBegin);
        info.functions[kB].window_group = kB;
        info.switches.state = trace::SwitchInfo::State::recorded;
        std::size_t of_lock = 0;
        for (std::uint64_t at = kBegin; at < kBegin + kLife; at += 1'000'000) {
            info.windows.push_back({at, at + 20'000, kA});
            if (++of_lock <= options.lock_windows) info.windows.push_back({at + 500'000, at + 520'000, kB});
        }
        std::mt19937_64 random{seed};
        for (int i = 0; i < options.threads; ++i)
            truth = std::max(truth, run(recording.thread(kBegin, kBegin + kLife), random));
    }

  private:
    bool is_open(std::uint64_t at, std::uint32_t group) const {
        const auto& windows = recording.info.windows;
        const auto next = std::ranges::upper_bound(windows, at, {}, &trace::Window::end);
        return next != windows.end() && next->begin <= at && next->group == group;
    }

    /// When the call of `b` has ended.
    std::uint64_t lock(ThreadRecording& thread, std::uint64_t at, std::uint64_t caller,
                       std::uint64_t wait) const {
        const bool seen = is_open(at, kB);
        if (seen) thread.enter(at, kB, {}, caller);
        if (wait > 0) {
            thread.call(at + 10, kC, wait);
            thread.off({.out = at + 15, .in = at + 10 + wait});
        }
        if (seen) thread.leave(at + kFast + wait, kB);
        return at + kFast + wait;
    }

    /// The score of the thread.
    double run(ThreadRecording& thread, std::mt19937_64& random) {
        const std::uint64_t end = kBegin + kLife - 2 * kWait;
        std::uint64_t others = 0;
        double waited = 0;
        calls = 0;
        for (std::uint64_t at = kBegin; at < end;) {
            if (others < options.elsewhere && random() % 1000 == 0) {
                ++others;
                at = lock(thread, at, 0x409000, options.wait) + kGap;
                continue;
            }
            ++calls;
            const std::uint64_t wait = random() % options.every == 0 ? options.wait : 0;
            const std::uint64_t more = options.rest > 0 && random() % 4000 == 0 ? options.rest : 0;
            const bool seen = is_open(at, kA);
            if (seen) thread.enter(at, kA);
            const std::uint64_t left = lock(thread, at + 10, 0x401010, wait) + kWork + more;
            if (seen) thread.leave(left, kA);
            waited += static_cast<double>(wait);
            at = left + kGap;
        }
        trace::ThreadInfo& info = recording.info.threads.back();
        info.calls = {{kA, calls}, {kB, calls + others}};
        info.calls_until = kBegin + kLife;
        return waited / static_cast<double>(kLife);
    }
};

/// A thread calls `a` all the time, which is recorded in windows, and one time in `every` that calls `b`, which is
/// recorded always.
struct Caller {
    static constexpr std::uint64_t kWork = 100, kSlow = 60'000;
    Recording recording{2};
    double truth = 0;       ///< the score of `a`
    double truth_self = 0;  ///< … of its self times

    explicit Caller(std::uint64_t seed, std::uint64_t every, std::uint64_t caller = 0x401010) {
        trace::TraceInfo& info = recording.info;
        info.objects.emplace_back().base = 0x400000;
        info.functions[kA].address = 0x1000;
        info.functions[kA].size = 0x100;
        info.functions[kA].windowed_since = kBegin;
        info.functions[kA].counted = true;
        for (std::uint64_t at = kBegin; at < kBegin + kLife; at += 1'000'000)
            info.windows.push_back({at, at + 20'000, 0});
        ThreadRecording& thread = recording.thread(kBegin, kBegin + kLife);
        std::mt19937_64 random{seed};
        std::uint64_t calls = 0;
        for (std::uint64_t at = kBegin; at < kBegin + kLife - 2 * kSlow; ++calls) {
            const std::uint64_t slow = random() % every == 0 ? kSlow + random() % kSlow : 0,
                                extra = random() % 10;
            const auto next = std::ranges::upper_bound(info.windows, at, {}, &trace::Window::end);
            const bool seen = next != info.windows.end() && next->begin <= at;
            if (seen) thread.enter(at, kA);
            if (slow > 0) {
                thread.enter(at + 10, kB, {}, caller);
                thread.leave(at + 10 + slow, kB);
            }
            at += kWork + extra + slow;
            if (seen) thread.leave(at, kA);
            truth += static_cast<double>(slow + extra) / static_cast<double>(kLife);
            truth_self += static_cast<double>(extra) / static_cast<double>(kLife);
            at += kGap;
        }
        info.threads[0].calls = {{kA, calls}};
        info.threads[0].calls_until = kBegin + kLife;
    }

    score::FunctionRow row() const { return test::row(analyze(recording), "a"); }
};

}  // namespace

TEST_CASE("times off the processors are not extrapolated from the few that windows see", "[waits]") {
    double worst_without = 0, most = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        OffCpu program{seed};
        const score::Report report = report_on(program.recording);
        const score::FunctionRow a = test::row(report, "a"), b = test::row(report, "b");
        // Preempted in either alike.
        CHECK(a.rdam_all == Approx(program.lost[kA]).margin(0.05));
        CHECK(a.rdam_low <= program.lost[kA]);
        CHECK(program.lost[kA] <= a.rdam_high);
        CHECK(program.lost[kB] <= b.rdam_high);
        CHECK(b.rdam_low <= program.lost[kB]);
        CHECK(b.rdam_all > a.rdam_all);
        REQUIRE(a.off_in_windows);
        CHECK(a.off_in_windows->preempted_ns == Approx(a.lost_ns).epsilon(0.1));
        CHECK(a.off_in_windows->blocked_ns == 0);
        REQUIRE(b.off_in_windows);
        CHECK(b.off_in_windows->blocked_ns + b.off_in_windows->preempted_ns ==
              Approx(b.lost_ns).epsilon(0.1));
        most = std::max(most, program.lost[kB]);
        program.recording.info.switches.state = trace::SwitchInfo::State::unavailable;
        worst_without =
            std::max(worst_without,
                     std::abs(test::row(report_on(program.recording), "a").rdam_all - program.lost[kA]));
        CHECK_FALSE(test::row(report_on(program.recording), "a").off_in_windows);
    }
    CHECK(most > 0.2);
    CHECK(worst_without > 0.15);
}

TEST_CASE("a lock's loss is right though windows see few of its waits", "[waits]") {
    double worst_without = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Lock lock{kBegin, seed};
        const score::FunctionRow known = lock.row();
        CHECK(known.rdam == Approx(lock.truth).margin(0.01));
        CHECK(known.rdam_low <= lock.truth);
        CHECK(lock.truth <= known.rdam_high);
        CHECK(known.waits == lock.waits);
        CHECK(known.waited_ns == Approx(lock.waited));
        CHECK(known.rdam_self == Approx(known.rdam).margin(0.01));
        CHECK(known.rdam_flat == Approx(known.rdam).margin(0.01));
        // What windows say alone is what it is for.
        lock.recording.info.functions[kB].wait_of = 0;
        worst_without = std::max(worst_without, std::abs(lock.row().rdam - lock.truth));
    }
    CHECK(worst_without > 0.1);
}

TEST_CASE("what a function takes a lock for waits as long as the lock does", "[waits]") {
    double worst_without = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Around program{seed, {}};
        const score::FunctionRow known = test::row(report_on(program.recording), "a");
        CHECK(known.rdam == Approx(program.truth).margin(0.01));
        CHECK(known.rdam_low <= program.truth);
        CHECK(program.truth <= known.rdam_high);
        // The waits are the lock's own.
        CHECK(known.rdam_self == Approx(0).margin(0.01));
        REQUIRE(known.off_in_windows);
        CHECK(known.off_in_windows->blocked_ns == Approx(known.lost_ns).epsilon(0.01));
        // The lock alone has waited, and is seen to: not what is around it.
        CHECK(known.waits == 0);
        // Not all of its calls have taken the lock.
        --program.recording.info.threads[0].calls[1].calls;
        const score::FunctionRow unknown = test::row(report_on(program.recording), "a");
        worst_without = std::max(worst_without, std::abs(unknown.rdam - program.truth));
        CHECK(unknown.rdam_low <= program.truth);
    }
    CHECK(worst_without > 0.1);
}

TEST_CASE("whose a lock's waits are is as sure as calls of it were seen", "[waits]") {
    const auto width = [](std::size_t lock_windows) {
        const Around program{1, {.wait = 2000, .every = 3, .lock_windows = lock_windows}};
        const score::FunctionRow row = test::row(report_on(program.recording), "a");
        CHECK(row.rdam_low <= program.truth);
        CHECK(program.truth <= row.rdam_high);
        CHECK(row.rdam == Approx(program.truth).margin(0.02));
        return row.rdam_high - row.rdam_low;
    };
    CHECK(width(10) > 1.3 * width(SIZE_MAX));
}

TEST_CASE("a score is no less than what is known of all calls, however little windows know of the rest",
          "[waits]") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const Around program{seed, {.rest = 300'000, .threads = 8}};
        CHECK(test::row(report_on(program.recording), "a").rdam >= 0.99 * program.truth);
    }
}

TEST_CASE("the counts of a lock and of what takes it are multiples, and many", "[waits]") {
    const Around program{1, {}};
    const auto knows = [&](std::uint64_t of_lock, std::uint64_t of_taker) {
        Recording changed = program.recording;
        changed.info.threads[0].calls = {{kA, of_taker}, {kB, of_lock}};
        return std::abs(test::row(report_on(changed), "a").rdam - program.truth) < 0.01;
    };
    CHECK(knows(program.calls, program.calls));
    CHECK(knows(2 * program.calls, program.calls));
    CHECK_FALSE(knows(program.calls + 7, program.calls));
    CHECK_FALSE(knows(program.calls / 2, program.calls));
}

TEST_CASE("what a call has waited that began before its function was sampled counts once", "[waits]") {
    constexpr std::uint64_t kEnd = 10'001'000, kSince = 50'000, kWait = 2'000'000;
    Recording recording{3};
    trace::TraceInfo& info = recording.info;
    sample_lock(info, kSince);
    ThreadRecording& thread = recording.thread(1000, kEnd);
    std::uint64_t calls = 0, waited = 0;
    const auto call = [&](std::uint64_t at, bool seen, std::uint64_t wait) {
        if (seen) thread.enter(at, kA).enter(at + 10, kB, {}, 0x401010);
        if (wait > 0) thread.call(at + 15, kC, wait);
        if (seen) thread.leave(at + 30 + wait, kB).leave(at + 50 + wait, kA);
        ++calls;
        waited += wait;
        return at + 100 + wait;
    };
    std::uint64_t at = 1000;
    while (at < kSince - 1000)
        at = call(at, true, 0);
    // All that it waits is after it is sampled, but for its begin.
    thread.enter(kSince - 1000, kA).enter(kSince + 10, kB, {}, 0x401010).call(kSince + 20, kC, kWait);
    thread.leave(kSince + kWait + 40, kB).leave(kSince + kWait + 60, kA);
    ++calls;
    waited += kWait;
    at = kSince + kWait + 1000;
    for (std::uint64_t begin = at; begin < kEnd - 100'000; begin += 100'000)
        info.windows.push_back({begin, begin + 5000, 0});
    for (std::uint64_t i = 0; at < kEnd - 100'000; ++i) {
        const auto next = std::ranges::upper_bound(info.windows, at, {}, &trace::Window::end);
        at = call(at, next != info.windows.end() && next->begin <= at, i % 700 == 300 ? 4000 : 0);
    }
    info.threads[0].calls = {{kA, calls}, {kB, calls}};
    info.threads[0].calls_until = kEnd;
    const double truth = static_cast<double>(waited) / static_cast<double>(kEnd - 1000);
    CHECK(row(analyze(recording), "a").rdam == Approx(truth).margin(0.05));
}

TEST_CASE("where every call waits, it has not lost all of it", "[waits]") {
    enum class Known { waits, waits_alone, off };
    for (const Known known : {Known::waits, Known::waits_alone, Known::off}) {
        Recording recording{2};
        trace::TraceInfo& info = recording.info;
        info.functions[kA].address = 0x40;
        info.functions[kA].windowed_since = kBegin;
        info.functions[kA].counted = true;
        info.functions[kB].address = 0x50;
        info.functions[kB].wait_of = known == Known::off ? 0 : 0x40;
        info.switches.state = trace::SwitchInfo::State::recorded;
        for (std::uint64_t at = kBegin; known != Known::waits_alone && at < kBegin + kLife; at += 2'000'000)
            info.windows.push_back({at, at + 100'000, 0});
        ThreadRecording& thread = recording.thread(kBegin, kBegin + kLife);
        std::mt19937_64 random{1};
        std::uint64_t calls = 0;
        double lost = 0;
        for (std::uint64_t at = kBegin; at < kBegin + kLife - 100'000; ++calls) {
            const std::uint64_t more = random() % 2000, end = at + 40'040 + more;
            const bool seen = known != Known::waits_alone && (at - kBegin) % 2'000'000 < 100'000;
            if (seen) thread.enter(at, kA);
            if (known != Known::off) thread.call(at + 20, kB, 40'000 + more);
            thread.off({.out = at + 30, .in = at + 40'010 + more});
            if (seen) thread.leave(end, kA);
            lost += static_cast<double>(more) / static_cast<double>(kLife);
            at = end + kGap;
        }
        info.threads[0].calls = {{kA, calls}};
        info.threads[0].calls_until = kBegin + kLife;
        const score::FunctionRow row = test::row(report_on(recording), "a");
        CHECK(row.rdam_all == Approx(lost).margin(0.01));
        CHECK(row.rdam_self < lost + 0.01);
        CHECK(row.rdam < lost + 0.01);
    }
}

TEST_CASE("a lock that is taken elsewhere, too, says nothing of who else takes it", "[waits]") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Around program{seed, {.elsewhere = 60}};
        const score::FunctionRow of_more = test::row(report_on(program.recording), "a");
        CHECK(of_more.lower_bound);
        // The counts alone would not show it.
        program.recording.info.threads[0].calls[1].calls = program.calls;
        CHECK(test::row(report_on(program.recording), "a").rdam == of_more.rdam);
    }
}

TEST_CASE("calls of others that are all recorded are known in the function that makes them", "[waits]") {
    double worst_without = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Caller program{seed, 1000};
        const score::FunctionRow known = program.row();
        CHECK(known.rdam == Approx(program.truth).margin(0.01));
        CHECK(known.rdam_low <= program.truth);
        CHECK(program.truth <= known.rdam_high);
        CHECK(known.rdam_self == Approx(program.truth_self).margin(0.01));
        CHECK(known.waits == 0);
        // Who has called is not known.
        const Caller unknown{seed, 1000, 0x409000};
        worst_without = std::max(worst_without, std::abs(unknown.row().rdam - unknown.truth));
    }
    CHECK(worst_without > 0.02);
}

TEST_CASE("what all calls have inside them is not what some have lost", "[waits]") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        const Caller program{seed, 1};
        // The fastest call has the least of `b`.
        CHECK(program.row().rdam < program.truth - 0.3);
        CHECK(program.row().rdam_low <= program.truth - 0.4);
    }
}

TEST_CASE("what short calls seem to have gained, as the clock erred, is not taken from the waits",
          "[waits]") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Lock lock{kBegin, seed};
        lock.recording.info.clock.error_ticks = 30;
        const score::FunctionRow row = lock.row();
        const double waited = lock.waited / static_cast<double>(kLife);
        CHECK(row.rdam >= 0.999 * waited);
        CHECK(row.rdam == Approx(waited).margin(0.01));
        CHECK(row.rdam_low > waited / 4);
        CHECK(row.rdam_self >= 0.999 * waited);
    }
}

TEST_CASE("what took a mutex that nobody had is no wait, though it is recorded like one", "[waits]") {
    for (std::uint64_t seed = 1; seed < 4; ++seed) {
        const Lock lock{kBegin, seed, 1'000'000, true};
        const score::FunctionRow row = lock.row();
        CHECK(row.waits == lock.waits);
        CHECK(row.rdam == Approx(lock.truth).margin(0.01));
    }
}

TEST_CASE("waits in calls that were all recorded count once", "[waits]") {
    for (const std::uint64_t since : {kBegin + kLife / 2, std::uint64_t{0}}) {
        const Lock lock{since};
        const score::FunctionRow row = lock.row();
        CHECK(row.rdam == Approx(lock.truth).margin(0.01));
        CHECK(row.waits == (since == 0 ? 0 : lock.waits));
        REQUIRE(row.callers.size() == 2);
        CHECK(row.callers[0].lost_ns + row.callers[1].lost_ns == Approx(row.lost_ns));
        CHECK(row.callers[0].share + row.callers[1].share == Approx(1));
    }
}

TEST_CASE("waits alone are a lower bound where windows are too few", "[waits]") {
    const Lock lock{kBegin, 1, kLife / 2};
    const score::FunctionRow row = lock.row();
    CHECK(row.has_score);
    CHECK_FALSE(row.few_windows);
    CHECK(row.lower_bound);
    CHECK(row.rdam == Approx(lock.truth).margin(0.01));
}

TEST_CASE("waits are no function of their own", "[waits]") {
    const Lock lock{kBegin};
    const score::Report report = analyze(lock.recording);
    CHECK(report.functions.size() == 1);
    CHECK(report.never_called.empty());
    CHECK(report.counts.calls == test::row(report, "a").recorded);
    CHECK(report.counts.probes == report.counts.calls + lock.waits);
}

TEST_CASE("a wait is no part of the sequence of what is around its lock", "[waits]") {
    Recording recording{3};
    recording.info.functions[kA].address = 0x40;
    recording.info.functions[kC].wait_of = 0x40;
    ThreadRecording& thread = recording.thread(kBegin, kBegin + 1'000'000);
    for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t at = kBegin + 10'000 * (i + 1) - 5000, wait = i % 4 == 0 ? 700 : 0;
        thread.enter(at, kB).enter(at + 10, kA);
        if (wait > 0) thread.call(at + 20, kC, wait);
        thread.leave(at + 50 + wait, kA).leave(at + 100 + wait, kB);
    }
    const score::Report report = analyze(recording);
    for (const char* name : {"a", "b"}) {
        CHECK(row(report, name).scored_sequences == 1);
        CHECK(row(report, name).rdam == Approx(25 * 700 / 1e6));
    }
}

TEST_CASE("what is put together anew keeps its waits", "[waits]") {
    const Lock lock{kBegin};
    const score::ResolvedSettings kept =
        score::with_candidates(lock.recording.info, resolved(lock.recording));
    const score::AnalyzedTrace trace = read(lock.recording, kept);
    const score::ResolvedSettings wanted = resolved(lock.recording);
    REQUIRE(score::can_regroup(trace, kept, wanted));
    const score::ThreadList threads = score::regroup(trace, kept, wanted);
    const score::Report report = score::make_report(trace.facts(), wanted, threads, 1000);
    CHECK(row(report, "a").rdam == Approx(lock.row().rdam));
    CHECK(row(report, "a").waits == lock.waits);
}

TEST_CASE("what is put together anew knows the waits inside other functions", "[waits]") {
    const Around program{3, {}};
    const score::ResolvedSettings kept =
        score::with_candidates(program.recording.info, resolved(program.recording));
    const score::AnalyzedTrace trace = read(program.recording, kept);
    const score::ResolvedSettings wanted = resolved(program.recording);
    REQUIRE(score::can_regroup(trace, kept, wanted));
    const score::ThreadList threads = score::regroup(trace, kept, wanted);
    const score::Report report = score::make_report(trace.facts(), wanted, threads, 1000);
    CHECK(row(report, "a").rdam == Approx(program.truth).margin(0.01));
}

TEST_CASE("what a call returned is kept where that says whether it took a lock", "[waits]") {
    Recording recording{2};
    trace::FunctionInfo& tries = recording.info.functions[kA];
    tries.name = tries.linkage_name = "pthread_rwlock_trywrlock";
    tries.leave_words = 1;
    tries.result = {
        {.name = "", .kind = static_cast<std::uint8_t>(ValueKind::signed_integer), .size = 4, .type = {}}};
    trace::FunctionInfo& waits = recording.info.functions[kB];
    waits.name = waits.linkage_name = "pthread_rwlock_rdlock";
    waits.waits = true;
    recording.thread(kBegin, kBegin + 1'000'000).call(kBegin + 10, kB, 5);
    ThreadRecording& thread = recording.thread(kBegin, kBegin + 1'000'000);
    using samples::Returned;
    std::vector<Returned> wanted;
    // Enough for trees that are known and taken by columns; what is above the result's four bytes means nothing.
    for (std::uint64_t i = 0; i < 400; ++i) {
        const bool taken = i % 3 == 0;
        thread.enter(kBegin + 100 * i, kA).returns(kBegin + 100 * i + 10, kA, taken ? 0xf00000000 : 16);
        wanted.push_back(taken ? Returned::zero : Returned::other);
    }
    thread.enter(kBegin + 50'000, kA).unwind(kBegin + 50'010, kA);
    wanted.push_back(Returned::not_known);
    const score::ResolvedSettings settings = score::with_samples(recording.info, resolved(recording));
    const score::AnalyzedTrace trace = read(recording, settings);
    std::vector<Returned> found;
    for (const samples::WindowCall& call : trace.threads[1]->windows.all().calls())
        found.push_back(call.returned);
    CHECK(found == wanted);
}

TEST_CASE(
    "what goes to others than the program's own threads takes no room from what says who waits for whom") {
    using Kind = trace::ChannelInfo::Kind;
    constexpr std::uint64_t kInside = 4, kOutside = 9, kEach = 100'000;
    Recording recording{2, 1};
    trace::TraceInfo& info = recording.info;
    for (const auto& [number, name] : {std::pair{kA, "read"}, std::pair{kB, "write"}}) {
        trace::FunctionInfo& function = info.functions[number];
        function.name = function.linkage_name = name;
        function.waits = true;
        function.parameters = {{.name = "fd", .kind = 1, .size = 4, .key = true, .type = {}}};
    }
    // One pipe has both ends in the process; of the other, and of a socket, somebody else has the second one.
    info.channels = {{3, Kind::pipe, 70, 0, kBegin, kBegin + kLife},
                     {kInside, Kind::pipe, 0, 70, kBegin, kBegin + kLife},
                     {8, Kind::pipe, 71, 0, kBegin, kBegin + kLife},
                     {kOutside, Kind::socket, 72, 73, kBegin, kBegin + kLife}};
    CHECK(score::channel_descriptors(info) == std::vector<std::uint64_t>{3, kInside});
    for (int t = 0; t < 2; ++t) {
        ThreadRecording& thread = recording.thread(kBegin, kBegin + kLife);
        for (std::uint64_t i = 0; i < kEach; ++i) {
            const std::uint64_t descriptor = i % 100 == 0 ? kInside : kOutside;
            const std::uint64_t at = kBegin + i * (kLife / kEach);
            thread.enter(at, kB, {descriptor}).leave(at + 50 + i % 7, kB);
        }
    }
    const MemoryFile file;
    write_file(recording, file.path());
    const auto reader = trace::TraceReader::open(file.path());
    REQUIRE(reader);
    const auto report = score::score_trace(*reader, {}, {.samples = true, .progress = {}});
    REQUIRE(report);
    CHECK(!report->windows.all());
    REQUIRE(report->wait_windows);
    CHECK(report->wait_windows->all());
    for (std::size_t t = 0; t < 2; ++t) {
        const auto& calls = report->calls_about_waits(t);
        CHECK(calls.size() == kEach / 100);
        CHECK(std::ranges::all_of(calls, [](const score::TimedCall& call) { return call.key == kInside; }));
    }
}

}  // namespace rdam::test
