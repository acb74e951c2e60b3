#include "analyzer/score/off_times.h"

#include <algorithm>
#include <iterator>

namespace rdam::score {

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
