#include "analyzer/score/common_sequences.h"

namespace rdam::score {

mining::ShapeId translate_shape(const mining::SequenceStore& from, const mining::Shape& shape,
                                std::span<const mining::ShapeId> numbers, bool fold_loops,
                                mining::SequenceStore& into, std::vector<mining::Run>& runs) {
    switch (shape.kind) {
        case mining::ShapeKind::abandoned:
            return into.abandoned(shape.function);
        case mining::ShapeKind::unique:
            return into.unique(shape.function);
        case mining::ShapeKind::complete:
            break;
    }
    runs.clear();
    std::uint64_t hash = mining::kHashSeed;
    for (const mining::Run& run : from.runs(shape)) {
        const mining::Run translated{numbers[run.child], fold_loops ? 1 : run.count};
        if (fold_loops && !runs.empty() && runs.back() == translated) continue;
        runs.push_back(translated);
        hash = mining::hash_mix(hash, translated);
    }
    return into.intern(shape.function, from.keys(shape), runs, hash);
}

std::unique_ptr<MergedGroups> merge_groups(std::size_t functions,
                                           std::span<const std::unique_ptr<ThreadTimes>> threads) {
    auto merged = std::make_unique<MergedGroups>(functions);
    std::vector<mining::Run> runs;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        const mining::SequenceStore& store = threads[t]->sequences;
        std::vector<mining::ShapeId>& numbers = merged->shape_numbers.emplace_back();
        for (mining::ShapeId id = 0; id < store.shapes(); ++id) {
            numbers.push_back(translate_shape(store, store.shape(id), numbers, false, merged->store, runs));
        }
        constexpr mining::GroupId kAhead = 8;
        for (mining::GroupId id = 0; id < threads[t]->groups.size(); ++id) {
            if (id + kAhead < threads[t]->groups.size()) {
                const mining::Group& next = store.group(id + kAhead);
                merged->store.prefetch_group(numbers[next.shape], store.keys(next));
            }
            const mining::Group& group = store.group(id);
            const mining::GroupId number = merged->store.group(numbers[group.shape], store.keys(group));
            if (number >= merged->threads.size()) {
                merged->threads.resize(number + 1);
                merged->of_function[store.shape(group.shape).function].push_back(number);
            }
            merged->threads[number].push_back({t, &threads[t]->groups[id], threads[t]->sampling.group(id)});
        }
    }
    return merged;
}

}  // namespace rdam::score
