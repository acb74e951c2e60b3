// The answers of an analysis, ready to be shown. Times are in nanoseconds, scores are shares of a thread's
// life.
//
// Definitions (sources: M. S. Mosli Bouksiaa, thesis, ch. 4; docs/analyzer.md). For one thread with life T
// and one group of calls with durations d:
//
//     lost = Σ (d − min d)        RDAM = lost / T        0 ≤ RDAM < 1
//
// A *sequence* of a thread is a group of calls with the same function, key values and children
// (analyzer/sequences). Durations are net: pauses of the recorder and the cost of probes are taken out
// (analyzer/calls). Only calls that were seen to begin and end at possible times are scored.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/calls/matcher.h"
#include "analyzer/score/call_sample.h"
#include "analyzer/sequences/futex_calls.h"
#include "analyzer/settings/settings.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"

namespace rdam::score {

/// Threads that lived for less than this share of the run do not set the scores of a function.
inline constexpr double kShortLife = 0.01;
/// A minimum of fewer than kFewOccurrences is not trusted (`lower_bound`) once such sequences hold more than
/// this share of the function's time.
inline constexpr double kFewShare = 0.10;
/// Between two probes, processors overlap about so many nanoseconds of a call with the probes.
inline constexpr double kOverlapNs = 5;
/// Clocks whose step is at least this are reported: such steps hide what finer clocks show.
inline constexpr double kCoarseStepNs = 100;
/// Of a function whose median call takes fewer steps of such a clock, much of what is lost may not be seen.
inline constexpr double kFewSteps = 10;
/// The score of a sample whose calls were not counted is the estimate less so many standard errors: a lower
/// bound that holds for 97.7 % of samples.
inline constexpr double kBoundErrors = 2;

// What a function, a thread's calls of it, a sequence, a pattern and a process have in common: a score.

/// For a group of calls with durations d in a thread with life T: rdam = lost / T, lost = Σ (d − min d)
/// (M. S. Mosli Bouksiaa, thesis, ch. 4). Scores are shares of a thread's life, 0…1; times are nanoseconds.
struct Scored {
    double rdam = 0;
    /// The 95 % interval of `rdam` (analyzer/statistics/loss.h).
    double rdam_low = 0, rdam_high = 0;
    /// What constant work would score (analyzer/statistics/loss.h); 0: not known.
    double floor = 0;
    std::uint64_t occurrences = 0;
    double lost_ns = 0;
    /// Of the scored calls; all 0 if there are none.
    double min_ns = 0, median_ns = 0, p99_ns = 0, max_ns = 0;
    /// A shorter time cannot be told from none: the step of the clock, and what a processor overlaps between two probes.
    double resolution_ns = 0;
    /// `occurrences` is an estimate.
    bool estimated = false;
    /// The true score may be higher.
    bool lower_bound = false;
    /// A few calls are far faster than all the others (analyzer/statistics/loss.h).
    bool minimum_alone = false;
    /// Something was lost, and no more than Report::agent_bound_ns: it may have been the recorder's doing.
    bool maybe_recorder = false;
    /// Too little was seen in windows: score and loss are 0, and not known.
    bool few_windows = false;
    /// No call was scored, or which ends are whose is not known: score and loss are 0, and mean nothing.
    bool no_score = false;

    bool unknown() const { return few_windows || no_score; }
};

// When time was lost, by thread and function.
//
// A call's loss is spread evenly over the time from its begin to its end. What adds up: Σ lost_ns over the
// bins of a thread and function = ThreadShare::lost_ns, over the threads FunctionRow::lost_ns. A function
// with one baseline for calls in several bins may have calls within a step of the clock below it: a bin is
// never below 0, and the others are lowered instead. With a percentile as the baseline, what was lost in each
// of several bins is approximate.

/// Outermost scored calls of a function in a thread, as far as they lie in a bin: half of a call counts half.
struct CourseCell {
    std::uint32_t thread = 0;    ///< index into Report::threads
    std::uint32_t function = 0;  ///< index into TraceInfo::functions
    std::uint32_t bin = 0;       ///< below Course::kBins
    double calls = 0;
    double time_ns = 0;  ///< Σ net durations
    double lost_ns = 0;
};

/// Of a function that is sampled in windows: from which part of each bin its calls are recorded.
struct CourseCover {
    std::uint32_t function = 0;      ///< index into TraceInfo::functions
    std::vector<double> parts = {};  ///< Course::kBins, 0…1
};

struct Course {
    static constexpr std::uint32_t kBins = 192;

    double begin_ns = 0;  ///< of the first bin, since the run's start
    double bin_ns = 0;    ///< length of a bin; 0: not asked for, or the run has no length. What was recorded
                          ///< outside of the bins (at wild times) is in the first or the last one
    std::vector<CourseCell> cells;  ///< in the order of threads, functions and bins; only those with calls
    /// What is lost in such a function, in cells, stands for what is not recorded as well: a rate by covered time shows
    /// when it was lost.
    std::vector<CourseCover> covers = {};
    /// Parts of calls for which there was no room (ResolvedSettings::max_course): how many of which sequence
    /// were in which bin is not known, and the loss of their sequences is divided among their bins by their
    /// time and number.
    std::uint64_t approximate = 0;
};

/// The times in which a thread was on no processor.
struct OffCpuRow {
    double blocked_ns = 0;    ///< waiting for something
    double preempted_ns = 0;  ///< waiting for a processor that others had
    double recorder_ns = 0;   ///< … that the recorder's own threads had
    double crowded_ns = 0;    ///< … that other threads of the program had
    std::uint64_t switches = 0;
    std::uint64_t preemptions = 0;  ///< the number of them that took away a processor
};

struct ThreadRow {
    std::uint32_t number = 0;  ///< index into the threads of the trace
    std::uint32_t tid = 0;
    std::string name;
    double duration_ns = 0;  ///< from its start to its end
    double paused_ns = 0;    ///< of it, what the recorder took
    double crowded_ns = 0;   ///< … and what other threads of the program had its processor for: T is
                             ///< duration_ns without both
    std::uint64_t events = 0;
    std::uint64_t calls = 0;
    std::uint64_t dropped = 0;
    std::uint64_t unwritten = 0;
    bool short_lived = false;  ///< kShortLife
    /// The share of T that it was inside recorded calls, at least and at most: those of one function may be inside those
    /// of another.
    double recorded_low = 0, recorded_high = 0;
    std::uint64_t fiber = 0;                ///< trace::ThreadInfo::fiber; 0: a thread
    std::optional<OffCpuRow> off_cpu = {};  ///< nothing: not recorded, Report::switches says why
};

/// A function in one thread, with this thread's T.
struct ThreadShare : Scored {
    std::size_t thread = 0;  ///< index into Report::threads
    /// In outermost calls, an estimate of sampled ones; at most, where some were not seen to end or too few are known.
    double time_ns = 0, most_time_ns = 0;
};

/// One sequence over all threads, recursive calls included. Only those that occur twice or more in some
/// thread are listed: the others have no score. `rdam` is the highest over the threads that are not
/// short-lived; `lost_ns` sums up the threads, each against its own baseline.
struct SequenceRow : Scored {
    std::uint64_t id = 0;  ///< sequences::lasting_ids
    std::string name;
    std::uint64_t caller = 0;  ///< CallerRow::address, where that is what tells it apart; else 0
    std::uint32_t group = 0;   ///< ScoredCall::group of its calls
};

/// A sampled call stack.
struct StackRow {
    std::uint64_t samples = 0;  ///< how often the sample was this one
    double calls = 0;           ///< estimate: the calls of its (function, caller) pair, shared out by samples
    std::uint64_t caller = 0;   ///< CallerRow::address
    std::vector<std::uint64_t> frames;  ///< return addresses, innermost first
    bool truncated = false;
};

/// A place from which the function was called. The losses of a function's callers add up to its own, except
/// for calls whose caller is not known.
struct CallerRow {
    std::uint64_t address = 0;  ///< return address
    std::uint64_t calls = 0;    ///< as FunctionRow::occurrences
    double lost_ns = 0;         ///< as FunctionRow::lost_ns; with a percentile as the baseline, approximately
    double share = 0;           ///< of the function's lost_ns; 0 if nothing was lost
};

/// A call of a function's sample, with its results. `group` is the report's: calls of one sequence, which are
/// compared within each thread.
struct ScoredCall : samples::SampledCall {
    double duration_ns = 0;    ///< net
    double lost_ns = 0;        ///< as it counts in FunctionRow::lost_ns
    double blocked_ns = 0;     ///< off the processor by its own doing, if context switches were recorded
    double preempted_ns = 0;   ///< … because another thread was to run
    std::uint32_t thread = 0;  ///< index into Report::threads

    /// At least half of its time: what happened during the call then happened during the loss.
    bool lost_half() const { return lost_ns > 0 && 2 * lost_ns >= duration_ns; }
};

/// Fewer calls tell nothing of what they have in common.
inline constexpr std::size_t kMinCalls = 30;

/// Outermost scored calls of all threads.
struct Sample {
    std::vector<ScoredCall> calls;
    std::size_t words_per_call = 0;
    std::vector<std::uint64_t> words;  ///< parameters, as in trace::Event::words, of one call after the other
    std::vector<std::uint32_t> repeated;  ///< functions whose loops directly inside are folded
    std::vector<std::uint32_t> repeats;   ///< calls in them beyond the first of each, by call and `repeated`

    std::uint64_t word(std::size_t call, std::size_t number) const {
        return words[call * words_per_call + number];
    }
    std::uint32_t repeats_of(std::size_t call, std::size_t number) const {
        return repeats[call * repeated.size() + number];
    }
    /// There is something to explain, and enough to explain it with: then there are hints (analyzer/hints).
    bool explainable() const {
        return calls.size() >= kMinCalls &&
               std::ranges::any_of(calls, [](const ScoredCall& call) { return call.lost_ns > 0; });
    }
};

/// For how long threads were on no processor.
struct OffTime {
    double blocked_ns = 0;    ///< by their own doing
    double preempted_ns = 0;  ///< because others were to run
};

/// A call that lost at least half of its time, where the timelines of the threads are kept. Ticks.
struct SlowCall {
    std::size_t thread = 0;   ///< index into Report::threads
    std::uint32_t group = 0;  ///< as ScoredCall::group
    std::uint64_t begin = 0, end = 0;
    double lost = 0;  ///< the share of its time
};

/// Calls of a thread in the windows of time that are kept of all. Ticks.
struct TimedCall {
    std::uint32_t function = 0;  ///< index into TraceInfo::functions
    std::uint64_t begin = 0, end = 0;
    /// The value of the only key of its sequence: a barrier's address; or a futex, or a file descriptor. 0: it has none, or several.
    std::uint64_t key = 0;
    std::uint64_t duration = 0;  ///< net, as calls::Call
    samples::Returned returned = samples::Returned::not_known;
    sequences::FutexCall futex = sequences::FutexCall::none;  ///< otherwise `key` is a futex
    bool descriptor = false;   ///< `key` is the file descriptor that it receives or sends through
    std::uint64_t caller = 0;  ///< the address to which it returns; 0: not known
};
struct ThreadTimeline {
    std::uint64_t begin = 0, end = 0;  ///< of the part of the thread's life that was analyzed
    std::vector<TimedCall> calls;
    std::vector<samples::OwnedWait> waits;  ///< for mutexes that name their owners
    std::vector<samples::OffTime> off;      ///< likewise in these windows, where there are such waits
    std::vector<TimedCall> wait_calls;      ///< Report::wait_windows
};

/// The calls of a function that took from `from_ns` to less than `to_ns`.
struct Bar {
    double from_ns = 0, to_ns = 0;
    std::uint64_t calls = 0;
};

/// `rdam`: if `sampled`, an estimate less some standard errors; the highest over the threads, short-lived
/// ones left out, of Σ lost / T over the function's sequences, outermost calls only. `floor` is of the thread
/// that sets it. `occurrences`: every call that was entered, recursive and unscored ones included; `lost_ns`
/// sums up threads and sequences; `min_ns` to `max_ns` are those of the `outermost` calls.
struct FunctionRow : Scored {
    std::uint32_t function = 0;  ///< index into TraceInfo::functions
    std::string name, module, source;
    std::string shown = {};  ///< shown_names()

    std::size_t rank = 0;        ///< 1, 2, 3 … (analyzer/report/ranking.h)
    bool partner = false;        ///< nobody has listed it (trace::FunctionInfo::partner)
    std::string by_design = {};  ///< what it waits for by design, `for a thread's end`; empty: it does not
    bool markable = false;       ///< lines of rdam.h in its source would be recorded the next time: rdam has
                                 ///< recorded it, and it is no shared library's
    double rdam_all = 0;         ///< lost_ns / Σ T of all threads
    /// Σ lost of self times, each against the least of its sequence and thread, of all calls, recursive ones
    /// included / Σ T of all threads: over functions it adds up to at most 1.
    double rdam_self = 0;
    /// As rdam, all outermost calls of the function in one group: rdam ≤ rdam_flat.
    double rdam_flat = 0;
    double rdam_all_low = 0, rdam_all_high = 0;  ///< 95 % intervals, as that of rdam
    double rdam_self_low = 0, rdam_self_high = 0;
    double rdam_flat_low = 0, rdam_flat_high = 0;

    std::uint64_t recorded = 0;  ///< calls that are in the trace
    /// Only a sample of its calls is in the trace (analyzer/statistics/sampling.h).
    bool sampled = false;
    bool windowed = false;  ///< `sampled` in windows of time (analyzer/score/sampling_windows.h)
    bool counted = false;   ///< `windowed`, and every call was counted, recorded or not
    /// `windowed`: so many times its calls had to wait, recorded or not, for so long in all: that much of
    /// `lost_ns` is no estimate.
    std::uint64_t waits = 0;
    double waited_ns = 0;
    /// `counted`: the time off the processors in its calls since it is sampled in windows, from what context
    /// switches tell of its threads, not of the windows alone; nothing: not known.
    std::optional<OffTime> off_in_windows = {};
    double windows_cover = 0;    ///< the part of its threads' lives from which all of its calls are recorded
    bool copied_stacks = false;  ///< `no_score`, since its stacks are copied away (trace::ProcessInfo)
    bool has_score = false;      ///< set by a thread that is not short-lived
    double occurrences_error = 0;  ///< one standard error, as all that follow; 0 if not sampled
    double lost_error_ns = 0;
    double rdam_error = 0;  ///< of the estimate that `rdam` is below
    double mean_ns = 0;     ///< of the scored outermost calls; of sampled ones at most what the lives allow
    double mean_error_ns = 0;
    std::optional<double> switched_off_ns = {};  ///< since the run's start: calls after that are not recorded
    std::uint64_t outermost = 0;                 ///< scored outermost calls
    double baseline_ns = 0;         ///< what these are compared with, on average: duration = baseline + loss
    std::vector<Bar> bars = {};     ///< how these calls' durations are distributed, if that was asked for
    std::uint64_t unscored = 0;     ///< never seen to end, or at an impossible time
    bool few_occurrences = false;   ///< kFewOccurrences, kFewShare
    bool coarse_clock = false;      ///< kCoarseStepNs, kFewSteps
    bool shortest_missing = false;  ///< trace::ProcessInfo
    /// Of calls that were still open when their threads ended, and longer than the fastest.
    double open_ns = 0;

    std::vector<ThreadShare> threads;    ///< those that called it, highest score first
    std::vector<SequenceRow> sequences;  ///< most lost time first; at most as many as were asked for
    std::uint64_t scored_sequences = 0;  ///< how many there are
    std::uint64_t single_sequences = 0;  ///< occur once in each thread they occur in: no score
    std::vector<StackRow> stacks;        ///< commonest first
    std::vector<CallerRow> callers;      ///< most lost time first, then most calls
    Sample sample;                       ///< only with a score from ResolvedSettings::threshold on, if it
                                         ///< is asked for, and of ResolvedSettings::largest_sampled others
    std::vector<SlowCall> slow;          ///< as `sample`

    /// Whether `occurrences`, here and in `threads`, are estimates.
    bool estimates_occurrences() const { return sampled && !counted; }
};

/// What was left out because of score::Selection.
struct LeftOut {
    std::optional<double> since_ns = {}, until_ns = {};  ///< the window that was asked for
    std::uint64_t cut_off = 0;    ///< calls that reach over an end of the window: not scored
    std::uint64_t threads = 0;    ///< not selected, or without a life in the window
    std::uint64_t functions = 0;  ///< not selected, with calls
    bool part = false;            ///< the report is about a part of the trace

    /// Calls were left out, not only rows of functions.
    bool of_the_run() const { return since_ns || until_ns || threads > 0; }
};

/// The names of no more calls of a pattern are listed.
inline constexpr std::size_t kMaxPatternCalls = 64;

/// A pattern of one thread (analyzer/sequences/pattern_miner.h), from its first event to its last, with
/// the thread's T. Patterns contain one another: their losses never add up. `occurrences` counts when it was
/// made, those inside larger patterns included; `lower_bound`: timed fewer than kFewOccurrences times.
struct PatternRow : Scored {
    std::size_t thread = 0;               ///< index into Report::threads
    std::vector<std::string> calls = {};  ///< names of its functions, kMaxPatternCalls at most
    std::string unit = {};                ///< the name of what it repeats, its own if nothing
    std::string name = {};                ///< `(lock unlock)×64`
    std::uint64_t length = 0;             ///< in calls
};

// Where the time went: the paths by which functions were called, over all threads of a process.
//
// A path is a call with the calls that were open around it, as calls::Matcher sees them: a tail call is a
// child of the call that opened its frame, a call behind a jump may be inside the calls that were jumped out
// of, calls of ignored functions are not there. Functions that are sampled in windows are leaves: what they
// call hangs where they hang, as only some of their calls are recorded.
//
// What adds up, for each function, over its nodes (the scores' own definitions, report.h):
//
//     Σ calls = FunctionRow::occurrences          Σ lost_ns = FunctionRow::lost_ns
//     Σ lost_self_ns = FunctionRow::rdam_self × Report::threads_ns
//
// so that Σ lost_self_ns over the tree is what all calls lost outside of the calls in them: the sizes of an
// icicle of lost time are those sums over subtrees. As lost_ns is that of whole calls, nested calls count one
// loss several times: it adds up only over nodes that are not inside one another. Times are recorded ones
// (net), of sampled call trees with the trees' weights, of calls in windows as many as they stand for; only
// calls that were seen to begin and end at possible times have one.
//
// A function with one baseline for calls on several paths may have calls within a step of the clock below it.
// A node is never below 0: the others are lowered instead, and the sums hold. With a percentile as the
// baseline, what each of several paths lost is approximate.

struct PathNode {
    static constexpr std::uint32_t kRoot = UINT32_MAX;      ///< not a function: what threads begin with
    static constexpr std::uint32_t kElsewhere = kRoot - 1;  ///< not a function: PathTree::left_out

    std::uint32_t parent = 0;  ///< index into PathTree::nodes, below the node's own; of the root its own
    std::uint32_t function = kRoot;  ///< index into TraceInfo::functions
    /// Of a child of the root: where its calls return to, the address of an instruction; 0: not known, or not asked for.
    std::uint64_t caller = 0;
    double calls = 0;         ///< entered, recursive and unscored ones included
    double time_ns = 0;       ///< Σ net durations, of the calls inside too
    double self_ns = 0;       ///< … outside of the calls inside; without those where that is not known
    double lost_ns = 0;       ///< of outermost calls: 0 in a node inside one of its own function that ends
    double lost_self_ns = 0;  ///< of self times, of all calls
};

struct PathTree {
    std::vector<PathNode> nodes;  ///< the root first, parents before their children; none: not asked for
    /// Calls (recorded ones) on paths for which there was no room (ResolvedSettings::max_paths). They are in
    /// nodes of their function below an ancestor of the path, or below a child of the root, kElsewhere.
    std::uint64_t left_out = 0;
    /// Calls of which it was not kept, for the same reason, of which sequence how many were on which path:
    /// the loss of their sequences is divided among their paths by their time and number.
    std::uint64_t approximate = 0;
};

/// By node: the sum of `own` over it and all nodes below it.
std::vector<double> subtree_sums(const PathTree& tree, std::vector<double> own);

/// By node: whether it is one of the `most` heaviest, whose ancestors are, too. `weights`: of whole subtrees,
/// finite, none heavier than the one around it.
std::vector<bool> heaviest(const PathTree& tree, const std::vector<double>& weights, std::size_t most);

// What recording cost the run that it recorded.

/// Sums over all threads, in nanoseconds.
struct RecordingCost {
    double probes_ns =
        0;  ///< calls × what one wrapped call costs in the flow of a program (trace::ClockInfo::flow_ticks)
    double gates_ns = 0;     ///< calls that were not recorded × what a closed gate costs
    double pauses_ns = 0;    ///< the recorder held a thread to work: packed its events, copied its stack
    double waits_ns = 0;     ///< … because the buffers were full
    double agent_ns = 0;     ///< its own process had their processors
    double switches_ns = 0;  ///< context switches took longer because they were recorded
    /// The run lasted about so many times as long as without the recorder, 1 to kMaxSlowdown: by what probes cost
    /// in a program, and at least and at most, which is all that can be known from inside.
    double slowdown = 1;
    double slowdown_low = 1;
    double slowdown_high = 1;
    bool idle_machine = false;  ///< … if no other program had the processors, which is not known
};

/// Above this the run was mostly recording, and the rest is less than the error of the cost.
inline constexpr double kMaxSlowdown = 10;

/// What the recorder cost one thread.
struct ThreadCost {
    double probes_ns = 0;
    double gates_ns = 0;
    double pauses_ns = 0;
    double waits_ns = 0;
    double agent_ns = 0;
    double switches_ns = 0;
    double stretch = 1;  ///< how long it took to get a nanosecond of a processor, which others had as well
};

/// For a run of `duration_ns` in which so many threads on average were on a processor or waited for one at
/// the same time (0: not known). Without the recorder, other programs would also have taken their share of
/// the time. The run is taken to be longer by what its most burdened thread was held up, or, where that is
/// more, by what all of them were, spread over as many: threads that wait for one another do one after the
/// other what the recorder adds to each.
RecordingCost recording_cost(const std::vector<ThreadCost>& threads, double duration_ns, double at_a_time);

struct Report {
    trace::ProcessInfo process;
    trace::SwitchInfo switches;
    trace::CounterInfo counters;
    double switches_until_ns = 0;    ///< if they are `stopped`: when, since the run's start
    double switches_missing_ns = 0;  ///< the part of the run in which some of them are missing
    double start_unix_ns = 0;
    double duration_ns = 0;  ///< from the first thread's start to the last one's end
    double threads_ns = 0;   ///< Σ T
    std::uint64_t events = 0;
    std::uint64_t dropped = 0;
    std::uint64_t unwritten = 0;
    double probe_cost_ns = 0;  ///< of one wrapped call
    double flow_cost_ns =
        0;  ///< of one in the flow of a program, as the header counts it (trace::ClockInfo::flow_ticks)
    std::string clock = {};     ///< trace::ClockInfo::source
    double clock_step_ns = 0;   ///< by which the clock moves at a time; 0: not known
    double clock_error_ns = 0;  ///< trace::ClockInfo::error_ticks; 0: not known
    double perturbation = 0;    ///< (calls × probe_cost + paused) / Σ T
    double paused_ns = 0;       ///< what the recorder held all threads for; of that,
    double agent_ns = 0;        ///< what its own threads had their processors for
    double crowded_ns = 0;      ///< what threads waited for processors that other threads of the program had
    RecordingCost cost;
    trace::AgentInfo agent;
    double agent_bound_ns = 0;   ///< the agent may have disturbed the threads for so long, and it is not
                                 ///< known when; 0: that is known, and taken out
    calls::MatchCounts counts;   ///< Σ over threads; `first` and `last` over all
    std::uint64_t too_long = 0;  ///< calls with too many children to be compared
    trace::Damage damage;
    LeftOut left_out;
    std::vector<std::string> remarks;
    std::vector<trace::AnswerInfo> refused;     ///< entries of the list that were not wrapped
    std::vector<std::string> names = {};        ///< of TraceInfo::functions: shown_names()
    std::vector<std::string> never_called;      ///< wrapped functions without a call, `module:name`
    std::vector<ThreadRow> threads;             ///< in the order of the trace
    std::vector<FunctionRow> functions;         ///< highest rdam first; then lost_ns, name, module
    std::vector<PatternRow> patterns;           ///< if they were asked for; most lost time first
    std::optional<std::uint64_t> all_patterns;  ///< how many there are; nothing: they were not asked for
    double threshold = kWorthALook;             ///< what scores less has no hints
    Comparison comparison = {};                 ///< what calls were compared with
    samples::Windows windows = {};              ///< of the timelines
    /// In which calls that say who waits for whom are kept (ThreadTimeline::wait_calls), and waits for mutexes: more than
    /// `windows`. Nothing: these calls are in the timelines' calls.
    std::optional<samples::Windows> wait_windows = {};
    samples::Windows owned_windows =
        {};  ///< in which ThreadTimeline::waits have all locks and unlocks of OwnedWait::all
    const std::vector<TimedCall>& calls_about_waits(std::size_t thread) const {
        return wait_windows ? timeline[thread].wait_calls : timeline[thread].calls;
    }
    /// Partners (FunctionRow::partner) that are not recorded any more, as their calls cost too much.
    std::vector<std::string> costly_partners = {};
    std::vector<ThreadTimeline> timeline;  ///< by thread; only if a row has a sample, or owners are known
    std::uint64_t begin =
        0;                ///< ticks of the run's start, from which the times of what was asked about count
    PathTree paths = {};  ///< if they were asked for
    Course course = {};   ///< if it was asked for
};

/// `module:name`, or the name alone where no module is known.
std::string qualified_name(const std::string& module, const std::string& name);

/// The names of functions as they are shown, in the same order: the name alone, and `module:name` where
/// functions of several modules have it, and of regions. Each has a `module` and a `name`.
template <std::ranges::forward_range Functions>
std::vector<std::string> shown_names(const Functions& functions) {
    std::map<std::string_view, std::string_view> modules;
    std::set<std::string_view> ambiguous;
    for (const auto& function : functions)
        if (modules.try_emplace(function.name, function.module).first->second != function.module)
            ambiguous.insert(function.name);
    std::vector<std::string> names;
    for (const auto& function : functions)
        names.push_back(function.module == trace::kRegionModule || ambiguous.contains(function.name)
                            ? qualified_name(function.module, function.name)
                            : function.name);
    return names;
}

}  // namespace rdam::score
