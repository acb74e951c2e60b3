// Gives the sequences of all threads common numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/score/thread_times.h"
#include "analyzer/sequences/sequence_store.h"

namespace rdam::score {

/// The calls of one group in one thread.
struct ThreadGroup {
    std::size_t thread = 0;
    sequences::GroupId group = 0;  ///< its number in this thread
    const GroupTimes* times = nullptr;
    const GroupSampling* sampling = nullptr;  ///< nullptr: none of its calls was sampled
};

/// Refers to the threads, which must outlive it. Memory: some 12 bytes for each group, and 8 in each thread that has it.
class MergedGroups {
  public:
    /// The numbers depend on the order of `threads` alone.
    MergedGroups(std::size_t functions, std::span<const std::unique_ptr<ThreadTimes>> threads);

    const sequences::SequenceStore& store() const { return store_; }
    /// By the shapes of a thread: which ones of store() they are.
    const std::vector<sequences::ShapeId>& shapes_of(std::size_t thread) const { return shapes_[thread]; }
    /// In the order of their numbers.
    std::span<const sequences::GroupId> of_function(std::uint32_t function) const {
        return of_function_[function];
    }
    /// What threads have of groups, of one after the other.
    class Parts;
    /// In the order of the threads. Valid until `scratch` is used for the next group.
    std::span<const ThreadGroup> parts(sequences::GroupId group, Parts& scratch) const;

    /// use(group, parts), group by group of a function. Their data is usually in no cache: it is prefetched some groups
    /// ahead.
    template <class Use>
    void for_each_group(std::uint32_t function, const Use& use) const;
    /// The same, if the parts may be asked for callers.
    template <class Use>
    void for_each_with_callers(std::uint32_t function, const Use& use) const;

  private:
    struct Part {
        std::uint32_t thread = 0;
        sequences::GroupId group = 0;
    };

    std::span<const Part> parts(sequences::GroupId group) const {
        return std::span{parts_}.subspan(first_[group], first_[group + std::size_t{1}] - first_[group]);
    }
    template <class Use>
    void for_each(std::uint32_t function, Parts& scratch, const Use& use) const;
    /// By thread: what its groups are in store_.
    std::vector<std::vector<sequences::GroupId>> number_groups();

    std::span<const std::unique_ptr<ThreadTimes>> threads_;
    sequences::SequenceStore store_;
    std::vector<std::vector<sequences::ShapeId>> shapes_;  // by thread
    std::vector<std::uint32_t> first_;                     // by group: in parts_, and behind the last
    std::vector<Part> parts_;
    std::vector<std::vector<sequences::GroupId>> of_function_;
};

/// Not thread-safe.
class MergedGroups::Parts {
  public:
    /// `callers`: it will be asked for them.
    explicit Parts(bool callers) : callers_(callers) {}

  private:
    friend MergedGroups;
    std::vector<ThreadGroup> groups_;
    std::deque<GroupTimes> times_;  // of groups with few calls
    bool callers_;
};

template <class Use>
void MergedGroups::for_each(std::uint32_t function, Parts& scratch, const Use& use) const {
    constexpr std::size_t kAhead = 8;
    const std::span<const sequences::GroupId> groups = of_function_[function];
    for (std::size_t i = 0; i < groups.size(); ++i) {
        if (i + 3 * kAhead < groups.size())
            for (const Part& part : parts(groups[i + 3 * kAhead]))
                threads_[part.thread]->groups.prefetch(part.group);
        if (i + 2 * kAhead < groups.size())
            for (const Part& part : parts(groups[i + 2 * kAhead]))
                threads_[part.thread]->groups.prefetch_calls(part.group);
        if (i + kAhead < groups.size())
            for (const Part& part : parts(groups[i + kAhead]))
                threads_[part.thread]->groups.prefetch_all(part.group);
        use(groups[i], parts(groups[i], scratch));
    }
}

template <class Use>
void MergedGroups::for_each_group(std::uint32_t function, const Use& use) const {
    Parts scratch{false};
    for_each(function, scratch, use);
}

template <class Use>
void MergedGroups::for_each_with_callers(std::uint32_t function, const Use& use) const {
    Parts scratch{true};
    for_each(function, scratch, use);
}

/// The number that a shape of one store has in another; `numbers` are the numbers of its children. With
/// `fold_loops`, equal neighbours count once. `runs`: scratch.
sequences::ShapeId translate_shape(const sequences::SequenceStore& from, const sequences::Shape& shape,
                                   std::span<const sequences::ShapeId> numbers, bool fold_loops,
                                   sequences::SequenceStore& into, std::vector<sequences::Run>& runs);

}  // namespace rdam::score
