#include "analyzer/score/common_sequences.h"

#include <numeric>

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

MergedGroups::MergedGroups(std::size_t functions, std::span<const std::unique_ptr<ThreadTimes>> threads)
    : threads_(threads), store_(functions), of_function_(functions) {
    const std::vector<std::vector<sequences::GroupId>> numbers = number_groups();
    store_.end();
    first_.resize(store_.groups() + 1);
    for (const std::vector<sequences::GroupId>& of_thread : numbers)
        for (const sequences::GroupId number : of_thread)
            ++first_[number + std::size_t{1}];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    parts_.resize(first_.back());
    std::vector<std::uint32_t> next = first_;
    for (std::uint32_t t = 0; t < numbers.size(); ++t)
        for (sequences::GroupId id = 0; id < numbers[t].size(); ++id)
            parts_[next[numbers[t][id]]++] = {t, id};
}

std::vector<std::vector<sequences::GroupId>> MergedGroups::number_groups() {
    std::vector<std::vector<sequences::GroupId>> numbers;
    std::vector<sequences::Run> runs;
    for (const auto& thread : threads_) {
        const sequences::SequenceStore& store = thread->sequences;
        std::vector<sequences::ShapeId>& shapes = shapes_.emplace_back();
        for (sequences::ShapeId id = 0; id < store.shapes(); ++id)
            shapes.push_back(translate_shape(store, store.shape(id), shapes, false, store_, runs));
        constexpr sequences::GroupId kAhead = 8;
        std::vector<sequences::GroupId>& of_thread = numbers.emplace_back();
        of_thread.reserve(thread->groups.size());
        for (sequences::GroupId id = 0; id < thread->groups.size(); ++id) {
            if (id + kAhead < thread->groups.size()) {
                const sequences::Group& next = store.group(id + kAhead);
                store_.prefetch_group(shapes[next.shape], store.keys(next));
            }
            const sequences::Group& group = store.group(id);
            const std::size_t before = store_.groups();
            of_thread.push_back(store_.group(shapes[group.shape], store.keys(group)));
            if (of_thread.back() == before)
                of_function_[store.shape(group.shape).function].push_back(of_thread.back());
        }
    }
    return numbers;
}

std::span<const ThreadGroup> MergedGroups::parts(sequences::GroupId group, Parts& scratch) const {
    const std::span<const Part> all = parts(group);
    if (scratch.times_.size() < all.size()) scratch.times_.resize(all.size());
    scratch.groups_.clear();
    for (const Part& part : all) {
        const ThreadTimes& thread = *threads_[part.thread];
        GroupTimes& times = scratch.times_[scratch.groups_.size()];
        scratch.groups_.push_back({part.thread, part.group,
                                   &thread.groups.times(part.group, times, scratch.callers_),
                                   thread.sampling.group(part.group)});
    }
    return scratch.groups_;
}

}  // namespace rdam::score
