// `rdam run`: the whole way from a program to its scores.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/base/files.h"
#include "tools/base/result.h"
#include "tools/base/unmovable.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/record/program.h"
#include "tools/rdam/record/record.h"

namespace rdam {
namespace {

/// run_program() ignores what the terminal sends; the next program is to get it again.
class Signals : private Unmovable {
  public:
    Signals() {
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], nullptr, &before_[i]);
    }
    ~Signals() {
        for (std::size_t i = 0; i < kSignals.size(); ++i)
            sigaction(kSignals[i], &before_[i], nullptr);
    }

  private:
    static constexpr std::array kSignals{SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGTERM, SIGHUP};
    std::array<struct sigaction, kSignals.size()> before_{};
};

/// What a program reads from standard input can be read again.
class StandardInput {
  public:
    /// Error: it is a pipe or the like.
    static Result<StandardInput> again() {
        struct stat status {};
        if (fstat(STDIN_FILENO, &status) != 0) return StandardInput{};
        if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))
            return fail(
                "standard input is a pipe, which cannot be read again in the second run; give the program a "
                "file (< FILE), or run perf, rdam hot and rdam record one by one");
        StandardInput input;
        if (S_ISREG(status.st_mode)) input.begin_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
        return input;
    }
    void rewind() const {
        if (begin_ >= 0) lseek(STDIN_FILENO, begin_, SEEK_SET);
    }

  private:
    off_t begin_ = -1;  ///< -1: it is a terminal, a device or closed
};

/// Standard output goes nowhere as long as this lives, unless it is a terminal.
class Silence : private Unmovable {
  public:
    Silence() {
        if (isatty(STDOUT_FILENO) != 0) return;
        const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere < 0) return;
        before_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (before_ >= 0) dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
    }
    ~Silence() {
        if (before_ < 0) return;
        dup2(before_, STDOUT_FILENO);
        close(before_);
    }

  private:
    int before_ = -1;
};

/// Runs it with the signals of the user, and waits.
Result<ProgramEnd> run_tool(std::string path, std::vector<std::string> arguments) {
    const Signals signals;
    return run_program({.path = std::move(path),
                        .arguments = std::move(arguments),
                        .sanitizer = {},
                        .starts_others = true,
                        .judged = {},
                        .is_script = false,
                        .strips = {},
                        .alone = false,
                        .starter = 0},
                       {});
}

/// This very program, with other arguments.
Result<ProgramEnd> run_rdam(std::vector<std::string> arguments) {
    const auto own = own_path();
    if (!own) return tl::unexpected(own.error());
    arguments.insert(arguments.begin(), "rdam");
    return run_tool(*own, std::move(arguments));
}

/// The first run.
class Profile {
  public:
    explicit Profile(const TemporaryFolder& folder)
        : data_(folder.file("perf.data")), list_(folder.file("hot.txt")) {}

    /// How the program ended under perf; nothing: perf has not recorded anything.
    Result<std::optional<ProgramEnd>> record(const std::string& perf,
                                             const std::vector<std::string>& command) {
        std::vector<std::string> arguments{"perf", "record", "-q", "-g", "-o", data_, "--"};
        arguments.insert(arguments.end(), command.begin(), command.end());
        const Silence silence;
        const auto end = run_tool(perf, arguments);
        if (!end) return tl::unexpected(end.error());
        if (end->signal != 0 || has_data()) return *end;
        say("perf could not record the program, so only functions that wait are recorded; rdam doctor says "
            "what perf lacks");
        return std::nullopt;
    }

    bool has_data() const {
        struct stat status {};
        return stat(data_.c_str(), &status) == 0 && status.st_size > 0;
    }
    /// Writes the list of functions to record. How rdam hot, which has said what is wrong, ended.
    Result<ProgramEnd> write_list() { return run_rdam({"hot", data_, "-o", list_}); }
    const std::string& list() const { return list_; }

    /// What is hot so far, on standard output.
    void show() const { static_cast<void>(run_rdam({"hot", data_})); }

  private:
    std::string data_;
    std::string list_;
};

/// Runs the command under perf, and puts what is hot on the list. The exit status of a way that ends here;
/// nothing: it goes on.
Result<std::optional<int>> find_functions(const std::vector<std::string>& command,
                                          const TemporaryFolder& folder, RecordOptions& options) {
    const std::string perf = find_in_path("perf");
    if (perf.empty()) {
        say("perf is not installed, so only functions that wait are recorded; install perf for the others");
        return std::nullopt;
    }
    const auto input = StandardInput::again();
    if (!input) return tl::unexpected(input.error());
    say(fmt::format("{} is run twice: first under perf, to find its functions, then recorded{}",
                    command.front(),
                    isatty(STDOUT_FILENO) != 0 ? "" : " (what it prints in the first run is dropped)"));
    Profile profile{folder};
    const auto first = profile.record(perf, command);
    if (!first) return tl::unexpected(first.error());
    input->rewind();
    if (!*first) return std::nullopt;
    if (const int signal = (*first)->signal; signal != 0) {
        const bool any = signal == SIGINT && profile.has_data();
        say(fmt::format("the first run was {}, and nothing has been recorded{}",
                        signal == SIGINT ? "interrupted" : fmt::format("ended by signal {}", signal),
                        any ? "; these functions were hot so far:" : ""));
        if (any) profile.show();
        return (*first)->status;
    }
    if ((*first)->status != 0) say(fmt::format("the first run ended with exit code {}", (*first)->status));
    const auto written = profile.write_list();
    if (!written) return tl::unexpected(written.error());
    if (written->signal != 0) {
        say("interrupted between the two runs: nothing has been recorded");
        return written->status;
    }
    if (written->status != 0) {
        say("so only functions that wait are recorded");
        return std::nullopt;
    }
    options.functions = profile.list();
    return std::nullopt;
}

/// Before the first run, which may last for hours.
Result<void> check_output_folder(const RecordOptions& options) {
    const char* const variable = std::getenv("RDAM_OUTPUT");
    const std::filesystem::path output = options.output        ? *options.output
                                         : variable != nullptr ? variable
                                                               : "";
    const std::string folder = output.has_parent_path() ? output.parent_path().string() : ".";
    if (folder.find('%') != std::string::npos || access(folder.c_str(), W_OK) == 0) return {};
    return fail("cannot write the trace in {}: {}; give another file with -o", folder, std::strerror(errno));
}

Result<int> run_whole_way(const std::vector<std::string>& command, RecordOptions options) {
    if (command.empty()) return fail("no program to run: rdam run [OPTIONS] PROGRAM [ARGUMENTS]");
    if (const auto program = find_program(command); !program) return tl::unexpected(program.error());
    const auto folder = TemporaryFolder::create("run");
    if (!folder) return tl::unexpected(folder.error());
    if (!options.functions && std::getenv("RDAM_FUNCTIONS") == nullptr) {
        if (const auto there = check_output_folder(options); !there) return tl::unexpected(there.error());
        const auto ended = find_functions(command, *folder, options);
        if (!ended) return tl::unexpected(ended.error());
        if (*ended) return **ended;
    }
    const auto recorded = [&] {
        const Signals signals;
        return record_program(command, options);
    }();
    if (!recorded) return tl::unexpected(recorded.error());
    if (recorded->traces.empty()) return recorded->status;
    std::vector<std::string> analyze{"analyze", "--"};
    analyze.insert(analyze.end(), recorded->traces.begin(), recorded->traces.end());
    const auto analyzed = run_rdam(std::move(analyze));
    if (!analyzed) return tl::unexpected(analyzed.error());
    return recorded->status == 0 ? analyzed->status : recorded->status;
}

}  // namespace

Run add_run(CLI::App& app) {
    auto options = std::make_shared<RecordOptions>();
    app.add_option(
           "-f,--functions", options->functions,
           "Record these functions, and leave the first run out: a list file or comma-separated names")
        ->option_text("LIST");
    app.add_option("-o,--output", options->output, "Write the trace to FILE")
        ->option_text("FILE [$RDAM_OUTPUT, else trace.bin]");
    add_recorder_settings(app, *options);
    return [options, &app] { return run_whole_way(app.remaining(), *options); };
}

}  // namespace rdam
