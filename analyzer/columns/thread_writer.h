// The calls of one thread, from its events to rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/calls/matcher.h"
#include "analyzer/columns/tables.h"
#include "analyzer/mining/sequence_builder.h"
#include "analyzer/mining/sequence_store.h"
#include "analyzer/score/thread/resolved_settings.h"
#include "analyzer/trace/event.h"

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

/// Where time begins, and how long a tick is.
struct TimeScale {
    std::uint64_t origin = 0;
    double ns_per_tick = 1;

    std::int64_t since_origin(std::uint64_t tsc) const;
};

/// Not thread-safe; one thread of the trace is written after the other. All references must outlive it.
class ThreadWriter : private calls::CallSink {
  public:
    ThreadWriter(std::uint32_t thread, const trace::TraceInfo& info, const score::ResolvedSettings& settings,
                 TimeScale time, Tables& tables);
    ~ThreadWriter() override = default;
    ThreadWriter(const ThreadWriter&) = delete;
    ThreadWriter& operator=(const ThreadWriter&) = delete;
    ThreadWriter(ThreadWriter&&) = delete;
    ThreadWriter& operator=(ThreadWriter&&) = delete;

    void consume(std::span<const trace::Event> events);
    void gap() { matcher_.gap(); }
    /// Ends the open calls and writes the thread's sequences.
    void finish();

  private:
    struct Open {
        std::uint64_t row = 0;
        std::uint64_t value_row = 0;
        std::uint64_t instructions = 0;  ///< trace::Event
    };

    void opened(const trace::Event& enter, std::uint64_t weight) override;
    void closed(const calls::Call& call) override;
    void abandoned(std::size_t count) override;
    void tree_ended(std::uint64_t /*weight*/) override {}

    ValueTable* values_of(std::uint32_t function);
    bool gave_result_of(std::uint32_t function) const;

    std::uint32_t thread_;
    const trace::TraceInfo& info_;
    const score::ResolvedSettings& settings_;
    TimeScale time_;
    Tables& tables_;
    mining::SequenceStore store_;
    mining::SequenceBuilder builder_;
    calls::Matcher matcher_;
    std::uint64_t first_sequence_;
    std::vector<std::uint64_t> calls_of_;  // by mining::GroupId
    std::vector<Open> open_;
    std::vector<std::uint64_t> key_values_;  // scratch
    const trace::Event* event_ = nullptr;    // that the matcher looks at
};

}  // namespace rdam::columns
