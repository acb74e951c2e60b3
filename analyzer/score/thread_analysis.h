// What the events of one thread come to: its calls, sorted into groups of the same sequence.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/calls/instructions.h"
#include "analyzer/calls/matcher.h"
#include "analyzer/mining/keys.h"
#include "analyzer/mining/sequence_builder.h"
#include "analyzer/mining/sequence_store.h"
#include "analyzer/samples/call_sample.h"
#include "analyzer/samples/time_windows.h"
#include "analyzer/score/callers.h"
#include "analyzer/score/distribution.h"
#include "analyzer/score/loss.h"
#include "analyzer/score/off_cpu.h"
#include "analyzer/score/pattern_times.h"
#include "analyzer/score/sampling.h"
#include "analyzer/score/settings.h"
#include "analyzer/trace/event.h"

namespace rdam::score {

/// Moments and the two least of self times; all of them only where a percentile is the baseline.
struct SelfTimes {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    std::uint64_t min = UINT64_MAX;
    std::uint64_t second = UINT64_MAX;  ///< Distribution::second(), of more than one
    double squares = 0;
    std::unique_ptr<Distribution> all;

    void add(std::uint64_t value, std::uint64_t times);
    /// Σ max(value − base, 0) against `baseline`, and what that says of it.
    Loss::Group loss(const Baseline& baseline, std::uint64_t process_min) const;
};

/// The scored calls of one sequence in one thread, durations in ticks.
struct GroupTimes {
    Distribution outermost;
    std::unique_ptr<Distribution> inner;  ///< within another call of the same function; null: there were none
    SelfTimes self;                       ///< of all of them
    std::uint64_t caller = 0;             ///< where they return to; meaningless if there are `callers`
    std::unique_ptr<CallerTable> callers;  ///< null: they all return to the same address

    /// Before the call's times are added.
    void add_caller(std::uint64_t address, const calls::Call& call);
};

/// Settings with names resolved; shared by the threads' analyses.
struct ResolvedSettings {
    mining::SequenceOptions sequences;
    mining::KeyTable keys;
    std::vector<bool> ignored;  ///< by function
    calls::ProbeCost cost;
    calls::ProbeInstructions probe_instructions = {};
    Baseline baseline = {};
    bool patterns = false;
    double threshold = kWorthALook;   ///< what scores less gets no hints
    std::size_t most_sampled = 0;     ///< calls of each function and thread that are kept for hints; 0: none
    std::size_t most_in_windows = 0;  ///< calls of each thread that are kept for its timeline; 0: none
    unsigned window_shift = 0;        ///< samples::Windows
};

/// Not thread-safe, one for each thread of the trace. Not movable: parts refer to each other.
class ThreadAnalysis final : private calls::CallSink {
  public:
    /// `info` and `settings` must outlive it.
    ThreadAnalysis(const trace::TraceInfo& info, const ResolvedSettings& settings);
    ~ThreadAnalysis() override = default;
    ThreadAnalysis(const ThreadAnalysis&) = delete;
    ThreadAnalysis& operator=(const ThreadAnalysis&) = delete;
    ThreadAnalysis(ThreadAnalysis&&) = delete;
    ThreadAnalysis& operator=(ThreadAnalysis&&) = delete;

    /// How many events there may be.
    void expect(std::uint64_t events) {
        if (patterns_) patterns_->miner().expect(events / 2);
    }
    void consume(std::span<const trace::Event> events);
    void gap();
    void finish();
    void set_off_cpu(const OffCpuTimes& times) { off_cpu_ = times; }

    const std::optional<OffCpuTimes>& off_cpu() const { return off_cpu_; }  ///< nothing: not recorded
    const calls::MatchCounts& counts() const { return matcher_.counts(); }
    const std::vector<calls::FunctionCounts>& per_function() const { return matcher_.per_function(); }
    const mining::SequenceStore& sequences() const { return store_; }
    const std::vector<GroupTimes>& groups() const { return groups_; }  ///< by mining::GroupId
    /// By function: its calls without times, which are in no group.
    const std::vector<CallerTable>& untimed_callers() const { return untimed_callers_; }
    /// How often each stack was the one sampled; most were in no given thread.
    const tsl::robin_map<std::uint32_t, std::uint64_t>& stack_samples() const { return stacks_; }
    const PatternTimes* patterns() const { return patterns_.get(); }  ///< nullptr: not asked for
    const TreeSums& sampling() const { return sampling_; }
    /// Of the outermost scored calls, by function; empty if none was asked for.
    const std::vector<samples::CallSample>& samples() const { return samples_; }
    const samples::WindowSample& windows() const { return windows_; }
    std::uint64_t events() const { return events_; }
    std::uint64_t too_long() const { return builder_.too_long(); }

  private:
    friend calls::BasicMatcher<ThreadAnalysis>;

    struct OpenCall {
        std::uint64_t caller = 0;
        std::uint64_t weight = 1;
        std::uint64_t inside_keys = 0;  ///< samples::SampledCall
        std::uint32_t inside = 0;
        std::uint32_t function = 0;
        std::uint32_t first_word = 0;  ///< in open_words_
        std::uint16_t cpu = 0;
        std::uint64_t instructions = 0;  ///< trace::Event
    };

    void opened(const trace::Event& enter, std::uint64_t weight) override;
    void closed(const calls::Call& call) override;
    void abandoned(std::size_t count) override;
    void tree_ended(std::uint64_t weight) override;
    void sample(const calls::Call& call, const OpenCall& open, mining::GroupId group);

    const ResolvedSettings& settings_;
    mining::SequenceStore store_;
    mining::SequenceBuilder builder_;
    calls::BasicMatcher<ThreadAnalysis> matcher_;
    std::vector<GroupTimes> groups_;
    std::vector<OpenCall> open_;
    std::vector<std::uint64_t> open_words_;
    std::vector<samples::CallSample> samples_;
    samples::WindowSample windows_;
    std::vector<CallerTable> untimed_callers_;
    TreeSums sampling_;
    std::unique_ptr<PatternTimes> patterns_;
    tsl::robin_map<std::uint32_t, std::uint64_t> stacks_;
    std::vector<std::uint64_t> key_values_;  // scratch
    std::uint64_t events_ = 0;
    std::optional<OffCpuTimes> off_cpu_;
};

}  // namespace rdam::score
