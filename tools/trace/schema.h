// The messages of a description chunk: the number, name and member of each field, as docs/trace.proto has
// them (a test compares the two). One list serves the writer, the reader and the test. A number that has been
// used is never given another meaning.
//
// An archive has a function for each kind of field: number, fixed, real, truth, state, text, texts, numbers
// (packed varints), addresses (packed fixed64), message, messages, items (messages with an index of their
// own, field 1). `When::set` leaves out a value that is zero or empty, as writers do that do not know the
// field yet.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tools/trace/event.h"

namespace rdam::trace {

enum class When : std::uint8_t { always, set };

/// A structure to be read into, or one to be written.
template <class T, class Structure>
concept Some = std::same_as<std::remove_const_t<T>, Structure>;

/// The number of the index in the messages that items() takes.
inline constexpr std::uint32_t kIndexField = 1;

template <class Archive>
void fields(Archive& each, Some<NodeInfo> auto& node) {
    each.message_name("Node");
    each.number(1, "number", node.number);
    each.numbers(2, "processors", node.processors);
}

template <class Archive>
void fields(Archive& each, Some<ProcessInfo> auto& process) {
    each.message_name("Process");
    each.number(1, "pid", process.pid);
    each.number(2, "start_ticks", process.start_ticks);
    each.text(3, "boot_id", process.boot_id);
    each.texts(4, "command", process.command);
    each.text(5, "executable", process.executable);
    each.text(6, "host", process.host);
    each.text(7, "machine", process.machine);
    each.text(8, "rdam_version", process.rdam_version);
    each.number(9, "processors", process.processors);
    each.number(10, "stack_period", process.stack_period);
    each.truth(11, "clean_end", process.clean_end);
    each.text(12, "run", process.run);
    each.real(13, "max_overhead", process.max_overhead, When::set);
    each.messages(14, "nodes", process.nodes);
    each.real(15, "machine_share", process.machine_share, When::set);
    each.text(16, "title", process.title, When::set);
    each.text(17, "recorder", process.recorder, When::set);
    each.truth(18, "unwound_unseen", process.unwound_unseen, When::set);
    each.text(19, "copied_stacks", process.copied_stacks, When::set);
    each.truth(20, "simulated", process.simulated, When::set);
    each.truth(21, "shortest_missing", process.shortest_missing, When::set);
}

template <class Archive>
void fields(Archive& each, Some<ClockInfo> auto& clock) {
    each.message_name("Clock");
    each.text(1, "source", clock.source);
    each.real(2, "ticks_per_second", clock.ticks_per_second);
    each.fixed(3, "start_tsc", clock.start_tsc);
    each.fixed(4, "start_unix_ns", clock.start_unix_ns);
    each.real(5, "probe_ticks", clock.probe_ticks);
    each.real(6, "probe_inner_ticks", clock.probe_inner_ticks);
    each.real(7, "floor_ticks", clock.floor_ticks);
    each.number(8, "step_ticks", clock.step_ticks, When::set);
    each.real(9, "error_ticks", clock.error_ticks, When::set);
    each.real(10, "flow_ticks", clock.flow_ticks, When::set);
}

template <class Archive>
void fields(Archive& each, Some<SwitchInfo> auto& switches) {
    each.message_name("Switches");
    each.state(1, "state", switches.state, SwitchInfo::State::stopped);
    each.text(2, "reason", switches.reason, When::set);
    each.fixed(3, "until", switches.until, When::set);
    each.number(4, "lost", switches.lost, When::set);
    each.truth(5, "marked", switches.marked, When::set);
    each.addresses(6, "missing", switches.missing);
    each.number(7, "handed_over", switches.handed_over, When::set);
}

template <class Archive>
void fields(Archive& each, Some<CounterInfo> auto& counters) {
    each.message_name("Counters");
    each.state(1, "state", counters.state, CounterInfo::State::unavailable);
    each.text(2, "reason", counters.reason, When::set);
    each.real(3, "probe", counters.probe, When::set);
    each.real(4, "probe_inner", counters.probe_inner, When::set);
}

template <class Archive>
void fields(Archive& each, Some<AgentInfo> auto& agent) {
    each.message_name("Agent");
    each.real(1, "cpu_seconds", agent.cpu_seconds);
    each.real(2, "running_cpu_seconds", agent.running_cpu_seconds);
}

template <class Archive>
void fields(Archive& each, Some<ObjectInfo> auto& object) {
    each.message_name("Object");
    each.text(2, "path", object.path);
    each.text(3, "build_id", object.build_id);
    each.fixed(4, "base", object.base);
    each.fixed(5, "end", object.end);
}

template <class Archive>
void fields(Archive& each, Some<ParameterInfo> auto& parameter) {
    each.message_name("Parameter");
    each.text(1, "name", parameter.name);
    each.number(2, "kind", parameter.kind);
    each.number(3, "size", parameter.size);
    each.number(4, "word", parameter.word);
    each.truth(5, "key", parameter.key);
    each.text(6, "type", parameter.type);
    each.truth(7, "is_text", parameter.is_text, When::set);
    each.truth(8, "by_size", parameter.by_size, When::set);
}

template <class Archive>
void fields(Archive& each, Some<FunctionInfo> auto& function) {
    each.message_name("Function");
    each.text(2, "name", function.name);
    each.text(3, "linkage_name", function.linkage_name);
    each.text(4, "module", function.module);
    each.text(5, "source", function.source);
    each.number(6, "object", function.object);
    each.fixed(7, "address", function.address);
    each.number(8, "size", function.size);
    each.number(9, "enter_words", function.enter_words);
    each.number(10, "leave_words", function.leave_words);
    each.number(11, "inlined_copies", function.inlined_copies);
    each.messages(12, "parameters", function.parameters);
    each.messages(13, "result", function.result);
    each.fixed(14, "switched_off", function.switched_off, When::set);
    each.number(15, "most_rate", function.most_rate, When::set);
    each.truth(16, "waits", function.waits, When::set);
    each.truth(17, "busy_waits", function.busy_waits, When::set);
    each.truth(18, "sampled", function.sampled, When::set);
    each.fixed(19, "windowed_since", function.windowed_since, When::set);
    each.truth(20, "counted", function.counted, When::set);
    each.number(21, "window_group", function.window_group, When::set);
    each.number(22, "wait_of", function.wait_of, When::set);
    each.truth(23, "wakes", function.wakes, When::set);
    each.truth(24, "partner", function.partner, When::set);
    each.truth(25, "any_name", function.any_name, When::set);
}

template <class Archive>
void fields(Archive& each, Some<CallCount> auto& count) {
    each.message_name("CallCount");
    each.number(1, "function", count.function);
    each.number(2, "calls", count.calls);
}

template <class Archive>
void fields(Archive& each, Some<ThreadInfo> auto& thread) {
    each.message_name("Thread");
    each.number(2, "tid", thread.tid);
    each.text(3, "name", thread.name);
    each.fixed(4, "start", thread.start);
    each.fixed(5, "end", thread.end);
    each.number(6, "dropped", thread.dropped);
    each.number(7, "unwritten", thread.unwritten);
    each.messages(8, "calls", thread.calls);
    each.fixed(9, "calls_until", thread.calls_until, When::set);
    each.number(10, "fiber", thread.fiber, When::set);
}

template <class Archive>
void fields(Archive& each, Some<StackInfo> auto& stack) {
    each.message_name("Stack");
    each.number(2, "function", stack.function);
    each.fixed(3, "caller", stack.caller);
    each.addresses(4, "frames", stack.frames);
    each.truth(5, "truncated", stack.truncated);
}

template <class Archive>
void fields(Archive& each, Some<AnswerInfo> auto& answer) {
    each.message_name("Answer");
    each.text(2, "entry", answer.entry);
    each.number(3, "verdict", answer.verdict);
    each.text(4, "function", answer.function);
    each.text(5, "reason", answer.reason);
}

template <class Archive>
void fields(Archive& each, Some<std::string> auto& remark) {
    each.message_name("Remark");
    each.text(2, "text", remark);
}

template <class Archive>
void fields(Archive& each, Some<ChannelInfo> auto& channel) {
    each.message_name("Channel");
    each.number(2, "descriptor", channel.descriptor);
    each.state(3, "kind", channel.kind, ChannelInfo::Kind::eventfd);
    each.number(4, "reads", channel.reads);
    each.number(5, "writes", channel.writes);
    each.fixed(6, "since", channel.since);
    each.fixed(7, "until", channel.until);
}

template <class Archive>
void fields(Archive& each, Some<TraceInfo> auto& info) {
    each.message_name("Description");
    each.message(1, "process", info.process);
    each.message(2, "clock", info.clock);
    each.items(3, "objects", info.objects);
    each.items(4, "functions", info.functions);
    each.items(5, "threads", info.threads);
    each.items(6, "stacks", info.stacks);
    each.items(7, "answers", info.answers);
    each.items(8, "remarks", info.remarks);
    each.number(9, "dropped", info.dropped);
    each.message(10, "switches", info.switches);
    each.message(11, "counters", info.counters);
    each.message(12, "agent", info.agent);
    each.items(13, "texts", info.texts);
    each.items(14, "channels", info.channels);
}

}  // namespace rdam::trace
