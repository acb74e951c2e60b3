// rdam check: whether a program got worse, by several recordings before and after a change. For continuous integration.
#include "analyzer/output/check.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/report/check_runs.h"
#include "analyzer/report/merge_reports.h"
#include "analyzer/report/score_trace.h"
#include "tools/base/interruption.h"
#include "tools/base/units.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/analyze/several_traces.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/option_values.h"
#include "tools/rdam/command/scoring_options.h"
#include "tools/rdam/command/terminal.h"

namespace rdam {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastRisk = 0.0001, kMostRisk = 0.5;

/// A file in which a service finds the result.
struct CheckFile {
    const char* option;
    const char* help;
    std::string (*text)(const score::CheckResult&);
};

constexpr std::array kFiles{
    CheckFile{"--junit", "Write JUnit XML to FILE", output::check_junit},
    CheckFile{"--bencher", "Write Bencher's metric format (BMF JSON) to FILE", output::check_bencher},
    CheckFile{"--github", "Write JSON for github-action-benchmark (customSmallerIsBetter) to FILE",
              output::check_github},
};

struct CheckArguments {
    std::vector<std::string> before, after;
    score::CheckLimits limits;
    std::array<std::string, kFiles.size()> files;
    bool overwrite = false;
    score::Settings settings;
    ScoringChoice scoring;
};

/// `+5%`, `5%`, `5 %`; becomes the share.
CLI::Validator growth() {
    return {[](std::string& text) {
                std::string_view digits = text;
                if (digits.starts_with('+')) digits.remove_prefix(1);
                const bool is_percent = digits.ends_with('%');
                if (is_percent) digits.remove_suffix(1);
                while (digits.ends_with(' '))
                    digits.remove_suffix(1);
                double value = 0;
                const auto [end, error] =
                    std::from_chars(digits.data(), digits.data() + digits.size(), value);
                const bool is_number =
                    error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
                constexpr double kMost = 100'000;
                if (!is_percent || !is_number || !(value >= 0 && value <= kMost))
                    return fmt::format("'{}' is not a percentage like +5%", text);
                text = fmt::format("{}", value / 100);
                return std::string{};
            },
            "PERCENT"};
}

/// The traces in a folder, by their names; what is no folder, or a trace itself as those of some tools are, stands for
/// itself.
Result<void> add_traces(const std::string& path, std::vector<std::string>& traces) {
    std::error_code error;
    std::vector<std::string> inside;
    if (fs::is_directory(path, error))
        for (fs::directory_iterator entry{path, error}, end; !error && entry != end; entry.increment(error))
            if (entry->path().extension() == ".bin" && entry->is_regular_file(error))
                inside.push_back(entry->path().string());
    if (error && fs::is_directory(path)) return fail("{}: cannot be listed: {}", path, error.message());
    if (inside.empty()) inside.push_back(path);
    std::ranges::sort(inside);
    std::ranges::move(inside, std::back_inserter(traces));
    return {};
}

Result<std::vector<std::string>> traces_of(const std::vector<std::string>& paths) {
    std::vector<std::string> traces;
    for (const std::string& path : paths)
        if (auto added = add_traces(path, traces); !added) return tl::unexpected{added.error()};
    return traces;
}

/// A copy would count as a second run.
class Recordings {
  public:
    Result<void> add(const std::string& file, const trace::TraceInfo& info) {
        std::string recording = recording_of(info);
        std::error_code error;
        if (recording.empty()) recording = fs::canonical(file, error).string();
        if (recording.empty()) return {};
        const auto [first, is_first] = recordings_.emplace(recording, file);
        if (is_first) return {};
        return fail("{}: is the same recording as {}; a check needs each recording once, on one side", file,
                    first->second);
    }

  private:
    std::map<std::string, std::string> recordings_;
};

/// Throws std::runtime_error if it is interrupted.
Result<std::vector<score::Report>> reports_of(const std::vector<std::string>& files,
                                              const ComparedTraces& settings, Recordings& recordings) {
    std::vector<score::Report> reports;
    for (const std::string& file : files) {
        const auto reader = open_trace(file);
        if (!reader) return tl::unexpected{reader.error()};
        if (auto added = recordings.add(file, reader->info()); !added) return tl::unexpected{added.error()};
        const score::Settings own = settings.settings_for(reader->info());
        if (auto seen = check_window(*reader, own.selection); !seen) return tl::unexpected{seen.error()};
        ProgressLine progress{"analyzing", reader->events()};
        auto report = score::score_trace(
            *reader, own, {.max_sequences = 1, .max_patterns = 0, .progress = [&](std::uint64_t events) {
                               progress.update_or_stop(events);
                           }});
        if (!report) return fail("{}: {}", file, report.error().message);
        if (Interruption::came()) throw std::runtime_error{"interrupted"};
        reports.push_back(score::without_details(std::move(*report)));
    }
    return reports;
}

/// Whether so many runs can show anything.
Result<void> check_numbers(std::size_t before, std::size_t after, double risk) {
    if (before + after >= 3 && score::least_p(before, after) <= risk) return {};
    std::size_t each = 2;
    while (score::least_p(each, each) > risk)
        ++each;
    return fail(
        "{} before and {} after: {}; record {} on each side", counted(before, "run", "runs"), after,
        before == 1 || after == 1
            ? fmt::format("of a single run no interval is known, and no verdict has the risk {}", risk)
            : fmt::format("too few for a verdict at the risk {}", risk),
        each);
}

Result<score::CheckResult> checked(const CheckArguments& arguments) {
    const auto before = traces_of(arguments.before);
    if (!before) return tl::unexpected{before.error()};
    const auto after = traces_of(arguments.after);
    if (!after) return tl::unexpected{after.error()};
    std::vector<std::string> all = *before;
    all.insert(all.end(), after->begin(), after->end());
    score::Settings settings = arguments.settings;
    const auto rules = use_scoring(arguments.scoring, all, settings);
    if (!rules) return tl::unexpected{rules.error()};
    const auto shared = ComparedTraces::look_at(all, settings, *rules);
    if (!shared) return tl::unexpected{shared.error()};
    Recordings recordings;
    const auto reports_before = reports_of(*before, *shared, recordings);
    if (!reports_before) return tl::unexpected{reports_before.error()};
    const auto reports_after = reports_of(*after, *shared, recordings);
    if (!reports_after) return tl::unexpected{reports_after.error()};
    if (auto enough = check_numbers(score::count_runs(*reports_before), score::count_runs(*reports_after),
                                    arguments.limits.risk);
        !enough)
        return tl::unexpected{enough.error()};
    return score::check_runs(*reports_before, *reports_after, arguments.limits);
}

Result<int> run(const CheckArguments& arguments) {
    const Interruption interruption{Interruption::Told::here};
    std::vector<std::string> inputs = arguments.before;
    inputs.insert(inputs.end(), arguments.after.begin(), arguments.after.end());
    std::array<std::optional<FreshFile>, kFiles.size()> files;
    for (std::size_t i = 0; i < kFiles.size(); ++i) {
        const std::string& path = arguments.files[i];
        if (path.empty()) continue;
        if (auto place = check_output(path, inputs, arguments.overwrite); !place)
            return tl::unexpected{place.error()};
        // Before the traces are read: a place that cannot be written should not cost the time.
        auto file = FreshFile::create(path);
        if (!file) return tl::unexpected{file.error()};
        files[i].emplace(std::move(*file));
    }
    std::optional<score::CheckResult> check;
    try {
        auto made = checked(arguments);
        if (!made) return tl::unexpected{made.error()};
        check = std::move(*made);
    } catch (const std::runtime_error& error) {
        return fail("not checked: {}", error.what());
    }
    if (Interruption::came()) return fail("not checked: interrupted");
    for (std::size_t i = 0; i < kFiles.size(); ++i) {
        if (!files[i]) continue;
        if (auto written = files[i]->write(kFiles[i].text(*check)); !written)
            return tl::unexpected{written.error()};
        if (auto finished = files[i]->finish(); !finished) return tl::unexpected{finished.error()};
    }
    for (const score::Uncompared& function : check->uncompared)
        say(fmt::format("{}: {}: not compared", function.function, function.why));
    std::string text;
    const std::vector<std::string> worse = output::worse_lines(*check);
    for (const std::string& line : worse)
        text += line + "\n";
    if (worse.empty()) text = output::not_worse_line(*check) + "\n";
    if (auto printed = print_result(text); !printed) return tl::unexpected{printed.error()};
    return worse.empty() ? kExitDone : kExitWorse;
}

}  // namespace

Run add_check(CLI::App& app) {
    const auto options = std::make_shared<CheckArguments>();
    app.add_option("new", options->after,
                   "The recordings after the change: traces, or a folder of them (*.bin)")
        ->option_text("NEW")
        ->required();
    app.add_option("--against", options->before,
                   "The recordings before it: a trace, or a folder of them; may be given several times")
        ->option_text("BASE")
        ->type_size(1)
        ->allow_extra_args(false)
        ->required();
    const auto add_limit = [&](const char* name, double& limit, const char* help) {
        app.add_option(name, limit, help)->option_text("PERCENT [+5%]")->transform(growth());
    };
    add_limit("--max-time", options->limits.run_time, "The time of a run is worse if it grew by so much");
    add_limit("--max-loss", options->limits.loss_per_call,
              "What a function loses in a call is worse if it grew by so much");
    add_limit("--max-calls", options->limits.calls,
              "The number of calls of a function is worse if it grew by so much");
    app.add_option("--risk", options->limits.risk,
                   "The probability of calling anything worse that only varies")
        ->option_text("SHARE")
        ->check(number(kLeastRisk, kMostRisk))
        ->capture_default_str();
    for (std::size_t i = 0; i < kFiles.size(); ++i)
        app.add_option(kFiles[i].option, options->files[i], kFiles[i].help)->option_text("FILE");
    app.add_flag(kOverwriteOption, options->overwrite, kOverwriteText);
    add_sequence_options(app, options->settings);
    add_rules_options(app, options->scoring.rules);
    add_selection_options(app, options->settings.selection);
    add_scoring_options(app, options->scoring, options->settings);
    app.callback([options] {
        check_selection(options->settings.selection);
        for (std::size_t i = 0; i < kFiles.size(); ++i)
            if (options->files[i] == "-")
                throw CLI::ValidationError(kFiles[i].option, "needs a file: standard output has the verdict");
    });
    return [options] { return run(*options); };
}

}  // namespace rdam
