// Turns the events of one thread into calls, sorted into groups of the same sequence.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/calls/matcher.h"
#include "analyzer/score/batched_groups.h"
#include "analyzer/score/candidate_keys.h"
#include "analyzer/score/known_trees.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/score/thread_times.h"
#include "analyzer/sequences/sequence_builder.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"
#include "tools/trace/event_columns.h"

namespace rdam::score {

/// The times of a thread of which no event has been read; its life and its course have to be set.
std::unique_ptr<ThreadTimes> empty_times(const trace::TraceInfo& info, const ResolvedSettings& settings);
/// Null: none is wanted, or the range is empty.
std::unique_ptr<CourseTally> empty_course(const trace::TraceInfo& info, const ResolvedSettings& settings,
                                          const trace::TickRange& range);

/// Not thread-safe, one for each thread of the trace. Not movable: parts refer to each other.
class ThreadAnalysis final : private calls::CallSink, private Unmovable {
  public:
    /// `info` and `settings` must outlive it.
    ThreadAnalysis(const trace::TraceInfo& info, const ResolvedSettings& settings);
    ~ThreadAnalysis() override = default;

    /// How many events there may be.
    void expect(std::uint64_t events) {
        if (out_->patterns) out_->patterns->miner().expect(events / 2);
    }
    /// The part of the thread's life that is analyzed.
    void set_life(const trace::TickRange& life) { out_->sampling_windows = {settings_.windows, life}; }
    /// As BasicMatcher's. Before the events; must outlive it.
    void set_unended(std::span<const std::uint64_t> calls) { matcher_.set_unended(calls); }
    /// When the thread was off the processors; null: it is not known of the whole run. Must outlive it.
    void set_off_times(const OffTimes* off) { off_ = off; }
    /// The time that the course is about, if it is wanted; empty: there is none. Before the events.
    void set_course(const trace::TickRange& range);
    void consume(std::span<const trace::Event> events);
    /// Events of columns, from `begin` on, before `end`.
    struct Part {
        std::size_t begin = 0;
        std::size_t end = 0;
    };
    /// Looks at call trees that it knows, from event `from` on, by columns. What it returns, if that is not
    /// empty, has to be consumed event by event, and then the next part to be asked for. `columns` must be the
    /// same until all of them have been looked at.
    Part take_trees(const trace::EventColumns& columns, std::size_t from);
    void gap();
    /// Calls that are open: they take some 200 bytes each.
    std::size_t open_calls() const { return open_.size(); }
    /// No more events. Nothing else may be asked afterwards.
    std::unique_ptr<ThreadTimes> finish();

  private:
    friend calls::BasicMatcher<ThreadAnalysis>;

    /// The call began before its function was sampled, or that never is.
    static constexpr std::uint32_t kComplete = ThreadWindows::kOutside - 1;

    struct OpenCall {
        std::uint64_t caller = 0;
        std::uint64_t weight = 1;
        std::uint64_t inside_keys = 0;  ///< samples::SampledCall
        std::uint64_t last_keys = 0;    ///< a hash of the keys of the last call inside that has any
        std::uint32_t inside = 0;
        std::uint32_t function = 0;
        std::uint32_t first_word = 0;  ///< in open_words_
        std::uint16_t cpu = 0;
        std::uint64_t instructions = 0;     ///< trace::Event
        std::uint32_t cluster = kComplete;  ///< of a function that is sampled in windows
        std::uint64_t waited = 0;           ///< of that time: waited()
    };

    /// A call of a function that is sampled, in a window or from before, and what is known by itself of the time
    /// inside it.
    struct OpenInWindow {
        std::size_t place = 0;     ///< in open_
        std::size_t complete = 0;  ///< complete_calls_ when it began
        WaitSum others = {};
    };

    /// A pack of which trees are taken.
    struct Pack {
        const trace::EventColumns& columns;
        std::vector<std::uint32_t> numbers;  ///< OpNumbers, by op
        PackTrees trees;
    };

    bool takes_trees() const;
    bool fit_trees(const trace::EventColumns& columns) const;
    void end_learning();
    void learn(const calls::Call& call, std::uint32_t caller, sequences::ShapeId shape);
    bool find_groups(KnownTree& tree) const;
    std::size_t add_trees(const KnownTree& tree, std::size_t from);
    std::size_t equal_trees(const KnownTree& tree, std::size_t from) const;
    calls::BasicMatcher<ThreadAnalysis>::Trees times_of(const KnownTree& tree, std::size_t from,
                                                        std::size_t count) const;
    bool fit(const KnownTree& tree, std::size_t from, std::size_t count) const;
    void add_trees(const KnownTree& tree, std::size_t from, std::size_t count);
    void add_times(const KnownTree& tree, std::size_t count);
    void add_samples(const KnownTree& tree, std::size_t from, std::size_t count);
    void find_paths(const KnownTree& tree, std::size_t from, std::size_t count);
    void add_to_paths(const KnownTree& tree, std::size_t count);
    void add_to_course(const KnownTree& tree, std::size_t from, std::size_t count);
    struct Duration {
        std::uint64_t duration = 0;
        std::uint64_t self = 0;
    };
    std::uint64_t add_one(const KnownTree& tree, std::size_t from);
    std::uint64_t add_columns(const KnownTree& tree, std::size_t from, std::size_t count);
    void add_call(const KnownTree& tree, std::uint32_t place, std::size_t from, const Duration& duration,
                  sequences::GroupId& group);
    void find_keys(std::size_t enter);
    std::uint64_t hash_of_keys(std::size_t enter);
    std::uint32_t sample(const KnownTree& tree, std::size_t place, std::size_t from, std::uint64_t duration);
    std::uint64_t self_of(std::size_t at) const {
        return durations_[at] > children_[at] ? durations_[at] - children_[at] : 0;
    }
    void start_batches();
    void add_to_windows(const KnownTree& tree, std::size_t from, std::size_t count);
    bool is_outermost(const KnownTree::Call& call) const {
        return !call.recursive && !matcher_.is_open(call.function);
    }

    void opened(const trace::Event& enter, std::uint64_t weight) override;
    void closed(const calls::Call& call) override;
    void wait_opened(const trace::Event& enter) override;
    std::uint64_t given_back_from(const trace::Event& enter, const trace::OwnerWords& words) const;
    void waited(const calls::Call& wait) override;
    void abandoned(std::size_t count) override;
    void tree_ended(std::uint64_t weight) override;
    void enqueue(const calls::Call& call, const OpenCall& open, std::uint32_t sampled, std::uint32_t path,
                 const sequences::SequenceBuilder::Closed& closed);
    void step(std::size_t number, QueuedCall& queued);
    void find_group(QueuedCall& queued);
    void add(const QueuedCall& queued);
    void add_place(const QueuedCall& queued);
    void open_path(const trace::Event& enter, std::uint64_t weight, std::uint32_t cluster);
    void flush();
    void end_batches();
    GroupTimes& windowed_times(const QueuedCall& queued);
    std::uint32_t cluster_of(const trace::Event& enter, std::uint64_t weight);
    bool is_windowed(std::uint32_t function) const {
        return function < settings_.windowed.size() && settings_.windowed[function];
    }
    void note_overhead(std::span<const trace::Event> events);
    void close_in_patterns(const calls::Call& call, sequences::ShapeId shape);
    void note_off_cpu(const calls::Call& call, const OpenCall& open, const WaitSum& others);
    WaitSum measured(const calls::Call& call) const;
    void note_call_made(const calls::Call& call, std::uint64_t caller);
    KnownInside& add_known_inside(OpenInWindow& around, const WaitSum& known);
    std::uint32_t sampled_caller(std::uint32_t caller);
    void note_wait_inside(std::uint32_t function, std::uint64_t begin, const WaitSum& wait);
    WaitSum close_in_windows();
    /// The values of the keys of the call that this event enters, in key_values_.
    void find_keys(const trace::Event& enter) {
        key_values_.clear();
        for (const sequences::KeyWord& key : settings_.keys[enter.function])
            key_values_.push_back(key.value(enter));
    }
    /// Of key_values_.
    std::uint64_t hash_of_keys() const {
        std::uint64_t hash = sequences::kHashSeed;
        for (const std::uint64_t value : key_values_)
            hash = sequences::hash_mix(hash, value);
        return hash;
    }
    void note_inside(std::uint32_t function);
    void note_inside(OpenCall& parent) const;
    void note_repeats();
    std::uint32_t sample(const calls::Call& call, const OpenCall& open);

    void set_result(const calls::Call& call);

    bool samples_wanted() const { return settings_.max_sampled > 0; }

    const trace::TraceInfo& info_;
    const ResolvedSettings& settings_;
    const OffTimes* off_ = nullptr;
    std::unique_ptr<ThreadTimes> out_;
    sequences::ResultKeys results_;            // among the keys
    sequences::ResultKeys result_candidates_;  // among the candidates
    sequences::SequenceBuilder builder_;
    calls::BasicMatcher<ThreadAnalysis> matcher_;
    CandidateKeys candidates_;
    bool batches_wanted_;  // as long as nothing depends on the order of calls of several groups
    std::unique_ptr<BatchedGroups> batched_;  // null: there are few groups, or no batches are wanted
    CallQueue queue_;
    std::vector<OpenCall> open_;
    std::vector<OpenInWindow> open_in_windows_;  // the outermost ones of their functions
    std::size_t complete_calls_ = 0;             // of open_: those of kComplete
    std::vector<std::uint32_t> callers_;         // by CallerNumbers: the sampled function that it is in
    std::vector<std::uint64_t> open_words_;
    std::vector<std::uint64_t> key_values_;    // scratch
    std::vector<std::uint64_t> group_values_;  // scratch
    samples::OwnedWait open_wait_;             // the last one that began
    std::vector<samples::Repeats> repeats_;    // of the call that is sampled; empty unless loops are folded
    // Of trees that are known:
    OpNumbers op_numbers_;
    KnownTrees known_trees_;
    std::vector<bool> plain_;            // by function: its calls may be in one
    std::optional<Pack> pack_;           // that is being looked at
    std::optional<KnownTree> learning_;  // whose events are being consumed one by one
    std::size_t singles_ = 0;  // so many trees are added one by one, as some of them cannot be added at once
    std::size_t learned_ = 0;  // calls of it that have ended
    // Scratch, call by call, each with a value for every tree:
    std::vector<std::uint64_t> durations_;
    std::vector<std::uint64_t> children_;
    std::vector<std::uint64_t> self_;
    std::vector<sequences::GroupId> groups_;  // of calls with keys
    std::vector<std::uint32_t> paths_;        // by place: the same for all trees
};

}  // namespace rdam::score
