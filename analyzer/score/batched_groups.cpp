#include "analyzer/score/batched_groups.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>

namespace rdam::score {

BatchedGroups::BatchedGroups(ThreadTimes& out, const ResolvedSettings& settings)
    : out_(out), settings_(settings), batch_(settings.batch_bytes), first_(out.groups.size()) {
    out_.sequences.split_group_index(CallBatch::kPartitionBits);
}

void BatchedGroups::add(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled,
                        std::uint32_t path, const sequences::SequenceBuilder::Closed& closed) {
    if (closed.keys.empty() && add_at_once(call, caller, sampled, path, closed.shape)) return;
    defer(call, caller, sampled, path, closed);
}

/// If its group is an old one, which are few, so that it is found and added to in a cache.
bool BatchedGroups::add_at_once(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled,
                                std::uint32_t path, sequences::ShapeId shape) {
    const sequences::GroupId group = out_.sequences.shape(shape).plain_group;
    if (group >= first_) return false;
    ask(call, caller, sampled, group, {});
    if (!call.timed) return true;
    out_.groups.add(group, call, caller);
    if (places_wanted()) add_place(group, call, {call.begin, call.last->tsc, path, call.function});
    return true;
}

void BatchedGroups::add_place(sequences::GroupId group, const calls::Call& call, const Place& place) {
    if (out_.paths) out_.paths->add(group, place.path, call);
    if (!out_.course || !call.outermost) return;
    out_.course->add(
        group, place.function,
        {.begin = place.begin, .end = place.end, .duration = static_cast<double>(call.duration)});
}

void BatchedGroups::defer(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled,
                          std::uint32_t path, const sequences::SequenceBuilder::Closed& closed) {
    const std::uint64_t hash = sequences::SequenceStore::group_hash(closed.shape, closed.keys);
    if (batch_.full(hash)) flush();
    std::uint32_t marks = (call.outermost ? BatchedCall::kOutermost : 0) |
                          (call.timed ? BatchedCall::kTimed : 0) |
                          (call.self_timed ? BatchedCall::kSelfTimed : 0);
    if (ask(call, caller, sampled, kInSample | static_cast<std::uint32_t>(answers_.size()), closed.keys)) {
        answers_.push_back(0);
        marks |= static_cast<std::uint32_t>(answers_.size()) << BatchedCall::kInSampleShift;
    }
    if (places_wanted()) places_.push_back({call.begin, call.last->tsc, path, call.function});
    const CallBatch::Times times{.self = call.self, .held = call.held};
    const bool usual = call.self == call.duration && call.held == 0;
    BatchedCall& later = batch_.push(hash, closed.keys, usual ? nullptr : &times);
    later.duration = call.duration;
    later.shape = closed.shape;
    later.caller = caller;
    later.marks |= marks;
}

/// Whether a sample has the call now, with this for a group.
bool BatchedGroups::ask(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled,
                        sequences::GroupId group, std::span<const std::uint64_t> keys) {
    if (sampled > 0) out_.samples[call.function].set_group(sampled - 1, group);
    const bool in_window = call.timed && out_.windows.offer({.begin = call.begin,
                                                             .end = call.last->tsc,
                                                             .duration = call.duration,
                                                             .function = call.function,
                                                             .group = group,
                                                             .caller = caller,
                                                             .outermost = call.outermost,
                                                             .returned = settings_.returned(call)},
                                                            settings_.says_for_whom(call.function, keys));
    return sampled > 0 || in_window;
}

void BatchedGroups::flush() {
    const std::uint32_t calls = batch_.size();
    batch_.drain([this](std::span<BatchedCall> each) { flush(each); });
    before_ += calls;
    const auto answer = [this](std::uint32_t group) {
        return (group & kInSample) != 0 ? answers_[group & ~kInSample] : group;
    };
    out_.windows.set_groups(answer);
    for (samples::CallSample& sample : out_.samples)
        sample.set_groups(answer);
    answers_.clear();
    places_.clear();
}

/// Prefetches what a call needs next, and processes other calls until it has arrived.
void BatchedGroups::flush(std::span<BatchedCall> calls) {
    constexpr std::size_t kWait = 8;
    constexpr std::size_t kSteps = 7;
    for (std::size_t i = 0; i < calls.size() + (kSteps - 1) * kWait; ++i) {
        const auto at = [&](std::size_t step) -> BatchedCall* {
            const std::size_t number = i - step * kWait;  // beyond the end if that is below 0
            return number < calls.size() ? &calls[number] : nullptr;
        };
        if (const BatchedCall* const call = at(0)) batch_.prefetch(*call);
        if (const BatchedCall* const call = at(1))
            out_.sequences.prefetch_group(call->shape, batch_.keys(*call));
        if (BatchedCall* const call = at(2)) {
            find_group(*call);
            out_.groups.prefetch(call->shape);
            if (places_wanted()) prefetch_place(*call);
        }
        if (const BatchedCall* const call = at(3)) out_.groups.prefetch_calls(call->shape);
        if (const BatchedCall* const call = at(4)) out_.groups.prefetch_tables(call->shape, call->duration);
        if (const BatchedCall* const call = at(5)) {
            out_.groups.prefetch_caller(call->shape, call->caller);
            if (out_.paths) out_.paths->prefetch_pair(call->shape);
            if (out_.course) out_.course->prefetch_entry(call->shape);
        }
        if (const BatchedCall* const call = at(6)) add(*call);
    }
}

void BatchedGroups::prefetch_place(const BatchedCall& call) const {
    __builtin_prefetch(&places_[call.order]);
    if (out_.paths) out_.paths->prefetch(call.shape);
    if (out_.course) out_.course->prefetch(call.shape);
}

void BatchedGroups::find_group(BatchedCall& call) {
    const sequences::GroupId group = out_.sequences.group(call.shape, batch_.keys(call));
    if (out_.make_group(group)) made_by_.push_back(before_ + call.order);
    if (call.asked() > 0) answers_[call.asked() - 1] = group;
    call.shape = group;
}

void BatchedGroups::add(const BatchedCall& call) {
    if (!call.is(BatchedCall::kTimed)) return;
    const CallBatch::Times own = batch_.times(call);
    const calls::Call times{.outermost = call.is(BatchedCall::kOutermost),
                            .self_timed = call.is(BatchedCall::kSelfTimed),
                            .duration = call.duration,
                            .held = own.held,
                            .self = own.self};
    out_.groups.add(call.shape, times, call.caller);
    if (places_wanted()) add_place(call.shape, times, places_[call.order]);
}

void BatchedGroups::finish() {
    flush();
    batch_.release();
    answers_ = {};
    places_ = {};
    renumber();
}

void BatchedGroups::renumber() {
    std::vector<sequences::GroupId> order(out_.groups.size());
    std::iota(order.begin(), order.end(), sequences::GroupId{0});
    std::sort(order.begin() + static_cast<std::ptrdiff_t>(first_), order.end(),
              [this](sequences::GroupId a, sequences::GroupId b) {
                  return made_by_[a - first_] < made_by_[b - first_];
              });
    std::vector<sequences::GroupId> numbers(order.size());
    for (sequences::GroupId number = 0; number < order.size(); ++number)
        numbers[order[number]] = number;
    out_.groups.reorder(order);
    out_.sequences.renumber_groups(numbers);
    if (out_.paths) out_.paths->renumber(numbers);
    if (out_.course) out_.course->renumber(numbers);
    const auto number = [&](std::uint32_t group) { return numbers[group]; };
    out_.windows.set_groups(number);
    for (samples::CallSample& sample : out_.samples)
        sample.set_groups(number);
}

namespace {

constexpr std::size_t kBlockBytes = 10922;  // 341 calls
constexpr std::size_t kHugePage = std::size_t{2} << 20;

/// Not written, so that what is never used takes no memory.
BatchedCall* allocate_calls(std::size_t calls) {
    static_assert(std::is_trivially_copyable_v<BatchedCall> && std::is_trivially_destructible_v<BatchedCall>);
    const std::size_t bytes = calls * sizeof(BatchedCall);
    const std::size_t alignment = bytes >= kHugePage ? kHugePage : alignof(std::max_align_t);
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* const memory = std::aligned_alloc(alignment, rounded);
    if (memory == nullptr) throw std::bad_alloc{};
    // Many blocks are written in turns. Where it is refused small pages do.
    if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
    return static_cast<BatchedCall*>(memory);
}

}  // namespace

void CallBatch::Free::operator()(BatchedCall* calls) const {
    std::free(calls);  // NOLINT(cppcoreguidelines-no-malloc): of aligned_alloc
}

CallBatch::CallBatch(std::size_t bytes) {
    const std::size_t calls = std::min(bytes / sizeof(BatchedCall), kMaxCalls);
    blocks_ = std::max(2 * kPartitions, bytes / kBlockBytes);
    block_calls_ = std::max<std::size_t>(calls / blocks_, 1);
    max_rest_ = bytes / sizeof(std::uint64_t) / 2;
    calls_.reset(allocate_calls(blocks_ * block_calls_));
    next_.resize(blocks_);
    clear();
}

void CallBatch::add_block(Partition& partition) {
    const auto block = static_cast<std::uint32_t>(blocks_used_++);
    next_[block] = kNone;
    if (partition.last == kNone)
        partition.first = block;
    else
        next_[partition.last] = block;
    partition.last = block;
    partition.used = 0;
}

void CallBatch::add_rest(BatchedCall& call, std::span<const std::uint64_t> keys, const Times* times) {
    call.key = rest_.size();
    call.marks = BatchedCall::kRest;
    rest_.push_back(keys.size());
    rest_.insert(rest_.end(), keys.begin(), keys.end());
    if (times == nullptr) return;
    call.marks |= BatchedCall::kOwnTimes;
    rest_.push_back(times->self);
    rest_.push_back(times->held);
}

void CallBatch::clear() {
    // The first call of each asks for a block.
    partitions_.fill({.used = block_calls_});
    rest_.clear();
    blocks_used_ = 0;
    size_ = 0;
}

}  // namespace rdam::score
