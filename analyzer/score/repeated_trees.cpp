// The part of ThreadAnalysis that looks at call trees by columns, instead of event by event.
#include <algorithm>
#include <numeric>
#include <utility>

#include "analyzer/calls/matcher_impl.h"
#include "analyzer/score/thread_analysis.h"

namespace rdam::score {

/// Whether calls that are added at once are as if they were added one by one.
bool ThreadAnalysis::takes_trees() const {
    return !settings_.windows && !candidates_.wanted() && !settings_.sequences.fold_loops &&
           !out_->patterns && !op_numbers_.is_full() &&
           (batches_wanted_ || out_->groups.size() <= settings_.few_groups);
}

/// Whether the pack's events have nothing that only single events have.
bool ThreadAnalysis::fit_trees(const trace::EventColumns& columns) const {
    return columns.sampling.empty() && columns.instructions.empty();
}

ThreadAnalysis::Part ThreadAnalysis::take_trees(const trace::EventColumns& columns, std::size_t from) {
    end_learning();
    if (from == 0) {
        pack_.reset();
        singles_ = 0;
        if (!takes_trees() || !fit_trees(columns)) return {0, columns.size()};
        pack_.emplace(Pack{.columns = columns,
                           .numbers = op_numbers_.of(columns.ops),
                           .trees = {columns, [this](std::uint32_t function) { return plain_[function]; }}});
    }
    if (!pack_ || !takes_trees()) return {from, columns.size()};
    std::size_t at = from;  // before it, from `from` on, are events of no known tree
    while (at < columns.size()) {
        const std::size_t length = pack_->trees.length(at);
        if (length == 0 || length > KnownTrees::kMaxEvents) {
            ++at;
            continue;
        }
        const auto [tree, is_to_be_learned] =
            known_trees_.find(columns.op.subspan(at, length), pack_->numbers);
        if (is_to_be_learned) {
            if (from < at) return {from, at};
            learning_ = KnownTree::of(columns.ops, columns.op.subspan(at, length), pack_->numbers);
            learned_ = 0;
            return {at, at + length};
        }
        if (tree == nullptr || !tree->usable) {
            ++at;
            continue;
        }
        if (from < at) return {from, at};
        const std::size_t taken = add_trees(*tree, at);
        if (taken == 0) return {at, at + length};
        from = at = at + taken * length;
    }
    return {from, columns.size()};
}

/// The next call of the tree has ended.
void ThreadAnalysis::learn(const calls::Call& call, std::uint32_t caller, sequences::ShapeId shape) {
    if (learned_ >= learning_->calls.size() || !call.timed) {
        learned_ = SIZE_MAX;
        return;
    }
    KnownTree::Call& known = learning_->calls[learned_++];
    known.caller = caller;
    known.shape = shape;
}

/// The events of a tree that was not known have been consumed.
void ThreadAnalysis::end_learning() {
    if (!learning_) return;
    learning_->about_waits = std::ranges::any_of(learning_->calls, [&](const KnownTree::Call& call) {
        return out_->windows.is_about_waits(call.function);
    });
    learning_->usable = learned_ == learning_->calls.size() && find_groups(*learning_);
    if (learning_->usable) learning_->divide();
    known_trees_.add(std::move(*learning_));
    learning_.reset();
}

/// False: some of the calls without keys are in a group that has no times yet.
bool ThreadAnalysis::find_groups(KnownTree& tree) const {
    return std::ranges::all_of(tree.calls, [&](KnownTree::Call& call) {
        call.keyed = !settings_.keys[call.function].empty();
        call.probes = matcher_.probe_ticks(call.nested);
        if (call.keyed) return true;
        call.group = out_->sequences.shape(call.shape).plain_group;
        return batched_ != nullptr ? batched_->has_old(call.group) : call.group < out_->groups.size();
    });
}

/// So many trees like this one begin with event `from`, one after the other.
std::size_t ThreadAnalysis::equal_trees(const KnownTree& tree, std::size_t from) const {
    constexpr std::size_t kValues = 4096;
    const std::size_t length = tree.ops.size();
    const std::size_t most = std::max<std::size_t>(kValues / tree.calls.size(), 1);
    const std::span<const std::uint32_t> left = pack_->columns.op.subspan(from);
    const std::span<const std::uint32_t> ops = left.first(std::min(left.size(), most * length));
    // The ops of the trees behind the first are those before them.
    const auto same =
        std::mismatch(ops.begin() + static_cast<std::ptrdiff_t>(length), ops.end(), ops.begin());
    return static_cast<std::size_t>(same.first - ops.begin()) / length;
}

/// How many of the trees that begin with event `from` and are all like this one have been added; 0: the next
/// one is to be consumed event by event.
std::size_t ThreadAnalysis::add_trees(const KnownTree& tree, std::size_t from) {
    // Columns of a few are no gain.
    constexpr std::size_t kFew = 4;
    // What refuses the first one, as a rule refuses them all.
    if (!fit(tree, from, 1)) return 0;
    std::size_t count = singles_ == 0 ? equal_trees(tree, from) : 1;
    singles_ -= singles_ == 0 ? 0 : 1;
    if (count < kFew) count = 1;
    if (count > 1 && !fit(tree, from, count)) {
        singles_ = count - 1;
        count = 1;
    }
    add_trees(tree, from, count);
    return count;
}

calls::BasicMatcher<ThreadAnalysis>::Trees ThreadAnalysis::times_of(const KnownTree& tree, std::size_t from,
                                                                    std::size_t count) const {
    const std::size_t length = tree.ops.size();
    const std::uint64_t* const tsc = pack_->columns.tsc.data() + from;
    return {.first = tsc[0],
            .first_end = tsc[length - 1],
            .last = tsc[count * length - 1],
            .depth = tree.depth,
            .calls = count * tree.calls.size(),
            .duration = 0};
}

/// Whether so many trees may be added at once.
bool ThreadAnalysis::fit(const KnownTree& tree, std::size_t from, std::size_t count) const {
    const std::span<const std::uint64_t> tsc = pack_->columns.tsc.subspan(from, count * tree.ops.size());
    const auto times = times_of(tree, from, count);
    if (!matcher_.takes(times) || !std::ranges::is_sorted(tsc)) return false;
    // A call that ends when the one around it begins is one of a signal handler, or the clock is coarse.
    for (const auto& [end, begin] : tree.firsts)
        for (std::size_t i = 0; i < tsc.size(); i += tree.ops.size())
            if (tsc[i + end] == tsc[i + begin]) return false;
    const std::size_t calls = count * tree.calls.size();
    if ((out_->paths && !out_->paths->has_room(calls)) ||
        (out_->course && !out_->course->has_room(calls, times.first, times.last)))
        return false;
    // Where groups are found later, calls in windows wait for them one by one.
    const bool later =
        batched_ != nullptr || out_->groups.size() + count * tree.keyed.size() > settings_.few_groups;
    return tree.keyed.empty() || !later || !out_->windows.reaches(times.first, times.last, tree.about_waits);
}

void ThreadAnalysis::add_trees(const KnownTree& tree, std::size_t from, std::size_t count) {
    const trace::EventColumns& columns = pack_->columns;
    const std::size_t length = tree.ops.size();
    auto trees = times_of(tree, from, count);
    const bool in_windows = out_->windows.reaches(trees.first, trees.last, tree.about_waits);
    durations_.resize(tree.calls.size() * count);
    groups_.resize(durations_.size());
    if (out_->paths) find_paths(tree, from, count);
    trees.duration = count == 1 ? add_one(tree, from) : add_columns(tree, from, count);
    if (in_windows) add_to_windows(tree, from, count);
    for (auto mark = std::ranges::lower_bound(columns.stacks, from, {}, &pack::Mark::event);
         mark != columns.stacks.end() && mark->event < from + count * length; ++mark)
        if (mark->value != 0) ++out_->stack_samples[mark->value - 1];
    for (const KnownTree::Call& call : tree.calls)
        matcher_.count_calls(call.function, count, is_outermost(call));
    matcher_.add(trees);
    builder_.add_closed(tree.calls.back().shape, static_cast<std::uint32_t>(count));
    if (samples_wanted() && !open_.empty()) {
        OpenCall& parent = open_.back();
        parent.inside += static_cast<std::uint32_t>(count);
        for (std::size_t i = 0; i < count && tree.calls.back().keyed; ++i) {
            parent.last_keys = hash_of_keys(from + i * length);
            parent.inside_keys = sequences::hash_mix(parent.inside_keys, parent.last_keys);
        }
    }
    out_->events += count * length;
}

/// The duration of the tree's outermost call.
std::uint64_t ThreadAnalysis::add_one(const KnownTree& tree, std::size_t from) {
    const std::uint64_t* const tsc = pack_->columns.tsc.data() + from;
    children_.assign(tree.calls.size(), 0);
    for (std::uint32_t place = 0; place < tree.calls.size(); ++place) {
        const KnownTree::Call& call = tree.calls[place];
        const std::uint64_t gross = tsc[call.leave] - tsc[call.enter];
        durations_[place] = gross > call.probes ? gross - call.probes : 0;
        children_[call.parent] += call.parent == place ? 0 : durations_[place];
        add_call(tree, place, from, {.duration = durations_[place], .self = self_of(place)}, groups_[place]);
    }
    return durations_[tree.calls.size() - 1];
}

/// The durations of the trees' outermost calls.
std::uint64_t ThreadAnalysis::add_columns(const KnownTree& tree, std::size_t from, std::size_t count) {
    const std::uint64_t* const tsc = pack_->columns.tsc.data() + from;
    const std::size_t length = tree.ops.size();
    children_.assign(durations_.size(), 0);
    for (std::size_t place = 0; place < tree.calls.size(); ++place) {
        const KnownTree::Call& call = tree.calls[place];
        const std::uint64_t* const enter = tsc + call.enter;
        const std::uint64_t* const leave = tsc + call.leave;
        std::uint64_t* const duration = &durations_[place * count];
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t gross = leave[i * length] - enter[i * length];
            duration[i] = gross > call.probes ? gross - call.probes : 0;
        }
        if (call.parent == place) continue;
        std::uint64_t* const sum = &children_[call.parent * count];
        for (std::size_t i = 0; i < count; ++i)
            sum[i] += duration[i];
    }
    add_samples(tree, from, count);
    add_times(tree, count);
    if (out_->paths) add_to_paths(tree, count);
    if (out_->course) add_to_course(tree, from, count);
    for (std::size_t i = 0; i < count; ++i)
        for (const std::uint32_t place : tree.keyed)
            add_call(tree, place, from + i * length,
                     {.duration = durations_[place * count + i], .self = self_of(place * count + i)},
                     groups_[place * count + i]);
    const auto outermost = std::span{durations_}.last(count);
    return std::accumulate(outermost.begin(), outermost.end(), std::uint64_t{0});
}

void ThreadAnalysis::find_paths(const KnownTree& tree, std::size_t from, std::size_t count) {
    const std::uint32_t around = out_->paths->around();
    paths_.resize(tree.calls.size());
    for (const std::uint32_t place : tree.by_begin) {
        const KnownTree::Call& call = tree.calls[place];
        const std::uint32_t parent = call.parent == place ? around : paths_[call.parent];
        const std::uint64_t caller = settings_.path_callers && call.parent == place
                                         ? pack_->columns.op_of(from + call.enter).event.caller
                                         : 0;
        paths_[place] = out_->paths->pass(parent, call.function, is_outermost(call), count, caller);
    }
}

/// Of calls without keys.
void ThreadAnalysis::add_to_paths(const KnownTree& tree, std::size_t count) {
    for (std::uint32_t place = 0; place < tree.calls.size(); ++place) {
        if (tree.calls[place].keyed) continue;
        PathSums sums{.calls = count, .self_timed = count};
        for (std::size_t at = place * count; at < (place + std::size_t{1}) * count; ++at)
            sums.add(PathSums{.time = durations_[at], .self = self_of(at)});
        out_->paths->add(tree.calls[place].group, paths_[place], sums);
    }
}

/// Likewise.
void ThreadAnalysis::add_to_course(const KnownTree& tree, std::size_t from, std::size_t count) {
    const std::uint64_t* const tsc = pack_->columns.tsc.data() + from;
    const std::size_t length = tree.ops.size();
    const auto counts = [&](const KnownTree::Call& call) { return !call.keyed && is_outermost(call); };
    // But for rounding, where a bin has a part of a call, sums are the same in any order.
    if (out_->course->is_one_bin(tsc[0], tsc[count * length - 1])) {
        for (std::uint32_t place = 0; place < tree.calls.size(); ++place) {
            if (!counts(tree.calls[place])) continue;
            const auto of_place = std::span{durations_}.subspan(place * count, count);
            const double time = std::accumulate(of_place.begin(), of_place.end(), 0.0);
            out_->course->add_all(tree.calls[place].group, tree.calls[place].function, tsc[0], count, time);
        }
        return;
    }
    for (std::size_t i = 0; i < count; ++i) {
        for (std::uint32_t place = 0; place < tree.calls.size(); ++place) {
            const KnownTree::Call& call = tree.calls[place];
            if (!counts(call)) continue;
            out_->course->add(call.group, call.function,
                              {.begin = tsc[i * length + call.enter],
                               .end = tsc[i * length + call.leave],
                               .duration = static_cast<double>(durations_[place * count + i])});
        }
    }
}

void ThreadAnalysis::add_times(const KnownTree& tree, std::size_t count) {
    for (const KnownTree::Places& places : tree.by_group) {
        const KnownTree::Call& first = tree.calls[places.front()];
        GroupTimes& group = out_->groups.times(first.group);
        if (places.size() > 1) {
            for (std::size_t i = 0; i < count; ++i) {
                for (const std::uint32_t place : places) {
                    const std::size_t at = place * count + i;
                    group.add({.outermost = is_outermost(tree.calls[place]),
                               .duration = durations_[at],
                               .self = self_of(at)},
                              tree.calls[place].caller);
                }
            }
            continue;
        }
        const std::size_t begin = places.front() * count;
        self_.clear();
        if (first.nested > 0)
            for (std::size_t i = begin; i < begin + count; ++i)
                self_.push_back(self_of(i));
        group.add_all(std::span{durations_}.subspan(begin, count), self_, is_outermost(first), first.caller);
    }
}

void ThreadAnalysis::add_samples(const KnownTree& tree, std::size_t from, std::size_t count) {
    if (!samples_wanted()) return;
    for (const KnownTree::Places& places : tree.by_function) {
        const std::uint32_t function = tree.calls[places.front()].function;
        if (matcher_.is_open(function)) continue;
        samples::CallSample& of_function = out_->samples[function];
        for (std::size_t i = 0; i < count; ++i) {
            for (const std::uint32_t place : places) {
                const std::uint64_t duration = durations_[place * count + i];
                if (!of_function.wants(duration)) continue;
                of_function.set_group(sample(tree, place, from + i * tree.ops.size(), duration),
                                      tree.calls[place].group);
            }
        }
    }
}

/// The call at this place of the tree that begins with event `from`. `group`: where it is found, unless groups
/// are found later.
void ThreadAnalysis::add_call(const KnownTree& tree, std::uint32_t place, std::size_t from,
                              const Duration& duration, sequences::GroupId& group) {
    const KnownTree::Call& known = tree.calls[place];
    const bool outermost = is_outermost(known);
    std::uint32_t sampled = 0;
    if (outermost && samples_wanted() && out_->samples[known.function].wants(duration.duration))
        sampled = 1 + sample(tree, place, from, duration.duration);
    const std::uint64_t* const tsc = pack_->columns.tsc.data() + from;
    const trace::Event last{.tsc = tsc[known.leave], .words = {}};
    const calls::Call call{.function = known.function,
                           .outermost = outermost,
                           .duration = duration.duration,
                           .self = duration.self,
                           .begin = tsc[known.enter],
                           .nested = known.nested,
                           .last = &last};
    const std::uint32_t path = out_->paths ? paths_[place] : 0;
    group = known.group;
    if (known.keyed) {
        find_keys(from + known.enter);
        start_batches();
        if (batched_ != nullptr)
            return batched_->add(call, known.caller, sampled, path,
                                 {.shape = known.shape, .keys = key_values_});
        group = out_->sequences.group(known.shape, key_values_);
        out_->make_group(group);
    }
    if (sampled > 0) out_->samples[known.function].set_group(sampled - 1, group);
    out_->groups.add(group, call, known.caller);
    if (out_->paths) out_->paths->add(group, path, call);
    if (out_->course && outermost)
        out_->course->add(
            group, known.function,
            {.begin = call.begin, .end = last.tsc, .duration = static_cast<double>(call.duration)});
}

/// Of the pack's event that enters the call.
void ThreadAnalysis::find_keys(std::size_t enter) {
    trace::Event event = pack_->columns.op_of(enter).event;
    event.words = pack_->columns.words_of(enter);
    find_keys(event);
}

std::uint64_t ThreadAnalysis::hash_of_keys(std::size_t enter) {
    find_keys(enter);
    return hash_of_keys();
}

/// `from`: the first event of its tree. Its place in the sample.
std::uint32_t ThreadAnalysis::sample(const KnownTree& tree, std::size_t place, std::size_t from,
                                     std::uint64_t duration) {
    const trace::EventColumns& columns = pack_->columns;
    const KnownTree::Call& call = tree.calls[place];
    const std::size_t enter = from + call.enter, leave = from + call.leave;
    const auto result = columns.words_of(leave);
    std::uint64_t inside_keys = 0;
    for (std::size_t inner = place - call.nested; inner < place; ++inner)
        if (tree.calls[inner].parent == place && tree.calls[inner].keyed)
            inside_keys = sequences::hash_mix(inside_keys, hash_of_keys(from + tree.calls[inner].enter));
    return out_->samples[call.function].take({.begin = columns.tsc[enter],
                                              .end = columns.tsc[leave],
                                              .duration = duration,
                                              .caller = columns.op_of(enter).event.caller,
                                              .result = result.empty() ? 0 : result.front(),
                                              .inside_keys = inside_keys,
                                              .inside = call.inside,
                                              .enter_cpu = columns.processor_of(enter),
                                              .leave_cpu = columns.processor_of(leave),
                                              .returned = !result.empty()},
                                             columns.words_of(enter));
}

void ThreadAnalysis::add_to_windows(const KnownTree& tree, std::size_t from, std::size_t count) {
    const std::uint64_t* tsc = pack_->columns.tsc.data() + from;
    for (std::size_t i = 0; i < count; ++i, tsc += tree.ops.size()) {
        for (std::size_t place = 0; place < tree.calls.size(); ++place) {
            const KnownTree::Call& call = tree.calls[place];
            const sequences::GroupId group = call.keyed ? groups_[place * count + i] : call.group;
            const bool says_for_whom =
                out_->windows.is_about_waits(call.function) &&
                settings_.says_for_whom(call.function, out_->sequences.keys(out_->sequences.group(group)));
            out_->windows.offer({.begin = tsc[call.enter],
                                 .end = tsc[call.leave],
                                 .duration = durations_[place * count + i],
                                 .function = call.function,
                                 .group = group,
                                 .caller = call.caller,
                                 .outermost = is_outermost(call)},
                                says_for_whom);
        }
    }
}

}  // namespace rdam::score
