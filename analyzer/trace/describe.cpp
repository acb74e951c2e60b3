#include "analyzer/trace/describe.h"

#include <protozero/pbf_builder.hpp>

#include "analyzer/trace/format.h"
#include "analyzer/trace/schema.h"

namespace rdam::trace {
namespace {

template <class Schema>
using Builder = protozero::pbf_builder<Schema>;

std::string serialize(const NodeInfo& node) {
    using F = schema::Node;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::number, node.number);
    to.add_packed_uint32(F::processors, node.processors.begin(), node.processors.end());
    return out;
}

std::string serialize(const ProcessInfo& process) {
    using F = schema::Process;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::pid, process.pid);
    to.add_uint64(F::start_ticks, process.start_ticks);
    to.add_bytes(F::boot_id, process.boot_id);
    for (const std::string& word : process.command)
        to.add_bytes(F::command, word);
    to.add_bytes(F::executable, process.executable);
    to.add_bytes(F::host, process.host);
    to.add_bytes(F::machine, process.machine);
    to.add_bytes(F::rdam_version, process.rdam_version);
    to.add_uint32(F::processors, process.processors);
    to.add_uint32(F::stack_period, process.stack_period);
    to.add_bool(F::clean_end, process.clean_end);
    to.add_bytes(F::run, process.run);
    if (process.max_overhead > 0) to.add_double(F::max_overhead, process.max_overhead);
    for (const NodeInfo& node : process.nodes)
        to.add_message(F::nodes, serialize(node));
    if (process.machine_share > 0) to.add_double(F::machine_share, process.machine_share);
    if (!process.title.empty()) to.add_bytes(F::title, process.title);
    return out;
}

std::string serialize(const ClockInfo& clock) {
    using F = schema::Clock;
    std::string out;
    Builder<F> to(out);
    to.add_bytes(F::source, clock.source);
    to.add_double(F::ticks_per_second, clock.ticks_per_second);
    to.add_fixed64(F::start_tsc, clock.start_tsc);
    to.add_fixed64(F::start_unix_ns, clock.start_unix_ns);
    to.add_double(F::probe_ticks, clock.probe_ticks);
    to.add_double(F::probe_inner_ticks, clock.probe_inner_ticks);
    to.add_double(F::floor_ticks, clock.floor_ticks);
    if (clock.step_ticks != 0) to.add_uint64(F::step_ticks, clock.step_ticks);
    if (clock.flow_ticks > 0) to.add_double(F::flow_ticks, clock.flow_ticks);
    if (clock.error_ticks > 0) to.add_double(F::error_ticks, clock.error_ticks);
    return out;
}

std::string serialize(const SwitchInfo& switches, std::uint64_t lost) {
    using F = schema::Switches;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::state, static_cast<std::uint32_t>(switches.state));
    if (!switches.reason.empty()) to.add_bytes(F::reason, switches.reason);
    if (switches.until != 0) to.add_fixed64(F::until, switches.until);
    if (lost != 0) to.add_uint64(F::lost, lost);
    return out;
}

std::string serialize(const CounterInfo& counters) {
    using F = schema::Counters;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::state, static_cast<std::uint32_t>(counters.state));
    if (!counters.reason.empty()) to.add_bytes(F::reason, counters.reason);
    if (counters.probe != 0) to.add_double(F::probe, counters.probe);
    if (counters.probe_inner != 0) to.add_double(F::probe_inner, counters.probe_inner);
    return out;
}

std::string serialize(const AgentInfo& agent) {
    using F = schema::Agent;
    std::string out;
    Builder<F> to(out);
    to.add_double(F::cpu_seconds, agent.cpu_seconds);
    to.add_double(F::running_cpu_seconds, agent.running_cpu_seconds);
    return out;
}

std::string serialize(std::uint32_t index, const ObjectInfo& object) {
    using F = schema::Object;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::index, index);
    to.add_bytes(F::path, object.path);
    to.add_bytes(F::build_id, object.build_id);
    to.add_fixed64(F::base, object.base);
    to.add_fixed64(F::end, object.end);
    return out;
}

std::string serialize(const ParameterInfo& parameter) {
    using F = schema::Parameter;
    std::string out;
    Builder<F> to(out);
    to.add_bytes(F::name, parameter.name);
    to.add_uint32(F::kind, parameter.kind);
    to.add_uint32(F::size, parameter.size);
    to.add_uint32(F::word, parameter.word);
    to.add_bool(F::key, parameter.key);
    to.add_bytes(F::type, parameter.type);
    return out;
}

std::string serialize(std::uint32_t index, const FunctionInfo& function) {
    using F = schema::Function;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::index, index);
    to.add_bytes(F::name, function.name);
    to.add_bytes(F::linkage_name, function.linkage_name);
    to.add_bytes(F::module, function.module);
    to.add_bytes(F::source, function.source);
    to.add_uint32(F::object, function.object);
    to.add_fixed64(F::address, function.address);
    to.add_uint64(F::size, function.size);
    to.add_uint32(F::enter_words, function.enter_words);
    to.add_uint32(F::leave_words, function.leave_words);
    to.add_uint32(F::inlined_copies, function.inlined_copies);
    for (const ParameterInfo& each : function.parameters)
        to.add_message(F::parameters, serialize(each));
    for (const ParameterInfo& each : function.result)
        to.add_message(F::result, serialize(each));
    if (function.switched_off != 0) to.add_fixed64(F::switched_off, function.switched_off);
    if (function.most_rate != 0) to.add_uint32(F::most_rate, function.most_rate);
    if (function.waits) to.add_bool(F::waits, true);
    if (function.busy_waits) to.add_bool(F::busy_waits, true);
    if (function.sampled) to.add_bool(F::sampled, true);
    if (function.windowed_since != 0) to.add_fixed64(F::windowed_since, function.windowed_since);
    if (function.counted) to.add_bool(F::counted, true);
    return out;
}

std::string serialize(const CallCount& count) {
    using F = schema::CallCount;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::function, count.function);
    to.add_uint64(F::calls, count.calls);
    return out;
}

std::string serialize(std::uint32_t index, const ThreadInfo& thread) {
    using F = schema::Thread;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::index, index);
    to.add_uint32(F::tid, thread.tid);
    to.add_bytes(F::name, thread.name);
    to.add_fixed64(F::start, thread.start);
    to.add_fixed64(F::end, thread.end);
    to.add_uint64(F::dropped, thread.dropped);
    to.add_uint64(F::holes, thread.holes);
    for (const CallCount& each : thread.calls)
        to.add_message(F::calls, serialize(each));
    if (thread.calls_until != 0) to.add_fixed64(F::calls_until, thread.calls_until);
    return out;
}

std::string serialize(std::uint32_t index, const StackInfo& stack) {
    using F = schema::Stack;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::index, index);
    to.add_uint32(F::function, stack.function);
    to.add_fixed64(F::caller, stack.caller);
    to.add_packed_fixed64(F::frames, stack.frames.begin(), stack.frames.end());
    to.add_bool(F::truncated, stack.truncated);
    return out;
}

std::string serialize(std::uint32_t index, const AnswerInfo& answer) {
    using F = schema::Answer;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::index, index);
    to.add_bytes(F::entry, answer.entry);
    to.add_uint32(F::verdict, answer.verdict);
    to.add_bytes(F::function, answer.function);
    to.add_bytes(F::reason, answer.reason);
    return out;
}

std::string serialize(std::uint32_t index, const std::string& remark) {
    using F = schema::Remark;
    std::string out;
    Builder<F> to(out);
    to.add_uint32(F::index, index);
    to.add_bytes(F::text, remark);
    return out;
}

/// Collects changed items into parts.
class Parts {
  public:
    void offer(schema::Description field, const std::string& item, std::uint64_t& written) {
        const std::uint64_t hash = format::hash(item.data(), item.size()) | 1U;
        if (hash == written) return;
        DescriptionPart& to = part();
        Builder<schema::Description>(to.message).add_message(field, item);
        to.written.emplace_back(&written, hash);
    }

    template <class Item>
    void offer_all(schema::Description field, const std::vector<Item>& items,
                   std::vector<std::uint64_t>& written) {
        if (written.size() < items.size()) written.resize(items.size());
        for (std::size_t i = 0; i < items.size(); ++i)
            offer(field, serialize(static_cast<std::uint32_t>(i), items[i]), written[i]);
    }

    void offer_number(schema::Description field, std::uint64_t number, std::uint64_t& written) {
        const std::uint64_t hash = format::hash(&number, sizeof number) | 1U;
        if (hash == written) return;
        DescriptionPart& to = part();
        Builder<schema::Description>(to.message).add_uint64(field, number);
        to.written.emplace_back(&written, hash);
    }

    std::vector<DescriptionPart> take() { return std::move(parts_); }

  private:
    DescriptionPart& part() {
        constexpr std::size_t kPartSize = 256U << 10U;
        if (parts_.empty() || parts_.back().message.size() > kPartSize) parts_.emplace_back();
        return parts_.back();
    }

    std::vector<DescriptionPart> parts_;
};

}  // namespace

std::vector<DescriptionPart> Describer::changes(const TraceInfo& info, const std::vector<ThreadInfo>& threads,
                                                std::uint64_t dropped, std::uint64_t switches_lost) {
    using F = schema::Description;
    Parts parts;
    parts.offer(F::process, serialize(info.process), written_.process);
    parts.offer(F::clock, serialize(info.clock), written_.clock);
    if (info.switches.state != SwitchInfo::State::not_told)
        parts.offer(F::switches, serialize(info.switches, switches_lost), written_.switches);
    if (info.counters.state != CounterInfo::State::not_told)
        parts.offer(F::counters, serialize(info.counters), written_.counters);
    if (info.agent.told) parts.offer(F::agent, serialize(info.agent), written_.agent);
    parts.offer_all(F::objects, info.objects, written_.objects);
    parts.offer_all(F::functions, info.functions, written_.functions);
    parts.offer_all(F::threads, threads, written_.threads);
    parts.offer_all(F::stacks, info.stacks, written_.stacks);
    parts.offer_all(F::answers, info.answers, written_.answers);
    parts.offer_all(F::remarks, info.remarks, written_.remarks);
    parts.offer_number(F::dropped, dropped, written_.dropped);
    return parts.take();
}

void Describer::confirm(const DescriptionPart& part) {
    for (const auto& [written, hash] : part.written)
        *written = hash;
}

void Describer::forget() {
    written_ = {};
}

}  // namespace rdam::trace
