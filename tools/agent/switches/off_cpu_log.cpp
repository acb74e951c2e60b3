#include "tools/agent/switches/off_cpu_log.h"

#include <algorithm>
#include <utility>

namespace rdam::agent {

namespace {

/// For all threads together, some 6 bytes each, including threads that ended long ago.
constexpr std::uint64_t kMaxIntervals = 1U << 19U;
/// A program that has not called a wrapped function yet has no file.
constexpr std::size_t kMaxParts = 4096;

}  // namespace

void OffCpuLog::add(const SwitchRecord& record, std::uint64_t ticks) {
    if (record.lost) return note_loss(record, ticks);
    if (!silent_.empty()) return;
    if (record.agent) return agent_.add(record, ticks);
    Thread& thread = threads_[record.tid];
    if (record.out) return leave(thread, record, ticks);
    if (!thread.is_out) return;
    put_parts(record.tid, thread, {ticks, record.ns}, record.cpu);
    end(thread);
    if (intervals_ >= kMaxIntervals) seal_all();
}

void OffCpuLog::leave(Thread& thread, const SwitchRecord& record, std::uint64_t ticks) {
    end(thread);
    thread.out = {ticks, record.ns};
    thread.cpu = record.cpu;
    thread.preempted = record.preempted;
    thread.is_out = true;
    if (record.preempted) agent_.wait_for(record.cpu);
}

/// False: it was not out.
bool OffCpuLog::end(Thread& thread) {
    if (!std::exchange(thread.is_out, false)) return false;
    if (thread.preempted) agent_.stop_waiting_for(thread.cpu);
    return true;
}

/// The time up to now in which the thread was out; `cpu` is where it goes on.
void OffCpuLog::put_parts(std::uint32_t tid, Thread& thread, RecordTime in, std::uint16_t cpu) {
    trace::OffCpu interval{.out = thread.out.ticks, .cpu = cpu, .preempted = thread.preempted};
    if (thread.preempted)
        for (const AgentTimes::Time& part : agent_.within(thread.cpu, thread.out, in)) {
            interval.in = part.begin.ticks;
            if (interval.out < interval.in) put(tid, thread, interval);
            put(tid, thread,
                {.out = part.begin.ticks,
                 .in = part.end.ticks,
                 .cpu = cpu,
                 .preempted = true,
                 .by_recorder = true});
            interval.out = part.end.ticks;
        }
    interval.in = in.ticks;
    if (interval.out < interval.in || interval.out == thread.out.ticks) put(tid, thread, interval);
}

void OffCpuLog::put(std::uint32_t tid, Thread& thread, const trace::OffCpu& interval) {
    thread.intervals.add(interval);
    ++intervals_;
    if (thread.intervals.full()) seal(tid, thread);
}

void OffCpuLog::seal(std::uint32_t tid, Thread& thread) {
    if (thread.intervals.intervals() == 0) return;
    intervals_ -= thread.intervals.intervals();
    if (parts_.size() < kMaxParts)
        parts_.push_back({tid, std::move(thread.intervals)});
    else
        dropped_ += thread.intervals.intervals();
    thread.intervals = {};
}

void OffCpuLog::seal_all() {
    for (auto& [tid, thread] : threads_)
        seal(tid, thread);
    std::erase_if(threads_, [](const auto& each) { return !each.second.is_out; });
}

void OffCpuLog::note_loss(const SwitchRecord& record, std::uint64_t ticks) {
    const bool was_silent = !silent_.empty();
    if (record.out)
        silent_.insert(record.cpu);
    else
        silent_.erase(record.cpu);
    if (!was_silent && !silent_.empty()) {
        // Where there are very many, what is between the last two counts as missing, too.
        if (missing_.size() == 2 * trace::SwitchInfo::kMostMissing)
            missing_.pop_back();
        else
            missing_.push_back(missing_.empty() ? ticks : std::max(ticks, missing_.back()));
    }
    if (was_silent && silent_.empty()) missing_.push_back(std::max(ticks, missing_.back()));
    forget_open();
}

std::vector<std::uint64_t> OffCpuLog::missing() const {
    std::vector<std::uint64_t> times = missing_;
    if (!silent_.empty()) times.push_back(UINT64_MAX);
    return times;
}

void OffCpuLog::forget_open() {
    for (auto& [tid, thread] : threads_)
        thread.is_out = false;
    agent_.forget();
}

void OffCpuLog::stop() {
    forget_open();
    seal_all();
}

void OffCpuLog::finish() {
    for (auto& [tid, thread] : threads_) {
        if (!end(thread)) continue;
        put(tid, thread,
            {.out = thread.out.ticks, .in = trace::OffCpuEncoder::kStillOut, .preempted = thread.preempted});
    }
    seal_all();
}

std::vector<OffCpuLog::Part> OffCpuLog::take_parts() {
    return std::exchange(parts_, {});
}

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
