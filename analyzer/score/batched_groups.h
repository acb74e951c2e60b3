// The groups of a thread that has so many that nothing of them is in a cache when a call comes: its calls are
// put off, and worked off by group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/score/call_batch.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "analyzer/sequences/sequence_builder.h"

namespace rdam::score {

/// Groups get numbers in the order in which they are worked off, until finish(); nothing else depends on
/// when that is. Of calls of weight 1 of functions that are not sampled in windows. Not thread-safe.
class BatchedGroups {
  public:
    /// `out` has the calls so far; it and `settings` must outlive it.
    BatchedGroups(ThreadTimes& out, const ResolvedSettings& settings);

    /// `sampled`: 1 + its place in the sample of its function; 0: it is in none.
    /// `path`: PathTally, if paths are wanted.
    void add(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled, std::uint32_t path,
             const mining::SequenceBuilder::Closed& closed);

    /// As if every call had been added when it came: groups are numbered in the order of first use.
    void finish();

  private:
    /// Marks the number under which a call in a sample waits for its group.
    static constexpr std::uint32_t kAsked = std::uint32_t{1} << 31;

    /// What a call's place is remembered by, if places are wanted.
    struct Place {
        std::uint64_t begin = 0, end = 0;
        std::uint32_t path = 0;
        std::uint32_t function = 0;
    };

    bool add_at_once(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled, std::uint32_t path,
                     mining::ShapeId shape);
    bool places_wanted() const { return out_.paths != nullptr || out_.course != nullptr; }
    void add_place(mining::GroupId group, const calls::Call& call, const Place& place);
    void put_off(const calls::Call& call, std::uint32_t caller, std::uint32_t sampled, std::uint32_t path,
                 const mining::SequenceBuilder::Closed& closed);
    bool ask(const calls::Call& call, std::uint32_t sampled, mining::GroupId group);
    void work_off();
    void work_off(std::span<BatchedCall> calls);
    void prefetch_place(const BatchedCall& call) const;
    void find_group(BatchedCall& call);
    void add(const BatchedCall& call);
    void renumber();

    ThreadTimes& out_;
    const ResolvedSettings& settings_;
    CallBatch batch_;
    std::size_t first_;                     // group that was made here
    std::uint64_t before_ = 0;              // calls of earlier batches
    std::vector<std::uint64_t> made_by_;    // calls that came before its first one, by group from first_ on
    std::vector<Place> places_;             // by BatchedCall::order; empty: not wanted
    std::vector<mining::GroupId> answers_;  // by number under which a call's group was asked for
};

}  // namespace rdam::score
