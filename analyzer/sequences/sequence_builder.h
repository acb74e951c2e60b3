// Builds the sequence of every call of one thread from the bottom up, in one pass and without recursion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/sequences/sequence_store.h"
#include "tools/trace/event.h"

namespace rdam::sequences {

struct SequenceOptions {
    bool deep_keys = false;   ///< the keys of the children count for the parent
    bool fold_loops = false;  ///< `g ×3` and `g ×4` are the same
};

/// A call with more runs of children than this is not compared with others: its list would not fit in memory.
inline constexpr std::size_t kMaxRuns = std::size_t{4} << 20;

/// Memory: the children of the calls that are open, equal neighbours counted. Not thread-safe.
class SequenceBuilder {
  public:
    SequenceBuilder(SequenceStore& store, SequenceOptions options, std::size_t max_runs = kMaxRuns);

    /// Calls of functions whose entry is true (it may be shorter) have a group of their own, and to the call
    /// around them it is as if it had made their children's calls itself.
    void set_transparent(std::vector<bool> transparent) { transparent_ = std::move(transparent); }

    /// A call begins.
    void open(std::uint32_t function) {
        if (lost_ > 0) [[unlikely]]
            take_lost();
        Open& call = open_.emplace_back();
        call.first_run = runs_.size();
        call.first_key = keys_.size();
        call.function = function;
    }
    /// The value of the next of its key parameters, before any other call begins.
    void add_key(std::uint64_t value) { keys_.push_back(value); }
    void open(std::uint32_t function, std::span<const std::uint64_t> keys) {
        open(function);
        for (const std::uint64_t key : keys)
            add_key(key);
    }

    /// Of the innermost open call, which is about to end: a value given to add_key().
    std::uint64_t& key(std::size_t number) {
        if (lost_ > 0) [[unlikely]]
            take_lost();
        return keys_[open_.back().first_key + number];
    }

    /// The innermost open call represents so many consecutive calls.
    void set_repeats(std::uint32_t repeats) { open_.back().repeats = repeats; }

    /// The innermost open call has ended: its group, and it becomes the last child of the call around it.
    GroupId close() {
        const Closed call = close_shape();
        return store_.group(call.shape, call.keys);
    }

    struct Closed {
        ShapeId shape = 0;
        std::span<const std::uint64_t> keys;  ///< of its group; valid until the next call of a function
    };
    /// As close(), but for a caller that asks the store for the group later.
    Closed close_shape();

    /// So many calls of this shape, which have ended, are the last children of the innermost open one.
    void add_closed(ShapeId shape, std::uint32_t count) {
        if (lost_ > 0) [[unlikely]]
            take_lost();
        if (!open_.empty()) append({shape, count});
    }

    /// The children of the innermost open call so far, counted even where loops are folded. Valid until the
    /// next call of a function that changes something.
    std::span<const Run> children() {
        if (lost_ > 0) [[unlikely]]
            take_lost();
        return std::span{runs_}.subspan(open_.back().first_run);
    }

    /// The `count` innermost open calls never ended. Each becomes a child of the call around them all, marked
    /// as abandoned, and its children follow it there: calls inside it and calls after the jump out of it
    /// cannot be distinguished.
    void abandon(std::size_t count) { lost_ += count; }

    /// The shapes that the `count` innermost open calls get when they are abandoned, outermost first.
    /// Transparent calls get none and are left out.
    std::vector<ShapeId> abandoned_shapes(std::size_t count);

    /// Calls whose children were too many to be compared.
    std::uint64_t too_long() const { return too_long_; }

  private:
    struct Open {
        std::uint64_t hash = kHashSeed;  ///< of all runs but the last
        std::size_t first_run = 0;
        std::size_t first_key = 0;
        std::uint32_t function = 0;
        std::uint32_t repeats = 1;
        bool too_long = false;
    };

    void append(Run run);
    void take_lost();
    bool is_transparent(const Open& call) const {
        return call.function < transparent_.size() && transparent_[call.function];
    }
    Run identity(Run run) const { return {run.child, options_.fold_loops ? 1 : run.count}; }
    ShapeId finish_shape(const Open& call, std::span<const std::uint64_t> keys);

    SequenceStore& store_;
    SequenceOptions options_;
    std::size_t max_runs_;
    std::vector<Open> open_;
    /// So many of them, the innermost, never ended. They are taken all at once when something else happens: thousands may
    /// be abandoned one after the other, and each moves what was inside.
    std::size_t lost_ = 0;
    std::vector<Run> runs_;            // of all open calls, one after the other; with their true counts
    std::vector<std::uint64_t> keys_;  // of all open calls, too
    std::vector<bool> transparent_;    // by function
    std::vector<Run> abandoned_runs_;  // scratch
    std::uint64_t too_long_ = 0;
};

// The rest of a loop of rdam.h: the iterations after the last full group. It is a call to the loop's region
// that contains a call to the region "loop's rest", which gives the number of iterations; it is compared
// only with rests of the same length.

class LoopRests {
  public:
    explicit LoopRests(const trace::TraceInfo& info) {
        for (const trace::FunctionInfo& function : info.functions)
            tells_.push_back(function.name == "loop's rest" && function.module == trace::kRegionModule &&
                             function.parameters.size() == 1 &&
                             function.parameters.front().name == "iterations");
        any_ = std::ranges::find(tells_, true) != tells_.end();
    }

    bool tells(std::uint32_t function) const { return any_ && tells_[function]; }
    /// How many calls this one represents in the sequence of the call around it.
    std::uint32_t repeats(const trace::Event& enter) const {
        if (!any_ || !tells_[enter.function] || enter.words.empty()) return 1;
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(enter.words.front(), 1, UINT32_MAX));
    }

  private:
    std::vector<bool> tells_;  // by function
    bool any_ = false;
};

}  // namespace rdam::sequences
