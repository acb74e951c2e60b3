// Calls on their way to their groups. With hundreds of thousands of groups, none of the next call's data is
// in a cache: it is prefetched in steps while other calls are processed. For calls that cannot be deferred
// (batched_groups.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/sequences/sequence_store.h"

namespace rdam::score {

struct QueuedCall {
    calls::Call call;              ///< without `last`
    std::uint64_t end = 0;         ///< its timestamp
    std::uint64_t group_hash = 0;  ///< mining::SequenceStore::group_hash
    mining::ShapeId shape = 0;
    mining::GroupId group = 0;             ///< from the first step on
    std::uint32_t caller = 0;              ///< CallerNumbers
    std::uint32_t cluster = 0;             ///< of a function that is sampled in windows
    std::uint32_t path = 0;                ///< PathTally, if paths are wanted
    std::uint32_t sampled = 0;             ///< 1 + its place in the sample; 0: it is in none
    std::vector<std::uint64_t> keys = {};  ///< of the group
};

/// Each call goes through all steps, in the order of push(). Not thread-safe.
class CallQueue {
  public:
    static constexpr std::size_t kSteps = 4;

    /// The caller fills it, and assigns to `keys`; then it calls advance(), flush() or pop().
    QueuedCall& push() { return calls_[pushed_++ % kRoom]; }

    /// The call that was pushed last goes no further. It may be looked at until the next push().
    void pop() { --pushed_; }

    /// `step(number, call)` for every call that has waited for long enough.
    template <class Step>
    void advance(const Step& step) {
        run(kWait, step);
    }
    template <class Step>
    void flush(const Step& step) {
        run(0, step);
    }

  private:
    static constexpr std::size_t kWait = 8;  ///< calls that come between two steps of one
    static constexpr std::size_t kRoom = 64;
    static_assert(kRoom > kSteps * kWait);

    template <class Step>
    void run(std::size_t wait, const Step& step) {
        std::size_t before = pushed_;
        for (std::size_t number = 0; number < kSteps; ++number) {
            while (before - done_[number] > wait)
                step(number, calls_[done_[number]++ % kRoom]);
            before = done_[number];
        }
    }

    std::array<QueuedCall, kRoom> calls_;
    std::size_t pushed_ = 0;
    std::array<std::size_t, kSteps> done_{};
};

}  // namespace rdam::score
