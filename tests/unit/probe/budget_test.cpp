// What the budget for overhead makes of threads that call too much.
#include "tools/agent/sampling/budget.h"

#include <cmath>
#include <map>

#include "tests/unit/catch.h"

namespace rdam::agent {
namespace {

constexpr CallCosts kCosts{.recorded = 100, .unrecorded = 20, .inside = 8};
constexpr double kWindow = 1e6;

/// A thread as the recorder would record it: per window so many trees of each function, with so many calls of
/// function 0 inside each, and the program's own time.
class Program {
  public:
    struct Trees {
        double count = 0;
        std::uint32_t inside = 0;
    };

    Program(Budget& budget, std::uint32_t thread, std::map<std::uint32_t, Trees> trees, double own)
        : budget_(budget), thread_(thread), trees_(std::move(trees)), own_(own) {}

    /// Returns what the recorder cost, as a share of the program's own time.
    double run_window() {
        double cost = 0;
        for (const auto& [function, trees] : trees_)
            cost += run_trees(function, trees);
        tsc_ += static_cast<std::uint64_t>(own_ + cost);
        if (budget_.seen(thread_, tsc_)) ++changes_;
        return cost / own_;
    }
    int changes() const { return changes_; }

  private:
    double run_trees(std::uint32_t function, const Trees& trees) {
        const std::uint8_t rate = budget_.rate(function);
        const double inside = budget_.windowed(0) ? 0 : trees.inside;
        if (budget_.windowed(function)) return 0;
        left_[function] += trees.count * std::ldexp(1.0, -rate);
        double recorded = 0;
        for (; left_[function] >= 1; --left_[function], ++recorded) {
            budget_.call(thread_, function, true, rate);
            for (int i = 0; i < inside; ++i)
                budget_.call(thread_, 0, false, 0);
        }
        const double skipped = std::max(trees.count - recorded, 0.0);
        return recorded * (1 + inside) * kCosts.recorded +
               skipped * (kCosts.unrecorded + inside * kCosts.inside);
    }

    Budget& budget_;
    std::uint32_t thread_;
    std::map<std::uint32_t, Trees> trees_;
    std::map<std::uint32_t, double> left_;
    double own_;
    std::uint64_t tsc_ = 1;
    int changes_ = 0;
};

double settle(Program& program, int windows = 20) {
    double share = 0;
    for (int i = 0; i < windows; ++i)
        share = program.run_window();
    return share;
}

/// How many windows of the budget, each filled by `fill`, until the function is sampled in windows of time.
template <class Fill>
int looks_until_windowed(Budget& budget, std::uint32_t function, const Fill& fill) {
    constexpr int kMax = 20;
    for (int window = 1; window < kMax; ++window) {
        fill();
        budget.seen(0, 3'000'000 * static_cast<std::uint64_t>(window));
        if (budget.windowed(function)) return window;
    }
    return kMax;
}

}  // namespace

TEST_CASE("a thread within its budget is recorded whole", "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    Program program(budget, 0, {{1, {.count = 500}}}, 2e6);
    CHECK(settle(program) == Approx(0.025));
    CHECK(budget.rate(1) == 0);
    CHECK(program.changes() == 0);
}

TEST_CASE("a function that is called too often is sampled, a rare one is not", "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    Program program(budget, 0, {{1, {.count = 3000}}, {2, {.count = 20}}}, 2e6);
    CHECK(program.run_window() > 0.10);
    CHECK(settle(program) <= 0.10);
    CHECK(budget.rate(1) > 0);
    CHECK(budget.rate(1) < RDAM_MOST_RATE);
    CHECK(budget.rate(2) == 0);
    CHECK_FALSE(budget.windowed(1));
}

TEST_CASE("what is sampled is not taken for little", "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    Program program(budget, 0, {{1, {.count = 3000}}}, 2e6);
    settle(program, 5);
    const std::uint8_t rate = budget.rate(1);
    for (int i = 0; i < 200; ++i) {
        CHECK(program.run_window() <= 0.10);
        CHECK(std::abs(budget.rate(1) - rate) <= 1);
    }
}

TEST_CASE("trees are sampled whole: the calls inside count for their outermost function", "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    Program program(budget, 0, {{1, {.count = 100, .inside = 50}}}, 2e6);
    CHECK(settle(program) <= 0.10);
    CHECK(budget.rate(1) > 0);
    CHECK(budget.rate(0) == 0);
}

TEST_CASE("where not recording is too expensive, the most called function is recorded in windows",
          "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    Program program(budget, 0, {{1, {.count = 100, .inside = 150}}, {2, {.count = 100}}}, 2e6);
    CHECK(settle(program) <= 0.10);
    CHECK(budget.windowed(0));
    CHECK_FALSE(budget.windowed(1));
    CHECK(budget.rate(2) == 0);
}

TEST_CASE("a rare function is recorded whole while it is decided what is recorded in windows", "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    Program program(budget, 0, {{1, {.count = 100, .inside = 150}}, {2, {.count = 20}}}, 2e6);
    program.run_window();
    program.run_window();
    CHECK(budget.rate(1) > 0);
    CHECK_FALSE(budget.windowed(1));
    for (int window = 0; window < 20; ++window) {
        CHECK(budget.rate(2) == 0);
        program.run_window();
    }
}

TEST_CASE("a tree that does not end cannot be sampled: what it calls most is recorded in windows",
          "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    budget.call(0, 1, true, 0);
    budget.seen(0, 1);
    CHECK(looks_until_windowed(budget, 2, [&] {
              for (int i = 0; i < 10'000; ++i)
                  budget.call(0, i % 100 == 0 ? 3 : 2, false, 0);
          }) == 4);
    CHECK(budget.rate(1) == 0);
    CHECK(budget.rate(3) == 0);
}

TEST_CASE("what is called in a manual region cannot be sampled", "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    budget.seen(0, 1);
    CHECK(looks_until_windowed(budget, 2, [&] {
              budget.region(0, 7000);
              for (int i = 0; i < 10'000; ++i)
                  budget.call(0, 2, false, 0);
          }) == 4);
    CHECK(budget.rate(7000) == 0);
}

TEST_CASE("what is recorded in windows does not count against the rest, and stays so", "[budget]") {
    Budget budget(0.01, kCosts, kWindow);
    Program program(budget, 0, {{1, {.count = 50'000}}}, 2e6);
    settle(program);
    REQUIRE(budget.windowed(1));
    // A window: many calls at once, in trees of their own and in those of another function.
    std::uint64_t tsc = 1'000'000'000;
    budget.seen(0, tsc);
    for (int i = 0; i < 10'000; ++i)
        budget.call(0, 1, true, 0);
    budget.call(0, 2, true, 0);
    for (int i = 0; i < 10'000; ++i)
        budget.call(0, 1, false, 0);
    budget.paused(0, 500'000);  // chunks that were filled by what is recorded in windows
    budget.seen(0, tsc += 2'000'000);
    CHECK(budget.rate(2) == 0);
    CHECK_FALSE(budget.windowed(2));
    CHECK(budget.windowed(1));
}

TEST_CASE("windows have a part of the budget to themselves", "[budget]") {
    CHECK(Budget::share_of_windows(0.10) > 0);
    CHECK(Budget::share_of_windows(0.10) < 0.05);
}

TEST_CASE("the most demanding thread decides, and rates fall step by step when it has gone", "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    Program busy(budget, 0, {{1, {.count = 3000}}}, 2e6);
    Program quiet(budget, 1, {{1, {.count = 10}}}, 2e6);
    quiet.run_window();
    settle(busy, 5);
    const std::uint8_t rate = budget.rate(1);
    REQUIRE(rate >= 1);
    quiet.run_window();
    CHECK(budget.rate(1) >= rate);
    budget.ended(0);
    for (int left = rate - 1; left >= 0; --left) {
        quiet.run_window();
        CHECK(budget.rate(1) == left);
    }
}

TEST_CASE("the time that the recorder holds a thread is part of the cost", "[budget]") {
    Budget budget(0.10, kCosts, kWindow);
    budget.seen(0, 1);
    for (int i = 0; i < 500; ++i)
        budget.call(0, 1, true, 0);
    budget.paused(0, 400'000);
    CHECK(budget.seen(0, 2'000'000));
    CHECK(budget.rate(1) > 0);
}

}  // namespace rdam::agent
