#include "analyzer/hints/overlaps.h"

#include <bitset>
#include <random>
#include <vector>

#include "tests/unit/catch.h"

using namespace rdam;
using namespace rdam::hints;

namespace {

constexpr std::uint64_t kTimes = 256;
using Times = std::bitset<kTimes>;
constexpr std::uint32_t kFunctions = 3;

Times times_of(std::uint64_t begin, std::uint64_t end) {
    Times times;
    for (std::uint64_t t = begin; t < end; ++t)
        times.set(t);
    return times;
}

/// Some threads in calls of some functions, which may be inside one another; those of function 0 are
/// disjoint, and some of them lose time.
struct SomeThreads {
    explicit SomeThreads(std::mt19937& random) {
        // Every call is of kept time, as in the timelines of an analysis.
        report.windows.shift = 4;
        if (random() % 2 == 0) report.windows.limit = UINT64_MAX / 2;
        for (std::uint64_t t = 0; t < kTimes; ++t)
            kept[t] = report.windows.keeps(t >> report.windows.shift);
        report.timeline.resize(1 + random() % 4);
        for (std::size_t t = 0; t < report.timeline.size(); ++t)
            add_calls(t, random);
    }

    void add_calls(std::size_t thread, std::mt19937& random) {
        auto& calls = report.timeline[thread].calls;
        for (std::uint64_t begin = random() % 100; begin < kTimes; begin += 1 + random() % 60) {
            const std::uint64_t end = std::min<std::uint64_t>(begin + random() % 30, kTimes - 1);
            if ((times_of(begin, end) & kept).none()) continue;
            calls.push_back({0, begin, end});
            if (random() % 2 == 0)
                slow.push_back({thread, 0, begin, end, static_cast<double>(1 + random() % 4) / 4});
            begin = end;
        }
        for (std::size_t i = random() % 6; i > 0; --i) {
            const std::uint64_t begin = random() % kTimes, end = begin + random() % (kTimes - begin);
            const auto function = static_cast<std::uint32_t>(1 + random() % (kFunctions - 1));
            if ((times_of(begin, end) & kept).any()) calls.push_back({function, begin, end});
        }
    }

    Times inside(std::size_t thread, std::uint32_t function) const {
        Times times;
        for (const score::TimedCall& call : report.timeline[thread].calls)
            if (call.function == function) times |= times_of(call.begin, call.end);
        return times & kept;
    }

    score::Report report;
    std::vector<score::SlowCall> slow;
    Times kept;
};

/// Time by time, thread by thread.
struct Expected {
    explicit Expected(const SomeThreads& made) : with(kFunctions), while_inside(kFunctions) {
        for (std::size_t t = 0; t < made.report.timeline.size(); ++t)
            add(made, t);
    }

    void add(const SomeThreads& made, std::size_t thread) {
        std::vector<double> lost_at(kTimes);
        Times slow;
        for (const score::SlowCall& call : made.slow) {
            if (call.thread != thread) continue;
            const Times during = times_of(call.begin, call.end) & made.kept;
            slow |= during;
            for (std::size_t t = 0; t < kTimes; ++t)
                if (during[t]) lost_at[t] = call.lost;
        }
        const auto lost_in = [&](const Times& times) {
            double sum = 0;
            for (std::size_t t = 0; t < kTimes; ++t)
                if (times[t]) sum += lost_at[t];
            return sum;
        };
        const double all = lost_in(slow);
        lost += all;
        for (std::uint32_t function = 0; function < kFunctions; ++function) {
            Times others;
            for (std::size_t u = 0; u < made.report.timeline.size(); ++u) {
                if (u == thread) continue;
                others |= made.inside(u, function);
                while_inside[function][u] += lost_in(made.inside(u, function));
            }
            with[function].lost += lost_in(others);
            const Times other = life(made.inside(thread, 0)) & made.kept & ~slow;
            with[function].expected += other.any() ? all * static_cast<double>((others & other).count()) /
                                                         static_cast<double>(other.count())
                                                   : lost_in(others);
        }
    }

    static Times life(const Times& inside) {
        std::uint64_t begin = 0, end = kTimes;
        while (begin < end && !inside[begin])
            ++begin;
        while (end > begin && !inside[end - 1])
            --end;
        return times_of(begin, end);
    }

    double lost = 0;
    std::vector<Overlap> with;
    std::vector<Overlaps::ByThread> while_inside;
};

}  // namespace

TEST_CASE("What losses overlap with is what it is time by time") {
    std::mt19937 random;
    for (int round = 0; round < 2000; ++round) {
        const SomeThreads made{random};
        trace::TraceInfo info;
        info.functions.resize(kFunctions);
        const Activities activities{info, made.report};
        const Overlaps overlaps{activities, 0, made.slow};
        const Expected expected{made};
        REQUIRE(overlaps.lost() == Approx(expected.lost).margin(1e-9));
        for (std::uint32_t function = 0; function < kFunctions; ++function) {
            const auto found = overlaps.with().find(function);
            const Overlap with = found != overlaps.with().end() ? found->second : Overlap{};
            REQUIRE(with.lost == Approx(expected.with[function].lost).margin(1e-9));
            REQUIRE(with.expected == Approx(expected.with[function].expected).margin(1e-9));
            const auto while_inside = overlaps.while_inside(function);
            for (const auto& [thread, ticks] : expected.while_inside[function]) {
                const auto by = while_inside.find(thread);
                REQUIRE((by != while_inside.end() ? by->second : 0) == Approx(ticks).margin(1e-9));
            }
        }
    }
}
