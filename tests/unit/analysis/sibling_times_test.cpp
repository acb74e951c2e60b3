#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "analyzer/sequences/pattern_miner.h"
#include "tests/unit/catch.h"

namespace {

using rdam::sequences::SiblingPauses;
using rdam::sequences::SiblingTime;
using rdam::sequences::SiblingTimes;

/// Mostly one shortly after the other; some far apart, some long, some before those to their left, some
/// unknown.
class Clock {
  public:
    explicit Clock(std::uint32_t seed) : random_{seed} {}

    SiblingTime next() {
        constexpr std::uint64_t kCell = std::uint64_t{1} << 32;
        constexpr std::uint64_t kEdge = 3;
        const std::uint32_t kind = below(40);
        if (kind == 0) return {};
        if (kind == 1) now_ += kCell - kEdge + below(2 * kEdge);
        if (kind == 2) now_ -= below(1000);
        std::uint64_t duration = below(5000);
        if (kind == 3) duration = kCell - kEdge + below(2 * kEdge);
        if (kind == 4) duration = (kCell << 20) + below(5);
        now_ += below(100);
        return {now_, now_ + duration};
    }
    /// Few have any.
    SiblingPauses pauses() { return {.before = below(20) == 0, .inside = below(20) == 0}; }
    std::uint32_t below(std::uint64_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  private:
    std::mt19937 random_;
    std::uint64_t now_ = std::uint64_t{1} << 40;
};

bool same(const SiblingTimes& times, const std::vector<SiblingTime>& expected) {
    if (times.size() != expected.size()) return false;
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (times[i] != expected[i] || times.known(i) != expected[i].known()) return false;
    return true;
}

TEST_CASE("The times of siblings come back exactly") {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        Clock clock{seed};
        SiblingTimes times;
        std::vector<SiblingTime> expected;
        std::vector<SiblingPauses> pauses;
        for (int step = 0; step < 300; ++step) {
            const std::uint32_t what = clock.below(20);
            if (what == 0 && !expected.empty()) {
                expected.resize(clock.below(expected.size() + 1));
                pauses.resize(expected.size());
                times.shrink(expected.size());
            } else if (what == 1 && !expected.empty()) {
                expected.back() = clock.next();
                pauses.back() = clock.pauses();
                times.replace_back(expected.back(), pauses.back());
            } else {
                expected.push_back(clock.next());
                pauses.push_back(clock.pauses());
                times.push_back(expected.back(), pauses.back());
            }
        }
        INFO("seed " << seed);
        REQUIRE(same(times, expected));
        std::size_t first = 0;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (!expected[i].known()) first = i + 1;
            REQUIRE(times.known(first, i + 1 - first));
            if (first > 0) REQUIRE_FALSE(times.known(first - 1, i + 2 - first));
            REQUIRE(times.pauses(i) == pauses[i]);
            const std::size_t from = i - std::min<std::size_t>(i, 7);
            bool paused = pauses[from].inside;
            for (std::size_t between = from + 1; between <= i; ++between)
                paused = paused || pauses[between].before || pauses[between].inside;
            REQUIRE(times.paused_between(from, i) == paused);
        }
    }
}

}  // namespace
