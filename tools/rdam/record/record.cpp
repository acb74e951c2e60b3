// `rdam record`: runs a program under librdam.so.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "analyzer/trace/write/trace_name.h"
#include "libprobe/format/settings.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/option_values.h"
#include "tools/rdam/record/outer_recording.h"
#include "tools/rdam/record/program.h"
#include "tools/rdam/record/run_traces.h"
#include "tools/rdam/record/starter.h"
#include "wrappers/list/function_list.h"
#include "wrappers/support/printable.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

struct Options {
    const CLI::App* app = nullptr;
    std::string functions;
    const CLI::Option* functions_given = nullptr;
    std::string output = "trace.bin";
    const CLI::Option* output_given = nullptr;
    std::array<std::string, settings::kCount> values;  ///< by settings::Id; empty: not given
    bool all_calls = false;
    bool no_arguments = false;
    bool no_children = false;
    bool verbose = false;
};

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The list from standard input, for every process of the run: a file that exists as long as this process or,
/// if kept, permanently.
class TemporaryList {
  public:
    TemporaryList() = default;
    TemporaryList(const TemporaryList&) = delete;
    TemporaryList& operator=(const TemporaryList&) = delete;
    ~TemporaryList() {
        if (!path_.empty()) unlink(path_.c_str());
    }

    Result<std::string> write(const FunctionList& list) {
        std::error_code error;
        std::string path = (fs::temp_directory_path(error) / "rdam-list-XXXXXX").string();
        const int fd = mkostemp(path.data(), O_CLOEXEC);
        if (fd < 0)
            return fail("cannot store the list of functions in {}: {}; set TMPDIR", path,
                        std::strerror(errno));
        close(fd);
        path_ = path;
        std::ofstream file(path);
        for (const ListEntry& entry : list.entries)
            file << entry.text << (entry.added_wait ? "  # wait\n" : "\n");
        file.close();
        if (!file) return fail("cannot store the list of functions in {}: no room; set TMPDIR", path);
        return path;
    }

    void keep() { path_.clear(); }

  private:
    std::string path_;
};

/// librdam.so relative to this program: the build tree's, or the installed one's.
Result<std::string> find_library() {
    std::error_code error;
    const auto own = own_path();
    if (!own) return tl::unexpected(own.error());
    for (const char* place : {"../../libprobe/librdam.so", "../" RDAM_LIBDIR "/librdam.so"}) {
        const fs::path candidate = (fs::path{*own}.parent_path() / place).lexically_normal();
        if (fs::exists(candidate, error)) return candidate.string();
    }
    return fail("librdam.so is not where it was installed with {}: reinstall rdam", *own);
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const fs::path full = fs::absolute(path, error);
    return error ? path : full.lexically_normal().string();
}

/// What RDAM_FUNCTIONS is to be, so that every process of the run reads the same list wherever it has
/// gone.
Result<std::string> list_value(const std::string& functions, TemporaryList& temporary) {
    const auto list = load_function_list(functions);
    if (!list) return tl::unexpected(list.error());
    if (functions == "-") return temporary.write(*list);
    return is_list_file(functions) ? absolute(functions) : functions;
}

/// The pid and the time: no two runs have the same.
std::string run_name() {
    return fmt::format("{}-{}", getpid(), std::chrono::system_clock::now().time_since_epoch().count());
}

/// The recorder comes before what the user preloads, and AddressSanitizer's runtime before everything.
std::string preloads(const std::string& library, const std::string& sanitizer) {
    std::string all = sanitizer.empty() ? library : sanitizer + ":" + library;
    const char* before = std::getenv("LD_PRELOAD");
    if (before != nullptr && *before != '\0') all += std::string{":"} + before;
    return all;
}

/// Where the trace goes, and the run's hold on that name, from before the program starts until its files
/// have been listed.
struct Output {
    std::string shown;  ///< as the user has written it
    std::string path;   ///< absolute
    trace::NameLock name = {};
    bool is_pattern = false;  ///< each process fills it in for itself, and holds the name that it gets
    std::set<std::string> earlier = {};  ///< traces that may be replaced
};

/// The option wins over the variable.
std::string wanted_output(const Options& options) {
    const char* variable = std::getenv("RDAM_OUTPUT");
    if (options.output_given->count() > 0 || variable == nullptr || *variable == '\0') return options.output;
    return variable;
}

Result<Output> claim_output(const std::string& wanted, const std::string& run) {
    if (wanted.empty()) return fail("-o needs the name of a file");
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
        fmt::print(stderr, "rdam: another recording is writing {}: this one goes to {}\n", printable(wanted),
                   printable(output.shown));
    }
    if (!output.is_pattern)
        if (const auto there = trace::check_place(output.path, output.name); !there)
            return tl::unexpected(there.error());
    output.earlier = find_earlier(output.shown);
    return output;
}

Result<Variables> make_variables(const Options& options, const std::string& preloaded,
                                 const std::string& output, const std::string& run,
                                 TemporaryList& temporary) {
    Variables variables;
    variables.emplace_back("LD_PRELOAD", preloaded);
    if (options.functions_given->count() > 0) {
        const auto list = list_value(options.functions, temporary);
        if (!list) return tl::unexpected(list.error());
        variables.emplace_back("RDAM_FUNCTIONS", *list);
    }
    variables.emplace_back("RDAM_OUTPUT", output);
    variables.emplace_back("RDAM_RUN", run);
    for (const settings::Setting& each : settings::kTable)
        if (const std::string& value = options.values[static_cast<std::size_t>(each.id)]; !value.empty())
            variables.emplace_back(each.variable, value);
    if (options.all_calls) variables.emplace_back("RDAM_ALL_CALLS", "1");
    if (options.no_arguments) variables.emplace_back("RDAM_ARGS", "0");
    // Under a program that is recorded alone, what we start is not that one's child but a run of its own.
    const char* inherited = std::getenv("RDAM_CHILDREN");
    if (options.no_children || (inherited != nullptr && std::string_view{inherited} == "-"))
        variables.emplace_back("RDAM_CHILDREN", options.no_children ? "0" : "1");
    if (options.verbose) variables.emplace_back("RDAM_VERBOSE", "1");
    return variables;
}

std::string size_text(std::uint64_t bytes) {
    constexpr double kKilo = 1e3;
    const auto value = static_cast<double>(bytes);
    return value < kKilo * kKilo ? fmt::format("{:.1f} kB", value / kKilo)
                                 : fmt::format("{:.1f} MB", value / kKilo / kKilo);
}

std::string plural(std::uint64_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string describe(const RunTrace& trace, bool replaced) {
    return fmt::format("rdam: {}: {}: {} in {}, {}{}\n", printable(trace.path), printable(trace.program),
                       plural(trace.functions, "function"), plural(trace.threads, "thread"),
                       size_text(trace.bytes), replaced ? ", replacing the trace of an earlier run" : "");
}

/// Why there is no trace; empty if there was nothing to be recorded.
std::string why_none(const Output& output) {
    if (std::string failure = output.name.failure(); !failure.empty()) return failure;
    return output.name.has_events()
               ? "rdam-agent was killed, or the trace was removed while it was being written"
               : "";
}

/// Whether nothing was wrapped in a program that starts others, which runs whether or not it has a listed
/// function.
bool none_was_wrapped(const Output& output, const Program& program) {
    return program.starts_others && !output.is_pattern &&
           output.name.state() == trace::NameLock::State::held && !output.name.has_plan();
}

enum class Outcome : std::uint8_t {
    whole,
    incomplete,       ///< not all that was recorded is in the traces
    nothing_wrapped,  ///< no program of the run was recorded, as a program that nobody else starts is not run
};

/// Reports which traces exist and which are missing.
Outcome report(const Output& output, const std::string& run, const Program& program, int status) {
    auto living = await_agents(run);
    const auto traces = find_traces(output.shown, run, living);
    std::vector<std::string> written;
    for (const RunTrace& trace : traces)
        written.push_back(trace.path);
    tell_outer_recording(written);
    const std::string inner = output.name.inner();
    std::string elsewhere = describe(living);
    if (!inner.empty() && !traces.empty()) elsewhere += "rdam: " + describe_inner(inner) + "\n";
    if (!inner.empty() && traces.empty())
        elsewhere += "rdam: no trace was written here: " + describe_inner(inner) + "\n";
    std::string missing = why_none(output);
    if (traces.empty() && !elsewhere.empty() && output.name.failure().empty()) {
        std::fputs(elsewhere.c_str(), stderr);
        return Outcome::whole;
    }
    if (traces.empty() && missing.empty()) {
        const bool none = none_was_wrapped(output, program);
        const bool refused = !program.starts_others && status == kExitBadInput;
        fmt::print(stderr, "rdam: {}no trace was written{}\n",
                   none      ? "no program of the run contained a function on the list: "
                   : refused ? ""
                             : "no wrapped function was called: ",
                   none && status != 0 ? fmt::format(" (the run ended with exit code {})", status) : "");
        return none ? Outcome::nothing_wrapped : Outcome::whole;
    }
    if (traces.empty()) missing = "no trace was written: " + missing;
    bool whole = output.name.failure().empty() && !traces.empty();
    for (const RunTrace& trace : traces) {
        std::fputs(describe(trace, output.earlier.contains(trace.path)).c_str(), stderr);
        if (trace.unfinished) {
            whole = false;
            fmt::print(stderr,
                       "rdam: {}: rdam-agent was killed: the trace has about {} up to then, and the rest is "
                       "lost; record again\n",
                       printable(trace.path), plural(trace.events, "event"));
        }
        if (!trace.killed) continue;
        for (const std::string& remark : trace.remarks)
            if (remark != missing) fmt::print(stderr, "rdam: {}\n", printable(remark));
    }
    std::fputs(elsewhere.c_str(), stderr);
    if (traces.empty() || !output.name.failure().empty())
        fmt::print(stderr, "rdam: {}\n", printable(missing));
    return whole ? Outcome::whole : Outcome::incomplete;
}

Result<int> run(const Options& options) {
    const std::vector<std::string> command = options.app->remaining();
    if (command.empty()) return fail("no program to record: rdam record [OPTIONS] PROGRAM [ARGUMENTS]");
    const auto program = find_program(command);
    if (!program) return tl::unexpected(program.error());
    if (const char* audit = std::getenv("LD_AUDIT"); audit != nullptr && *audit != '\0')
        return fail("LD_AUDIT is set, and leaves librdam.so too little thread-local storage; unset it");
    if (options.functions_given->count() > 0 &&
        options.functions.find_first_not_of(", \t") == std::string::npos)
        return fail("-f names no function; give names separated by commas, or a list file");
    const std::string name = run_name();
    const auto output = claim_output(wanted_output(options), name);
    if (!output) return tl::unexpected(output.error());
    const auto library = find_library();
    if (!library) return tl::unexpected(library.error());
    TemporaryList temporary;
    const auto variables =
        make_variables(options, preloads(*library, program->sanitizer), output->path, name, temporary);
    if (!variables) return tl::unexpected(variables.error());
    Starter starter(*library);
    auto status = run_program(*program, *variables);
    if (!status) return status;
    const Outcome outcome = report(*output, name, *program, *status);
    if (starter.end()) temporary.keep();
    if (outcome == Outcome::nothing_wrapped) return kExitBadInput;
    return *status == 0 && outcome != Outcome::whole ? kExitBadInput : *status;
}

/// What is wrong with the value; empty: nothing.
std::string objection(const settings::Setting& setting, const std::string& text) {
    std::uint64_t number = 0;
    if (!text.empty() && settings::parse(setting, text, number)) return {};
    if (setting.kind == settings::Kind::share && settings::parse(setting, text + "%", number))
        return fmt::format("'{0}' may mean {0}% or {0} times: write {0}%, or a share up to 1", text);
    return fmt::format("'{}' is not {}", text, setting.right);
}

CLI::Validator values_of(const settings::Setting& setting) {
    if (setting.kind == settings::Kind::choice) {
        std::vector<std::string> words;
        for (std::string_view word; !(word = settings::choice(setting.choices, words.size())).empty();)
            words.emplace_back(word);
        return one_of(words);
    }
    return {[&setting](const std::string& text) { return objection(setting, text); }, "VALUE"};
}

}  // namespace

Run add_record(CLI::App& app) {
    auto options = std::make_shared<Options>();
    options->app = &app;
    options->functions_given =
        app.add_option("-f,--functions", options->functions,
                       "Functions to record: a list file, - for standard input, or comma-separated names")
            ->option_text("LIST");
    options->output_given = app.add_option("-o,--output", options->output,
                                           "Write the trace to FILE; %p stands for the pid, %h for the host, "
                                           "%r for the MPI or Slurm rank")
                                ->option_text("FILE [$RDAM_OUTPUT, else trace.bin]");
    for (const settings::Setting& each : settings::kTable) {
        if (each.option.empty()) continue;
        app.add_option(std::string{each.option}, options->values[static_cast<std::size_t>(each.id)],
                       std::string{each.help})
            ->option_text(std::string{each.takes})
            ->check(values_of(each));
    }
    app.add_flag("--all-calls", options->all_calls,
                 "Record every call to functions marked ~ in the list instead of sampling them");
    app.add_flag("--no-args", options->no_arguments, "Do not record parameters or return values");
    app.add_flag("--no-children", options->no_children,
                 "Record only the program, not the processes it forks or anything that it or they execute");
    app.add_flag("-v,--verbose", options->verbose, "Report what became of each function on the list");
    return [options] { return run(*options); };
}

}  // namespace rdam
