// Who is at the end of chains of waits.
#include "analyzer/hints/chains.h"

#include <random>
#include <string>

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

    hints::Activities activities() const { return {info, report}; }

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

    const hints::Chains chains = hints::follow_waits(made.activities());
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

    const hints::Chains chains = hints::follow_waits(made.activities());
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
        const hints::Activities activities = made.activities();
        double waited = 0, followed = 0;
        for (std::size_t t = 0; t < made.report.threads.size(); ++t)
            for (const Held::By by : Held::kBys)
                for (const Held& part : activities.waits().of_thread(t, by))
                    if (part.is_owned()) waited += part.time.ticks();
        const hints::Chains chains = hints::follow_waits(activities);
        for (const hints::ChainEnd& end : chains.ends)
            followed += ticks(end);
        REQUIRE(followed + chains.circular == Approx(waited).margin(0.5));
    }
}
