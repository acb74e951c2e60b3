#include "analyzer/score/thread_times.h"

#include <algorithm>
#include <iterator>

namespace rdam::score {

const WindowedCalls& ThreadTimes::windowed_calls(std::uint32_t function) const {
    static const WindowedCalls kNone;
    const auto found = windowed.find(function);
    return found != windowed.end() ? found->second : kNone;
}

OffCpuTimes sum_off_cpu(std::span<const trace::OffCpu> intervals, const trace::TickRange& range) {
    OffCpuTimes sum;
    const trace::OffCpu* before = nullptr;
    for (const trace::OffCpu& interval : intervals) {
        const std::uint64_t out = std::max(interval.out, range.begin);
        const std::uint64_t in = std::min(interval.in, range.end);
        if (out >= in) continue;
        if (before == nullptr || !trace::same_absence(*before, interval)) {
            ++sum.switches;
            sum.preemptions += interval.preempted ? 1 : 0;
        }
        before = &interval;
        (interval.by_recorder  ? sum.recorder
         : interval.by_program ? sum.crowded
         : interval.preempted  ? sum.preempted
                               : sum.blocked) += in - out;
    }
    return sum;
}

OffTimes::OffTimes(std::span<const trace::OffCpu> intervals) {
    std::ranges::copy_if(intervals, std::back_inserter(intervals_),
                         [](const trace::OffCpu& each) { return !each.by_recorder && !each.by_program; });
    Sum sum;
    for (const trace::OffCpu& each : intervals_) {
        before_.push_back(sum);
        (each.preempted ? sum.preempted : sum.blocked) += each.in - each.out;
    }
    before_.push_back(sum);
}

OffTimes::Sum OffTimes::until(std::uint64_t tsc) const {
    const auto behind = std::ranges::lower_bound(intervals_, tsc, {}, &trace::OffCpu::out);
    const auto count = static_cast<std::size_t>(behind - intervals_.begin());
    Sum off = before_[count];
    if (count == 0) return off;
    const trace::OffCpu& last = intervals_[count - 1];
    if (last.in > tsc) (last.preempted ? off.preempted : off.blocked) -= last.in - tsc;
    return off;
}

}  // namespace rdam::score
