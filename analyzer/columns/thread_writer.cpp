#include "analyzer/columns/thread_writer.h"

#include <algorithm>
#include <cmath>

#include "analyzer/calls/mixed_up_ends.h"
#include "analyzer/mining/sequence_names.h"
#include "wrappers/support/printable.h"

namespace rdam::columns {
namespace {

std::int32_t cpu_of(const trace::Event& event) {
    return event.cpu == trace::kNoCpu ? -1 : std::int32_t{event.cpu};
}

}  // namespace

Tables::Tables(Folder& in, const trace::TraceInfo& info)
    : folder(in),
      calls(in, info.counters.state == trace::CounterInfo::State::counted),
      sequences(in),
      values(info.functions.size()) {}

void Tables::finish() {
    for (NpyFile* column : calls.columns())
        column->finish();
    for (NpyFile* column : sequences.columns())
        column->finish();
    for (const auto& table : values) {
        if (!table) continue;
        for (const ValueTable::Value& value : table->values())
            value.file->finish();
    }
    if (!off_cpu) return;
    for (NpyFile* column : off_cpu->columns())
        column->finish();
}

ThreadWriter::ThreadWriter(std::uint32_t thread, const trace::TraceInfo& info,
                           const score::ResolvedSettings& settings, trace::TimeScale time, Tables& tables)
    : ThreadSequences(info, settings),
      thread_(thread),
      time_(time),
      tables_(tables),
      first_sequence_(tables.sequences.rows()),
      known_ends_(calls::with_known_ends(info)) {}

void ThreadWriter::consume(std::span<const trace::Event> events) {
    if (tables_.folder.error()) return;
    ThreadSequences::consume(events);
}

ValueTable* ThreadWriter::values_of(std::uint32_t function) {
    auto& table = tables_.values[function];
    const trace::FunctionInfo& about = info().functions[function];
    if (!table && !(about.parameters.empty() && about.result.empty()))
        table = std::make_unique<ValueTable>(tables_.folder, function, about);
    return table.get();
}

void ThreadWriter::opened(const trace::Event& enter, std::uint64_t weight) {
    begin(enter);
    Open open{.row = tables_.calls.rows(), .instructions = enter.instructions};
    tables_.calls.append({.thread = thread_,
                          .function = enter.function,
                          .start_ns = time_.since_origin(enter.tsc),
                          .cpu = cpu_of(enter),
                          .caller = enter.caller,
                          .parent = open_.empty() ? -1 : static_cast<std::int64_t>(open_.back().row),
                          .weight = static_cast<std::uint32_t>(weight)});
    if (ValueTable* values = values_of(enter.function)) {
        open.value_row = values->rows();
        values->append(open.row, enter.words);
    }
    open_.push_back(open);
}

void ThreadWriter::closed(const calls::Call& call) {
    const mining::GroupId group = end(call);
    if (!known_ends_.empty() && !known_ends_[call.function]) return open_.pop_back();
    if (group >= calls_of_.size()) calls_of_.resize(group + 1);
    ++calls_of_[group];
    const Open open = open_.back();
    open_.pop_back();
    const bool tail = event()->kind != trace::EventKind::leave;
    const auto ns = [&](std::uint64_t ticks, bool known) {
        return known ? static_cast<double>(ticks) * time_.ns_per_tick : std::nan("");
    };
    tables_.calls.end(
        open.row, {.duration_ns = ns(call.duration, call.timed),
                   .self_ns = ns(call.self, call.self_timed),
                   .cpu = cpu_of(*event()),
                   .sequence = static_cast<std::int64_t>(first_sequence_ + group),
                   .instructions = calls::net_instructions(settings().probe_instructions, open.instructions,
                                                           event()->instructions, call.nested),
                   .end = tail               ? End::tail
                          : event()->unwound ? End::unwound
                                             : End::returned,
                   .outermost = call.outermost,
                   .doubt_ns = ns(call.held, call.timed)});
    if (!gave_result_of(call.function)) return;
    if (ValueTable* values = tables_.values[call.function].get())
        values->returned(open.value_row, event()->words);
}

void ThreadWriter::abandoned(std::size_t count) {
    abandon(count);
    open_.resize(open_.size() - count);
}

void ThreadWriter::finish() {
    finish_matching();
    const std::vector<std::uint64_t> ids = lasting_ids();
    calls_of_.resize(store().groups());
    for (mining::GroupId group = 0; group < store().groups(); ++group) {
        tables_.sequences.append(
            {.thread = thread_,
             .function = store().shape(store().group(group).shape).function,
             .id = ids[group],
             .calls = calls_of_[group],
             .name = printable(mining::sequence_name(store(), group, info(), settings().keys))});
    }
}

}  // namespace rdam::columns
