// The groups of a thread that has so many that nothing of them is in a cache when a call comes: its calls are
// put off, and worked off by group.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "analyzer/sequences/sequence_builder.h"
#include "analyzer/sequences/sequence_store.h"

namespace rdam::score {

// Calls on their way to hundreds of thousands of groups, deferred until there are many. Groups with close
// hashes are processed together, so that their data stays in a cache meanwhile, and is close together in
// memory because it was created together.

/// What a group needs of a call: half a line of a cache. What most calls do not have is where CallBatch keeps it.
struct BatchedCall {
    std::uint64_t key = 0;       ///< the only key, or where the rest is
    std::uint64_t duration = 0;  ///< calls::Call
    std::uint32_t shape = 0;     ///< sequences::ShapeId; of a call that found its group sequences::GroupId
    std::uint32_t caller = 0;    ///< CallerNumbers
    std::uint32_t order = 0;     ///< calls of the batch that came before it
    std::uint32_t marks = 0;     ///< of these:

    static constexpr std::uint32_t kOutermost = 1;
    static constexpr std::uint32_t kTimed = 2;
    static constexpr std::uint32_t kSelfTimed = 4;
    static constexpr std::uint32_t kOneKey = 8;
    static constexpr std::uint32_t kRest = 16;      ///< more than one key, or …
    static constexpr std::uint32_t kOwnTimes = 32;  ///< … CallBatch::Times of its own
    /// Above: 1 + a number under which a sample waits for its group; 0: none does.
    static constexpr unsigned kInSampleShift = 8;

    bool is(std::uint32_t mark) const { return (marks & mark) != 0; }
    std::uint32_t asked() const { return marks >> kInSampleShift; }
};

/// Memory: `bytes` at most, and half of that again for calls with several keys or times of their own; what was
/// never written takes none. Not thread-safe.
class CallBatch {
  public:
    static constexpr unsigned kPartitionBits = 8;
    static constexpr std::size_t kPartitions = std::size_t{1} << kPartitionBits;
    /// More calls than that are in none.
    static constexpr std::size_t kMaxCalls = (std::size_t{1} << 24) - 1;

    /// However few the bytes, 512 calls with a key or none and no own times have room.
    explicit CallBatch(std::size_t bytes);

    /// Whether a call of a group of this hash has no room before drain().
    bool full(std::uint64_t group_hash) const {
        const Partition& partition = partitions_[partition_of(group_hash)];
        return (partition.used == block_calls_ && blocks_used_ == blocks_) || rest_.size() > max_rest_;
    }
    std::uint32_t size() const { return size_; }
    /// Of calls::Call; of most calls the one is the duration, and the other 0.
    struct Times {
        std::uint64_t self = 0;
        std::uint64_t held = 0;
    };
    /// The caller fills it, except for `key` and `order`, and adds to `marks`. The batch must not be full.
    /// `times`: null if they are as of most calls.
    BatchedCall& push(std::uint64_t group_hash, std::span<const std::uint64_t> keys,
                      const Times* times = nullptr);

    /// The keys of a call in the batch.
    std::span<const std::uint64_t> keys(const BatchedCall& call) const {
        if (!call.is(BatchedCall::kRest)) return {&call.key, call.is(BatchedCall::kOneKey) ? 1U : 0U};
        return {rest_.data() + call.key + 1, rest_[call.key]};
    }
    Times times(const BatchedCall& call) const {
        if (!call.is(BatchedCall::kOwnTimes)) return {.self = call.duration};
        const std::uint64_t* const rest = rest_.data() + call.key;
        return {.self = rest[*rest + 1], .held = rest[*rest + 2]};
    }
    /// One of these is about to be asked for.
    void prefetch(const BatchedCall& call) const {
        if (call.is(BatchedCall::kRest)) __builtin_prefetch(rest_.data() + call.key);
    }
    /// Gives back the memory. Nothing can be pushed any more.
    void release() {
        calls_.reset();
        rest_ = {};
    }

    /// `use` gets all calls as spans of BatchedCall: calls of one group in the order of push(), calls with
    /// the same highest bits of the hash one after the other. Afterwards the batch is empty.
    template <class Use>
    void drain(const Use& use) {
        for (const Partition& partition : partitions_) {
            for (std::uint32_t block = partition.first; block != kNone; block = next_[block])
                use(std::span{&calls_[block * block_calls_],
                              block == partition.last ? partition.used : block_calls_});
        }
        clear();
    }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    struct Partition {
        std::uint32_t first = kNone;  ///< block
        std::uint32_t last = kNone;
        std::size_t used = 0;  ///< calls in the last block
    };
    struct Free {
        void operator()(BatchedCall* calls) const;
    };

    static std::size_t partition_of(std::uint64_t group_hash) { return group_hash >> (64 - kPartitionBits); }
    void add_block(Partition& partition);
    void add_rest(BatchedCall& call, std::span<const std::uint64_t> keys, const Times* times);
    void clear();

    std::size_t blocks_;
    std::size_t block_calls_;
    std::size_t max_rest_;
    std::unique_ptr<BatchedCall[], Free> calls_;  // block by block
    std::vector<std::uint32_t> next_;             // by block
    std::array<Partition, kPartitions> partitions_;
    std::vector<std::uint64_t> rest_;  // of a call how many keys it has, they, and Times if it has its own
    std::size_t blocks_used_ = 0;
    std::uint32_t size_ = 0;
};

inline BatchedCall& CallBatch::push(std::uint64_t group_hash, std::span<const std::uint64_t> keys,
                                    const Times* times) {
    Partition& partition = partitions_[partition_of(group_hash)];
    if (partition.used == block_calls_) add_block(partition);
    BatchedCall& call = calls_[partition.last * block_calls_ + partition.used++];
    call.order = size_++;
    call.marks = 0;
    if (keys.size() > 1 || times != nullptr) {
        add_rest(call, keys, times);
    } else if (!keys.empty()) {
        call.key = keys.front();
        call.marks = BatchedCall::kOneKey;
    }
    return call;
}

/// Groups get numbers in the order in which they are worked off, until finish(); nothing else depends on
/// when that is. Of calls of weight 1 of functions that are not sampled in windows. Not thread-safe.
class BatchedGroups {
  public:
    /// `out` has the calls so far; it and `settings` must outlive it.
    BatchedGroups(ThreadTimes& out, const ResolvedSettings& settings);

    /// `sampled`: 1 + its place in the sample of its function; 0: it is in none.
    /// `path`: PathTally, if paths are wanted.
    void add(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled, std::uint32_t path,
             const sequences::SequenceBuilder::Closed& closed);

    /// Whether it is a group from before, to which calls are added at once.
    bool has_old(sequences::GroupId group) const { return group < first_; }

    /// As if every call had been added when it came: groups are numbered in the order of first use.
    void finish();

  private:
    /// Marks the number under which a call in a sample waits for its group.
    static constexpr std::uint32_t kInSample = std::uint32_t{1} << 31;

    /// What a call's place is remembered by, if places are wanted.
    struct Place {
        std::uint64_t begin = 0, end = 0;
        std::uint32_t path = 0;
        std::uint32_t function = 0;
    };

    bool add_at_once(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled, std::uint32_t path,
                     sequences::ShapeId shape);
    bool places_wanted() const { return out_.paths != nullptr || out_.course != nullptr; }
    void add_place(sequences::GroupId group, const calls::Call& call, const Place& place);
    void defer(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled, std::uint32_t path,
               const sequences::SequenceBuilder::Closed& closed);
    bool ask(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled, sequences::GroupId group,
             std::span<const std::uint64_t> keys);
    void flush();
    void flush(std::span<BatchedCall> calls);
    void prefetch_place(const BatchedCall& call) const;
    void find_group(BatchedCall& call);
    void add(const BatchedCall& call);
    void renumber();

    ThreadTimes& out_;
    const ResolvedSettings& settings_;
    CallBatch batch_;
    std::size_t first_;                   // group that was made here
    std::uint64_t before_ = 0;            // calls of earlier batches
    std::vector<std::uint64_t> made_by_;  // calls that came before its first one, by group from first_ on
    std::vector<Place> places_;           // by BatchedCall::order; empty: not wanted
    std::vector<sequences::GroupId> answers_;  // by number under which a call's group was asked for
};

// Calls on their way to their groups. With hundreds of thousands of groups, none of the next call's data is
// in a cache: it is prefetched in steps while other calls are processed. For calls that cannot be deferred
// (batched_groups.h).

struct QueuedCall {
    calls::Call call;              ///< without `last`
    std::uint64_t end = 0;         ///< its timestamp
    std::uint64_t group_hash = 0;  ///< sequences::SequenceStore::group_hash
    sequences::ShapeId shape = 0;
    sequences::GroupId group = 0;  ///< from the first step on
    std::uint32_t caller = 0;      ///< CallerNumbers
    std::uint32_t cluster = 0;     ///< of a function that is sampled in windows
    std::uint32_t path = 0;        ///< PathTally, if paths are wanted
    std::uint32_t sampled = 0;     ///< 1 + its place in the sample; 0: it is in none
    samples::Returned returned = samples::Returned::not_known;
    std::vector<std::uint64_t> keys = {};  ///< of the group
};

/// Each call goes through all steps, in the order of push(). Not thread-safe.
class CallQueue {
  public:
    static constexpr std::size_t kSteps = 5;

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
