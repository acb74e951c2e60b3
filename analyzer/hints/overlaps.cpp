#include "analyzer/hints/overlaps.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/hints/finders.h"

namespace rdam::hints {
Overlaps::Overlaps(const Activities& activities, std::uint32_t function,
                   std::span<const score::SlowCall> slow)
    : activities_(activities) {
    std::map<std::size_t, Parts> by_thread;
    Parts losses;
    for (const score::SlowCall& call : slow)
        if (const Interval time = activities.kept({call.begin, call.end}); time.begin < time.end)
            by_thread[call.thread].push_back({time, call.lost});
    for (auto& [thread, slow_parts] : by_thread) {
        const Parts parts = std::exchange(slow_parts, {});
        const Activities::Inside* own = activities.find(thread, function);
        if (own == nullptr) continue;
        add(thread, own->times, parts);
        losses.insert(losses.end(), parts.begin(), parts.end());
    }
    loss_ = Steps{std::exchange(losses, {})};
}

void Overlaps::add(std::size_t thread, const Intervals& own, const Parts& slow) {
    constexpr std::size_t kFewest = 30;
    const Interval life{own.front().begin, own.back().end};
    double lost = 0, slow_ticks = 0, own_ticks = 0;
    for (const Steps::Part& call : slow) {
        lost += call.value * call.time.ticks();
        slow_ticks += call.time.ticks();
    }
    for (const Interval& time : own)
        own_ticks += time.ticks();
    /// The loss, spread over these times without the slow calls.
    const auto spread = [&](const Intervals& times, double of) {
        Parts parts = slow;
        const double otherwise = of - slow_ticks;
        if (!(otherwise > 0)) return parts;
        for (Steps::Part& call : parts)
            call.value = -lost / otherwise;
        for (const Interval& time : times)
            parts.push_back({time, lost / otherwise});
        return parts;
    };
    const bool calls_otherwise = own.size() >= slow.size() + kFewest && own_ticks > slow_ticks;
    lost_ += lost;
    lost_by_[thread] = lost;
    const Steps& loss = loss_of_[thread] = Steps{slow};
    const Steps expected{spread({life}, life.ticks())};
    const Steps besides = calls_otherwise ? Steps{spread(own, own_ticks)} : Steps{};
    const auto add_times = [&](std::uint32_t function, const Steps& times, double sign) {
        Overlap& with = with_[function];
        const double expectation = product(expected, times);
        with.lost += sign * product(loss, times);
        with.expected += sign * expectation;
        with.beside += sign * (calls_otherwise ? product(besides, times) : expectation);
    };
    for (const auto& [other, any] : activities_.of_any())
        add_times(other, any, 1);
    for (const Activities::Inside& inside : activities_.threads()[thread])
        add_times(inside.function, inside.alone, -1);
}

Overlaps::ByThread Overlaps::while_inside(std::uint32_t function) const {
    ByThread lost;
    for (std::size_t t = 0; t < activities_.threads().size(); ++t) {
        const Activities::Inside* inside = activities_.find(t, function);
        if (inside == nullptr) continue;
        const Steps times{inside->times};
        const auto own = loss_of_.find(t);
        lost[t] = product(loss_, times) - (own != loss_of_.end() ? product(own->second, times) : 0);
    }
    return lost;
}

namespace {

/// Of the duration of a call, by which the begin of another one may differ. Their durations may differ: one
/// of the threads may be preempted.
constexpr double kBeginTogether = 0.25;
/// Calls that are looked at on either side.
constexpr std::ptrdiff_t kNeighbours = 16;

struct CallOf {
    std::uint64_t begin = 0, end = 0;
    std::size_t thread = 0;
};

class Calls {
  public:
    Calls(const score::Report& report, std::uint32_t function) {
        for (std::size_t t = 0; t < report.timeline.size(); ++t)
            for (const score::TimedCall& call : report.timeline[t].calls)
                if (call.function == function) calls_.push_back({call.begin, call.end, t});
        std::ranges::sort(calls_, {}, &CallOf::begin);
    }

    /// A call of another thread that begins when `call` does, or so much of its duration later; null: none.
    const CallOf* beside(const score::SlowCall& call, double later) const {
        const auto duration = static_cast<double>(call.end - call.begin);
        const double wanted = static_cast<double>(call.begin) + later * duration;
        const auto at = std::ranges::lower_bound(
            calls_, wanted, {}, [](const CallOf& each) { return static_cast<double>(each.begin); });
        const auto first = at - std::min(kNeighbours, at - calls_.begin());
        const auto last = at + std::min(kNeighbours, calls_.end() - at);
        const auto found = std::find_if(first, last, [&](const CallOf& each) {
            return each.thread != call.thread &&
                   std::abs(static_cast<double>(each.begin) - wanted) <= kBeginTogether * duration;
        });
        return found != last ? &*found : nullptr;
    }

    /// A call of another thread that is inside the function at some time during `call`; null: none.
    const CallOf* accompanying(const score::SlowCall& call) const {
        const auto at = std::ranges::lower_bound(calls_, call.end, {}, &CallOf::begin);
        const auto first = at - std::min(2 * kNeighbours, at - calls_.begin());
        const auto found = std::find_if(first, at, [&](const CallOf& each) {
            return each.thread != call.thread && each.end > call.begin;
        });
        return found != at ? &*found : nullptr;
    }

  private:
    std::vector<CallOf> calls_;
};

/// When a thread is in a parallel region that it has begun.
Intervals parallel_regions(const trace::TraceInfo& info, const score::Report& report) {
    std::vector<bool> begins_region;
    for (const trace::FunctionInfo& function : info.functions) {
        const CatalogueFunction* known = known_wait(function);
        begins_region.push_back(known != nullptr && known->runs == "the parallel region");
    }
    Intervals regions;
    for (const score::ThreadTimeline& timeline : report.timeline)
        for (const score::TimedCall& call : timeline.calls)
            if (begins_region[call.function]) regions.push_back({call.begin, call.end});
    return united(std::move(regions));
}

/// `intervals` are sorted and disjoint.
bool contain(const Intervals& intervals, std::uint64_t time) {
    const auto next = std::ranges::upper_bound(intervals, time, {}, &Interval::begin);
    return next != intervals.begin() && time < (next - 1)->end;
}

}  // namespace

SideBySide side_by_side(const trace::TraceInfo& info, const score::Report& report, std::uint32_t function,
                        std::span<const score::SlowCall> slow) {
    constexpr double kElsewhere = 0.6;
    const Calls calls{report, function};
    const Intervals regions = parallel_regions(info, report);
    SideBySide found;
    double all = 0, together = 0, by_chance = 0;
    for (const score::SlowCall& call : slow) {
        const CallOf* const accompanying = calls.accompanying(call);
        if (accompanying == nullptr) continue;
        const double lost = call.lost * static_cast<double>(call.end - call.begin);
        all += lost;
        if (contain(regions, call.begin)) {
            together += lost;
            found.threads.insert(call.thread);
            found.threads.insert(accompanying->thread);
            continue;
        }
        if (const CallOf* other = calls.beside(call, 0)) {
            together += lost;
            found.threads.insert(call.thread);
            found.threads.insert(other->thread);
        }
        if (calls.beside(call, -kElsewhere) != nullptr || calls.beside(call, kElsewhere) != nullptr)
            by_chance += lost;
    }
    if (all > 0) found.share = std::max(together - by_chance, 0.0) / all;
    return found;
}

}  // namespace rdam::hints
