// When windows come: against programs whose time passes as the test says.
#include <cmath>
#include <vector>

#include "tests/unit/catch.h"
#include "tools/agent/sampling/window_keeper.h"

namespace rdam::agent {
namespace {

constexpr double kSecond = 1e9;
constexpr double kProbe = 40;  ///< ns

/// A program that calls its function every `every` nanoseconds, in windows and besides.
struct Run {
    double elapsed = 0;
    double open = 0;
    double cost = 0;
    std::vector<double> begins;
    std::vector<double> lengths;

    double cost_share() const { return cost / elapsed; }
    double duty() const { return open / elapsed; }
};

/// `late`: what calls have cost is known so many windows later.
Run run(double share, double seconds, double every, std::uint64_t seed = 1, std::size_t late = 0) {
    WindowSchedule schedule(seed);
    Run run;
    std::vector<double> costs{0};
    double length = WindowSchedule::kFirst;
    while (run.elapsed < seconds * kSecond) {
        run.begins.push_back(run.elapsed);
        run.lengths.push_back(length);
        run.elapsed += length;
        run.open += length;
        run.cost += length / (every + kProbe) * kProbe;
        costs.push_back(run.cost);
        const double known = costs.size() > late ? costs[costs.size() - 1 - late] : 0;
        const auto next = schedule.next({.elapsed = run.elapsed, .open = run.open, .cost = known}, share);
        REQUIRE(next.gap > 0);
        REQUIRE(next.length >= WindowSchedule::kMin);
        REQUIRE(next.length <= WindowSchedule::kMax);
        run.elapsed += next.gap;
        length = next.length;
    }
    return run;
}

}  // namespace

TEST_CASE("what windows cost stays below the share, also if it is known late", "[windows]") {
    for (const double every : {5.0, 50.0, 2000.0})
        for (const std::size_t late : {0U, 3U, 20U})
            for (const double share : {0.005, 0.02, 0.1}) {
                INFO("every " << every << " ns, known " << late << " windows late, share " << share);
                CHECK(run(share, 20, every, 1, late).cost_share() <= 1.1 * share);
            }
}

TEST_CASE("a function that is called rarely is recorded half of the time, not more", "[windows]") {
    const Run rare = run(0.02, 20, 100'000);
    CHECK(rare.duty() > 0.4);
    CHECK(rare.duty() < 0.6);
}

TEST_CASE("however little may be spent, windows cover the whole run", "[windows]") {
    const Run hot = run(1e-6, 20, 5);
    CHECK(static_cast<double>(hot.begins.size()) >= 18 * 20);
    double longest = 0;
    for (std::size_t i = 1; i < hot.begins.size(); ++i)
        longest = std::max(longest, hot.begins[i] - hot.begins[i - 1]);
    CHECK(longest < 2 * WindowSchedule::kLongestPeriod);
}

TEST_CASE("windows do not fall into step with a program's period", "[windows]") {
    constexpr double kPeriod = 20e6;
    const Run hot = run(0.02, 60, 5);
    double x = 0, y = 0;
    for (const double begin : hot.begins) {
        const double phase = 2 * std::acos(-1.0) * std::fmod(begin, kPeriod) / kPeriod;
        x += std::cos(phase);
        y += std::sin(phase);
    }
    // Of as many phases at random the sum is as long as the root of their number.
    CHECK(std::hypot(x, y) < 4 * std::sqrt(static_cast<double>(hot.begins.size())));
}

TEST_CASE("windows become fewer when a function becomes hot, and more again when it is not", "[windows]") {
    WindowSchedule schedule(7);
    double elapsed = 0, open = 0, cost = 0, length = WindowSchedule::kFirst;
    const auto pass = [&](double seconds, double cost_of_window) {
        const double until = elapsed + seconds * kSecond, open_before = open, since = elapsed;
        while (elapsed < until) {
            elapsed += length;
            open += length;
            cost += length * cost_of_window;
            const auto next = schedule.next({.elapsed = elapsed, .open = open, .cost = cost}, 0.02);
            elapsed += next.gap;
            length = next.length;
        }
        return (open - open_before) / (elapsed - since);
    };
    const double quiet = pass(20, 0.01);
    const double hot = pass(20, 0.9);
    const double quiet_again = pass(20, 0.01);
    CHECK(hot < quiet / 5);
    CHECK(quiet_again > hot * 5);
}

}  // namespace rdam::agent
