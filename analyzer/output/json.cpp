#include "analyzer/output/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyzer/output/comparison.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"
#include "analyzer/settings/settings.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::output {

namespace {

std::string_view state_name(trace::SwitchInfo::State state) {
    using State = trace::SwitchInfo::State;
    switch (state) {
        case State::recorded:
            return "recorded";
        case State::off:
            return "off";
        case State::unavailable:
            return "unavailable";
        case State::stopped:
            return "stopped";
        case State::not_told:
            break;
    }
    return "not told";
}

Json switches_json(const score::Report& report) {
    const trace::SwitchInfo& switches = report.switches;
    Json out{{"state", state_name(switches.state)}, {"lost", switches.lost}};
    if (!switches.reason.empty()) out["reason"] = switches.reason;
    if (!switches.missing.empty()) out["missing_ns"] = nanoseconds(report.switches_missing_ns);
    if (switches.state == trace::SwitchInfo::State::stopped)
        out["until_ns"] = nanoseconds(report.switches_until_ns);
    return out;
}

std::string_view state_name(trace::CounterInfo::State state) {
    using State = trace::CounterInfo::State;
    return state == State::counted ? "counted" : state == State::off ? "off" : "unavailable";
}

Json counters_json(const trace::CounterInfo& counters) {
    Json out{{"state", state_name(counters.state)}};
    if (!counters.reason.empty()) out["reason"] = counters.reason;
    if (counters.state == trace::CounterInfo::State::counted)
        out["probe_instructions"] = finite(counters.probe);
    return out;
}

Json agent_json(const score::Report& report) {
    return {{"cpu_seconds", finite(report.agent.cpu_seconds)},
            {"running_cpu_seconds", finite(report.agent.running_cpu_seconds)},
            {"bound_ns", nanoseconds(report.agent_bound_ns)}};
}

Json comparison_json(const score::Comparison& comparison) {
    Json out{
        {"baseline", to_text(comparison.baseline)}, {"keys", comparison.rules.keys},
        {"no_keys", comparison.rules.no_keys},      {"split_by_context", comparison.rules.split_by_context},
        {"ignore", comparison.rules.ignore},        {"given_back_by", comparison.rules.given_back_by},
        {"woken_by", comparison.rules.woken_by},    {"deep_keys", comparison.deep_keys},
        {"fold_loops", comparison.fold_loops}};
    if (!comparison.rules_file.empty()) out["rules_file"] = comparison.rules_file;
    return out;
}

}  // namespace

Json trace_json(const score::Report& report) {
    Json out{{"command", command_text(report.process.command)},
             {"duration_ns", nanoseconds(report.duration_ns)},
             {"events", report.events},
             {"dropped", report.dropped},
             {"probe_cost_ns", nanoseconds(report.probe_cost_ns)},
             {"clock", report.clock},
             {"clock_step_ns", nanoseconds(report.clock_step_ns)},
             {"flow_cost_ns", nanoseconds(report.flow_cost_ns)},
             {"clock_error_ns", nanoseconds(report.clock_error_ns)},
             {"machine_share", finite(report.process.machine_share)},
             {"perturbation", finite(report.perturbation)},
             {"arguments", report.process.command},
             {"title", report.process.title},
             {"pid", report.process.pid},
             {"host", report.process.host},
             {"machine", report.process.machine},
             {"version", report.process.rdam_version},
             {"clean_end", report.process.clean_end},
             {"calls", report.counts.calls},
             {"paused_ns", nanoseconds(report.paused_ns)},
             {"recording",
              {{"slowdown", finite(report.cost.slowdown)},
               {"slowdown_low", finite(report.cost.slowdown_low)},
               {"slowdown_high", finite(report.cost.slowdown_high)},
               {"gates_ns", nanoseconds(report.cost.gates_ns)},
               {"probes_ns", nanoseconds(report.cost.probes_ns)},
               {"pauses_ns", nanoseconds(report.cost.pauses_ns)},
               {"agent_ns", nanoseconds(report.cost.agent_ns)},
               {"switches_ns", nanoseconds(report.cost.switches_ns)},
               {"waits_ns", nanoseconds(report.cost.waits_ns)}}},
             {"paused_by_agent_ns", nanoseconds(report.agent_ns)},
             {"crowded_ns", nanoseconds(report.crowded_ns)},
             {"abandoned", report.counts.abandoned_by_jump + report.counts.abandoned_at_end +
                               report.counts.abandoned_at_gap + report.counts.abandoned_too_deep},
             {"switches", switches_json(report)},
             {"comparison", comparison_json(report.comparison)},
             {"never_called", report.never_called},
             {"notes", notes(report)}};
    if (!report.process.nodes.empty()) out["nodes"] = nodes_json(report.process);
    if (report.counters.state != trace::CounterInfo::State::not_told)
        out["counters"] = counters_json(report.counters);
    if (report.agent.told) out["agent"] = agent_json(report);
    if (!report.process.recorder.empty()) out["recorder"] = report.process.recorder;
    const score::LeftOut& left_out = report.left_out;
    if (left_out.since_ns) out["since_ns"] = nanoseconds(*left_out.since_ns);
    if (left_out.until_ns) out["until_ns"] = nanoseconds(*left_out.until_ns);
    if (left_out.part) {
        out["cut_off"] = left_out.cut_off;
        out["threads_left_out"] = left_out.threads;
        out["functions_left_out"] = left_out.functions;
    }
    return out;
}

namespace {

Json off_cpu_json(const score::OffCpuRow& row) {
    return {{"blocked_ns", nanoseconds(row.blocked_ns)},
            {"preempted_ns", nanoseconds(row.preempted_ns)},
            {"recorder_ns", nanoseconds(row.recorder_ns)},
            {"crowded_ns", nanoseconds(row.crowded_ns)},
            {"switches", row.switches},
            {"preemptions", row.preemptions}};
}

Json threads_json(const score::Report& report, const hints::WaitGraph& waits) {
    Json out = Json::array();
    for (const score::ThreadRow& row : report.threads) {
        out.push_back({{"tid", row.tid},
                       {"name", row.name},
                       {"duration_ns", nanoseconds(row.duration_ns)},
                       {"paused_ns", nanoseconds(row.paused_ns)},
                       {"crowded_ns", nanoseconds(row.crowded_ns)},
                       {"recorded_low", finite(row.recorded_low)},
                       {"recorded_high", finite(row.recorded_high)},
                       {"events", row.events},
                       {"short_lived", row.short_lived}});
        if (row.fiber != 0) out.back()["fiber"] = row.fiber;
        if (row.off_cpu) out.back()["off_cpu"] = off_cpu_json(*row.off_cpu);
        if (out.size() > waits.of_threads.size()) continue;
        if (const hints::ThreadWait& wait = waits.of_threads[out.size() - 1]; wait.share > 0)
            out.back()["waits_most_for"] = {{"owners", wait.owners}, {"share", finite(wait.share)}};
    }
    return out;
}

Json shares_json(const score::Report& report, const score::FunctionRow& row) {
    Json out = Json::array();
    for (const score::ThreadShare& part : row.threads) {
        const score::ThreadRow& thread = report.threads[part.thread];
        Json share{{"tid", thread.tid}};
        share.update(figures_json(thread_fields(), {part, thread}));
        if (part.few_windows) share["few_windows"] = true;
        out.push_back(std::move(share));
    }
    return out;
}

Json hint_json(const hints::Hint& hint) {
    Json out{{"kind", hints::name_of(hint.kind)}, {"text", hint.text}, {"share", finite(hint.share)}};
    if (!hint.parameter.empty()) out["parameter"] = hint.parameter;
    if (hint.explains) out["explains"] = finite(*hint.explains);
    if (hint.rdam_with_key) out["rdam_with_key"] = finite(*hint.rdam_with_key);
    if (!hint.concurrent_function.empty()) out["concurrent_function"] = hint.concurrent_function;
    if (hint.concurrent_thread) out["concurrent_thread"] = *hint.concurrent_thread;
    if (hint.thread) out["thread"] = *hint.thread;
    return out;
}

Json frames_json(std::uint64_t return_address, Symbols& symbols) {
    Json out = Json::array();
    for (const StackFrame& frame : symbols.frames(return_address))
        out.push_back(frame_text(frame));
    return out;
}

Json sequences_json(const score::FunctionRow& row, const hints::FunctionHints& found, Symbols& symbols) {
    Json out = Json::array();
    for (std::size_t i = 0; i < row.sequences.size(); ++i) {
        const score::SequenceRow& sequence = row.sequences[i];
        out.push_back({{"id", fmt::format("{:016x}", sequence.id)}, {"name", sequence.name}});
        out.back().update(figures_json(sequence_fields(), sequence));
        for (const hints::Hint& hint : found.of_sequence(i))
            out.back()["hints"].push_back(hint_json(hint));
        if (sequence.caller != 0) out.back()["called_from"] = frames_json(sequence.caller, symbols);
    }
    return out;
}

Json stack_json(const score::StackRow& stack, Symbols& symbols) {
    Json frames = Json::array();
    for (const std::uint64_t address : stack.frames) {
        for (auto& frame : frames_json(address, symbols))
            frames.push_back(frame);
    }
    return {{"count", stack.samples},
            {"frames", frames},
            {"calls_estimated", std::llround(finite(stack.calls))},
            {"truncated", stack.truncated}};
}

Json stacks_json(const score::FunctionRow& row, Symbols& symbols, std::size_t most) {
    Json out = Json::array();
    for (const score::StackRow& stack : row.stacks) {
        if (out.size() == most) break;
        out.push_back(stack_json(stack, symbols));
    }
    return out;
}

Json callers_json(const score::FunctionRow& row, Symbols& symbols, std::size_t most) {
    Json out = Json::array();
    for (const score::CallerRow& caller : row.callers) {
        if (out.size() == most) break;
        Json stacks = Json::array();
        for (const score::StackRow& stack : row.stacks) {
            if (stack.caller != caller.address) continue;
            if (stacks.size() == most) break;
            stacks.push_back(stack_json(stack, symbols));
        }
        out.push_back({{"count", caller.calls},
                       {"frames", frames_json(caller.address, symbols)},
                       {"lost_ns", nanoseconds(caller.lost_ns)},
                       {"share", finite(caller.share)},
                       {"stacks", stacks}});
    }
    return out;
}

Json hints_json(const score::FunctionRow& row, const hints::Hints& found, const causes::HotLines& hot_lines) {
    Json out = Json::array();
    for (const hints::Hint& hint : found)
        out.push_back(hint_json(hint));
    if (score::at_floor(row)) out.push_back({{"kind", "clock"}, {"text", floor_advice(row)}});
    if (row.few_occurrences)
        out.push_back({{"kind", "few_occurrences"}, {"text", lower_bound_advice(row, hot_lines)}});
    if (row.coarse_clock) out.push_back({{"kind", "coarse_clock"}, {"text", coarse_clock_advice()}});
    if (row.shortest_missing)
        out.push_back({{"kind", "shortest_missing"}, {"text", shortest_missing_advice()}});
    if (row.minimum_alone) out.push_back({{"kind", "minimum_alone"}, {"text", minimum_alone_advice()}});
    if (row.sampled) out.push_back({{"kind", "sampled"}, {"text", sampled_advice()}});
    return out;
}

Json explained_json(const std::vector<hints::Explained>& explained) {
    Json out = Json::array();
    for (const hints::Explained& each : explained)
        out.push_back({{"parameter", each.name},
                       {"explains", finite(each.explains)},
                       {"rdam_with_key", finite(each.rdam_with_key)}});
    return out;
}

Json function_json(const hints::Analysis& analysis, const score::FunctionRow& row, Symbols& symbols,
                   const JsonOptions& options, const causes::HotLines& hot_lines) {
    const score::Report& report = analysis.report;
    const hints::FunctionHints& found = analysis.of(row);
    Json out{
        {"name", row.name}, {"module", row.module}, {"source", row.source}, {"by_design", row.by_design}};
    out.update(figures_json(function_fields(), row));
    out["threads"] = shares_json(report, row);
    out["sequences"] = sequences_json(row, found, symbols);
    out["stacks"] = stacks_json(row, symbols, options.max_stacks);
    out["callers"] = callers_json(row, symbols, options.max_stacks);
    out["hints"] = hints_json(row, found.hints, hot_lines);
    if (row.no_score) out["no_score"] = no_score_reason(row);
    if (row.switched_off_ns) out["switched_off_ns"] = nanoseconds(*row.switched_off_ns);
    if (row.windowed) {
        out["windows_cover"] = finite(row.windows_cover);
        out["few_windows"] = row.few_windows;
        out["counted"] = row.counted;
        if (row.waits > 0) out["waits"] = {{"count", row.waits}, {"ns", nanoseconds(row.waited_ns)}};
    }
    add_processors(report.process, row, out);
    if (found.off_share)
        out["off_cpu"] = {{"blocked", finite(found.off_share->blocked)},
                          {"preempted", finite(found.off_share->preempted)}};
    if (!found.explained.empty()) out["explained"] = explained_json(found.explained);
    for (const score::Bar& bar : row.bars)
        out["bars"].push_back(
            {{"from_ns", nanoseconds(bar.from_ns)}, {"to_ns", nanoseconds(bar.to_ns)}, {"calls", bar.calls}});
    return out;
}

Json waits_json(const hints::WaitGraph& graph) {
    Json edges = Json::array();
    for (const hints::WaitEdge& edge : graph.edges) {
        edges.push_back({{"waiters", edge.waiter_tids},
                         {"owners", edge.owner_tids},
                         {"kind", edge.kind},
                         {"address", edge.object == 0 ? Json{} : Json(fmt::format("{:#x}", edge.object))},
                         {"share", finite(edge.share)},
                         {"waited_ns", nanoseconds(edge.waited_ns)}});
        if (edge.owners_seen) {
            edges.back()["owner_waiting"] = finite(edge.owner_waiting);
            edges.back()["owner_preempted"] = finite(edge.owner_preempted);
        }
        if (!edge.variable.empty()) edges.back()["variable"] = edge.variable;
        if (!edge.ended_from.empty()) {
            edges.back()["ended_from"] = edge.ended_from;
            edges.back()["ended_from_share"] = finite(edge.ended_from_share);
        }
        if (!edge.inside.empty()) {
            edges.back()["inside"] = edge.inside;
            edges.back()["inside_share"] = finite(edge.inside_share);
            if (!edge.inside_from.empty()) edges.back()["inside_from"] = edge.inside_from;
        }
    }
    Json ends = Json::array();
    for (const hints::WaitEnd& end : graph.ends) {
        ends.push_back({{"threads", end.tids},
                        {"share", finite(end.share)},
                        {"through", finite(end.through)},
                        {"waiting", finite(end.waiting)},
                        {"preempted", finite(end.preempted)}});
        if (end.inside.empty()) continue;
        ends.back()["inside"] = end.inside;
        ends.back()["inside_share"] = finite(end.inside_share);
    }
    Json out{{"edges", edges},
             {"ends", ends},
             {"circular", finite(graph.circular)},
             {"preempted", finite(graph.preempted)},
             {"known", finite(graph.known)},
             {"woken", finite(graph.woken)}};
    if (graph.of_blocked) out["of_blocked"] = finite(*graph.of_blocked);
    return out;
}

Json concentration_json(std::string_view key, const std::string& name, const hints::Concentration& part) {
    return {{key, name}, {"lost_share", finite(part.lost)}, {"calls_share", finite(part.calls)}};
}

Json patterns_json(const score::Report& report) {
    Json out = Json::array();
    for (const score::PatternRow& row : report.patterns) {
        const score::ThreadRow& thread = report.threads[row.thread];
        out.push_back(
            {{"name", row.name}, {"thread", thread.tid}, {"calls", row.calls}, {"length", row.length}});
        out.back().update(figures_json(pattern_fields(), {row, thread}));
    }
    return out;
}

}  // namespace

Json finding_json(const hints::Analysis& analysis, const hints::Finding& finding, Symbols& symbols) {
    const score::FunctionRow& row = analysis.report.functions[finding.row];
    const score::FunctionRow& called = analysis.report.functions[finding.called];
    Json out{{"name", called.name},
             {"module", called.module},
             {"rdam", finite(row.rdam)},
             {"rdam_low", finite(row.rdam_low)},
             {"rdam_high", finite(row.rdam_high)},
             {"lower_bound", row.lower_bound},
             {"lost_ns", nanoseconds(row.lost_ns)},
             {"threads", finding.loser_tids},
             {"losers", finding.losers}};
    if (&row != &called) out["slow_path"] = row.name;
    if (!finding.object.empty())
        out["object"] = concentration_json("name", finding.object, finding.at_object);
    if (finding.place != 0)
        out["place"] = concentration_json("frame", place_text(finding, symbols), finding.at_place);
    if (finding.partner) out["partner"] = hint_json(*finding.partner);
    if (!finding.partner_name.empty()) out["partner_name"] = finding.partner_name;
    if (!finding.cause) return out;
    out["cause"] = hint_json(*finding.cause);
    if (finding.work) out["work"] = hint_json(*finding.work);
    out["advice"] = hints::advice_on(finding.work ? finding.work->kind : finding.cause->kind);
    return out;
}

Json report_json(const hints::Analysis& analysis, Symbols& symbols, const JsonOptions& options,
                 const causes::HotLines& hot_lines) {
    const score::Report& report = analysis.report;
    Json functions = Json::array();
    for (const score::FunctionRow& row : report.functions) {
        if (options.top == 0 || row.rank <= options.top)
            functions.push_back(function_json(analysis, row, symbols, options, hot_lines));
    }
    Json findings = Json::array();
    for (const hints::Finding& finding : analysis.findings.all)
        findings.push_back(finding_json(analysis, finding, symbols));
    Json out{{"findings", findings},
             {"trace", trace_json(report)},
             {"threads", threads_json(report, analysis.waits)},
             {"functions", functions}};
    out["trace"]["notes"] = notes(report, symbols);  // what these say depends on what they were asked
    if (!analysis.findings.verdict.empty()) out["verdict"] = analysis.findings.verdict;
    if (analysis.waits.recorded) out["waits"] = waits_json(analysis.waits);
    if (report.all_patterns) out["patterns"] = patterns_json(report);
    return out;
}

std::string dump(const Json& json) {
    return printable_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string to_json(const hints::Analysis& analysis, Symbols& symbols, const JsonOptions& options,
                    const causes::CrossCheck& check) {
    Json out = report_json(analysis, symbols, options, check.hot_lines);
    if (!check.reports.empty()) out["causes"] = causes_json(check, options);
    return dump(out);
}

namespace {

Json source_json(const causes::CauseReport& report) {
    return {{"tool", report.tool}, {"label", report.label},         {"unit", report.unit},
            {"file", report.file}, {"total", finite(report.total)}, {"disturbs", report.disturbs}};
}

Json function_json(const causes::CheckedFunction& function) {
    Json shares = Json::array();
    for (const causes::CauseShare& cause : function.causes)
        shares.push_back({{"share", finite(cause.share)},
                          {"with_callees", finite(cause.with_callees)},
                          {"absolute", finite(cause.absolute)}});
    return {{"name", function.name},
            {"module", function.module},
            {"rdam", function.row == nullptr ? 0 : finite(function.row->rdam)},
            {"lost_ns", function.row == nullptr ? 0 : nanoseconds(function.row->lost_ns)},
            {"called", function.row != nullptr},
            {"verdict", verdict_name(function.verdict)},
            {"text", verdict_text(function.verdict)},
            {"shares", shares}};
}

Json not_recorded_json(const causes::NotRecorded& entry) {
    return {{"report", entry.report},
            {"name", entry.row.function},
            {"module", entry.row.module},
            {"file", entry.row.file},
            {"line", entry.row.line},
            {"share", finite(entry.row.share)},
            {"absolute", finite(entry.row.absolute)}};
}

}  // namespace

Json causes_json(const causes::CrossCheck& check, const JsonOptions& options) {
    Json reports = Json::array();
    for (const causes::CauseReport& source : check.reports)
        reports.push_back(source_json(source));
    Json functions = Json::array();
    const std::size_t shown =
        options.top == 0 ? check.functions.size() : std::min(options.top, check.functions.size());
    for (std::size_t i = 0; i < shown; ++i)
        functions.push_back(function_json(check.functions[i]));
    Json not_recorded = Json::array();
    for (const causes::NotRecorded& entry : check.not_recorded)
        not_recorded.push_back(not_recorded_json(entry));
    return {{"effect_from", causes::kEffect},
            {"cause_from", causes::kCause},
            {"reports", reports},
            {"functions", functions},
            {"not_recorded", not_recorded}};
}

}  // namespace rdam::output
