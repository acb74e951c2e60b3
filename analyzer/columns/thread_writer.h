// The calls of one thread, from its events to rows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/columns/tables.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/views/thread_calls.h"
#include "tools/trace/clock.h"
#include "tools/trace/event.h"

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
    /// `shown`: by function, whether its calls have rows.
    ThreadWriter(std::uint32_t thread, const trace::TraceInfo& info, const score::ResolvedSettings& settings,
                 const std::vector<bool>& shown, trace::TimeScale time, Tables& tables);
    ~ThreadWriter() = default;
    ThreadWriter(const ThreadWriter&) = delete;
    ThreadWriter& operator=(const ThreadWriter&) = delete;
    ThreadWriter(ThreadWriter&&) = delete;
    ThreadWriter& operator=(ThreadWriter&&) = delete;

    using ThreadSequences::consume;
    using ThreadSequences::gap;
    /// Ends the open calls and writes the thread's sequences.
    void finish();

  private:
    friend ThreadSequences;
    friend calls::BasicMatcher<ThreadWriter>;

    struct Open {
        std::int64_t row = -1;  ///< its own; without one, that of the call around it
        std::uint64_t value_row = 0;
        std::uint64_t instructions = 0;  ///< trace::Event
    };
    static constexpr std::uint32_t kNone = UINT32_MAX;
    /// A sequence in the table.
    struct Sequence {
        mining::GroupId group = 0;
        std::uint64_t calls = 0;
    };

    void opened(const trace::Event& enter, std::uint64_t weight);
    void closed(const calls::Call& call);
    void abandoned(std::size_t count);

    ValueTable* values_of(std::uint32_t function);
    std::size_t place_of(mining::GroupId group);

    std::uint32_t thread_;
    trace::TimeScale time_;
    Tables& tables_;
    const std::vector<bool>& shown_;
    std::vector<bool> known_ends_;     // by function; empty: all
    std::vector<Sequence> sequences_;  // in the order of their rows
    std::vector<std::uint32_t>
        places_;  // in sequences_, by mining::GroupId; kNone: its function is not shown
    std::vector<Open> open_;
};

}  // namespace rdam::columns
