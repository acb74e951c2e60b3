#include <algorithm>

#include "analyzer/mining/sequence_names.h"
#include "analyzer/score/function_row.h"

namespace rdam::score {
namespace {

/// A group before it is known whether it will be listed: no percentiles yet, they cost.
struct Candidate {
    mining::GroupId group = 0;
    std::uint64_t id = 0;
    double rdam = 0;
    double lost = 0;
    std::uint64_t occurrences = 0;
    bool scored = false;
};

struct Totals {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    std::uint64_t min = UINT64_MAX;

    void add(const Distribution& calls) {
        if (calls.count() == 0) return;
        count += calls.count();
        sum = Distribution::saturating_sum(sum, calls.sum());
        min = std::min(min, calls.min());
    }
    double lost() const {
        if (count == 0) return 0;
        return static_cast<double>(sum - std::min(sum, Distribution::saturating_product(count, min)));
    }
};

Candidate weigh(const RowContext& context, mining::GroupId group) {
    Candidate candidate{.group = group, .id = context.ids[group]};
    for (const ThreadGroup& part : context.merged.threads[group]) {
        Totals totals;
        totals.add(part.times->outermost);
        if (part.times->inner) totals.add(*part.times->inner);
        candidate.occurrences += totals.count;
        candidate.lost += totals.lost();
        const Spread sampling = part.sampling != nullptr ? part.sampling->all : Spread{};
        candidate.scored = candidate.scored || totals.count - sampling.unrecorded >= 2;
        if (!context.short_lived[part.thread]) {
            const auto life = static_cast<double>(context.lives[part.thread]);
            const double variance = sampling.variance(static_cast<double>(totals.min));
            candidate.rdam = std::max(candidate.rdam, share(lower_bound(totals.lost(), variance), life));
        }
    }
    return candidate;
}

SequenceRow describe(const RowContext& context, const Candidate& candidate) {
    Distribution all;
    for (const ThreadGroup& part : context.merged.threads[candidate.group]) {
        all.merge(part.times->outermost);
        if (part.times->inner) all.merge(*part.times->inner);
    }
    const auto ns = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * context.ns_per_tick; };
    return {.id = candidate.id,
            .name = mining::sequence_name(context.merged.store, candidate.group, context.info,
                                          context.settings.keys),
            .rdam = candidate.rdam,
            .occurrences = candidate.occurrences,
            .min_ns = ns(all.min()),
            .median_ns = ns(all.percentile(0.5)),
            .p99_ns = ns(all.percentile(0.99)),
            .max_ns = ns(all.max()),
            .lost_ns = candidate.lost * context.ns_per_tick};
}

}  // namespace

void add_sequence_rows(const RowContext& context, FunctionRow& row) {
    std::vector<Candidate> scored;
    for (const mining::GroupId group : context.merged.of_function[row.function]) {
        const Candidate candidate = weigh(context, group);
        if (candidate.scored) {
            scored.push_back(candidate);
        } else if (candidate.occurrences > 0) {
            ++row.single_sequences;
        }
    }
    row.scored_sequences = scored.size();
    std::ranges::sort(scored, [](const Candidate& a, const Candidate& b) {
        return std::tie(b.lost, b.occurrences, a.id, a.group) <
               std::tie(a.lost, a.occurrences, b.id, b.group);
    });
    scored.resize(std::min(scored.size(), context.most_sequences));
    for (const Candidate& candidate : scored)
        row.sequences.push_back(describe(context, candidate));
}

}  // namespace rdam::score
