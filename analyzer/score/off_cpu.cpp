#include "analyzer/score/off_cpu.h"

#include <algorithm>

namespace rdam::score {

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

}  // namespace rdam::score
