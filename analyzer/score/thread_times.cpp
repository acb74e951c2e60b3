#include "analyzer/score/thread_times.h"

#include <algorithm>

namespace rdam::score {

GroupTimes::GroupTimes() = default;
GroupTimes::~GroupTimes() = default;
GroupTimes::GroupTimes(GroupTimes&&) noexcept = default;
GroupTimes& GroupTimes::operator=(GroupTimes&&) noexcept = default;

void SelfTimes::add(std::uint64_t value, std::uint64_t times) {
    count += times;
    sum = Distribution::saturating_sum(sum, Distribution::saturating_product(value, times));
    squares += static_cast<double>(value) * static_cast<double>(value) * static_cast<double>(times);
    least.add(value, times);
    if (all) all->add(value, times);
}

Loss::Group SelfTimes::loss(const Baseline& baseline, const Least& thread, const Least& process) const {
    if (count == 0) return {};
    const auto n = static_cast<double>(count);
    const double mean = static_cast<double>(sum) / n;
    static const Distribution kNone;
    const Base base = base_of(baseline, all ? *all : kNone, thread, process);
    return {.count = n,
            .lost = base.cuts ? all->lost_above(base.ticks) : Distribution::lost_from(sum, count, base.ticks),
            .variance = std::max(squares / n - mean * mean, 0.0),
            .base = base.ticks,
            .gap = count > 1 ? static_cast<double>(least.second() - least.min()) : 0};
}

void SelfTimes::merge(const SelfTimes& other) {
    count += other.count;
    sum = Distribution::saturating_sum(sum, other.sum);
    squares += other.squares;
    least.merge(other.least);
    if (!other.all) return;
    if (!all) all = std::make_unique<Distribution>();
    all->merge(*other.all);
}

const WindowedCalls& ThreadTimes::windowed_calls(std::uint32_t function) const {
    static const WindowedCalls kNone;
    const auto found = windowed.find(function);
    return found != windowed.end() ? found->second : kNone;
}

CallerEntry GroupTimes::only_caller() const {
    return {.caller = caller,
            .calls = outermost.count() + (inner ? inner->count() : 0),
            .outermost = outermost.count(),
            .sum = outermost.sum()};
}

CallerTable& GroupTimes::caller_table() {
    if (!callers) {
        const CallerEntry first = only_caller();
        callers = std::make_unique<CallerTable>();
        if (first.calls > 0) callers->of(first.caller) = first;
    }
    return *callers;
}

void GroupTimes::add_caller(std::uint64_t address, const calls::Call& call) {
    if (!callers) {
        if (address == caller) return;
        if (only_caller().calls == 0) {
            caller = address;
            return;
        }
    }
    caller_table().of(address).add(call.duration, call.weight, call.outermost);
}

void GroupTimes::add_callers(const GroupTimes& other) {
    if (other.callers) return caller_table().add(*other.callers);
    const CallerEntry theirs = other.only_caller();
    if (theirs.calls == 0) return;
    if (!callers && only_caller().calls == 0) caller = theirs.caller;
    if (callers || caller != theirs.caller) caller_table().of(theirs.caller).add(theirs);
}

void GroupTimes::add(const GroupTimes& other) {
    add_callers(other);
    outermost.merge(other.outermost);
    if (other.inner) {
        if (!inner) inner = std::make_unique<Distribution>();
        inner->merge(*other.inner);
    }
    self.merge(other.self);
    if (!other.windowed) return;
    if (!windowed) windowed = std::make_unique<WindowedTimes>();
    windowed->before.add(other.windowed->before);
    windowed->clusters.add(other.windowed->clusters);
}

}  // namespace rdam::score
