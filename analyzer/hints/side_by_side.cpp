#include "analyzer/hints/side_by_side.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analyzer/hints/loss_part.h"
#include "analyzer/hints/steps.h"

namespace rdam::hints {
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
