// `rdam doctor`: what works on this machine, and what to type where something does not.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "tools/base/child_process.h"
#include "tools/base/files.h"
#include "tools/base/printable.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/record/perf.h"
#include "tools/rdam/record/program.h"
#include "tools/trace/reader.h"
#include "wrappers/catalogue/known_programs.h"
#include "wrappers/object/managed_code.h"
#include "wrappers/object/object_file.h"

namespace rdam {
namespace {

constexpr std::size_t kMaxOutput = std::size_t{1} << 20U;
constexpr long kMseal = 462;  // which older headers do not know

/// One line of the answer.
struct Finding {
    enum class State : std::uint8_t {
        works,
        missing,  ///< rdam works without it, and says less
        fails     ///< nothing can be recorded
    };
    std::string_view what;
    State state = State::works;
    std::string text;         ///< what was found, or why not
    std::string remedy = {};  ///< what to type
};

std::string first_line(std::string_view text) {
    return printable(text.substr(0, text.find('\n')));
}

/// A recording of this very program, by which everything that a recording needs is tried at once.
Result<trace::TraceInfo> record_something(const TemporaryFolder& place) {
    const auto own = own_path();
    if (!own) return tl::unexpected(own.error());
    const std::string output = place.file("trace.bin");
    const auto ran = run_child({*own, "record", "-f", "libc.so.6:write", "--counters", "instructions", "-o",
                                output, "--", *own, "--version"},
                               {}, kMaxOutput);
    if (!ran) return tl::unexpected(ran.error());
    const auto reader = trace::TraceReader::open(output);
    if (ran->exit_code != 0 || !reader)
        return fail("{}", ran->err.empty() ? fmt::format("rdam record ended with {}", ran->exit_code)
                                           : first_line(ran->err));
    if (reader->events() == 0) return fail("the trace of a program that calls write() is empty");
    return reader->info();
}

Finding look_at_clock(const trace::ClockInfo& clock) {
    constexpr double kNano = 1e9;
    const double nanoseconds = clock.floor_ticks / clock.ticks_per_second * kNano;
    if (clock.source == "monotonic")
        return {"clock", Finding::State::missing,
                fmt::format("the kernel does not trust the time-stamp counter: {:.0f} ns for two timestamps",
                            nanoseconds),
                "record functions of a microsecond or more; shorter ones cannot be scored here"};
    return {"clock", Finding::State::works,
            fmt::format("{}, {:.0f} ns for two timestamps", clock.source, nanoseconds)};
}

Finding look_at_switches(const trace::SwitchInfo& switches) {
    constexpr std::string_view kWhat = "context switches";
    if (switches.state != trace::SwitchInfo::State::unavailable)
        return {kWhat, Finding::State::works,
                "recorded: waiting and preemption are distinguished from slow work"};
    return {kWhat, Finding::State::missing, switches.reason,
            "hints cannot say whether a thread waited or was preempted"};
}

Finding look_at_counters(const trace::CounterInfo& counters) {
    constexpr std::string_view kWhat = "instructions";
    if (counters.state == trace::CounterInfo::State::counted)
        return {kWhat, Finding::State::works, "counted with rdam record --counters=instructions"};
    return {kWhat, Finding::State::missing, counters.reason,
            "hints cannot distinguish more work from slower work"};
}

Finding look_at_perf(const TemporaryFolder& place) {
    constexpr std::string_view kWhat = "perf";
    if (auto trouble = try_perf(place))
        return {kWhat, Finding::State::missing, std::move(trouble->what),
                trouble->remedy + ", or name the functions yourself: rdam record -f f,g -- ./app"};
    return {kWhat, Finding::State::works, "sampling works: perf record -g ./app"};
}

/// Why functions of the file at `path` have no parameters, and static ones no names; nothing: they have.
std::optional<std::string> lacks_symbols(const std::string& path) {
    const auto object = ObjectFile::open(path);
    if (!object) return object.error().message;
    if (object->debug_image() != nullptr) return {};
    const bool named = object->symbol_source() != SymbolSource::exported_only;
    return fmt::format("{} has no debug information{}", path, named ? "" : " and only exported names");
}

Finding look_at_libc(const trace::TraceInfo& info) {
    constexpr std::string_view kWhat = "symbols of libc";
    const auto libc = std::ranges::find_if(
        info.objects, [](const auto& object) { return file_name(object.path).starts_with("libc.so"); });
    if (libc == info.objects.end())
        return {kWhat, Finding::State::missing, "the program has no libc.so", "record functions by name"};
    if (const auto lack = lacks_symbols(libc->path))
        return {kWhat, Finding::State::missing, *lack,
                "apt-get install libc6-dbg for libc's internal functions on the list and in call stacks"};
    return {kWhat, Finding::State::works, "found"};
}

/// Whether the kernel lets a process write to code that it has sealed, which has no other way back.
bool may_write_sealed_code() {
    constexpr std::size_t kPage = 4096;
    void* const page = mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    const bool sealed = page != MAP_FAILED && syscall(kMseal, page, kPage, 0) == 0;
    const bool may = sealed && memory >= 0 &&
                     pwrite(memory, "x", 1, static_cast<off_t>(reinterpret_cast<std::uintptr_t>(page))) == 1;
    if (memory >= 0) close(memory);
    return may;
}

/// A kernel before 6.10 has no seals.
std::optional<Finding> look_at_seals() {
    constexpr std::string_view kWhat = "sealed code";
    if (syscall(kMseal, 0, 0, 0) != 0 && errno == ENOSYS) return {};
    // The seal stays as long as the process.
    const pid_t child = fork();
    if (child == 0) _exit(may_write_sealed_code() ? 0 : 1);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return {};
    if (WEXITSTATUS(status) == 0)
        return Finding{kWhat, Finding::State::works, "programs that seal their code (mseal) can be recorded"};
    return Finding{kWhat, Finding::State::missing,
                   "the kernel does not let /proc/self/mem write to it: functions in code that a program has "
                   "sealed (mseal) cannot be wrapped",
                   "boot with proc_mem.force_override=always, or let the program not seal its code"};
}

/// A program that starts others is recorded with them.
Finding describe_starter(const Program& program) {
    constexpr std::string_view kOthers =
        "what it starts can be recorded, except static, set-user-ID, 32-bit, musl and Go programs";
    constexpr std::string_view kWhat = "program";
    const std::string name(file_name(program.judged));
    if (!program.strips.empty())
        return {kWhat, Finding::State::missing, fmt::format("{} {}", program.path, program.strips),
                fmt::format("start rdam behind it: {} rdam record … -- PROGRAM", name)};
    const std::string subject =
        program.is_script ? fmt::format("{} is a script for {}", program.path, program.judged) : program.path;
    if (KnownPrograms::builtin().is_launcher(program.judged))
        return {kWhat, Finding::State::works,
                fmt::format("{}{}: {}", subject, program.is_script ? "" : " starts other programs", kOthers)};
    return {
        kWhat, Finding::State::works,
        fmt::format("{}{}: functions of {} and its libraries can be recorded, not those of the script; {}",
                    subject, program.is_script ? "" : " runs scripts", name, kOthers)};
}

/// Code that rdam record refuses whatever the list says.
std::vector<Finding> look_at_runtimes(const std::string& path) {
    std::vector<Finding> findings;
    const auto object = ObjectFile::open(path);
    if (!object) return findings;
    const ManagedCode managed{*object};
    for (const ManagedRuntime* runtime : managed.runtimes()) {
        findings.push_back(
            {"its functions", Finding::State::missing,
             fmt::format("{}: each function of it {}", runtime->name, runtime->reason),
             "name functions of C libraries and of the runtime, which is written in C: rdam record -f "
             "write,pthread_mutex_lock"});
    }
    return findings;
}

std::vector<Finding> look_at_program(const std::string& name) {
    const auto program = find_program({name});
    std::vector<Finding> findings;
    if (!program) {
        findings.push_back({"program", Finding::State::fails, program.error().message});
        // A library may be asked about, too: an image that Mono has compiled ahead of time.
        std::ranges::move(look_at_runtimes(name), std::back_inserter(findings));
        return findings;
    }
    if (program->starts_others) return {describe_starter(*program)};
    findings.push_back({"program", Finding::State::works, fmt::format("{} can be recorded", program->path)});
    std::ranges::move(look_at_runtimes(program->path), std::back_inserter(findings));
    if (const auto lack = lacks_symbols(program->path))
        findings.push_back({"its symbols", Finding::State::missing, *lack,
                            "compile with -g for parameters and for source lines in call stacks"});
    else
        findings.push_back({"its symbols", Finding::State::works, "found"});
    return findings;
}

std::vector<Finding> examine(const TemporaryFolder& place, const std::string& program) {
    std::vector<Finding> findings;
    const auto info = record_something(place);
    if (info) {
        findings.push_back({"recording", Finding::State::works, "recorded a call to write()"});
        findings.push_back(look_at_clock(info->clock));
        findings.push_back(look_at_switches(info->switches));
        findings.push_back(look_at_counters(info->counters));
        findings.push_back(look_at_libc(*info));
    } else {
        std::string why = info.error().message;
        if (why.starts_with("rdam: ")) why.erase(0, std::strlen("rdam: "));
        findings.push_back({"recording", Finding::State::fails, why});
    }
    if (auto seals = look_at_seals()) findings.push_back(*std::move(seals));
    findings.push_back(look_at_perf(place));
    if (!program.empty()) {
        auto more = look_at_program(program);
        std::ranges::move(more, std::back_inserter(findings));
    }
    return findings;
}

std::string_view word_for(Finding::State state) {
    switch (state) {
        case Finding::State::works:
            return "ok";
        case Finding::State::missing:
            return "no";
        case Finding::State::fails:
            break;
    }
    return "FAILS";
}

void print(const Finding& finding) {
    constexpr std::string_view kIndent = "                         ";
    fmt::print("{:<17} {:<6} {}\n", finding.what, word_for(finding.state), printable(finding.text));
    if (!finding.remedy.empty()) fmt::print("{}{}\n", kIndent, finding.remedy);
}

Result<int> run_doctor(const std::string& program) {
    const auto place = TemporaryFolder::create("doctor");
    if (!place) return tl::unexpected(place.error());
    const auto findings = examine(*place, program);
    for (const Finding& finding : findings)
        print(finding);
    const auto fails = [](const Finding& finding) { return finding.state == Finding::State::fails; };
    return std::ranges::any_of(findings, fails) ? kExitBadInput : kExitDone;
}

}  // namespace

Run add_doctor(CLI::App& app) {
    auto program = std::make_shared<std::string>();
    app.add_option("program", *program, "Program to check; it is inspected, not run");
    return [program] { return run_doctor(*program); };
}

}  // namespace rdam
