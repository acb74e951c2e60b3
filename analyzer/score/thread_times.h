// The result of one thread's events: the times of its calls by sequence, and everything else that a report
// contains.
#pragma once

#include <tsl/robin_map.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/calls/matcher.h"
#include "analyzer/score/call_sample.h"
#include "analyzer/score/callers.h"
#include "analyzer/score/candidate_keys.h"
#include "analyzer/score/group_list.h"
#include "analyzer/score/sampling_windows.h"
#include "analyzer/score/tallies.h"
#include "analyzer/sequences/pattern_miner.h"
#include "analyzer/sequences/sequence_store.h"
#include "analyzer/statistics/distribution.h"
#include "analyzer/statistics/sampling.h"
#include "tools/base/unmovable.h"
#include "tools/trace/clock.h"
#include "tools/trace/event.h"

namespace rdam::score {

// Sums of a thread's context switches.

/// Times in ticks.
struct OffCpuTimes {
    std::uint64_t blocked = 0;    ///< waiting for something
    std::uint64_t preempted = 0;  ///< waiting for a processor that others had
    // Pauses (calls/off_cpu_pauses.h):
    std::uint64_t recorder = 0;   ///< … that the recorder's own threads had
    std::uint64_t crowded = 0;    ///< … that other threads of the program had
    std::uint64_t in_pauses = 0;  ///< off, while the recorder held the thread to do its work
    std::uint64_t switches = 0;   ///< how often it was off; by preemption:
    std::uint64_t preemptions = 0;
};

/// The sums over the parts in `range`. `intervals` as returned by calls::Absences::thread().
OffCpuTimes sum_off_cpu(std::span<const trace::OffCpu> intervals, const trace::TickRange& range);

// How long a thread was off the processor up to a moment: the difference of two moments is a call's part of
// it.

class OffTimes {
  public:
    /// Ticks.
    struct Sum {
        std::uint64_t blocked = 0;    ///< waiting for something
        std::uint64_t preempted = 0;  ///< waiting for a processor that others had
    };

    /// `intervals` as calls::Absences::thread() gives them. Those in which the recorder's threads, or others
    /// of the program, had the processor are left out: they are in no call's time.
    explicit OffTimes(std::span<const trace::OffCpu> intervals);

    /// From the thread's start to `tsc`.
    Sum until(std::uint64_t tsc) const;

  private:
    std::vector<trace::OffCpu> intervals_;
    std::vector<Sum> before_;  ///< before each interval, and behind the last
};

// How long the patterns of one thread took, each time.

struct PatternCalls {
    std::uint64_t occurrences = 0;
    // Of those whose calls all begin and end at possible times; ticks.
    Distribution times;                  ///< of those that set a baseline
    std::unique_ptr<Distribution> held;  ///< of those with pauses, which do not; null: there are none

    /// Of both. Those with pauses have taken no less than the fastest of the others, as well as a clock can
    /// tell that moves `step` ticks at a time.
    Distribution all(std::uint64_t step) const {
        Distribution all = times;
        if (held) all.merge_unsure(*held, {}, times.least().floor(step));
        return all;
    }
};

/// Not thread-safe.
class PatternTimes : private sequences::PatternTimesSink, private Unmovable {
  public:
    PatternTimes(const sequences::SequenceStore& sequences, bool fold_loops)
        : miner_{sequences, fold_loops, *this} {}
    ~PatternTimes() override = default;

    sequences::PatternMiner& miner() { return miner_; }
    const sequences::PatternStore& patterns() const { return miner_.patterns(); }
    /// By sequences::PatternId.
    std::span<const PatternCalls> calls() const { return calls_; }

  private:
    void occurred(const Occurrence& occurrence) override {
        if (occurrence.pattern >= calls_.size()) calls_.resize(occurrence.pattern + std::size_t{1});
        PatternCalls& calls = calls_[occurrence.pattern];
        ++calls.occurrences;
        if (!occurrence.timed) return;
        if (!occurrence.held) return calls.times.add(occurrence.duration);
        if (!calls.held) calls.held = std::make_unique<Distribution>();
        calls.held->add(occurrence.duration);
    }

    sequences::PatternMiner miner_;
    std::vector<PatternCalls> calls_;
};

/// Ticks.
struct WaitSum {
    std::uint64_t calls = 0;
    double time = 0;          ///< Σ of the waits; of that,
    double blocked = 0;       ///< … the thread was on no processor by its own doing,
    double preempted = 0;     ///< … because another was to run
    double squares = 0;       ///< Σ of their squares
    double least = HUGE_VAL;  ///< the shortest of them

    void add(const WaitSum& more) {
        least = std::min(least, more.least);
        calls += more.calls;
        time += more.time;
        blocked += more.blocked;
        preempted += more.preempted;
        squares += more.squares;
    }
};

/// What a function that is sampled in windows has waited since then, recorded or not: with this the estimate
/// from the windows becomes a difference estimate (W. G. Cochran, Sampling Techniques, 3rd ed., 1977, chapter
/// 7), in which what is known of all calls need not be extrapolated.
struct WaitTimes : WaitSum {
    ClusterSums inside;  ///< of those in calls that were recorded in windows
    double squares_inside = 0;
    std::uint64_t complete = 0;  ///< besides: waits while all of the function's calls were recorded
    double complete_time = 0;
    // Of `time`, and of `inside`: what are not waits, but calls of others, which are no self time.
    std::uint64_t calls_made = 0;
    std::uint64_t calls_made_inside = 0;
    double in_calls = 0;
    double in_calls_inside = 0;
};

/// What is known by itself of the time inside a function's calls that were recorded in windows: waits of others
/// that are sampled, and CallsMade.
struct KnownInside {
    std::vector<std::uint32_t> waiters;  ///< those others
    ClusterSums times;
    double squares = 0;
    // Of these, CallsMade:
    std::uint64_t calls_made = 0;
    double in_calls = 0;
};

/// The calls that a function makes itself, since it is sampled in windows, of functions of which every call is
/// recorded.
struct CallsMade : WaitSum {
    std::vector<bool> functions;  ///< which, up to the last

    bool includes(std::uint32_t function) const { return function < functions.size() && functions[function]; }
    void add(std::uint32_t function, const WaitSum& call) {
        WaitSum::add(call);
        if (function >= functions.size()) functions.resize(function + std::size_t{1});
        functions[function] = true;
    }
};

/// How long a thread has been off the processors since a function is sampled in windows is known, if context
/// switches were recorded; in which function it was then, only of the calls in windows. It loses its
/// processor as often in a function as that has of its time on processors. It blocks in one as much of its
/// blocked time as of that which began in windows.
struct OffInWindows {
    double preempted = 0;  ///< Σ of all waits for a processor, wherever they were
    double preempted_squares = 0;
    double blocked = 0;  ///< Σ of all other times off
    double blocked_squares = 0;
    /// Of those in calls that were recorded in windows, without what is in their waits.
    struct Inside {
        ClusterSums preempted;
        double preempted_squares = 0;
        ClusterSums blocked;
        double blocked_squares = 0;
        double least_preempted = HUGE_VAL;  ///< of a call that was at all
        double least_blocked = HUGE_VAL;    ///< likewise
    };
    Inside inside;
    Inside besides_others;  ///< … and without what is in KnownInside
    ClusterSums on;         ///< these calls' time on processors
};

/// Not movable: the sequences refer to themselves.
struct ThreadTimes {
    explicit ThreadTimes(std::size_t functions)
        : sequences(functions), untimed_callers(functions), sampling(functions) {}

    calls::MatchCounts counts;
    std::vector<calls::FunctionCounts> per_function;
    sequences::SequenceStore sequences;
    CallerNumbers callers;
    GroupList groups;
    /// Whether `id`, of a group of `sequences`, is a new one, which has times from now on.
    bool make_group(sequences::GroupId id) {
        if (id < groups.size()) return false;
        groups.make();
        return true;
    }
    /// The groups are by ResolvedSettings::candidates, without these; empty: by the keys.
    GivenUp given_up;
    std::vector<CallerTable>
        untimed_callers;  ///< by function: its calls without times, which are in no group
    /// How often each stack was the one sampled; most were in no given thread.
    tsl::robin_map<std::uint32_t, std::uint64_t> stack_samples;
    std::unique_ptr<PatternTimes> patterns;  ///< null: not asked for
    TreeSums sampling;
    ThreadWindows sampling_windows;
    tsl::robin_map<std::uint32_t, WindowedCalls> windowed;  ///< by function; those with calls
    /// For a function that is sampled in windows.
    const WindowedCalls& windowed_calls(std::uint32_t function) const;
    tsl::robin_map<std::uint32_t, WaitTimes> waits;              ///< by function that is sampled in windows
    tsl::robin_map<std::uint32_t, OffInWindows> off_in_windows;  ///< likewise; those with calls in them
    tsl::robin_map<std::uint32_t, KnownInside> known_inside;     ///< likewise
    tsl::robin_map<std::uint32_t, CallsMade> calls_made;         ///< likewise; those with some
    /// By function that is sampled in windows: its waits from a time of ResolvedSettings::sampled_since to the next
    /// one, those times with waits.
    struct WaitsSince {
        std::size_t since = 0;  ///< place of that time
        WaitSum waits;
    };
    tsl::robin_map<std::uint32_t, std::vector<WaitsSince>> waits_since;
    /// Samples of the outermost scored calls, by function; empty if none was requested.
    std::vector<samples::CallSample> samples;
    samples::CallWindows windows;
    samples::WaitSample owned_waits{0, 0};
    samples::WaitSample mutex_changes{0, 0};   ///< of OwnedWait::all: those that waited for nobody
    samples::OffSample off_in_timeline{0, 0};  ///< ResolvedSettings::off_in_timeline
    std::unique_ptr<PathTally> paths;          ///< null: not asked for
    std::unique_ptr<CourseTally> course;       ///< null: not asked for
    std::optional<OffCpuTimes> off_cpu;        ///< nothing: not recorded
    std::uint64_t events = 0;
    std::uint64_t too_long = 0;  ///< calls with too many children to be compared
};

using ThreadList = std::vector<std::unique_ptr<ThreadTimes>>;

}  // namespace rdam::score
