// `rdam record`: runs a program under librdam.so.
#include "tools/rdam/record/record.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "libprobe/format/settings.h"
#include "tools/base/printable.h"
#include "tools/base/result.h"
#include "tools/base/units.h"
#include "tools/base/unmovable.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/option_values.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/record/closing.h"
#include "tools/rdam/record/program.h"
#include "tools/rdam/record/starter.h"
#include "tools/trace/trace_name.h"
#include "wrappers/find/function_list.h"

namespace rdam {
namespace {

// librdam.so, and how the dynamic linker is told of it.

/// LD_PRELOAD splits at blanks and colons, and knows no way to quote them. A library with such a path is
/// reached by a link in a folder of its own, which is gone with this.
class PreloadLink : private Unmovable {
  public:
    PreloadLink() = default;
    ~PreloadLink();

    /// A path of `library` that LD_PRELOAD can hold.
    Result<std::string> path_of(const std::string& library);

    /// For processes that outlive the run.
    void keep() { folder_.clear(); }

  private:
    std::string folder_;
};

namespace fs = std::filesystem;

constexpr std::string_view kSeparators = " :";

bool splits(const std::string& path) {
    return path.find_first_of(kSeparators) != std::string::npos;
}

/// A new folder that every user of the run may enter; empty: there is none.
std::string make_folder() {
    constexpr mode_t kMode = 0755;
    std::error_code error;
    for (const std::string& place :
         {fs::temp_directory_path(error).string(), std::string{"/tmp"}, std::string{"/dev/shm"}}) {
        std::string folder = place + "/rdam-preload-XXXXXX";
        if (place.empty() || splits(place) || mkdtemp(folder.data()) == nullptr) continue;
        if (chmod(folder.c_str(), kMode) == 0) return folder;
        rmdir(folder.c_str());
    }
    return {};
}

/// librdam.so relative to this program: the build tree's, or the installed one's.
Result<std::string> find_library() {
    std::error_code error;
    const auto own = own_path();
    if (!own) return tl::unexpected(own.error());
    for (const char* place : {"../../libprobe/librdam.so", "../" RDAM_LIBDIR "/librdam.so"}) {
        const fs::path candidate = (fs::path{*own}.parent_path() / place).lexically_normal();
        if (fs::exists(candidate, error)) return candidate.string();
    }
    return fail("librdam.so is not where {} expects it: reinstall rdam", *own);
}

PreloadLink::~PreloadLink() {
    if (folder_.empty()) return;
    unlink((folder_ + "/lib").c_str());
    rmdir(folder_.c_str());
}

Result<std::string> PreloadLink::path_of(const std::string& library) {
    if (!splits(library)) return library;
    folder_ = make_folder();
    const fs::path path(library);
    // The folder, not the file: rdam-agent is found beside it.
    const std::string link = folder_ + "/lib";
    if (folder_.empty() || symlink(path.parent_path().c_str(), link.c_str()) != 0)
        return fail(
            "{}: LD_PRELOAD, by which the recorder is loaded, splits this path at its blank or colon, and no "
            "link can be made in TMPDIR or /tmp: install rdam elsewhere",
            library);
    return link + "/" + path.filename().string();
}

/// The value of LD_PRELOAD: the recorder comes before what the user preloads, and AddressSanitizer's runtime
/// before everything.
std::string preloads(const std::string& library, const std::string& sanitizer) {
    std::string all = sanitizer.empty() ? library : sanitizer + ":" + library;
    const char* before = std::getenv("LD_PRELOAD");
    if (before != nullptr && *before != '\0') all += std::string{":"} + before;
    return all;
}

using Variables = std::vector<std::pair<std::string, std::string>>;

/// The list from standard input, for every process of the run: a file that exists as long as this process or,
/// if kept, permanently.
class TemporaryList : private Unmovable {
  public:
    TemporaryList() = default;
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

/// What RDAM_FUNCTIONS is to be, so that every process of the run reads the same list wherever it has
/// gone. `coverage`: what the list says of itself.
Result<std::string> list_value(const std::string& functions, TemporaryList& temporary,
                               std::string& coverage) {
    const auto list = load_function_list(functions, "-f");
    if (!list) return tl::unexpected(list.error());
    coverage = list->coverage;
    if (functions == "-") return temporary.write(*list);
    if (!is_list_file(functions)) return functions;
    if (functions.find_first_of("/.") == std::string::npos)
        say(fmt::format("the list is the file {0}; '{0},' (with a comma) is a function of that name",
                        functions));
    return absolute(functions);
}

/// The pid and the time: no two runs have the same.
std::string run_name() {
    return fmt::format("{}-{}", getpid(), std::chrono::system_clock::now().time_since_epoch().count());
}

/// … and what only the processes of the run know.
std::string with_secret(const std::string& name) {
    std::array<std::uint64_t, 2> secret{};
    if (getrandom(secret.data(), sizeof secret, 0) != sizeof secret) return name;
    return fmt::format("{}{}{:016x}{:016x}", name, trace::kSecretMark, secret[0], secret[1]);
}

Result<Variables> make_variables(const RecordOptions& options, const std::string& preloaded,
                                 const std::string& output, const std::string& run, TemporaryList& temporary,
                                 std::string& coverage) {
    Variables variables;
    variables.emplace_back("LD_PRELOAD", preloaded);
    if (options.functions) {
        const auto list = list_value(*options.functions, temporary, coverage);
        if (!list) return tl::unexpected(list.error());
        variables.emplace_back("RDAM_FUNCTIONS", *list);
    }
    variables.emplace_back("RDAM_OUTPUT", output);
    variables.emplace_back("RDAM_RUN", run);
    for (const settings::Setting& each : settings::kTable)
        if (const std::string& value = options.value(each.id); !value.empty())
            variables.emplace_back(each.variable, value);
    // Under a program that is recorded alone, what we start is not that one's child but a run of its own.
    const char* inherited = std::getenv("RDAM_CHILDREN");
    if (options.value(settings::Id::children).empty() && inherited != nullptr &&
        std::string_view{inherited} == "-")
        variables.emplace_back("RDAM_CHILDREN", "1");
    return variables;
}

/// What librdam.so needs and some more, for the program's libraries: with an auditor, all thread-local
/// storage of a program has to go into what glibc keeps for libraries that are loaded later.
constexpr unsigned long long kStorageBesideAuditor = 16384;

/// Whether the user has made enough room there: the last of the tunables of this name counts.
bool has_room_beside_auditor() {
    constexpr std::string_view kName = "glibc.rtld.optional_static_tls=";
    const char* given = std::getenv("GLIBC_TUNABLES");
    std::string_view tunables = given == nullptr ? "" : given;
    unsigned long long bytes = 0;
    while (!tunables.empty()) {
        const std::string_view each = tunables.substr(0, tunables.find(':'));
        if (each.substr(0, kName.size()) == kName)
            bytes = std::strtoull(std::string{each.substr(kName.size())}.c_str(), nullptr, 0);
        tunables.remove_prefix(std::min(tunables.size(), each.size() + 1));
    }
    return bytes >= kStorageBesideAuditor;
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

std::string wanted_output(const RecordOptions& options) {
    if (options.output) return *options.output;
    const char* variable = std::getenv("RDAM_OUTPUT");
    return variable == nullptr || *variable == '\0' ? "trace.bin" : variable;
}

Result<Recorded> record_program(const std::vector<std::string>& command, const RecordOptions& options) {
    const Signals signals;
    if (command.empty()) return fail("no program to record: rdam record [OPTIONS] PROGRAM [ARGUMENTS]");
    const auto library = find_library();
    if (!library) return tl::unexpected(library.error());
    // It begins beside all that follows.
    Starter starter(*library, options.functions.has_value());
    auto program = find_program(command);
    if (!program) return tl::unexpected(program.error());
    program->alone = !options.value(settings::Id::children).empty();
    if (const char* audit = std::getenv("LD_AUDIT");
        audit != nullptr && *audit != '\0' && !has_room_beside_auditor())
        return fail(
            "LD_AUDIT is set, and leaves librdam.so too little thread-local storage; unset it, or set "
            "GLIBC_TUNABLES=glibc.rtld.optional_static_tls={}",
            kStorageBesideAuditor);
    const std::string name = run_name();
    const std::string whole_name = with_secret(name);
    const std::string wanted = wanted_output(options);
    auto output = claim_output(wanted, whole_name);
    if (!output) return tl::unexpected(output.error());
    if (output->shown != wanted)
        say(fmt::format("another recording is writing {}: this one goes to {}", wanted, output->shown));
    PreloadLink link;
    const auto preloaded = link.path_of(*library);
    if (!preloaded) return tl::unexpected(preloaded.error());
    TemporaryList temporary;
    std::string coverage;
    const auto variables = make_variables(options, preloads(*preloaded, program->sanitizer), output->path,
                                          whole_name, temporary, coverage);
    if (!variables) return tl::unexpected(variables.error());
    program->starter = starter.token();
    const auto end = run_program(*program, *variables);
    if (!end) return tl::unexpected(end.error());
    const Outcome outcome = close_run(*output, name, *program, *end, starter);
    if (starter.end()) {
        temporary.keep();
        link.keep();
    }
    const bool failed =
        outcome == Outcome::nothing_wrapped || (end->status == 0 && outcome != Outcome::whole);
    return Recorded{.status = failed ? kExitBadInput : end->status,
                    .of_program = end->status,
                    .traces = std::move(output->written),
                    .coverage = std::move(coverage)};
}

Result<int> analyze_recorded(const Recorded& recorded) {
    std::vector<std::string> arguments{"analyze", "--"};
    arguments.insert(arguments.end(), recorded.traces.begin(), recorded.traces.end());
    const auto end = run_rdam(std::move(arguments));
    if (!end) return tl::unexpected(end.error());
    // Where little was recorded, what has lost nothing says little of the program.
    if (!recorded.coverage.empty()) say(fmt::format("by the list's own first line, {}", recorded.coverage));
    constexpr std::size_t kMost = 3;
    const std::span named{recorded.traces.data(), std::min(recorded.traces.size(), kMost)};
    const std::string first = command_text({recorded.traces.front()});
    say(
        fmt::format("go on with rdam analyze -i {} (on a screen), rdam report {}{} (a page for a browser) or "
                    "rdam explain {} "
                    "(in few words)",
                    first, command_text({named.begin(), named.end()}),
                    recorded.traces.size() > kMost ? " …" : "", first));
    return recorded.status == 0 ? end->status : recorded.status;
}

void add_recorder_settings(CLI::App& app, RecordOptions& options) {
    for (const settings::Setting& each : settings::kTable) {
        const std::string name{each.option}, help{each.help};
        std::string& value = options.value(each.id);
        if (each.kind == settings::Kind::flag)
            app.add_flag_callback(
                name, [&] { value = settings::unset_value(each) == 0 ? "1" : "0"; }, help);
        else if (!name.empty())
            app.add_option(name, value, help)->option_text(std::string{each.takes})->check(values_of(each));
    }
    app.get_option("--all-calls")->excludes(app.get_option("--max-overhead"));
}

Run add_record(CLI::App& app) {
    auto options = std::make_shared<RecordOptions>();
    app.add_option("-f,--functions", options->functions,
                   "Functions to record: a list file, - for standard input, or comma-separated names")
        ->option_text("LIST");
    app.add_option(
           "-o,--output", options->output,
           "Write the trace to FILE; %p stands for the pid, %h for the host, %r for the MPI or Slurm rank")
        ->option_text("FILE [$RDAM_OUTPUT, else trace.bin]");
    const auto analyzes = std::make_shared<bool>(false);
    app.add_flag("--analyze", *analyzes, "Print the report when the program has ended, as rdam analyze does");
    add_recorder_settings(app, *options);
    return [options, analyzes, &app]() -> Result<int> {
        const auto recorded = record_program(app.remaining(), *options);
        if (!recorded) return tl::unexpected(recorded.error());
        return *analyzes && !recorded->traces.empty() ? analyze_recorded(*recorded)
                                                      : Result<int>{recorded->status};
    };
}

}  // namespace rdam
