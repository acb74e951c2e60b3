#include <algorithm>

#include "analyzer/report/function_row.h"
#include "analyzer/report/windowed_part.h"
#include "analyzer/sequences/sequence_names.h"

namespace rdam::score {
namespace {

/// A group before it is known whether it will be listed: no percentiles yet, they cost.
struct SequenceCandidate {
    sequences::GroupId group = 0;
    std::uint64_t id = 0;
    double rdam = 0;
    std::size_t thread = SIZE_MAX;  ///< that has set it
    double lost = 0;
    std::uint64_t occurrences = 0;
    bool scored = false;
};

SequenceCandidate weigh(const RowContext& context, sequences::GroupId group,
                        std::span<const ThreadGroup> parts, std::uint32_t function,
                        std::span<const ThreadLoss> losses) {
    SequenceCandidate candidate{.group = group, .id = context.ids[group]};
    const Baseline& baseline = context.settings.baseline;
    const Least process = process_least(parts, PartCalls::Which::all);
    double occurrences = 0;
    for (const ThreadGroup& part : parts) {
        const WindowEstimate* estimate = context.estimate(function, part.thread);
        const PartCalls calls{part, estimate, PartCalls::Which::all, context.settings.baseline.step};
        if (calls.empty()) continue;
        const Base base = calls.base(baseline, process);
        const double lost = losses[part.thread].kept * calls.lost(base);
        occurrences += calls.calls();
        candidate.lost += losses[part.thread].said * lost;
        candidate.scored = candidate.scored || calls.recorded() >= 2;
        if (context.short_lived[part.thread] || losses[part.thread].unknown) continue;
        const auto life = static_cast<double>(context.lives[part.thread]);
        const double rdam =
            share(lower_bound(lost, calls.variance(base), losses[part.thread].bound_errors), life);
        if (rdam < candidate.rdam) continue;
        candidate.rdam = rdam;
        candidate.thread = part.thread;
    }
    candidate.occurrences = rounded(occurrences);
    return candidate;
}

/// The interval of the thread that has set the score.
void fill_interval(const RowContext& context, const SequenceCandidate& candidate,
                   std::span<const ThreadGroup> parts, std::uint32_t function,
                   std::span<const ThreadLoss> losses, SequenceRow& row) {
    // In no thread was enough seen of it.
    if (candidate.thread == SIZE_MAX && row.few_windows) row.rdam_high = 1;
    const Baseline& baseline = context.settings.baseline;
    const Least process = process_least(parts, PartCalls::Which::all);
    for (const ThreadGroup& part : parts) {
        if (part.thread != candidate.thread) continue;
        const PartCalls calls{part, context.estimate(function, part.thread), PartCalls::Which::all,
                              context.settings.baseline.step};
        const Base base = calls.base(baseline, process);
        Loss loss = calls.loss(base);
        const double slowed = (1 - losses[part.thread].kept) * loss.lost();
        loss.take_unsure(slowed, slowed);
        loss.scale_variance(losses[part.thread].dependence);
        loss.add_variance(calls.variance(base));
        const auto life = static_cast<double>(context.lives[part.thread]);
        row.rdam_low = std::min(share(loss.low(), life), row.rdam);
        row.rdam_high = share(loss.high(), life);
    }
}

/// Where a call of the group returns to, if that is a key of its function; else 0.
std::uint64_t caller_of(const RowContext& context, sequences::GroupId id) {
    const sequences::SequenceStore& store = context.merged.store();
    const sequences::Group& group = store.group(id);
    const sequences::Shape& shape = store.shape(group.shape);
    const auto& words = context.settings.keys[shape.function];
    const auto values = group.keys > 0 ? store.keys(group) : store.keys(shape);  // those of the shape: deep
    if (words.empty() || !words.back().is_caller() || values.size() != words.size()) return 0;
    return values.back();
}

SequenceRow describe(const RowContext& context, const SequenceCandidate& candidate,
                     std::span<const ThreadGroup> parts, const FunctionRow& function,
                     std::span<const ThreadLoss> losses) {
    Distribution all;
    bool unknown = false;
    for (const ThreadGroup& part : parts) {
        const PartCalls calls{part, context.estimate(function.function, part.thread), PartCalls::Which::all,
                              context.settings.baseline.step};
        unknown = unknown || losses[part.thread].unknown;
        all.merge(calls.own());
        all.merge(calls.sample());
    }
    const auto ns = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * context.ns_per_tick; };
    SequenceRow row;
    row.id = candidate.id;
    row.name = sequences::sequence_name(context.merged.store(), candidate.group, context.info,
                                        context.settings.keys);
    row.caller = caller_of(context, candidate.group);
    row.group = candidate.group;
    row.rdam = candidate.rdam;
    row.occurrences = candidate.occurrences;
    row.min_ns = ns(all.min());
    row.median_ns = ns(all.percentile(0.5));
    row.p99_ns = ns(all.percentile(0.99));
    row.max_ns = ns(all.max());
    row.resolution_ns = context.resolution_ns();
    row.lost_ns = candidate.lost * context.ns_per_tick;
    row.estimated = function.sampled;
    row.no_score = function.copied_stacks;
    row.few_windows = unknown && candidate.thread == SIZE_MAX;
    fill_interval(context, candidate, parts, function.function, losses, row);
    return row;
}

}  // namespace

void add_sequence_rows(const RowContext& context, std::span<const ThreadLoss> losses, FunctionRow& row) {
    std::vector<SequenceCandidate> scored;
    context.merged.for_each_group(
        row.function, [&](sequences::GroupId group, std::span<const ThreadGroup> parts) {
            const SequenceCandidate candidate = weigh(context, group, parts, row.function, losses);
            if (candidate.scored) {
                scored.push_back(candidate);
            } else if (candidate.occurrences > 0) {
                ++row.single_sequences;
            }
        });
    row.scored_sequences = scored.size();
    std::ranges::sort(scored, [](const SequenceCandidate& a, const SequenceCandidate& b) {
        return std::tie(b.lost, b.occurrences, a.id, a.group) <
               std::tie(a.lost, a.occurrences, b.id, b.group);
    });
    scored.resize(std::min(scored.size(), context.max_sequences));
    MergedGroups::Parts parts{false};
    for (const SequenceCandidate& candidate : scored)
        row.sequences.push_back(
            describe(context, candidate, context.merged.parts(candidate.group, parts), row, losses));
}

}  // namespace rdam::score
