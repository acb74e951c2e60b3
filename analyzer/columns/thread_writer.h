// The calls of one thread, from its events to rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/columns/tables.h"
#include "analyzer/score/thread/resolved_settings.h"
#include "analyzer/trace/clock.h"
#include "analyzer/trace/event.h"
#include "analyzer/views/thread_calls.h"

namespace rdam::columns {

/// The tables, and by function those that have values (null: no call yet, or nothing was recorded of them).
struct Tables {
    Tables(Folder& folder, const trace::TraceInfo& info);
    /// The files are whole after that, unless `folder` says otherwise.
    void finish();

    Folder& folder;
    CallTable calls;
    SequenceTable sequences;
    std::vector<std::unique_ptr<ValueTable>> values;
    std::unique_ptr<OffCpuTable> off_cpu;  ///< null: not recorded
};

/// Not thread-safe; one thread of the trace is written after the other. All references must outlive it.
class ThreadWriter final : private views::ThreadSequences<ThreadWriter> {
  public:
    ThreadWriter(std::uint32_t thread, const trace::TraceInfo& info, const score::ResolvedSettings& settings,
                 trace::TimeScale time, Tables& tables);
    ~ThreadWriter() = default;
    ThreadWriter(const ThreadWriter&) = delete;
    ThreadWriter& operator=(const ThreadWriter&) = delete;
    ThreadWriter(ThreadWriter&&) = delete;
    ThreadWriter& operator=(ThreadWriter&&) = delete;

    void consume(std::span<const trace::Event> events);
    using ThreadSequences::gap;
    /// Ends the open calls and writes the thread's sequences.
    void finish();

  private:
    friend ThreadSequences;
    friend calls::BasicMatcher<ThreadWriter>;

    struct Open {
        std::uint64_t row = 0;
        std::uint64_t value_row = 0;
        std::uint64_t instructions = 0;  ///< trace::Event
    };

    void opened(const trace::Event& enter, std::uint64_t weight);
    void closed(const calls::Call& call);
    void abandoned(std::size_t count);

    ValueTable* values_of(std::uint32_t function);

    std::uint32_t thread_;
    trace::TimeScale time_;
    Tables& tables_;
    std::uint64_t first_sequence_;
    std::vector<bool> known_ends_;         // by function; empty: all
    std::vector<std::uint64_t> calls_of_;  // by mining::GroupId
    std::vector<Open> open_;
};

}  // namespace rdam::columns
