// The pass that divides the events of threads among rows.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/calls/crowding.h"
#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/rows/carrier.h"
#include "analyzer/inputs/rows/counted_calls.h"
#include "analyzer/inputs/rows/row.h"
#include "analyzer/inputs/rows/survey.h"
#include "analyzer/trace/read/reader.h"
#include "analyzer/trace/write/writer.h"

namespace rdam::inputs {

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
    std::size_t most_rows_;
    std::uint64_t gaps_ = 0;  // of the group's threads
    std::uint64_t stretches_ = 0;
    std::size_t held_ = 0;  // events in encoders
    std::uint64_t done_ = 0, left_out_ = 0;
    std::optional<Error> error_;
};

}  // namespace rdam::inputs
