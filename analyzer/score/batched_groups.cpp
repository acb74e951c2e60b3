#include "analyzer/score/batched_groups.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rdam::score {

BatchedGroups::BatchedGroups(ThreadTimes& out, const ResolvedSettings& settings)
    : out_(out), settings_(settings), batch_(settings.batch_bytes), first_(out.groups.size()) {
    out_.sequences.split_group_index(CallBatch::kPartitionBits);
}

void BatchedGroups::add(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled,
                        std::uint32_t path, const mining::SequenceBuilder::Closed& closed) {
    if (closed.keys.empty() && add_at_once(call, caller, sampled, path, closed.shape)) return;
    put_off(call, caller, sampled, path, closed);
}

/// If its group is an old one, which are few, so that it is found and added to in a cache.
bool BatchedGroups::add_at_once(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled,
                                std::uint32_t path, mining::ShapeId shape) {
    const mining::GroupId group = out_.sequences.shape(shape).plain_group;
    if (group >= first_) return false;
    ask(call, sampled, group);
    if (!call.timed) return true;
    out_.groups[group].add(call, caller);
    if (places_wanted()) add_place(group, call, {call.begin, call.last->tsc, path, call.function});
    return true;
}

void BatchedGroups::add_place(mining::GroupId group, const calls::Call& call, const Place& place) {
    if (out_.paths) out_.paths->add(group, place.path, call);
    if (!out_.course || !call.outermost) return;
    out_.course->add(
        group, place.function,
        {.begin = place.begin, .end = place.end, .duration = static_cast<double>(call.duration)});
}

void BatchedGroups::put_off(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled,
                            std::uint32_t path, const mining::SequenceBuilder::Closed& closed) {
    const std::uint64_t hash = mining::SequenceStore::group_hash(closed.shape, closed.keys);
    if (batch_.full(hash)) work_off();
    std::uint32_t marks = (call.outermost ? BatchedCall::kOutermost : 0) |
                          (call.timed ? BatchedCall::kTimed : 0) |
                          (call.self_timed ? BatchedCall::kSelfTimed : 0);
    if (ask(call, sampled, kAsked | static_cast<std::uint32_t>(answers_.size()))) {
        answers_.push_back(0);
        marks |= static_cast<std::uint32_t>(answers_.size()) << BatchedCall::kAskedShift;
    }
    if (places_wanted()) places_.push_back({call.begin, call.last->tsc, path, call.function});
    BatchedCall& later = batch_.push(hash, closed.keys);
    later.duration = call.duration;
    later.self = call.self;
    later.held = call.held;
    later.shape = closed.shape;
    later.caller = caller;
    later.marks |= marks;
}

/// Whether a sample has the call now, with this for a group.
bool BatchedGroups::ask(const calls::Call& call, std::uint32_t sampled, mining::GroupId group) {
    if (sampled > 0) out_.samples[call.function].set_group(sampled - 1, group);
    const bool in_window = call.timed && out_.windows.offer({.begin = call.begin,
                                                             .end = call.last->tsc,
                                                             .duration = call.duration,
                                                             .function = call.function,
                                                             .group = group,
                                                             .outermost = call.outermost});
    return sampled > 0 || in_window;
}

void BatchedGroups::work_off() {
    const std::uint32_t calls = batch_.size();
    batch_.drain([this](std::span<BatchedCall> each) { work_off(each); });
    before_ += calls;
    const auto answer = [this](std::uint32_t group) {
        return (group & kAsked) != 0 ? answers_[group & ~kAsked] : group;
    };
    out_.windows.set_groups(answer);
    for (samples::CallSample& sample : out_.samples)
        sample.set_groups(answer);
    answers_.clear();
    places_.clear();
}

/// Prefetches what a call needs next, and processes other calls until it has arrived.
void BatchedGroups::work_off(std::span<BatchedCall> calls) {
    constexpr std::size_t kWait = 8;
    constexpr std::size_t kSteps = 5;
    for (std::size_t i = 0; i < calls.size() + (kSteps - 1) * kWait; ++i) {
        const auto at = [&](std::size_t step) -> BatchedCall* {
            const std::size_t number = i - step * kWait;  // beyond the end if that is below 0
            return number < calls.size() ? &calls[number] : nullptr;
        };
        if (const BatchedCall* const call = at(0))
            out_.sequences.prefetch_group(call->shape, batch_.keys(*call));
        if (BatchedCall* const call = at(1)) {
            find_group(*call);
            out_.groups[call->shape].prefetch();
            if (places_wanted()) prefetch_place(*call);
        }
        if (const BatchedCall* const call = at(2)) out_.groups[call->shape].prefetch_tables(call->duration);
        if (const BatchedCall* const call = at(3)) {
            out_.groups[call->shape].prefetch_caller(call->caller);
            if (out_.paths) out_.paths->prefetch_pair(call->shape);
            if (out_.course) out_.course->prefetch_entry(call->shape);
        }
        if (const BatchedCall* const call = at(4)) add(*call);
    }
}

void BatchedGroups::prefetch_place(const BatchedCall& call) const {
    __builtin_prefetch(&places_[call.order]);
    if (out_.paths) out_.paths->prefetch(call.shape);
    if (out_.course) out_.course->prefetch(call.shape);
}

void BatchedGroups::find_group(BatchedCall& call) {
    const mining::GroupId group = out_.sequences.group(call.shape, batch_.keys(call));
    if (out_.make_group(group, settings_.all_self_times())) made_by_.push_back(before_ + call.order);
    if (call.asked() > 0) answers_[call.asked() - 1] = group;
    call.shape = group;
}

void BatchedGroups::add(const BatchedCall& call) {
    if (!call.is(BatchedCall::kTimed)) return;
    const calls::Call times{.outermost = call.is(BatchedCall::kOutermost),
                            .self_timed = call.is(BatchedCall::kSelfTimed),
                            .duration = call.duration,
                            .held = call.held,
                            .self = call.self};
    out_.groups[call.shape].add(times, call.caller);
    if (places_wanted()) add_place(call.shape, times, places_[call.order]);
}

void BatchedGroups::finish() {
    work_off();
    renumber();
}

void BatchedGroups::renumber() {
    std::vector<mining::GroupId> order(out_.groups.size());
    std::iota(order.begin(), order.end(), mining::GroupId{0});
    std::sort(
        order.begin() + static_cast<std::ptrdiff_t>(first_), order.end(),
        [this](mining::GroupId a, mining::GroupId b) { return made_by_[a - first_] < made_by_[b - first_]; });
    std::vector<GroupTimes> groups;
    groups.reserve(order.size());
    std::vector<mining::GroupId> numbers(order.size());
    for (const mining::GroupId group : order) {
        numbers[group] = static_cast<mining::GroupId>(groups.size());
        groups.push_back(std::move(out_.groups[group]));
    }
    out_.groups = std::move(groups);
    out_.sequences.renumber_groups(numbers);
    if (out_.paths) out_.paths->renumber(numbers);
    if (out_.course) out_.course->renumber(numbers);
    const auto number = [&](std::uint32_t group) { return numbers[group]; };
    out_.windows.set_groups(number);
    for (samples::CallSample& sample : out_.samples)
        sample.set_groups(number);
}

}  // namespace rdam::score
