#include "tools/rdam/record/closing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "analyzer/output/units.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/record/outer_recording.h"
#include "tools/rdam/record/run_traces.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam {
namespace {

constexpr int kCannotRun = 126;  // what shells and the dynamic linker return for programs that do not start
constexpr int kNotFound = 127;

std::string size_text(std::uint64_t bytes) {
    constexpr double kKilo = 1e3;
    const auto value = static_cast<double>(bytes);
    return value < kKilo * kKilo ? fmt::format("{:.1f} kB", value / kKilo)
                                 : fmt::format("{:.1f} MB", value / kKilo / kKilo);
}

/// "SIGSEGV (Segmentation fault)".
std::string signal_text(int signal) {
    const char* name = sigabbrev_np(signal);
    return name == nullptr ? fmt::format("signal {}", signal)
                           : fmt::format("SIG{} ({})", name, sigdescr_np(signal));
}

/// Why there is no trace; empty if there was nothing to be recorded.
std::string why_none(const Output& output) {
    if (std::string failure = output.name.failure(); !failure.empty()) return failure;
    return output.name.has_events()
               ? "rdam-agent was killed, or the trace was removed while it was being written"
               : "";
}

/// Whether it is known that no process of the run was prepared for recording.
bool none_was_planned(const Output& output) {
    return output.name.state() == trace::NameLock::State::held && !output.name.has_plan();
}

/// Nothing was recorded, and nothing was lost.
Outcome say_nothing_recorded(const Output& output, const Program& program, const ProgramEnd& end) {
    const bool none = none_was_planned(output);
    const bool not_started = end.status == kCannotRun || end.status == kNotFound;
    if (none && program.starts_others) {
        // A script may return these exit codes on its own.
        say(fmt::format("no program of the run{} contained a function on the list: no trace was written{}",
                        program.alone ? ", not counting launchers (--no-children)," : "",
                        end.status == 0
                            ? ""
                            : fmt::format(" (the run ended with exit code {}{})", end.status,
                                          not_started ? ": perhaps a program did not start" : "")));
        return Outcome::nothing_wrapped;
    }
    if (none && not_started)
        say(fmt::format("the program did not start (exit code {}): no trace was written", end.status));
    else if (none)
        say("no trace was written");
    else if (!output.name.has_plan())  // it is not known whether anything was wrapped
        say("no call was recorded: no trace was written");
    else
        say("no wrapped function was called: no trace was written");
    return Outcome::whole;
}

void say_trace(const RunTrace& trace, bool replaced, const std::string& missing) {
    say(fmt::format("{}: {}: {}, {}{}", trace.path, trace.program,
                    output::counted(trace.threads, "thread", "threads"), size_text(trace.bytes),
                    replaced ? ", replacing the trace of an earlier run" : ""));
    if (trace.unfinished)
        say(
            fmt::format("{}: rdam-agent was killed: the trace has about {} up to then, and the rest is lost; "
                        "record again",
                        trace.path, output::counted(trace.events, "event", "events")));
    if (!trace.killed) return;
    for (const std::string& remark : trace.remarks)
        if (remark != missing) say(remark);
}

/// Launchers leave the name of the run's trace to the programs that they start. If none of these has a trace,
/// the first launcher that has one gets the name, which may be that of an earlier run's trace.
void name_after_run(const Output& output, std::vector<RunTrace>& traces) {
    if (output.is_pattern || traces.empty()) return;
    const auto belongs_to_launcher = [](const RunTrace& trace) {
        return Catalogue::builtin().is_launcher(trace.program);
    };
    const auto has_name = [&](const RunTrace& trace) { return trace.path == output.shown; };
    if (!std::ranges::all_of(traces, belongs_to_launcher) || std::ranges::any_of(traces, has_name)) return;
    RunTrace& first = *std::ranges::min_element(traces, {}, &RunTrace::start_ticks);
    const unsigned flags = output.earlier.contains(output.shown) ? 0 : RENAME_NOREPLACE;
    if (renameat2(AT_FDCWD, first.path.c_str(), AT_FDCWD, output.path.c_str(), flags) == 0)
        first.path = output.shown;
}

}  // namespace

Outcome close_run(Output& output, const std::string& run, const Program& program, const ProgramEnd& end) {
    auto living = await_agents(run);
    output.name.gather();
    auto traces = find_traces(output.shown, run, output.name.users(), living);
    if (living.empty()) name_after_run(output, traces);
    std::vector<std::string> written;
    written.reserve(traces.size());
    for (const RunTrace& trace : traces)
        written.push_back(trace.path);
    tell_outer_recording(written);
    if (end.signal != 0) say(fmt::format("the program was killed by {}", signal_text(end.signal)));
    std::string elsewhere = describe(living);
    if (const std::string inner = output.name.inner(); !inner.empty())
        elsewhere += fmt::format("rdam: {}{}\n", traces.empty() ? "no trace was written here: " : "",
                                 describe_inner(inner));
    const std::string failure = output.name.failure();
    const std::string missing = why_none(output);
    if (traces.empty() && elsewhere.empty() && missing.empty())
        return say_nothing_recorded(output, program, end);
    for (const RunTrace& trace : traces)
        say_trace(trace, output.earlier.contains(trace.path), missing);
    std::fputs(elsewhere.c_str(), stderr);
    if (traces.empty() && !elsewhere.empty() && failure.empty()) return Outcome::whole;
    if (traces.empty())
        say("no trace was written: " + missing);
    else if (!failure.empty())
        say(missing);
    const bool whole =
        failure.empty() && !traces.empty() && std::ranges::none_of(traces, &RunTrace::unfinished);
    return whole ? Outcome::whole : Outcome::incomplete;
}

}  // namespace rdam
