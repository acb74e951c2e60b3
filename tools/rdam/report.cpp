// rdam report: from traces to a page that a browser opens.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/html/report_html.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/merge_reports.h"
#include "analyzer/report/run_course.h"
#include "analyzer/report/shared_settings.h"
#include "analyzer/settings/settings.h"
#include "analyzer/views/around.h"
#include "tools/base/interruption.h"
#include "tools/base/result.h"
#include "tools/base/units.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/analyze/several_traces.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/scoring_options.h"
#include "tools/rdam/command/terminal.h"
#include "tools/trace/reader.h"

namespace rdam {
namespace {

constexpr std::size_t kHistogramBars = 64;
constexpr std::size_t kLargestSampled = 10;

struct Arguments {
    std::vector<std::string> traces;
    std::string output = "report.html";
    bool overwrite = false;
    bool open = false;
    score::Settings settings;
    ScoringChoice scoring;
};

/// A trace with all that its part of the page refers to.
struct Recording {
    trace::TraceReader reader;
    std::unique_ptr<output::Symbols> symbols;
    hints::Analysis analysis;
    std::vector<views::Surroundings> around;
};

constexpr std::size_t kSequencesOnPage = 100;

/// Shows its progress. Throws std::runtime_error if it is interrupted.
Result<Recording> analyze_recording(trace::TraceReader reader, const score::Settings& settings) {
    Recording recording{.reader = std::move(reader), .symbols = {}, .analysis = {}, .around = {}};
    recording.symbols = output::make_symbols(recording.reader.info());
    ProgressLine progress{"analyzing", recording.reader.events()};
    const trace::TraceInfo& info = recording.reader.info();
    auto analysis =
        hints::analyze(recording.reader, settings,
                       {.max_sequences = kSequencesOnPage,
                        .progress = [&](std::uint64_t events) { progress.update_or_stop(events); },
                        .names = output::address_names(info)});
    if (!analysis) return tl::unexpected{analysis.error()};
    recording.analysis = std::move(*analysis);
    auto around = views::surroundings(recording.reader, recording.analysis.report, {.jobs = settings.jobs});
    if (!around) return tl::unexpected{around.error()};
    recording.around = std::move(*around);
    return recording;
}

/// Refers to `recording`.
output::PageRun page_run(const std::string& file, const Recording& recording) {
    return {file, recording.analysis, recording.reader.info(), *recording.symbols, recording.around};
}

/// By the order of the traces.
Result<std::vector<Recording>> analyze_all(const Arguments& arguments,
                                           const std::optional<RulesInForce>& rules) {
    const auto settings = ComparedTraces::look_at(arguments.traces, arguments.settings, rules);
    if (!settings) return tl::unexpected{settings.error()};
    std::vector<Recording> recordings;
    for (const std::string& file : arguments.traces) {
        auto reader = open_trace(file);
        if (!reader) return tl::unexpected{reader.error()};
        const score::Settings own = settings->settings_for(reader->info());
        if (auto seen = check_window(*reader, own.selection); !seen) return tl::unexpected{seen.error()};
        try {
            auto recording = analyze_recording(std::move(*reader), own);
            if (!recording) return tl::unexpected{recording.error()};
            recordings.push_back(std::move(*recording));
        } catch (const std::runtime_error& error) {
            return fail("{}: cannot be analyzed: {}", file, error.what());
        }
    }
    return recordings;
}

Result<std::string> page_of(const Arguments& arguments, const std::vector<Recording>& recordings) {
    output::PageInput input{.runs = {}};
    for (std::size_t i = 0; i < recordings.size(); ++i)
        input.runs.push_back(page_run(arguments.traces[i], recordings[i]));
    std::vector<score::DiffRow> diff;
    if (recordings.size() == 2) {
        diff = score::compare_reports(recordings[0].analysis.report, recordings[1].analysis.report);
        input.diff = diff;
    }
    return output::report_html(input);
}

/// Processes with a row in the heat map.
constexpr std::size_t kMaxRows = 64;
/// Processes with a page of their own.
constexpr std::size_t kMaxPages = 3;

struct ProcessesPage {
    std::string html;
    std::size_t processes = 0;
    bool complete = true;  ///< all traces could be read; of the others, a line is on stderr
};

/// The page of a run of several processes.
class ProcessesReport {
  public:
    ProcessesReport(const std::vector<std::string>& files, const score::Settings& settings)
        : traces_(files, settings),
          course_(traces_.span().begin_unix_ns, traces_.span().end_unix_ns, kMaxRows) {}

    const SeveralTraces& traces() const { return traces_; }

    Result<ProcessesPage> page() {
        for (const std::string& file : traces_.files())
            analyze(file);
        if (reports_.empty()) return fail("none of the traces can be read: nothing to report on");
        if (auto seen = window_.result(); !seen) return tl::unexpected{seen.error()};
        course_.finish();
        if (auto analyzed = analyze_those_that_lost_most(); !analyzed)
            return tl::unexpected{analyzed.error()};
        const score::OverallReport overall = score::merge_reports(reports_);
        output::PageProcesses processes{.all = {overall, files_, reports_, traces_.unreadable(), findings_},
                                        .course = course_,
                                        .with_page = paged_};
        output::PageInput input{.runs = {}, .processes = &processes};
        for (std::size_t i = 0; i < recordings_.size(); ++i)
            input.runs.push_back(page_run(files_[paged_[i]], recordings_[i]));
        auto html = output::report_html(input);
        if (!html) return tl::unexpected{html.error()};
        return ProcessesPage{
            .html = std::move(*html), .processes = reports_.size(), .complete = traces_.unreadable().empty()};
    }

  private:
    void analyze(const std::string& file) {
        const auto reader = open_trace(file);
        if (!reader) return traces_.give_up(file, reader.error());
        score::Settings settings = traces_.settings_for(reader->info());
        settings.bars = 0;
        settings.paths = false;
        if (auto seen = window_.look_at(*reader, settings.selection); !seen)
            return traces_.give_up(file, {file + ": " + seen.error().message});
        ProgressLine progress{"analyzing", reader->events()};
        // With all samples: intervals are those of the process's own page.
        auto analysis =
            hints::analyze(*reader, settings,
                           {.max_sequences = 1,
                            .progress = [&](std::uint64_t events) { progress.update_or_stop(events); },
                            .names = output::address_names(reader->info())});
        if (!analysis) return traces_.give_up(file, {file + ": " + analysis.error().message});
        findings_.add(*analysis, *output::make_symbols(reader->info()));
        course_.add(analysis->report, traces_.start_unix_ns(reader->info()));
        files_.push_back(file);
        reports_.push_back(score::without_details(std::move(analysis->report)));
    }

    Result<void> analyze_those_that_lost_most() {
        std::vector<score::RunCourseRow> rows = course_.rows();
        std::ranges::stable_sort(rows, std::ranges::greater{}, &score::RunCourseRow::lost_ns);
        for (std::size_t i = 0; i < std::min(rows.size(), kMaxPages); ++i) {
            const std::string& file = files_[rows[i].process];
            auto reader = open_trace(file);
            if (!reader) return tl::unexpected{reader.error()};
            const score::Settings settings = traces_.settings_for(reader->info());
            auto recording = analyze_recording(std::move(*reader), settings);
            if (!recording) return fail("{}: {}", file, recording.error().message);
            recordings_.push_back(std::move(*recording));
            paged_.push_back(rows[i].process);
        }
        return {};
    }

    SeveralTraces traces_;
    score::RunCourse course_;
    output::SharedFindings findings_;
    WindowCheck window_;
    std::vector<std::string> files_;  // of the reports
    std::vector<score::Report> reports_;
    std::vector<Recording> recordings_;
    std::vector<std::size_t> paged_;  // their processes
};

/// Whether the traces are those of one run's processes: more than two, or two of which `rdam record` says so.
/// What cannot be read is none.
bool are_processes(const std::vector<std::string>& traces) {
    if (traces.size() != 2) return traces.size() > 2;
    std::string first;
    for (const std::string& file : traces) {
        const auto reader = trace::TraceReader::open(file);
        if (!reader || reader->info().process.run.empty()) return false;
        if (first.empty())
            first = reader->info().process.run;
        else
            return reader->info().process.run == first;
    }
    return false;
}

/// One process after the other; those that lost most are analyzed again, with all that a page shows. Errors:
/// none of the traces can be read; a name in `settings` that none has; --since and --until leave nothing.
/// Throws std::runtime_error if it is interrupted.
Result<ProcessesPage> processes_page(const std::vector<std::string>& traces, const score::Settings& settings,
                                     const std::optional<RulesInForce>& rules) {
    ProcessesReport report{traces, settings};
    if (auto found = report.traces().shared().all_found(); !found) return tl::unexpected{found.error()};
    say_unused_rules(rules, report.traces().shared());
    return report.page();
}

/// With the program that the desktop has for pages. What that prints is no business of the user's.
Result<void> open_page(const std::string& page) {
    std::string program = "xdg-open", file = absolute(page);
    char* const words[] = {program.data(), file.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    pid_t child = 0;
    const int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (failed == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return {};
    return fail("{}: is written, but xdg-open (package xdg-utils) cannot open it: open it in a browser",
                page);
}

/// The page, and what is printed about it.
struct Made {
    std::string html;
    std::string what;
    int exit = kExitDone;
};

/// The page of one trace, or of two that are compared.
Result<Made> make_recordings(const Arguments& arguments, const std::optional<RulesInForce>& rules) {
    const auto recordings = analyze_all(arguments, rules);
    if (!recordings) return tl::unexpected{recordings.error()};
    auto page = page_of(arguments, *recordings);
    if (!page) return tl::unexpected{page.error()};
    return Made{.html = std::move(*page),
                .what = output::counted(recordings->size(), "recording", "recordings")};
}

Result<Made> make_processes(const Arguments& arguments, const std::optional<RulesInForce>& rules) {
    try {
        auto page = processes_page(arguments.traces, arguments.settings, rules);
        if (!page) return tl::unexpected{page.error()};
        return Made{.html = std::move(page->html),
                    .what = output::counted(page->processes, "process", "processes"),
                    .exit = page->complete ? kExitDone : kExitBadInput};
    } catch (const std::runtime_error& error) {
        return fail("{}: not written: {}", arguments.output, error.what());
    }
}

Result<int> run(Arguments arguments) {
    if (arguments.traces.empty()) arguments.traces = {"trace.bin"};
    if (!output::page_is_there()) return tl::unexpected{output::report_html({}).error()};
    if (auto place = check_output(arguments.output, arguments.traces, arguments.overwrite); !place)
        return tl::unexpected{place.error()};
    const auto rules = use_scoring(arguments.scoring, arguments.traces, arguments.settings);
    if (!rules) return tl::unexpected{rules.error()};
    const Interruption interruption{Interruption::Told::here};
    // Before the traces are read: a place that cannot be written should not cost the time.
    auto file = FreshFile::create(arguments.output);
    if (!file) return tl::unexpected{file.error()};
    const auto made = are_processes(arguments.traces) ? make_processes(arguments, *rules)
                                                      : make_recordings(arguments, *rules);
    if (!made) return tl::unexpected{made.error()};
    if (Interruption::came()) return fail("{}: not written: interrupted", arguments.output);
    if (auto written = file->write(made->html); !written) return tl::unexpected{written.error()};
    if (auto finished = file->finish(); !finished) return tl::unexpected{finished.error()};
    if (arguments.output == "-") return made->exit;
    say(fmt::format("{}: {}, open it in a browser", arguments.output, made->what));
    if (!arguments.open) return made->exit;
    if (auto opened = open_page(arguments.output); !opened) return tl::unexpected{opened.error()};
    return made->exit;
}

void check_usage(const Arguments& arguments) {
    check_selection(arguments.settings.selection);
    if (arguments.open && arguments.output == "-")
        throw CLI::ValidationError("--open", "opens a file: give one with -o");
}

}  // namespace

Run add_report(CLI::App& app) {
    const auto options = std::make_shared<Arguments>();
    options->settings.bars = kHistogramBars;
    options->settings.largest_sampled = kLargestSampled;
    options->settings.paths = options->settings.path_callers = true;
    options->settings.course = true;
    app.add_option("trace", options->traces,
                   "The trace to report on, two traces to compare, or the traces of a run's processes")
        ->option_text("TRACE [trace.bin]");
    app.add_option("-o,--output", options->output, "Write the page to FILE; -: to standard output")
        ->option_text("FILE [report.html]");
    app.add_flag(kOverwriteOption, options->overwrite, kOverwriteText);
    app.add_flag("--open", options->open, "Open the page in a browser (xdg-open)");
    add_sequence_options(app, options->settings);
    add_rules_options(app, options->scoring.rules);
    add_selection_options(app, options->settings.selection);
    add_scoring_options(app, options->scoring, options->settings);
    app.callback([options] { check_usage(*options); });
    return [options] { return run(*options); };
}

}  // namespace rdam
