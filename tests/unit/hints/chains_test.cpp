// Who is at the end of chains of waits.
#include "analyzer/hints/chains.h"

#include <random>
#include <string>

#include "analyzer/hints/owners.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"

using namespace rdam;
using hints::Held;

namespace {

/// Threads that take and give back locks.
struct Chained {
    explicit Chained(std::size_t threads) {
        for (const char* const name : {"pthread_rwlock_wrlock", "pthread_rwlock_unlock"}) {
            trace::FunctionInfo& function = info.functions.emplace_back();
            function.name = function.linkage_name = name;
            function.waits = info.functions.size() == 1;
        }
        report.threads.resize(threads);
        report.timeline.resize(threads);
        for (auto& timeline : report.timeline)
            timeline.end = 100000;
    }

    void take(std::size_t thread, std::uint64_t begin, std::uint64_t end, std::uint64_t lock) {
        report.timeline[thread].calls.push_back({0, begin, end, lock, end - begin});
    }
    void give(std::size_t thread, std::uint64_t begin, std::uint64_t lock) {
        report.timeline[thread].calls.push_back({1, begin, begin + 5, lock, 5});
    }

    hints::Waits waits() const {
        const auto waits = hints::Waits::of(info, report);
        REQUIRE(waits);
        return *waits;
    }
    hints::Chains chains() const { return hints::follow_waits(waits(), report.threads.size()); }

    trace::TraceInfo info;
    score::Report report;
};

double ticks(const hints::ChainEnd& end) {
    double sum = 0;
    for (const auto& [time, waiters] : end.waiters)
        sum += time.ticks() * waiters;
    return sum;
}

constexpr std::uint64_t kFirst = 0x1000, kSecond = 0x2000;

}  // namespace

TEST_CASE("A thread waits for the one that the owner waits for") {
    Chained made{3};
    made.take(2, 990, 1000, kSecond);  // 2 has the second lock until 9000, and 1 the first one until 9500
    made.give(2, 9000, kSecond);
    made.take(1, 490, 500, kFirst);
    made.take(1, 2000, 9010, kSecond);
    made.give(1, 9500, kFirst);
    made.give(1, 9600, kSecond);
    made.take(0, 3000, 9510, kFirst);
    made.give(0, 9700, kFirst);

    const hints::Chains chains = made.chains();
    CHECK(chains.circular == 0);
    REQUIRE(chains.ends.size() == 2);
    const hints::ChainEnd &middle = chains.ends[0], &last = chains.ends[1];
    CHECK(last.thread == 2);
    CHECK(ticks(last) == Approx(7000 + 6000));
    CHECK(last.direct == Approx(7000));
    CHECK(middle.thread == 1);
    CHECK(ticks(middle) == Approx(500));
    CHECK(middle.direct == Approx(500));
}

TEST_CASE("Threads that wait for one another have no end") {
    Chained made{3};
    made.take(0, 90, 100, kFirst);
    made.take(1, 190, 200, kSecond);
    made.take(0, 1000, 5010, kSecond);
    made.take(1, 2000, 7010, kFirst);
    made.give(1, 5000, kSecond);  // as a handler of a signal may
    made.give(0, 7000, kFirst);

    const hints::Chains chains = made.chains();
    CHECK(chains.circular == Approx(2 * 3000));  // both, from 2000 to 5000
    REQUIRE(chains.ends.size() == 2);
    CHECK(ticks(chains.ends[0]) == Approx(2000));  // 1 waits for 0 from 5000 to 7000
    CHECK(ticks(chains.ends[1]) == Approx(1000));  // 0 waits for 1 from 1000 to 2000
}

TEST_CASE("All that is waited for threads has an end, or is in a circle") {
    std::mt19937_64 random{7};  // NOLINT(cert-msc51-cpp): the same cases each time
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    for (int round = 0; round < test::rounds(300); ++round) {
        Chained made{2 + below(6)};
        for (std::size_t t = 0; t < made.report.threads.size(); ++t) {
            std::uint64_t now = below(100);
            while (now < 20000) {
                const std::uint64_t lock = kFirst + 0x1000 * below(3), until = now + 1 + below(900);
                if (below(2) == 0)
                    made.take(t, now, until, lock);
                else
                    made.give(t, now, lock);
                now = until + 10 + below(300);
            }
        }
        const hints::Waits waits = made.waits();
        double waited = 0, followed = 0;
        for (std::size_t t = 0; t < made.report.threads.size(); ++t)
            for (const Held::By by : Held::kBys)
                for (const Held& part : waits.of_thread(t, by))
                    if (part.is_owned()) waited += part.time.ticks();
        const hints::Chains chains = made.chains();
        for (const hints::ChainEnd& end : chains.ends)
            followed += ticks(end);
        REQUIRE(followed + chains.circular == Approx(waited).margin(0.5));
    }
}

TEST_CASE("Who waits for whom is known of the whole run, where other calls are kept of a part of it") {
    constexpr unsigned kShift = 10;  // windows of 1024 ticks
    constexpr std::uint64_t kRun = 1000 << kShift, kPeriod = 20'000, kHeld = 15'000;
    Chained made{2};
    for (auto& timeline : made.report.timeline)
        timeline.end = kRun;
    // Thread 0 has the lock for 15 of 20 windows of time, and thread 1 waits for it from the 5th on.
    for (std::uint64_t begin = 10; begin + kPeriod < kRun; begin += kPeriod) {
        made.take(0, begin, begin + 10, kFirst);
        made.give(0, begin + 10 + kHeld, kFirst);
        made.take(1, begin + 5000, begin + 10 + kHeld, kFirst);
        made.give(1, begin + 10 + kHeld + 100, kFirst);
    }
    const double wanted = (kHeld + 10.0 - 5000) / kPeriod;
    const auto graph = [&] {
        const hints::Activities activities{made.info, made.report};
        return hints::wait_graph(made.info, made.report, activities, {});
    };
    const hints::WaitGraph whole = graph();
    REQUIRE(whole.edges.size() == 1);
    CHECK(whole.edges[0].share == Approx(wanted).margin(0.02));
    CHECK(whole.known == Approx(1).margin(0.001));

    made.report.windows = {.shift = kShift, .limit = UINT64_MAX / 8};
    for (auto& timeline : made.report.timeline) {
        timeline.wait_calls = timeline.calls;
        std::erase_if(timeline.calls, [&](const score::TimedCall& call) {
            for (std::uint64_t number = call.begin >> kShift; number <= call.end >> kShift; ++number)
                if (made.report.windows.keeps(number)) return false;
            return true;
        });
    }
    const hints::WaitGraph part = graph();
    CHECK(part.known < 0.5);  // few waits are in windows that are kept one behind the other

    made.report.wait_windows = samples::Windows{.shift = kShift};
    const hints::WaitGraph again = graph();
    REQUIRE(again.edges.size() == 1);
    CHECK(again.edges[0].share == Approx(whole.edges[0].share));
    CHECK(again.known == whole.known);
    REQUIRE(again.ends.size() == 1);
    CHECK(again.ends[0].share == Approx(1));
    // What is known of windows of all calls is the same there.
    const hints::Activities activities{made.info, made.report};
    double all = 0, kept = 0;
    for (const Held& wait : activities.all_waits().of_thread(1, Held::By::owner))
        all += wait.time.ticks();
    for (const Held& wait : activities.waits().of_thread(1, Held::By::owner))
        kept += wait.time.ticks();
    CHECK(kept / activities.life(1) == Approx(all / kRun).margin(0.1));
    CHECK(kept < all / 4);
}
