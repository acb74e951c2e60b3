// `rdam run`: the whole way from a program to its scores.
#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/base/files.h"
#include "tools/base/interruption.h"
#include "tools/base/result.h"
#include "tools/base/unmovable.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/record/closing.h"
#include "tools/rdam/record/perf.h"
#include "tools/rdam/record/program.h"
#include "tools/rdam/record/record.h"
#include "tools/rdam/record/streams.h"

namespace rdam {
namespace {

/// The first run, under perf.
class Profile {
  public:
    explicit Profile(const TemporaryFolder& folder)
        : data_(folder.file("perf.data")), list_(folder.file("hot.txt")) {}

    Result<ProgramEnd> record(const std::vector<std::string>& command) {
        std::vector<std::string> arguments{"perf", "record", "-q", "-g", "-o", data_, "--"};
        arguments.insert(arguments.end(), command.begin(), command.end());
        const DroppedOutput dropped;
        return run_tool(find_in_path("perf"), arguments);
    }

    /// False: perf has failed, perhaps for lack of room, and how the first run ended is how perf did.
    bool is_complete() const {
        constexpr std::size_t kSizeAt = 48;  // of the samples: 0 until perf ends well
        const auto header = read_beginning(data_, kSizeAt + sizeof(std::uint64_t));
        if (!header || header->empty()) return false;
        std::uint64_t size = 0;
        if (!header->starts_with("PERFILE2") || header->size() < kSizeAt + sizeof size) return true;
        std::memcpy(&size, header->data() + kSizeAt, sizeof size);
        return size != 0;
    }
    /// Writes the list of functions to record. How rdam hot, which has said what is wrong, ended.
    Result<ProgramEnd> write_list() { return run_rdam({"hot", data_, "-o", list_}); }
    const std::string& list() const { return list_; }

    /// What is hot so far, on standard output.
    void show() const { static_cast<void>(run_rdam({"hot", "--no-waits", data_})); }

  private:
    std::string data_;
    std::string list_;
};

/// Whoever sends it wants the program to end, and not to run again.
bool is_from_outside(int signal) {
    constexpr std::array kWanted{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGKILL};
    return std::ranges::find(kWanted, signal) != kWanted.end();
}

class WholeWay : private Unmovable {
  public:
    WholeWay(const std::vector<std::string>& command, RecordOptions options)
        : command_(command), options_(std::move(options)) {}

    Result<int> go() {
        if (!options_.functions && std::getenv("RDAM_FUNCTIONS") == nullptr) {
            const auto end = find_functions();
            if (!end) return tl::unexpected(end.error());
            if (*end) return **end;
        }
        const auto recorded = record();
        if (!recorded) return tl::unexpected(recorded.error());
        if (recorded->traces.empty()) return recorded->status;
        const int status = recorded->of_program;
        if (first_ && *first_ != status && status < kDeathBySignal)
            say(fmt::format(
                "the second run ended with exit code {}, and the first with {}: if it did not find what the "
                "first had changed, give -f LIST, which needs one run",
                status, *first_));
        return analyze_recorded(*recorded);
    }

  private:
    static constexpr int kDeathBySignal = 128;

    /// The exit status if the way ends here; nothing: it goes on.
    Result<std::optional<int>> find_functions() {
        // Before the first run, which may last for hours.
        if (const auto output = claim_output(wanted_output(options_), "run"); !output)
            return tl::unexpected(output.error());
        auto folder = TemporaryFolder::create("run");
        if (!folder) return tl::unexpected(folder.error());
        folder_.emplace(std::move(*folder));
        const auto trouble = try_perf(*folder_);
        if (Interruption::came()) return interrupted();
        if (trouble) {
            say(fmt::format("{}; so only functions that wait are recorded, in one run; for the others: {}",
                            trouble->what, trouble->remedy));
            return std::nullopt;
        }
        auto input = RepeatedInput::create();
        if (!input) return tl::unexpected(input.error());
        input_.emplace(std::move(*input));
        say_what_comes();
        Profile profile{*folder_};
        if (const auto begun = input_->begin_run(false); !begun) return tl::unexpected(begun.error());
        const auto end = profile.record(command_);
        input_->end_run();
        if (!end) return tl::unexpected(end.error());
        return go_on_after(*end, profile);
    }

    Result<std::optional<int>> go_on_after(const ProgramEnd& end, Profile& profile) {
        if (is_from_outside(end.signal)) {
            const bool any = end.signal == SIGINT && profile.is_complete();
            say(fmt::format(
                "the first run was {}, and nothing has been recorded{}",
                end.signal == SIGINT ? "interrupted" : fmt::format("ended by {}", signal_text(end.signal)),
                any ? "; these functions were hot so far:" : ""));
            if (any) profile.show();
            return end.status;
        }
        if (Interruption::came()) return interrupted();
        if (const auto whole = input_->is_whole(); !whole) return tl::unexpected(whole.error());
        if (!profile.is_complete()) {
            say(fmt::format(
                "perf has not completed the first run, so only functions that wait are recorded; if {} "
                "has no room for its samples, set TMPDIR",
                folder_->path()));
            return std::nullopt;
        }
        first_ = end.status;
        if (end.signal != 0)
            say(fmt::format("the first run was ended by {}", signal_text(end.signal)));
        else if (end.status != 0)
            say(fmt::format("the first run ended with exit code {}", end.status));
        const auto written = profile.write_list();
        if (!written) return tl::unexpected(written.error());
        if (written->signal != 0 || Interruption::came()) return interrupted();
        if (written->status != 0)
            say("so only functions that wait are recorded");
        else
            options_.functions = profile.list();
        return std::nullopt;
    }

    static int interrupted() {
        say("interrupted: nothing has been recorded");
        return kDeathBySignal + SIGINT;
    }

    void say_what_comes() const {
        const bool drops = DroppedOutput::drops();
        const bool keeps = input_->is_kept();
        const std::string_view streams =
            drops && keeps ? "; the first run's output is dropped, and its input kept for the second"
            : drops        ? "; the first run's output is dropped"
            : keeps        ? "; the first run's input is kept for the second"
                           : "";
        say(fmt::format(
            "{} runs twice: under perf, to find its functions, then recorded{} (step by step: perf record "
            "-g, rdam hot, rdam record, rdam analyze)",
            command_.front(), streams));
    }

    Result<Recorded> record() {
        if (input_)
            if (const auto begun = input_->begin_run(true); !begun) return tl::unexpected(begun.error());
        auto recorded = record_program(command_, options_);
        if (input_) input_->end_run();
        return recorded;
    }

    const std::vector<std::string>& command_;
    RecordOptions options_;
    std::optional<TemporaryFolder> folder_;  // of the first run
    std::optional<RepeatedInput> input_;     // of two runs
    std::optional<int> first_;               // the exit status of the first run
};

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
    return [options, &app]() -> Result<int> {
        const std::vector<std::string> command = app.remaining();
        if (const auto program = find_program(command); !program) return tl::unexpected(program.error());
        const Interruption interruption;  // what is temporary goes even then
        return WholeWay{command, *options}.go();
    };
}

}  // namespace rdam
