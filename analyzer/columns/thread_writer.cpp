#include "analyzer/columns/thread_writer.h"

#include <algorithm>
#include <array>

#include "analyzer/calls/matcher.h"
#include "analyzer/sequences/sequence_names.h"
#include "tools/base/printable.h"
#include "wrappers/catalogue/catalogue.h"

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
std::size_t ThreadWriter::place_of(sequences::GroupId group) {
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
    const sequences::GroupId group = end(call);
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
             .name = printable(sequences::sequence_name(store(), each.group, info(), settings().keys))});
    }
}

namespace {

// Calls that last for fewer calls than half of this are written once and not looked for again.
constexpr std::size_t kCallWindow = std::size_t{1} << 18U;
constexpr std::size_t kValueWindow = std::size_t{1} << 12U;
constexpr std::size_t kNameWindow = std::size_t{1} << 16U;

ElementType type_of(const trace::ParameterInfo& parameter) {
    constexpr std::array<ElementType, 4> kSigned{{{"|i1", 1}, {"<i2", 2}, {"<i4", 4}, {"<i8", 8}}};
    constexpr std::array<ElementType, 4> kUnsigned{{{"|u1", 1}, {"<u2", 2}, {"<u4", 4}, {"<u8", 8}}};
    const std::size_t by_size = parameter.size == 1   ? 0
                                : parameter.size == 2 ? 1
                                : parameter.size == 4 ? 2
                                                      : 3;
    switch (static_cast<ValueKind>(parameter.kind)) {
        case ValueKind::signed_integer:
        case ValueKind::enumeration:
            return kSigned[by_size];
        case ValueKind::boolean:
            return element_type<bool>();
        case ValueKind::floating:
            if (parameter.size == 4) return {"<f4", 4};
            if (parameter.size == 8) return element_type<double>();
            return element_type<std::uint64_t>();
        case ValueKind::unsigned_integer:
        case ValueKind::pointer:
            break;
    }
    return kUnsigned[by_size];
}

/// The part of a word that the column contains: its low bytes or, for a bool, whether it is true.
std::uint64_t element_of(const trace::ParameterInfo& parameter, std::span<const std::uint64_t> words) {
    const std::uint64_t word = parameter.word < words.size() ? words[parameter.word] : 0;
    if (static_cast<ValueKind>(parameter.kind) != ValueKind::boolean) return word;
    return (word & 0xffU) != 0 ? 1 : 0;
}

}  // namespace

CallTable::CallTable(Folder& folder, bool counted)
    : thread_(folder, "calls/thread.npy", kCallWindow),
      function_(folder, "calls/function.npy", kCallWindow),
      start_(folder, "calls/start.npy", kCallWindow),
      duration_(folder, "calls/duration.npy", kCallWindow),
      self_(folder, "calls/self.npy", kCallWindow),
      cpu_enter_(folder, "calls/cpu_enter.npy", kCallWindow),
      cpu_leave_(folder, "calls/cpu_leave.npy", kCallWindow),
      caller_(folder, "calls/caller.npy", kCallWindow),
      parent_(folder, "calls/parent.npy", kCallWindow),
      sequence_(folder, "calls/sequence.npy", kCallWindow),
      weight_(folder, "calls/weight.npy", kCallWindow),
      end_(folder, "calls/end.npy", kCallWindow),
      outermost_(folder, "calls/outermost.npy", kCallWindow),
      held_(folder, "calls/held.npy", kCallWindow),
      doubt_(folder, "calls/doubt.npy", kCallWindow) {
    if (counted) instructions_.emplace(folder, "calls/instructions.npy", kCallWindow);
}

void CallTable::append(const CallBegin& call) {
    thread_.append(call.thread);
    function_.append(call.function);
    start_.append(call.start_ns);
    duration_.append(std::nan(""));
    self_.append(std::nan(""));
    cpu_enter_.append(call.cpu);
    cpu_leave_.append(-1);
    caller_.append(call.caller);
    parent_.append(call.parent);
    sequence_.append(-1);
    weight_.append(call.weight);
    end_.append(static_cast<std::uint8_t>(calls::End::not_seen));
    outermost_.append(false);
    held_.append(false);
    doubt_.append(std::nan(""));
    if (instructions_) instructions_->append(0);
}

void CallTable::end(std::uint64_t row, const CallEnd& call) {
    duration_.set(row, call.duration_ns);
    self_.set(row, call.self_ns);
    cpu_leave_.set(row, call.cpu);
    sequence_.set(row, call.sequence);
    end_.set(row, static_cast<std::uint8_t>(call.end));
    outermost_.set(row, call.outermost);
    held_.set(row, call.doubt_ns > 0);
    doubt_.set(row, call.doubt_ns);
    if (instructions_) instructions_->set(row, call.instructions);
}

std::vector<NpyFile*> CallTable::columns() {
    std::vector<NpyFile*> all{&thread_,    &function_,  &start_,     &duration_, &self_,
                              &cpu_enter_, &cpu_leave_, &caller_,    &parent_,   &sequence_,
                              &weight_,    &end_,       &outermost_, &held_,     &doubt_};
    if (instructions_) all.push_back(&*instructions_);
    return all;
}

ValueTable::ValueTable(Folder& folder, std::uint32_t function, const trace::FunctionInfo& info)
    : parameters_(info.parameters.size()) {
    const auto add = [&](const std::string& wanted, ElementType type, const trace::ParameterInfo* parameter) {
        const std::string file = fmt::format("values/{}.{}.npy", function, values_.size());
        values_.push_back(
            {unused_name(wanted), std::make_unique<NpyFile>(folder, file, type, kValueWindow), parameter});
        return values_.back().file.get();
    };
    call_ = add("call", element_type<std::int64_t>(), nullptr);
    for (const trace::ParameterInfo& parameter : info.parameters)
        add(parameter.name, type_of(parameter), &parameter);
    if (info.result.empty()) return;
    return_ = add("return", type_of(info.result.front()), &info.result.front());
    returned_ = add("returned", element_type<bool>(), nullptr);
}

std::string ValueTable::unused_name(const std::string& wanted) const {
    // A parameter may have no name, or that of another column.
    const std::string base = wanted.empty() ? fmt::format("parameter{}", values_.size()) : wanted;
    const auto taken = [&](const std::string& name) {
        return std::ranges::find(values_, name, &Value::name) != values_.end() ||
               (values_.size() <= parameters_ && (name == "return" || name == "returned"));
    };
    std::string name = base;
    for (int i = 2; taken(name); ++i)
        name = fmt::format("{}_{}", base, i);
    return name;
}

void ValueTable::append(std::uint64_t call, std::span<const std::uint64_t> words) {
    call_->append(&call);
    for (std::size_t i = 1; i <= parameters_; ++i) {
        const std::uint64_t element = element_of(*values_[i].parameter, words);
        values_[i].file->append(&element);
    }
    if (return_ == nullptr) return;
    constexpr std::uint64_t kNone = 0;
    return_->append(&kNone);
    returned_->append(&kNone);
}

void ValueTable::returned(std::uint64_t row, std::span<const std::uint64_t> words) {
    if (return_ == nullptr || words.empty()) return;
    const std::uint64_t element = element_of(*values_[1 + parameters_].parameter, words);
    constexpr bool kThere = true;
    return_->set(row, &element);
    returned_->set(row, &kThere);
}

SequenceTable::SequenceTable(Folder& folder)
    : thread_(folder, "sequences/thread.npy", kValueWindow),
      function_(folder, "sequences/function.npy", kValueWindow),
      id_(folder, "sequences/id.npy", kValueWindow),
      calls_(folder, "sequences/calls.npy", kValueWindow),
      name_end_(folder, "sequences/name_end.npy", kValueWindow),
      name_(folder, "sequences/name.npy", kNameWindow) {}

void SequenceTable::append(const SequenceRow& row) {
    thread_.append(row.thread);
    function_.append(row.function);
    id_.append(row.id);
    calls_.append(row.calls);
    for (const char c : row.name)
        name_.append(static_cast<std::uint8_t>(c));
    name_end_.append(static_cast<std::int64_t>(name_.size()));
}

std::vector<NpyFile*> SequenceTable::columns() {
    return {&thread_, &function_, &id_, &calls_, &name_end_, &name_};
}

OffCpuTable::OffCpuTable(Folder& folder)
    : thread_(folder, "off_cpu/thread.npy", kValueWindow),
      out_(folder, "off_cpu/out.npy", kValueWindow),
      in_(folder, "off_cpu/in.npy", kValueWindow),
      cpu_(folder, "off_cpu/cpu.npy", kValueWindow),
      preempted_(folder, "off_cpu/preempted.npy", kValueWindow),
      by_recorder_(folder, "off_cpu/by_recorder.npy", kValueWindow),
      by_program_(folder, "off_cpu/by_program.npy", kValueWindow) {}

void OffCpuTable::append(std::uint32_t thread, std::int64_t out_ns, std::int64_t in_ns, std::int32_t cpu,
                         bool preempted, bool by_recorder, bool by_program) {
    thread_.append(thread);
    out_.append(out_ns);
    in_.append(in_ns);
    cpu_.append(cpu);
    preempted_.append(preempted);
    by_recorder_.append(by_recorder);
    by_program_.append(by_program);
}

std::vector<NpyFile*> OffCpuTable::columns() {
    return {&thread_, &out_, &in_, &cpu_, &preempted_, &by_recorder_, &by_program_};
}

}  // namespace rdam::columns
