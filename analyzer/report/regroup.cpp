#include "analyzer/report/regroup.h"

#include <algorithm>
#include <utility>

#include "analyzer/score/common_sequences.h"
#include "analyzer/sequences/keys.h"

namespace rdam::score {
namespace {

using Positions =
    std::vector<std::vector<std::size_t>>;  // by function: of its wanted keys, in the candidates

std::size_t position_of(const std::vector<sequences::KeyWord>& candidates, const sequences::KeyWord& key) {
    const auto found = std::ranges::find(candidates, key.parameter, &sequences::KeyWord::parameter);
    return static_cast<std::size_t>(found - candidates.begin());
}

Positions positions_of(const ResolvedSettings& kept, const ResolvedSettings& wanted) {
    Positions positions(wanted.keys.size());
    for (std::size_t f = 0; f < wanted.keys.size(); ++f)
        for (const sequences::KeyWord& key : wanted.keys[f])
            positions[f].push_back(position_of(kept.candidates[f], key));
    return positions;
}

bool has_keys(const AnalyzedTrace& trace, const ResolvedSettings& kept, const ResolvedSettings& wanted) {
    const Positions positions = positions_of(kept, wanted);
    for (std::size_t f = 0; f < positions.size(); ++f) {
        for (const std::size_t position : positions[f]) {
            if (position == kept.candidates[f].size()) return false;
            if (std::ranges::any_of(trace.threads,
                                    [&](const auto& thread) { return thread->given_up[f][position]; }))
                return false;
        }
    }
    return true;
}

/// A function can be taken out if no call's children, own time or end had anything to do with it.
bool is_always_outside(const ThreadTimes& thread, std::uint32_t function) {
    if (thread.per_function[function].abandoned > 0) return false;
    for (sequences::ShapeId id = 0; id < thread.sequences.shapes(); ++id)
        for (const sequences::Run& run : thread.sequences.runs(thread.sequences.shape(id)))
            if (thread.sequences.shape(run.child).function == function) return false;
    return true;
}

/// Whether it is no part of what is known of calls of others (KnownInside), of which it was not kept how much is whose.
bool is_nobodys_part(const ThreadTimes& thread, std::uint32_t function) {
    return !thread.waits_since.contains(function) &&
           std::ranges::none_of(thread.calls_made,
                                [&](const auto& made) { return made.second.includes(function); });
}

bool can_ignore(const AnalyzedTrace& trace, const ResolvedSettings& kept, const ResolvedSettings& wanted) {
    for (std::uint32_t f = 0; f < wanted.ignored.size(); ++f) {
        if (kept.ignored[f] == wanted.ignored[f]) continue;
        const bool windowed = trace.left_out.since_ns || trace.left_out.until_ns;
        if (kept.ignored[f] || windowed) return false;
        if (!std::ranges::all_of(trace.threads, [&](const auto& thread) {
                return is_always_outside(*thread, f) && is_nobodys_part(*thread, f);
            }))
            return false;
    }
    return true;
}

/// Puts one thread's groups together.
class Regrouping {
  public:
    Regrouping(const trace::TraceInfo& info, const ResolvedSettings& wanted, const Positions& positions,
               const ThreadTimes& from)
        : info_(info),
          wanted_(wanted),
          positions_(positions),
          from_(from),
          out_(std::make_unique<ThreadTimes>(info.functions.size())) {}

    std::unique_ptr<ThreadTimes> run() {
        translate_shapes();
        add_groups();
        copy_counts();
        copy_callers_and_stacks();
        copy_samples();
        return std::move(out_);
    }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    void translate_shapes() {
        const sequences::SequenceStore& store = from_.sequences;
        std::vector<sequences::Run> runs;
        for (sequences::ShapeId id = 0; id < store.shapes(); ++id) {
            const sequences::Shape& shape = store.shape(id);
            shapes_.push_back(wanted_.ignored[shape.function]
                                  ? kNone
                                  : translate_shape(store, shape, shapes_, wanted_.sequences.fold_loops,
                                                    out_->sequences, runs));
        }
    }

    sequences::GroupId group(const sequences::Group& group) {
        const std::uint32_t function = from_.sequences.shape(group.shape).function;
        const std::span<const std::uint64_t> candidates = from_.sequences.keys(group);
        keys_.clear();
        for (const std::size_t position : positions_[function])
            keys_.push_back(candidates[position]);
        return out_->sequences.group(shapes_[group.shape], keys_);
    }

    void add_groups() {
        GroupTimes scratch;
        for (sequences::GroupId id = 0; id < from_.groups.size(); ++id) {
            const sequences::Group& kept = from_.sequences.group(id);
            if (shapes_[kept.shape] == kNone) {
                groups_.push_back(kNone);
                continue;
            }
            const sequences::GroupId number = group(kept);
            groups_.push_back(number);
            out_->make_group(number);
            out_->groups.times(number).add(from_.groups.times(id, scratch));
        }
    }

    void copy_counts() {
        out_->counts = from_.counts;
        out_->per_function = from_.per_function;
        out_->events = from_.events;
        out_->too_long = from_.too_long;
        out_->off_cpu = from_.off_cpu;
        out_->sampling_windows = from_.sampling_windows;
        for (const auto& [function, calls] : from_.windowed)
            if (!wanted_.ignored[function]) out_->windowed[function] = calls;
        out_->waits = from_.waits;
        out_->off_in_windows = from_.off_in_windows;
        out_->known_inside = from_.known_inside;
        out_->calls_made = from_.calls_made;
        out_->waits_since = from_.waits_since;
        for (std::size_t f = 0; f < wanted_.ignored.size(); ++f) {
            if (!wanted_.ignored[f]) continue;
            const calls::FunctionCounts ignored = std::exchange(out_->per_function[f], {});
            out_->counts.calls -= ignored.calls;
            out_->counts.bad_clock -= ignored.bad_clock;
        }
    }

    void copy_callers_and_stacks() {
        out_->callers = from_.callers;
        for (std::size_t f = 0; f < wanted_.ignored.size(); ++f)
            if (!wanted_.ignored[f]) out_->untimed_callers[f].add(from_.untimed_callers[f]);
        for (const auto& [stack, count] : from_.stack_samples)
            if (!wanted_.ignored[info_.stacks[stack].function]) out_->stack_samples[stack] = count;
    }

    void copy_samples() {
        out_->windows = from_.windows.renumbered(groups_);
        out_->owned_waits = from_.owned_waits;
        out_->mutex_changes = from_.mutex_changes;
        out_->off_in_timeline = from_.off_in_timeline;
        for (const samples::CallSample& sample : from_.samples)
            out_->samples.push_back(sample.renumbered(groups_));
    }

    const trace::TraceInfo& info_;
    const ResolvedSettings& wanted_;
    const Positions& positions_;
    const ThreadTimes& from_;
    std::unique_ptr<ThreadTimes> out_;
    std::vector<sequences::ShapeId> shapes_;  // by the old ones; kNone: of an ignored function
    std::vector<sequences::GroupId> groups_;  // by the old ones; kNone: of an ignored function
    std::vector<std::uint64_t> keys_;         // scratch
};

bool same_keys(const sequences::KeyTable& a, const sequences::KeyTable& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
        return std::ranges::equal(x, y, {}, &sequences::KeyWord::parameter, &sequences::KeyWord::parameter);
    });
}

}  // namespace

ResolvedSettings with_candidates(const trace::TraceInfo& info, ResolvedSettings settings) {
    constexpr std::size_t kInAll = std::size_t{1} << 19;  // of half a kilobyte, about
    constexpr std::size_t kMax = std::size_t{1} << 14;
    settings.any_baseline = true;
    if (settings.sequences.deep_keys || info.samples_trees()) return settings;
    settings.candidates = sequences::all_candidates(info);
    settings.max_candidate_groups = kMax;
    settings.candidate_groups_of_thread = kInAll / std::max<std::size_t>(info.threads.size(), 1);
    settings.sequences.fold_loops = false;
    return settings;
}

bool same_groups(const ResolvedSettings& a, const ResolvedSettings& b) {
    return a.candidates.empty() && b.candidates.empty() && same_keys(a.keys, b.keys) &&
           a.ignored == b.ignored && a.sequences.deep_keys == b.sequences.deep_keys &&
           a.sequences.fold_loops == b.sequences.fold_loops;
}

bool can_regroup(const AnalyzedTrace& trace, const ResolvedSettings& kept, const ResolvedSettings& wanted) {
    if (kept.candidates.empty() || wanted.patterns || wanted.sequences.deep_keys) return false;
    if (wanted.max_paths > 0 || wanted.max_course > 0) return false;
    const bool too_long =
        std::ranges::any_of(trace.threads, [](const auto& thread) { return thread->too_long > 0; });
    if (wanted.sequences.fold_loops && too_long) return false;
    return has_keys(trace, kept, wanted) && can_ignore(trace, kept, wanted);
}

ThreadList regroup(const AnalyzedTrace& trace, const ResolvedSettings& kept, const ResolvedSettings& wanted) {
    const Positions positions = positions_of(kept, wanted);
    ThreadList threads;
    for (const auto& thread : trace.threads)
        threads.push_back(Regrouping{trace.info, wanted, positions, *thread}.run());
    return threads;
}

}  // namespace rdam::score
