#include "analyzer/calls/off_cpu_pauses.h"

#include <algorithm>

namespace rdam::calls {

OffCpuPauses::OffCpuPauses(std::span<const trace::OffCpu> intervals, std::uint64_t latest)
    : intervals_(intervals), latest_(latest) {
    for (const trace::OffCpu& each : intervals) {
        if (!each.by_recorder && !each.by_program) continue;
        trace::Event& pause = pauses_.emplace_back();
        pause.kind = trace::EventKind::pause;
        pause.reason = each.by_recorder ? trace::PauseReason::recorder : trace::PauseReason::program;
        pause.tsc = each.out;
        pause.until = each.in;
        pause.cpu = trace::kNoCpu;
    }
}

std::span<const trace::Event> OffCpuPauses::among(std::span<const trace::Event> events) {
    if (next_ == pauses_.size()) return events;
    // Nearly always there is none: nothing is copied.
    const auto first = std::ranges::find_if(events, [&](const trace::Event& event) { return due(event); });
    if (first == events.end()) return events;
    merged_.assign(events.begin(), first);
    for (const trace::Event& event : events.subspan(merged_.size())) {
        for (; due(event); ++next_)
            merged_.push_back(pauses_[next_]);
        merged_.push_back(event);
    }
    return merged_;
}

void OffCpuPauses::note_pauses(std::span<const trace::Event> events) {
    using Reason = trace::PauseReason;
    for (const trace::Event& event : events) {
        if (event.kind != trace::EventKind::pause) continue;
        if (event.reason != Reason::stack_copy && event.reason != Reason::new_chunk) continue;
        while (behind_ < intervals_.size() && intervals_[behind_].in <= event.tsc)
            ++behind_;
        for (std::size_t i = behind_; i < intervals_.size() && intervals_[i].out < event.until; ++i) {
            const std::uint64_t from = std::max(intervals_[i].out, event.tsc);
            const std::uint64_t to = std::min(intervals_[i].in, event.until);
            if (to > from) off_cpu_in_pauses_ += to - from;
        }
    }
}

std::span<const trace::Event> OffCpuPauses::rest() {
    const std::size_t from = next_;
    next_ = pauses_.size();
    return std::span{pauses_}.subspan(from);
}

}  // namespace rdam::calls
