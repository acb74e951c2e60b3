// The pass that divides the events of threads among rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/calls/crowding.h"
#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/rows/row.h"
#include "analyzer/inputs/rows/rows.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"
#include "tools/trace/writer.h"

namespace rdam::inputs {

// How often the rows of a thread have called the functions of which only a sample was recorded.

/// A thread counts its calls, whatever the stack. Not thread-safe.
class CountedCalls {
  public:
    explicit CountedCalls(const trace::TraceInfo& info);

    /// A call was recorded.
    void see(std::uint32_t thread, std::uint32_t row, const trace::Event& enter) {
        if (enter.function < counted_.size() && counted_[enter.function]) [[unlikely]]
            note(thread, row, enter);
    }

    /// Gives the rows, of which the first are the threads, what the threads have counted: to each what it has
    /// recorded of a function, and of the rest a part like that which it has recorded of the sample. The sums
    /// stay as they are.
    void divide(const trace::TraceInfo& info, std::vector<trace::ThreadInfo>& rows) const;

  private:
    struct Recorded {
        std::uint64_t all = 0;
        std::uint64_t sampled = 0;  ///< after the function has begun to be sampled
    };
    using ByRow = std::unordered_map<std::uint32_t, Recorded>;

    static std::uint64_t key(std::uint32_t thread, std::uint32_t function) {
        return std::uint64_t{thread} << 32U | function;
    }
    void note(std::uint32_t thread, std::uint32_t row, const trace::Event& enter);

    std::vector<bool> counted_;                          // by function
    std::vector<std::uint64_t> since_;                   // by function
    std::unordered_map<std::uint64_t, ByRow> recorded_;  // by key()
};

/// A thread whose events are divided among the rows of the stacks on which it ran: they come one after the
/// other. Not thread-safe.
class Carrier {
  public:
    /// `off_cpu`: the thread's times off the processors.
    Carrier(std::uint32_t thread, trace::EventStream stream, std::vector<trace::OffCpu> off_cpu)
        : owner(thread), thread_(thread), stream_(std::move(stream)), off_cpu_(std::move(off_cpu)) {}

    std::uint32_t thread() const { return thread_; }
    /// Makes at least one event the next one, unless there are no more: false. `gap` is set if events are
    /// missing before it.
    Result<bool> fetch(bool& gap);
    const trace::Event& next() const { return events_[at_]; }
    void take() { ++at_; }

    /// Calls `sink` for the parts of its times off the processors that lie in `from` to `to` and have not
    /// been asked for before; those before `from` are passed over.
    template <class Sink>
    void off_cpu(std::uint64_t from, std::uint64_t to, const Sink& sink);

    std::uint64_t stack = 0;              ///< on which the next event is
    std::uint32_t owner;                  ///< that began on it; UINT32_MAX: no thread did
    bool stack_known = true;              ///< false: events are missing, and it has not switched since
    std::uint64_t since = 0;              ///< ticks: when its events on this stack began, or go on
    std::uint64_t off_from = 0;           ///< ticks: up to then its times off the processors are given away
    bool goes_on = false;                 ///< it has not switched since it had its last turn
    std::uint32_t tree_row = UINT32_MAX;  ///< the row in which its last sampled call tree began

  private:
    std::uint32_t thread_;
    trace::EventStream stream_;
    std::span<const trace::Event> events_;
    std::size_t at_ = 0;
    std::vector<trace::OffCpu> off_cpu_;
    std::size_t next_off_ = 0;
};

template <class Sink>
void Carrier::off_cpu(std::uint64_t from, std::uint64_t to, const Sink& sink) {
    for (; next_off_ < off_cpu_.size() && off_cpu_[next_off_].out < to; ++next_off_) {
        trace::OffCpu part = off_cpu_[next_off_];
        part.out = std::max(part.out, from);
        part.in = std::min(part.in, to);
        if (part.out < part.in) sink(part);
        // The rest is another row's.
        if (off_cpu_[next_off_].in > to) return;
    }
}

class Division {
  public:
    /// All must outlive it.
    Division(const trace::TraceReader& reader, const calls::Absences& off_cpu, const StackSurvey& survey,
             trace::TraceWriter& writer, const Progress& progress);

    /// Divides the events of all threads, and writes them. Errors: of the reader, of the writer.
    Result<void> run();
    /// After run(): what describes the rows.
    trace::TraceInfo describe() const;

  private:
    using Carriers = std::deque<Carrier>;

    Result<void> divide(const std::vector<std::uint32_t>& group);
    Result<bool> run_until(Carrier& carrier, std::uint64_t limit);
    bool is_shared(const Carrier& carrier) const;
    Row* row_on(const Carrier& carrier);
    Row* row_for(const Carrier& carrier);
    static std::uint64_t key_of(const Carrier& carrier);
    Row& add_row(const Carrier& carrier);
    void resume(Row& row, Carrier& carrier);
    void stop(Carrier& carrier, std::uint64_t until, std::uint64_t since);
    void switch_to(Carrier& carrier, const trace::Event& event);
    void miss_events(Carrier& carrier);
    void give(Row& row, Carrier& carrier, const trace::Event& event);
    Result<void> append_off_cpu(Row& row);
    std::uint32_t tid_of(const Row& row) const;
    trace::ThreadInfo describe(const Row& row) const;
    Result<void> take(Row* row, Carrier& carrier);
    Result<void> added(Row& row);
    Result<void> finish_group();
    Result<void> flush(Row& row);
    Result<void> flush_all();

    const trace::TraceReader& reader_;
    const calls::Absences& off_cpu_;
    const StackSurvey& survey_;
    trace::TraceWriter& writer_;
    const Progress& progress_;
    CountedCalls counted_;
    std::vector<std::unique_ptr<Row>> rows_;            // the first are the threads
    std::unordered_map<std::uint64_t, Row*> by_stack_;  // of the group of now
    std::vector<Row*> in_group_;
    std::size_t max_rows_;
    std::uint64_t gaps_ = 0;  // of the group's threads
    std::uint64_t stretches_ = 0;
    std::size_t held_ = 0;  // events in encoders
    std::uint64_t done_ = 0, left_out_ = 0;
    std::optional<Error> error_;
};

}  // namespace rdam::inputs
