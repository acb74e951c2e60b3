#include "analyzer/hints/off_times.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "analyzer/calls/crowding.h"
#include "analyzer/trace/clock.h"

namespace rdam::hints {
namespace {

/// Ticks off the processor since the thread's start.
struct OffUntil {
    std::uint64_t blocked = 0;
    std::uint64_t preempted = 0;
};

class OffTimes {
  public:
    /// What the recorder's threads, or others of the program, had the processor for is in no call's time.
    explicit OffTimes(std::span<const trace::OffCpu> intervals) {
        std::ranges::copy_if(intervals, std::back_inserter(intervals_),
                             [](const trace::OffCpu& each) { return !each.by_recorder && !each.by_program; });
        OffUntil sum;
        for (const trace::OffCpu& each : intervals_) {
            before_.push_back(sum);
            (each.preempted ? sum.preempted : sum.blocked) += each.in - each.out;
        }
        before_.push_back(sum);
    }

    OffUntil until(std::uint64_t tsc) const {
        const auto behind = std::ranges::lower_bound(intervals_, tsc, {}, &trace::OffCpu::out);
        const auto count = static_cast<std::size_t>(behind - intervals_.begin());
        OffUntil off = before_[count];
        if (count == 0) return off;
        const trace::OffCpu& last = intervals_[count - 1];
        if (last.in > tsc) (last.preempted ? off.preempted : off.blocked) -= last.in - tsc;
        return off;
    }

  private:
    std::vector<trace::OffCpu> intervals_;
    std::vector<OffUntil> before_;
};

}  // namespace

void add_off_times(std::span<const trace::OffCpu> intervals, double ns_per_tick,
                   std::span<score::SampledCall*> calls) {
    const OffTimes times{intervals};
    for (score::SampledCall* call : calls) {
        const OffUntil begin = times.until(call->begin);
        const OffUntil end = times.until(std::max(call->begin, call->end));
        call->blocked_ns = static_cast<double>(end.blocked - begin.blocked) * ns_per_tick;
        call->preempted_ns = static_cast<double>(end.preempted - begin.preempted) * ns_per_tick;
    }
}

Result<void> add_off_times(const trace::TraceInfo& info, const calls::Absences& off_cpu,
                           score::Report& report) {
    std::vector<std::vector<score::SampledCall*>> calls(report.threads.size());
    for (score::FunctionRow& row : report.functions)
        for (score::SampledCall& call : row.sample.calls)
            calls[call.thread].push_back(&call);
    const double ns_per_tick = trace::nanoseconds_per_tick(info.clock);
    for (std::uint32_t t = 0; t < calls.size(); ++t) {
        if (calls[t].empty()) continue;
        const auto intervals = off_cpu.thread(report.threads[t].number);
        if (!intervals) return tl::unexpected{intervals.error()};
        add_off_times(*intervals, ns_per_tick, calls[t]);
    }
    return {};
}

}  // namespace rdam::hints
