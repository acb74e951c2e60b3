// The calls of a trace one after the other, each with what it lost: what the export formats are written from.
//
// A call's loss is the one that it adds to FunctionRow::lost_ns: its duration less the baseline of its
// sequence in its thread, for outermost calls that were seen to begin and end at possible times; for all
// others it is 0. (Where a sequence's losses in a thread come to less than 0, they are 0 in the row.) The
// baselines are found in a first pass over the threads, so the trace is read twice or more often.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/calls/call_stream.h"
#include "analyzer/calls/crowding.h"
#include "analyzer/report/selection.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/settings/settings.h"
#include "analyzer/views/sequence_log.h"
#include "tools/base/result.h"
#include "tools/trace/clock.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"

namespace rdam::views {

/// A call begins.
struct Opened {
    std::uint32_t function = 0;  ///< index into TraceInfo::functions
    std::uint32_t depth = 0;     ///< calls around it
    std::uint64_t tsc = 0;       ///< ticks; not before the call around it, nor before what ended last
    std::uint64_t weight = 1;    ///< it stands for so many calls
    std::uint16_t cpu = trace::kNoCpu;
    std::span<const std::uint64_t> words;  ///< parameters; valid during the call only
};

/// The innermost open call ends.
struct Closed {
    std::uint32_t function = 0;
    std::uint32_t depth = 0;
    std::uint64_t begin = 0, tsc = 0;  ///< ticks, begin ≤ tsc
    std::uint64_t weight = 1;
    std::uint16_t cpu = trace::kNoCpu;
    /// If nobody saw it end, `tsc` is when that became clear.
    calls::End end = calls::End::returned;
    bool timed = false;     ///< the next four are known
    bool outermost = true;  ///< no other call of the function was open around it
    double duration = 0;    ///< ticks, net (calls::Call)
    double self = 0;        ///< ticks; NaN: not known
    double lost = 0;        ///< ticks; within a step of the clock it may be below 0
    double baseline = 0;    ///< ticks
    double lost_self = 0;   ///< ticks: `self` less that of its sequence, if it was asked for and is known
    std::uint32_t sequence = 0;             ///< by thread, in the order of first use
    const std::uint64_t* result = nullptr;  ///< null: none was recorded
};

/// The recorder held the thread.
struct Paused {
    std::uint64_t begin = 0, end = 0;  ///< ticks, begin ≤ end
    trace::PauseReason reason = trace::PauseReason::other;
};

/// Hears of the calls of one thread in the order of time. Calls nest strictly.
class CallVisitor {
  public:
    virtual ~CallVisitor() = default;
    virtual void opened(const Opened& call) = 0;
    virtual void closed(const Closed& call) = 0;
    /// In the order of the trace: it may be before what was heard last.
    virtual void paused(const Paused& /*pause*/) {}
    /// False: nobody wants the rest of the thread.
    virtual bool goes_on() const { return true; }
};

/// What calls of a sequence are compared with in a thread. Ticks.
struct SequenceBase {
    double ticks = 0;
    double floor = 0;  ///< Least::floor() of them: calls with pauses have taken no less

    double lost(double taken, bool held) const { return (held ? std::max(taken, floor) : taken) - ticks; }
};

/// Sees the calls while the baselines are being found, if these are minima of threads. A call is compared
/// with the least duration so far, or one that is longer by less than kPart of it: it has lost at least
/// Closed::lost (within a step of the clock) and at most kPart × Closed::baseline more. Only
/// Visit::unsettled() calls may have lost more than that.
class EarlyLook {
  public:
    static constexpr double kPart = 1.0 / 32;

    virtual ~EarlyLook() = default;
    // For each thread; thread-safe, both.
    virtual std::unique_ptr<CallVisitor> begin() = 0;
    virtual void end(const CallVisitor& visitor) = 0;
};

/// What the first pass may do besides finding the baselines.
struct Wanted {
    bool self_losses = false;    ///< Closed::lost_self, whose baselines take as much again as the others
    EarlyLook* early = nullptr;  ///< null: nobody has one
};

class Visit {
  public:
    using Progress = std::function<bool(std::uint64_t events)>;  ///< false: stop

    /// Reads the selected threads once, several at a time. `reader` must outlive it. `progress` is called by
    /// several threads, with the number of events so far over all passes. Errors: those of score::resolve(),
    /// score::resolve_selection() and reading; that `progress` has returned false.
    static Result<Visit> prepare(const trace::TraceReader& reader, const score::Settings& settings,
                                 const Progress& progress, const Wanted& wanted = {});

    const trace::TraceInfo& info() const { return reader_->info(); }
    const trace::TimeScale& clock() const { return clock_; }
    /// The threads with a part in the selection: indices into TraceInfo::threads, rising.
    const std::vector<std::uint32_t>& threads() const { return selection_.threads; }
    /// Whether the thread has any events.
    bool has_events(std::uint32_t thread) const { return reader_->events_of(thread) > 0; }
    /// Whether calls of the function are passed on (--function, --ignore; calls::ends_are_mixed_up).
    bool shows(std::uint32_t function) const {
        return selection_.shown.empty() || selection_.shown[function];
    }
    /// The part of the run that is looked at: ticks. Wild times of a trace are not in it.
    const trace::TickRange& span() const { return span_; }
    /// Of how many calls an EarlyLook could not tell much; nothing: it was not given any.
    const std::optional<std::uint64_t>& unsettled() const { return unsettled_; }

    /// Thread-safe. Errors: those of reading.
    Result<void> thread(std::uint32_t thread, CallVisitor& visitor) const;
    /// The times in which the thread was off the processors, within span(). Thread-safe.
    Result<std::vector<trace::OffCpu>> off_cpu(std::uint32_t thread) const;

  private:
    struct Counted;

    Visit(const trace::TraceReader& reader, score::ResolvedSettings settings,
          score::ResolvedSelection selection, calls::Absences absences);
    Result<void> find_baselines(unsigned jobs, const Wanted& wanted);
    calls::StreamOptions stream_options() const {
        return {.window = selection_.window, .ignored = settings_->ignored, .ends = settings_->ends};
    }
    Result<void> find_unended(std::uint32_t thread);
    template <class Calls>
    Result<void> read(std::uint32_t thread, Calls& calls, const CallVisitor* visitor) const;
    template <class Calls>
    Result<void> show(std::uint32_t thread, Calls& calls, const CallVisitor& visitor) const;

    const trace::TraceReader* reader_;
    std::shared_ptr<const score::ResolvedSettings> settings_;
    score::ResolvedSelection selection_;
    std::shared_ptr<const calls::Absences> absences_;
    std::shared_ptr<Counted> counted_;
    std::vector<std::vector<SequenceBase>> bases_;       ///< by thread and sequence
    std::vector<std::vector<SequenceBase>> self_bases_;  ///< … of self times; none: not asked for
    std::vector<SequenceLog> logs_;                      ///< by thread; empty: none were kept
    std::vector<std::vector<std::uint64_t>> unended_;    ///< by thread: calls::unended_calls()
    trace::TimeScale clock_;
    trace::TickRange span_;
    std::optional<std::uint64_t> unsettled_;
};

/// What the process is called where there is room for a word.
std::string program_name(const trace::TraceInfo& info);

/// `name=value, …`, of those that were recorded. Not made safe for a terminal.
std::string parameters_text(const trace::TraceInfo& info, std::uint32_t function,
                            std::span<const std::uint64_t> words);
/// Empty: there is none.
std::string result_text(const trace::TraceInfo& info, std::uint32_t function, const std::uint64_t* result);

}  // namespace rdam::views
