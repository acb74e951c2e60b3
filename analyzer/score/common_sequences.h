// Gives the sequences of all threads common numbers.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analyzer/score/thread_times.h"
#include "analyzer/sequences/sequence_store.h"

namespace rdam::score {

/// The calls of one group in one thread.
struct ThreadGroup {
    std::size_t thread = 0;
    const GroupTimes* times = nullptr;
    const GroupSampling* sampling = nullptr;  ///< nullptr: none of its calls was sampled
};

struct MergedGroups {
    explicit MergedGroups(std::size_t functions) : store(functions), of_function(functions) {}

    sequences::SequenceStore store;
    std::vector<std::vector<ThreadGroup>> threads;  ///< by group; in the order of the threads
    std::vector<std::vector<sequences::GroupId>> of_function;

    /// Group by group of a function, in the order of their numbers. Their data is usually in no cache: it is
    /// prefetched some groups ahead.
    template <class Use>
    void for_each_group(std::uint32_t function, const Use& use) const {
        constexpr std::size_t kAhead = 8;
        const std::vector<sequences::GroupId>& groups = of_function[function];
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (i + 2 * kAhead < groups.size())
                for (const ThreadGroup& part : threads[groups[i + 2 * kAhead]])
                    part.times->prefetch();
            if (i + kAhead < groups.size())
                for (const ThreadGroup& part : threads[groups[i + kAhead]])
                    part.times->prefetch_all();
            use(groups[i]);
        }
    }

    std::vector<std::vector<sequences::ShapeId>> shape_numbers;  ///< by thread and its own number
};

/// The number that a shape of one store has in another; `numbers` are the numbers of its children. With
/// `fold_loops`, equal neighbours count once. `runs`: scratch.
sequences::ShapeId translate_shape(const sequences::SequenceStore& from, const sequences::Shape& shape,
                                   std::span<const sequences::ShapeId> numbers, bool fold_loops,
                                   sequences::SequenceStore& into, std::vector<sequences::Run>& runs);

/// The numbers depend on the order of `threads` alone. Refers to the analyses, which must outlive the result.
std::unique_ptr<MergedGroups> merge_groups(std::size_t functions,
                                           std::span<const std::unique_ptr<ThreadTimes>> threads);

}  // namespace rdam::score
