#include "tools/agent/off_cpu_log.h"

#include <utility>

namespace rdam::agent {
namespace {

/// Of all threads together, some 6 bytes each. Those of threads that ended long ago are among them.
constexpr std::uint64_t kMostKept = 1U << 19U;
/// A program that has not called a wrapped function yet has no file.
constexpr std::size_t kMostParts = 4096;

}  // namespace

void OffCpuLog::add(const SwitchRecord& record, std::uint64_t ticks) {
    if (record.lost) return forget_open();
    Thread& thread = threads_[record.tid];
    if (record.out) {
        thread.out = ticks;
        thread.preempted = record.preempted;
        thread.is_out = true;
        return;
    }
    if (!std::exchange(thread.is_out, false)) return;
    thread.intervals.add({.out = thread.out, .in = ticks, .cpu = record.cpu, .preempted = thread.preempted});
    ++intervals_;
    if (thread.intervals.full()) seal(record.tid, thread);
    if (intervals_ >= kMostKept) seal_all();
}

void OffCpuLog::seal(std::uint32_t tid, Thread& thread) {
    if (thread.intervals.intervals() == 0) return;
    intervals_ -= thread.intervals.intervals();
    if (parts_.size() < kMostParts)
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

void OffCpuLog::forget_open() {
    for (auto& [tid, thread] : threads_)
        thread.is_out = false;
}

void OffCpuLog::stop() {
    forget_open();
    seal_all();
}

void OffCpuLog::finish() {
    for (auto& [tid, thread] : threads_) {
        if (!std::exchange(thread.is_out, false)) continue;
        thread.intervals.add({.out = thread.out,
                              .in = trace::OffCpuEncoder::kStillOut,
                              .cpu = trace::kNoCpu,
                              .preempted = thread.preempted});
        ++intervals_;
    }
    seal_all();
}

std::vector<OffCpuLog::Part> OffCpuLog::take_parts() {
    return std::exchange(parts_, {});
}

}  // namespace rdam::agent
