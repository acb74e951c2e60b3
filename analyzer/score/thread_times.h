// What the events of one thread came to: the times of its calls by sequence, and all that a report says
// besides.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/calls/matcher.h"
#include "analyzer/mining/sequence_store.h"
#include "analyzer/samples/call_sample.h"
#include "analyzer/samples/time_windows.h"
#include "analyzer/score/callers.h"
#include "analyzer/score/candidate_keys.h"
#include "analyzer/score/distribution.h"
#include "analyzer/score/loss.h"
#include "analyzer/score/off_cpu.h"
#include "analyzer/score/pattern_times.h"
#include "analyzer/score/sampling.h"
#include "analyzer/score/sampling_windows.h"

namespace rdam::score {

/// Moments and the two least of self times; all of them only where a percentile is the baseline.
struct SelfTimes {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    Least least;
    double squares = 0;
    std::unique_ptr<Distribution> all;

    void add(std::uint64_t value, std::uint64_t times);
    /// Afterwards as if every value of `other` had been added here.
    void merge(const SelfTimes& other);
    /// What they lost against `baseline`, and what that says of it. `thread` and `process` as for base_of().
    Loss::Group loss(const Baseline& baseline, const Least& thread, const Least& process) const;
};

struct WindowedTimes;

/// The scored calls of one sequence in one thread, durations in ticks. Of a function that is sampled in
/// windows, those that began in one.
struct GroupTimes {
    Distribution outermost;
    std::unique_ptr<Distribution> inner;  ///< within another call of the same function; null: there were none
    SelfTimes self;                       ///< of all of them
    std::uint64_t caller = 0;             ///< where they return to; meaningless if there are `callers`
    std::unique_ptr<CallerTable> callers;          ///< null: they all return to the same address
    std::unique_ptr<WindowedTimes> windowed = {};  ///< null: the function is not sampled in windows

    GroupTimes();
    ~GroupTimes();
    GroupTimes(GroupTimes&&) noexcept;
    GroupTimes& operator=(GroupTimes&&) noexcept;
    GroupTimes(const GroupTimes&) = delete;
    GroupTimes& operator=(const GroupTimes&) = delete;

    /// Before the call's times are added.
    void add_caller(std::uint64_t address, const calls::Call& call);
    /// Afterwards as if every call of `other` had been added here.
    void add(const GroupTimes& other);

  private:
    CallerEntry only_caller() const;  ///< of a group without a table
    CallerTable& caller_table();
    void add_callers(const GroupTimes& other);
};

/// … and what else is known of it.
struct WindowedTimes {
    GroupTimes before;     ///< the calls from before it was sampled: all of them
    ClusterSums clusters;  ///< of the outermost calls in windows
};

/// Not movable: the sequences refer to themselves.
struct ThreadTimes {
    explicit ThreadTimes(std::size_t functions)
        : sequences(functions), untimed_callers(functions), sampling(functions) {}

    calls::MatchCounts counts;
    std::vector<calls::FunctionCounts> per_function;
    mining::SequenceStore sequences;
    std::vector<GroupTimes> groups;  ///< by mining::GroupId
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
    /// Of a function that is sampled in windows.
    const WindowedCalls& windowed_calls(std::uint32_t function) const;
    /// Of the outermost scored calls, by function; empty if none was asked for.
    std::vector<samples::CallSample> samples;
    samples::WindowSample windows{0, 0};
    std::optional<OffCpuTimes> off_cpu;  ///< nothing: not recorded
    std::uint64_t events = 0;
    std::uint64_t too_long = 0;  ///< calls with too many children to be compared
};

using ThreadList = std::vector<std::unique_ptr<ThreadTimes>>;

}  // namespace rdam::score
