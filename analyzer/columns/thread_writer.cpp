#include "analyzer/columns/thread_writer.h"

#include <algorithm>
#include <cmath>

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

std::int64_t TimeScale::since_origin(std::uint64_t tsc) const {
    constexpr double kFarthest = 9.2e18;
    const double ticks =
        tsc >= origin ? static_cast<double>(tsc - origin) : -static_cast<double>(origin - tsc);
    return std::llround(std::clamp(ticks * ns_per_tick, -kFarthest, kFarthest));
}

ThreadWriter::ThreadWriter(std::uint32_t thread, const trace::TraceInfo& info,
                           const score::ResolvedSettings& settings, TimeScale time, Tables& tables)
    : thread_(thread),
      info_(info),
      settings_(settings),
      time_(time),
      tables_(tables),
      store_(info.functions.size()),
      builder_(store_, settings.sequences),
      matcher_(info.functions.size(), settings.cost, settings.ignored, *this),
      first_sequence_(tables.sequences.rows()) {
    matcher_.set_latest(calls::latest_possible(info));
    matcher_.set_transparent(settings.windowed);
    builder_.set_transparent(settings.windowed);
}

void ThreadWriter::consume(std::span<const trace::Event> events) {
    if (tables_.folder.error()) return;
    for (const trace::Event& event : events) {
        event_ = &event;
        matcher_.consume({&event, 1});
    }
    event_ = nullptr;
}

ValueTable* ThreadWriter::values_of(std::uint32_t function) {
    auto& table = tables_.values[function];
    const trace::FunctionInfo& info = info_.functions[function];
    if (!table && !(info.parameters.empty() && info.result.empty()))
        table = std::make_unique<ValueTable>(tables_.folder, function, info);
    return table.get();
}

void ThreadWriter::opened(const trace::Event& enter, std::uint64_t weight) {
    key_values_.clear();
    for (const mining::KeyWord& key : settings_.keys[enter.function])
        key_values_.push_back(key.value(enter));
    builder_.open(enter.function, key_values_);
    builder_.set_repeats(settings_.loop_rests.repeats(enter));

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

// The leave of a frame has the result of the function that opened it. A function entered by a tail call
// returned in its place, with the same result if both have one of the same type.
bool ThreadWriter::gave_result_of(std::uint32_t function) const {
    if (event_->kind != trace::EventKind::leave || event_->unwound) return false;
    if (event_->function == function) return true;
    const auto& own = info_.functions[function].result;
    const auto& frames = info_.functions[event_->function].result;
    return !own.empty() && !frames.empty() && own[0].kind == frames[0].kind &&
           own[0].size == frames[0].size && own[0].word == frames[0].word;
}

void ThreadWriter::closed(const calls::Call& call) {
    const mining::GroupId group = builder_.close();
    if (group >= calls_of_.size()) calls_of_.resize(group + 1);
    ++calls_of_[group];
    const Open open = open_.back();
    open_.pop_back();
    const bool tail = event_->kind != trace::EventKind::leave;
    const auto ns = [&](std::uint64_t ticks, bool known) {
        return known ? static_cast<double>(ticks) * time_.ns_per_tick : std::nan("");
    };
    tables_.calls.end(
        open.row, {.duration_ns = ns(call.duration, call.timed),
                   .self_ns = ns(call.self, call.self_timed),
                   .cpu = cpu_of(*event_),
                   .sequence = static_cast<std::int64_t>(first_sequence_ + group),
                   .instructions = calls::net_instructions(settings_.probe_instructions, open.instructions,
                                                           event_->instructions, call.nested),
                   .end = tail              ? End::tail
                          : event_->unwound ? End::unwound
                                            : End::returned,
                   .outermost = call.outermost});
    if (!gave_result_of(call.function)) return;
    if (ValueTable* values = tables_.values[call.function].get())
        values->returned(open.value_row, event_->words);
}

void ThreadWriter::abandoned(std::size_t count) {
    builder_.abandon(count);
    open_.resize(open_.size() - count);
}

void ThreadWriter::finish() {
    matcher_.finish();
    const std::vector<std::uint64_t> ids = mining::lasting_ids(store_, info_, settings_.keys);
    calls_of_.resize(store_.groups());
    for (mining::GroupId group = 0; group < store_.groups(); ++group) {
        tables_.sequences.append(
            {.thread = thread_,
             .function = store_.shape(store_.group(group).shape).function,
             .id = ids[group],
             .calls = calls_of_[group],
             .name = printable(mining::sequence_name(store_, group, info_, settings_.keys))});
    }
}

}  // namespace rdam::columns
