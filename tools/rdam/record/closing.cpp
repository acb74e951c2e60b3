#include "tools/rdam/record/closing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <utility>

#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/record/run_traces.h"
#include "tools/trace/event.h"
#include "wrappers/catalogue/known_programs.h"

namespace rdam {

namespace {

constexpr int kCannotRun = 126;  // what shells and the dynamic linker return for programs that do not start
constexpr int kNotFound = 127;
constexpr int kRefused = 1;  // what librdam.so returns for a program in which there is nothing to record

std::string size_text(std::uint64_t bytes) {
    constexpr double kKilo = 1e3;
    const auto value = static_cast<double>(bytes);
    return value < kKilo * kKilo ? fmt::format("{:.1f} kB", value / kKilo)
                                 : fmt::format("{:.1f} MB", value / kKilo / kKilo);
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

/// Why nothing was recorded in a run of programs that start others.
std::string nothing_in_run(const trace::NameLock::Loaded& loaded, const Program& program) {
    constexpr std::string_view kWithout =
        "programs started by sudo, env -i, LD_PRELOAD=… or a program that clears its environment do not load "
        "it, nor do static, set-user-ID, 32-bit and musl programs";
    if (loaded.programs)
        return fmt::format(
            "no program of the run that is known to have loaded the recorder contained a function on the "
            "list ({}): no trace "
            "was written",
            kWithout);
    if (loaded.launchers.empty())
        return fmt::format(
            "no trace was written: either the recorder has said why above, or the dynamic linker did not "
            "load it into {}",
            program.path);
    const std::string only =
        "no trace was written: the recorder is known to have been loaded only into " + loaded.launchers;
    if (program.alone) return only + ", and --no-children does not record launchers";
    if (!program.strips.empty())
        return fmt::format("{0}, which {1}; start rdam behind it: {2} rdam record … -- PROGRAM", only,
                           program.strips, file_name(program.arguments[0]));
    return fmt::format(
        "{}, where no function was on the list ({}{}); start rdam behind the command that keeps it out", only,
        kWithout, geteuid() == 0 ? "; a process of a user who may not write here has reported it" : "");
}

/// Nothing was recorded, and nothing was lost.
Outcome say_nothing_recorded(const Output& output, const Program& program, const ProgramEnd& end) {
    const bool none = none_was_planned(output);
    const bool not_started = end.status == kCannotRun || end.status == kNotFound;
    const trace::NameLock::Loaded loaded = output.name.loaded();
    if (none && program.starts_others) {
        // A script may return these exit codes on its own.
        say(nothing_in_run(loaded, program) +
            (end.status == 0 ? ""
                             : fmt::format(" (the run ended with exit code {}{})", end.status,
                                           not_started ? ": perhaps a program did not start" : "")));
        return Outcome::nothing_wrapped;
    }
    if (none && !loaded.programs && not_started)
        say(fmt::format("the program did not start (exit code {}): no trace was written", end.status));
    else if (none && !loaded.programs)
        say(nothing_in_run(loaded, program));
    else if (none && end.status == kRefused)  // librdam.so ends what it cannot record
        say(
            fmt::format("the program was not run, and no trace was written; if a program that it starts has "
                        "the functions, put env in front: rdam record … -- env {}{}",
                        program.arguments[0], program.arguments.size() > 1 ? " …" : ""));
    else if (none)
        say("no trace was written");
    else if (!output.name.has_plan())  // it is not known whether anything was wrapped
        say("no trace was written: either no wrapped function was called, or the recorder has said why "
            "above");
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
    for (const std::string& remark : trace.remarks)
        if (remark != missing && trace::is_left_to_say(remark, trace.killed)) say(remark);
}

/// Launchers, and what scripts call on their way, leave the name of the run's trace to the programs that the
/// user means. If none of these has a trace, the first of the others gets the name, which may be that of an
/// earlier run's trace.
void name_after_run(const Output& output, std::vector<RunTrace>& traces) {
    if (output.is_pattern || traces.empty()) return;
    const auto rank = [](const RunTrace& trace) {
        const KnownPrograms& programs = KnownPrograms::builtin();
        return programs.is_launcher(trace.program) ? 2 : programs.is_utility(trace.program) ? 1 : 0;
    };
    const auto has_name = [&](const RunTrace& trace) { return trace.path == output.shown; };
    if (std::ranges::any_of(traces, has_name)) return;
    RunTrace& first = *std::ranges::min_element(
        traces, {}, [&](const RunTrace& trace) { return std::pair(rank(trace), trace.start_ticks); });
    if (rank(first) == 0) return;
    const unsigned flags = output.earlier.contains(output.shown) ? 0 : RENAME_NOREPLACE;
    if (renameat2(AT_FDCWD, first.path.c_str(), AT_FDCWD, output.path.c_str(), flags) == 0)
        first.path = output.shown;
}

}  // namespace

Outcome close_run(Output& output, const std::string& run, const Program& program, const ProgramEnd& end,
                  Starter& starter) {
    auto living = await_agents(run);
    starter.let_end();
    output.name.gather();
    auto traces = find_traces(output.shown, run, output.name.users(), living);
    if (living.empty()) name_after_run(output, traces);
    for (const RunTrace& trace : traces)
        output.written.push_back(trace.path);
    report_to_outer_recording(output.written);
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

namespace {

namespace fs = std::filesystem;

std::string as_seen_from_here(const std::string& path) {
    std::error_code error;
    const fs::path here = fs::current_path(error);
    const fs::path relative = fs::path(path).lexically_relative(here);
    return error || relative.empty() || *relative.begin() == ".." ? path : relative.string();
}

}  // namespace

void report_to_outer_recording(const std::vector<std::string>& traces) {
    const char* output = std::getenv("RDAM_OUTPUT");
    const char* run = std::getenv("RDAM_RUN");
    if (traces.empty() || output == nullptr || run == nullptr || *output != '/' || *run == '\0') return;
    trace::NameLock outer(output, run);
    for (const std::string& trace : traces)
        outer.tell_inner(absolute(trace));
}

std::string describe_inner(const std::string& told) {
    std::istringstream lines(told);
    std::string names;
    for (std::string path; std::getline(lines, path);)
        names += (names.empty() ? "" : ", ") + printable(as_seen_from_here(path));
    return fmt::format("the program ran `rdam record` itself, and that recording is in {}", names);
}

namespace {

/// The folder of a pattern can be looked at before its processes know their names, if it is not one itself.
bool has_known_folder(const Output& output) {
    std::error_code error;
    const std::filesystem::path path(output.path);
    return path.parent_path().string().find('%') == std::string::npos &&
           !std::filesystem::exists(path, error);
}

}  // namespace

Result<Output> claim_output(const std::string& wanted, const std::string& run) {
    if (wanted.empty()) return fail("-o needs the name of a file");
    if (wanted == "-")
        return fail(
            "-o -: a trace cannot go to standard output, where it would be mixed with what the program "
            "prints: name a file (./- for one that is called -)");
    Output output{
        .shown = wanted, .path = absolute(wanted), .is_pattern = wanted.find('%') != std::string::npos};
    if (!output.path.starts_with('/'))
        return fail(
            "cannot write the trace to {}: the current directory no longer exists; change to another, or "
            "give a full path with -o",
            wanted);
    output.name = trace::NameLock(output.path, run);
    if (!output.is_pattern && output.name.state() == trace::NameLock::State::taken) {
        output.shown = trace::name_beside(wanted, static_cast<unsigned>(getpid()));
        output.path = absolute(output.shown);
        output.name = trace::NameLock(output.path, run);
    }
    if (!output.is_pattern || has_known_folder(output))
        if (const auto there = trace::check_place(output.path, output.name); !there)
            return tl::unexpected(there.error());
    output.earlier = find_earlier(output.shown);
    return output;
}

}  // namespace rdam
