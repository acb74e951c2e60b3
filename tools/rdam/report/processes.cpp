#include "tools/rdam/report/processes.h"

#include <algorithm>
#include <utility>

#include "analyzer/output/html/report_html.h"
#include "analyzer/report/merge_reports.h"
#include "analyzer/report/run_course.h"
#include "analyzer/report/score_trace.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/analyze/several_traces.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/report/recording.h"

namespace rdam {
namespace {

/// Processes with a row in the heat map.
constexpr std::size_t kMostRows = 64;
/// Processes with a page of their own.
constexpr std::size_t kMostPages = 3;

class ProcessesReport {
  public:
    ProcessesReport(const std::vector<std::string>& files, const score::Settings& settings)
        : traces_(files, settings),
          course_(traces_.span().begin_unix_ns, traces_.span().end_unix_ns, kMostRows) {}

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
        output::PageProcesses processes{
            .all = {overall, files_, reports_, traces_.unreadable()}, .course = course_, .with_page = paged_};
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
        // Samples, though none is shown: intervals are those of the process's own page.
        auto report = score::score_trace(
            *reader, settings, {.most_sequences = 1, .samples = true, .progress = [&](std::uint64_t events) {
                                    progress.update_or_stop(events);
                                }});
        if (!report) return traces_.give_up(file, {file + ": " + report.error().message});
        course_.add(*report, traces_.start_unix_ns(reader->info()));
        files_.push_back(file);
        reports_.push_back(score::without_details(std::move(*report)));
    }

    Result<void> analyze_those_that_lost_most() {
        std::vector<score::RunCourseRow> rows = course_.rows();
        std::ranges::stable_sort(rows, std::ranges::greater{}, &score::RunCourseRow::lost_ns);
        for (std::size_t i = 0; i < std::min(rows.size(), kMostPages); ++i) {
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
    WindowCheck window_;
    std::vector<std::string> files_;  // of the reports
    std::vector<score::Report> reports_;
    std::vector<Recording> recordings_;
    std::vector<std::size_t> paged_;  // their processes
};

}  // namespace

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

Result<ProcessesPage> processes_page(const std::vector<std::string>& traces, const score::Settings& settings,
                                     const std::optional<RulesInForce>& rules) {
    ProcessesReport report{traces, settings};
    if (auto found = report.traces().shared().all_found(); !found) return tl::unexpected{found.error()};
    say_unused_rules(rules, report.traces().shared());
    return report.page();
}

}  // namespace rdam
