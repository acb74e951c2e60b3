#include "tools/agent/switches/agent_times.h"

#include <algorithm>

namespace rdam::agent {
namespace {

/// The maximum time between a thread's last record on a processor and the next thread's first, if no other
/// thread ran between them.
constexpr std::uint64_t kSwitchNs = 5000;
/// For one processor, while a thread waits for it: later times are attributed to other programs.
constexpr std::size_t kMaxRuns = 1U << 16U;

bool adjoins(const RecordTime& before, const RecordTime& next) {
    return next.ns <= before.ns + kSwitchNs;
}

}  // namespace

void AgentTimes::add(const SwitchRecord& record, std::uint64_t ticks) {
    Processor& processor = processors_[record.cpu];
    const RecordTime now{ticks, record.ns};
    if (!record.out) {
        if (!processor.on) processor.since = now;
        processor.on = true;
        return;
    }
    if (!processor.on) return;
    processor.on = false;
    if (processor.waiting > 0 && processor.before.size() < kMaxRuns)
        processor.before.push_back({processor.since, now});
}

void AgentTimes::forget() {
    processors_.clear();
}

void AgentTimes::stop_waiting_for(std::uint16_t cpu) {
    const auto found = processors_.find(cpu);
    if (found == processors_.end() || found->second.waiting == 0) return;
    if (--found->second.waiting == 0) found->second.before.clear();
}

std::vector<AgentTimes::Time> AgentTimes::within(std::uint16_t cpu, RecordTime from, RecordTime to) const {
    std::vector<Time> parts;
    const auto found = processors_.find(cpu);
    if (found == processors_.end()) return parts;
    const Processor& processor = found->second;
    const auto take = [&](Time part) {
        if (part.end.ns <= from.ns || part.begin.ns >= to.ns) return;
        if (adjoins(from, part.begin)) part.begin = from;
        if (adjoins(part.end, to)) part.end = to;
        if (!parts.empty() && adjoins(parts.back().end, part.begin))
            parts.back().end = part.end;
        else
            parts.push_back(part);
    };
    const auto first =
        std::ranges::upper_bound(processor.before, from.ns, {}, [](const Time& each) { return each.end.ns; });
    for (auto each = first; each != processor.before.end(); ++each)
        take(*each);
    if (processor.on) take({processor.since, to});
    return parts;
}

}  // namespace rdam::agent
