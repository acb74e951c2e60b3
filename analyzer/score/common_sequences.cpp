#include "analyzer/score/common_sequences.h"

namespace rdam::score {

sequences::ShapeId translate_shape(const sequences::SequenceStore& from, const sequences::Shape& shape,
                                   std::span<const sequences::ShapeId> numbers, bool fold_loops,
                                   sequences::SequenceStore& into, std::vector<sequences::Run>& runs) {
    switch (shape.kind) {
        case sequences::ShapeKind::abandoned:
            return into.abandoned(shape.function);
        case sequences::ShapeKind::unique:
            return into.unique(shape.function);
        case sequences::ShapeKind::complete:
            break;
    }
    runs.clear();
    std::uint64_t hash = sequences::kHashSeed;
    for (const sequences::Run& run : from.runs(shape)) {
        const sequences::Run translated{numbers[run.child], fold_loops ? 1 : run.count};
        if (fold_loops && !runs.empty() && runs.back() == translated) continue;
        runs.push_back(translated);
        hash = sequences::hash_mix(hash, translated);
    }
    return into.intern(shape.function, from.keys(shape), runs, hash);
}

std::unique_ptr<MergedGroups> merge_groups(std::size_t functions,
                                           std::span<const std::unique_ptr<ThreadTimes>> threads) {
    auto merged = std::make_unique<MergedGroups>(functions);
    std::vector<sequences::Run> runs;
    for (std::size_t t = 0; t < threads.size(); ++t) {
        const sequences::SequenceStore& store = threads[t]->sequences;
        std::vector<sequences::ShapeId>& numbers = merged->shape_numbers.emplace_back();
        for (sequences::ShapeId id = 0; id < store.shapes(); ++id) {
            numbers.push_back(translate_shape(store, store.shape(id), numbers, false, merged->store, runs));
        }
        constexpr sequences::GroupId kAhead = 8;
        for (sequences::GroupId id = 0; id < threads[t]->groups.size(); ++id) {
            if (id + kAhead < threads[t]->groups.size()) {
                const sequences::Group& next = store.group(id + kAhead);
                merged->store.prefetch_group(numbers[next.shape], store.keys(next));
            }
            const sequences::Group& group = store.group(id);
            const sequences::GroupId number = merged->store.group(numbers[group.shape], store.keys(group));
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
