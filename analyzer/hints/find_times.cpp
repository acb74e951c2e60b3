// The loss is in the first calls of each thread, or confined to an interval of the run.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

/// Most of the loss, which a few odd calls elsewhere do not spoil.
constexpr double kMainShare = 0.85;
/// Fewer slow calls may be together by chance.
constexpr std::size_t kMinSlow = 5;

struct Point {
    std::uint64_t begin = 0;
    double lost = 0;   ///< with weight
    double calls = 0;  ///< weight
    std::uint32_t thread = 0;
};

std::vector<Point> in_time(const LossPart& loss) {
    std::vector<Point> points;
    const auto& calls = loss.row.sample.calls;
    for (std::size_t i = 0; i < calls.size(); ++i)
        points.push_back({calls[i].begin, loss.lost[i] * calls[i].weight, calls[i].weight, calls[i].thread});
    std::ranges::stable_sort(points, {}, &Point::begin);
    return points;
}

/// The calls that carry most of the loss are so many at least.
std::size_t slow_calls(std::span<const Point> points, double lost) {
    std::vector<double> losses;
    for (const Point& point : points)
        losses.push_back(point.lost);
    std::ranges::sort(losses, std::ranges::greater{});
    std::size_t count = 0;
    for (double sum = 0; count < losses.size() && sum < kMainShare * lost; ++count)
        sum += losses[count];
    return count;
}

/// The thread's first calls that have most of its loss; all of its calls if the first tenth does not.
struct First {
    double calls = 0;
    double lost = 0;
    bool few = false;
};

First first_calls(std::span<const Point> points) {
    constexpr double kFew = 0.1;
    constexpr double kVeryFew = 0.005;  // where not even one slow call is there by chance
    double lost = 0, calls = 0;
    for (const Point& point : points) {
        lost += point.lost;
        calls += point.calls;
    }
    First first;
    std::size_t count = 0;
    for (; count < points.size() && first.lost < kMainShare * lost; ++count) {
        first.calls += points[count].calls;
        first.lost += points[count].lost;
    }
    const double share = calls > 0 ? first.calls / calls : 1;
    const std::size_t slow = slow_calls(points.first(count), first.lost);
    first.few = lost > 0 && (share <= kVeryFew || (share <= kFew && slow >= kMinSlow));
    return first;
}

bool find_warm_up(const LossPart& loss, const std::vector<Point>& points, Hints& hints) {
    std::map<std::uint32_t, std::vector<Point>> threads;
    for (const Point& point : points)
        threads[point.thread].push_back(point);
    double lost = 0, calls = 0;
    for (const auto& [thread, theirs] : threads) {
        const First first = first_calls(theirs);
        if (!first.few) continue;
        lost += first.lost;
        calls += first.calls;
    }
    if (lost < kMinExplained * loss.lost_ns) return false;
    hints.push_back({.kind = HintKind::warm_up,
                     .text = fmt::format(
                         "{:.0f} % of the lost time is in the first {} of {} calls of their threads, which "
                         "looks like warm-up (first-touch page faults, cold caches, lazy initialization)",
                         100 * lost / loss.lost_ns, output::human_count(std::max(calls, 1.0)),
                         output::human_count(loss.calls)),
                     .share = lost / loss.lost_ns});
    return true;
}

/// The interval, of those with most of the loss, that holds the fewest calls.
struct Phase {
    std::size_t first = 0, end = 0;  ///< points
    double calls = 0, lost = 0;
};

Phase narrowest(std::span<const Point> points, double lost) {
    Phase best{.first = 0, .end = points.size(), .calls = 1e300, .lost = lost};
    double sum = 0, calls = 0;
    std::size_t first = 0;
    for (std::size_t end = 0; end < points.size(); ++end) {
        sum += points[end].lost;
        calls += points[end].calls;
        while (first < end && sum - points[first].lost >= kMainShare * lost) {
            sum -= points[first].lost;
            calls -= points[first].calls;
            ++first;
        }
        if (sum >= kMainShare * lost && calls < best.calls) best = {first, end + 1, calls, sum};
    }
    return best;
}

/// What would be the narrowest if the losses were spread over the calls by chance.
double narrowest_by_chance(std::vector<Point> points, double lost) {
    constexpr int kShuffles = 8;
    std::vector<std::pair<double, double>> what;
    what.reserve(points.size());
    for (const Point& point : points)
        what.emplace_back(point.lost, point.calls);
    std::mt19937 random;
    double least = 1e300;
    for (int i = 0; i < kShuffles; ++i) {
        std::ranges::shuffle(what, random);
        for (std::size_t p = 0; p < points.size(); ++p)
            std::tie(points[p].lost, points[p].calls) = what[p];
        least = std::min(least, narrowest(points, lost).calls);
    }
    return least;
}

void find_phase(const LossPart& loss, const std::vector<Point>& points, Hints& hints) {
    constexpr double kMaxCalls = 0.5;
    const Phase interval = narrowest(points, loss.lost_ns);
    if (interval.calls > kMaxCalls * loss.calls) return;
    const auto inside = std::span{points}.subspan(interval.first, interval.end - interval.first);
    if (slow_calls(inside, interval.lost) < kMinSlow) return;
    if (interval.calls > narrowest_by_chance(points, loss.lost_ns) / 2) return;
    std::uint64_t start = UINT64_MAX;
    for (const trace::ThreadInfo& thread : loss.info.threads)
        if (thread.start != 0) start = std::min(start, thread.start);
    const auto since_start = [&](std::uint64_t ticks) {
        return output::human_time(ticks > start ? static_cast<double>(ticks - start) * loss.ns_per_tick : 0);
    };
    const std::string from = since_start(inside.front().begin);
    const std::string to = since_start(inside.back().begin);
    // What is over so soon that both ends are one figure cannot be selected by them.
    const bool moment = from == to;
    hints.push_back(
        {.kind = HintKind::phase,
         .text = fmt::format("{:.0f} % of the lost time is {} of the run, with {} of the calls{}",
                             100 * interval.lost / loss.lost_ns,
                             moment ? fmt::format("at {}", from) : fmt::format("between {} and {}", from, to),
                             share_text(interval.calls / loss.calls),
                             moment ? "" : ": select it with --since and --until"),
         .share = interval.lost / loss.lost_ns});
}

}  // namespace

void find_times(const LossPart& loss, Hints& hints) {
    const std::vector<Point> points = in_time(loss);
    if (find_warm_up(loss, points, hints)) return;
    const bool all_through =
        std::ranges::any_of(hints, [](const auto& hint) { return hint.kind == HintKind::trend; });
    if (!all_through) find_phase(loss, points, hints);
}

}  // namespace rdam::hints
