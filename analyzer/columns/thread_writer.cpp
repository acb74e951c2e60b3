#include "analyzer/columns/thread_writer.h"

#include <algorithm>
#include <cmath>

#include "analyzer/calls/known_ends.h"
#include "analyzer/sequences/sequence_names.h"
#include "tools/base/printable.h"

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
                           const score::ResolvedSettings& settings, const std::vector<bool>& shown,
                           trace::TimeScale time, Tables& tables)
    : ThreadSequences(info, settings),
      thread_(thread),
      time_(time),
      tables_(tables),
      shown_(shown),
      known_ends_(calls::with_known_ends(info)) {}

ValueTable* ThreadWriter::values_of(std::uint32_t function) {
    auto& table = tables_.values[function];
    const trace::FunctionInfo& about = info().functions[function];
    if (!table && !(about.parameters.empty() && about.result.empty()))
        table = std::make_unique<ValueTable>(tables_.folder, function, about);
    return table.get();
}

/// Its place in sequences_, behind those before it if it is new.
std::size_t ThreadWriter::place_of(mining::GroupId group) {
    if (group >= places_.size()) places_.resize(group + std::size_t{1}, kNone);
    if (places_[group] == kNone) {
        places_[group] = static_cast<std::uint32_t>(sequences_.size());
        sequences_.push_back({.group = group});
    }
    return places_[group];
}

void ThreadWriter::opened(const trace::Event& enter, std::uint64_t weight) {
    begin(enter);
    const std::int64_t around = open_.empty() ? -1 : open_.back().row;
    Open& open = open_.emplace_back();
    open.row = around;
    if (!shown_[enter.function]) return;
    open.row = static_cast<std::int64_t>(tables_.calls.rows());
    open.instructions = enter.instructions;
    tables_.calls.append({.thread = thread_,
                          .function = enter.function,
                          .start_ns = time_.since_origin(enter.tsc),
                          .cpu = cpu_of(enter),
                          .caller = enter.caller,
                          .parent = around,
                          .weight = static_cast<std::uint32_t>(weight)});
    if (ValueTable* values = values_of(enter.function)) {
        open.value_row = values->rows();
        values->append(static_cast<std::uint64_t>(open.row), enter.words);
    }
}

void ThreadWriter::closed(const calls::Call& call) {
    const mining::GroupId group = end(call);
    const Open open = open_.back();
    open_.pop_back();
    if (!shown_[call.function]) return;
    const std::size_t place = place_of(group);
    if (!known_ends_.empty() && !known_ends_[call.function]) return;
    ++sequences_[place].calls;
    const auto ns = [&](std::uint64_t ticks, bool known) {
        return known ? static_cast<double>(ticks) * time_.ns_per_tick : std::nan("");
    };
    tables_.calls.end(
        static_cast<std::uint64_t>(open.row),
        {.duration_ns = ns(call.duration, call.timed),
         .self_ns = ns(call.self, call.self_timed),
         .cpu = cpu_of(*call.last),
         .sequence = static_cast<std::int64_t>(tables_.sequences.rows() + place),
         .instructions = calls::net_instructions(settings().probe_instructions, open.instructions,
                                                 call.last->instructions, call.nested),
         .end = call.end(),
         .outermost = call.outermost,
         .doubt_ns = ns(call.held, call.timed)});
    if (!gave_result_of(call.function)) return;
    if (ValueTable* values = tables_.values[call.function].get())
        values->returned(open.value_row, call.last->words);
}

void ThreadWriter::abandoned(std::size_t count) {
    abandon(count);
    open_.resize(open_.size() - count);
}

void ThreadWriter::finish() {
    finish_matching();
    const std::vector<std::uint64_t> ids = lasting_ids();
    for (const Sequence& each : sequences_) {
        tables_.sequences.append(
            {.thread = thread_,
             .function = store().shape(store().group(each.group).shape).function,
             .id = ids[each.group],
             .calls = each.calls,
             .name = printable(mining::sequence_name(store(), each.group, info(), settings().keys))});
    }
}

}  // namespace rdam::columns
