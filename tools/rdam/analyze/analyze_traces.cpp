// `rdam analyze` of several traces, and of two that are compared.
#include <utility>

#include "analyzer/output/findings.h"
#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/merge_reports.h"
#include "tools/base/printable.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/analyze/several_traces.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/terminal.h"

namespace rdam {
namespace {

/// One trace after the other: only its report and its printed text are kept.
class EachTrace {
  public:
    explicit EachTrace(const AnalyzeArguments& arguments)
        : arguments_(arguments),
          traces_(arguments.traces, arguments.settings),
          json_({.top = arguments.top}) {}

    Result<int> run() {
        if (auto found = traces_.shared().all_found(); !found) return tl::unexpected{found.error()};
        say_unused_rules(arguments_.rules, traces_.shared());
        for (const std::string& file : traces_.files())
            analyze(file);
        if (reports_.empty()) return kExitBadInput;
        if (auto seen = window_.result(); !seen) return tl::unexpected{seen.error()};
        if (auto printed = print_result(text()); !printed) return tl::unexpected{printed.error()};
        return traces_.unreadable().empty() ? kExitDone : kExitBadInput;
    }

  private:
    void analyze(const std::string& file) {
        const auto reader = open_trace(file);
        if (!reader) return traces_.give_up(file, reader.error());
        score::Settings settings = traces_.settings_for(reader->info());
        if (settings.patterns && reader->info().samples_trees()) {
            say(file +
                ": holds only a sample of the call trees, which has no patterns; rdam analyzes it without "
                "them");
            settings.patterns = false;
        }
        if (auto seen = window_.look_at(*reader, settings.selection); !seen)
            return traces_.give_up(file, {file + ": " + seen.error().message});
        auto analysis = analysis_of(*reader, settings, arguments_);
        if (!analysis) return traces_.give_up(file, {file + ": " + analysis.error().message});
        const auto symbols = output::make_symbols(reader->info());
        findings_.add(*analysis, *symbols);
        if (arguments_.json) {
            json_.add(*analysis, *symbols);
        } else if (arguments_.threads || arguments_.sequences || arguments_.settings.patterns ||
                   arguments_.settings.bars > 0) {
            texts_ += fmt::format("\n#{} {}\n", reports_.size() + 1, printable(file));
            texts_ += output::to_text(*analysis, *symbols, text_options(arguments_));
        }
        shown_.push_back(file);
        reports_.push_back(score::without_details(std::move(analysis->report)));
    }

    std::string text() {
        const score::OverallReport overall = score::merge_reports(reports_);
        const output::Processes processes{overall, shown_, reports_, traces_.unreadable(), findings_};
        if (arguments_.json) return json_.finish(processes);
        return output::processes_text(processes, text_options(arguments_)) + texts_;
    }

    const AnalyzeArguments& arguments_;
    SeveralTraces traces_;
    output::ProcessesJson json_;
    output::SharedFindings findings_;
    WindowCheck window_;
    std::vector<std::string> shown_;  // file names of the reports
    std::vector<score::Report> reports_;
    std::string texts_;
};

}  // namespace

Result<int> analyze_several(const AnalyzeArguments& arguments) {
    return EachTrace{arguments}.run();
}

Result<int> analyze_difference(const AnalyzeArguments& arguments) {
    const auto two = ComparedTraces::look_at(arguments.traces, arguments.settings, arguments.rules);
    if (!two) return tl::unexpected{two.error()};
    std::vector<score::Report> reports;
    WindowCheck window;
    for (const std::string& file : arguments.traces) {
        const auto reader = open_trace(file);
        if (!reader) return tl::unexpected{reader.error()};
        const score::Settings own = two->settings_for(reader->info());
        if (auto seen = window.look_at(*reader, own.selection); !seen) return tl::unexpected{seen.error()};
        auto analysis = analysis_of(*reader, own, arguments);
        if (!analysis) return tl::unexpected{analysis.error()};
        reports.push_back(std::move(analysis->report));
    }
    if (auto seen = window.result(); !seen) return tl::unexpected{seen.error()};
    const auto rows = score::compare_reports(reports[0], reports[1]);
    const output::Diff diff{{arguments.traces[0], reports[0]}, {arguments.traces[1], reports[1]}, rows};
    const std::string text = arguments.json ? output::diff_json(diff, arguments.top)
                                            : output::diff_text(diff, text_options(arguments));
    if (auto printed = print_result(text); !printed) return tl::unexpected{printed.error()};
    return kExitDone;
}

}  // namespace rdam
