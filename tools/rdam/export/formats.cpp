#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/export/losses.h"
#include "analyzer/hints/hints.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/views/around.h"
#include "analyzer/views/visit.h"
#include "tools/base/interruption.h"
#include "tools/base/units.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/export/export.h"

namespace rdam {
namespace {

class FileSink final : public exports::Sink {
  public:
    explicit FileSink(FreshFile& file) : file_(file) {}
    Result<void> write(std::string_view bytes) override {
        if (Interruption::came()) return fail("interrupted before the output was complete");
        return file_.write(bytes);
    }

  private:
    FreshFile& file_;
};

/// The name is one of the table's: the command line has been checked.
const exports::Format& format_of(const ExportArguments& options) {
    return *std::ranges::find(exports::all_formats(), options.format, &exports::Format::name);
}

exports::PathWeight weight_of(const std::string& text) {
    if (text == "time") return exports::PathWeight::time;
    return text == "calls" ? exports::PathWeight::calls : exports::PathWeight::lost;
}

/// About the file or, where that has no name, the trace.
void say_of_output(const ExportArguments& options, const std::string& what) {
    say(fmt::format("{}: {}", options.output == "-" ? options.trace : options.output, what));
}

/// What is written may be complete and of no use.
bool say_if_nothing(const ExportArguments& options, bool nothing) {
    const char* const why = options.settings.selection.asks_for_a_part()
                                ? "no calls: the part of the trace that was selected has none"
                                : "no calls: the trace has none, or all are ignored";
    if (nothing) say_of_output(options, why);
    return nothing;
}

void say_paths(const ExportArguments& options, const score::PathTree& tree, const exports::Written& written) {
    say_of_output(options, output::counted(written.calls, "call path", "call paths") +
                               (written.merged > 0 ? "; lighter ones are merged" : ""));
    if (tree.left_out > 0)
        say_of_output(options,
                      output::grouped(tree.left_out) + " calls are on paths that are not distinguished");
    if (tree.approximate > 0)
        say_of_output(options, "the time lost on each path is approximate for " +
                                   output::grouped(tree.approximate) + " calls");
}

void say_written(const ExportArguments& options, const exports::Format& format,
                 const exports::Written& written) {
    if (say_if_nothing(options, written.calls + written.merged == 0)) return;
    std::string text = output::counted(written.calls, "call", "calls");
    if (written.merged > 0)
        text += fmt::format(
            "; {} more are merged by time ({})", output::grouped(written.merged),
            format.max_budget > 0 ? "a larger --budget merges fewer" : "--budget all merges none");
    say_of_output(options, text);
}

/// What the hints say, which takes an analysis of its own.
Result<std::vector<views::Arrow>> find_arrows(const trace::TraceReader& reader,
                                              const ExportArguments& options) {
    ProgressLine progress{"analyzing", reader.events()};
    try {
        const auto analysis = hints::analyze(
            reader, options.settings,
            {.max_sequences = 0, .progress = [&](std::uint64_t events) { progress.update_or_stop(events); }});
        if (!analysis) return tl::unexpected{analysis.error()};
        std::vector<views::Suspect> suspects;
        for (const score::FunctionRow& row : analysis->report.functions) {
            const hints::Hints& found = analysis->of(row).hints;
            const auto hint = std::ranges::find_if(
                found, [](const hints::Hint& each) { return !each.concurrent_function.empty(); });
            if (hint != found.end())
                suspects.push_back({row, hint->concurrent_function, hint->concurrent_thread});
        }
        return views::arrows(reader, analysis->report, suspects);
    } catch (const std::runtime_error& error) {
        return fail("{}: not exported: {}", options.trace, error.what());
    }
}

Result<int> export_paths(const trace::TraceReader& reader, const ExportArguments& options,
                         const exports::Format& format) {
    const Interruption interruption;
    auto file = FreshFile::create(options.output);
    if (!file) return tl::unexpected{file.error()};
    score::Settings settings = options.settings;
    settings.paths = true;
    score::ScoreOptions score_options;
    score_options.max_sequences = score_options.max_patterns = 0;
    ProgressLine progress{"exporting", reader.events()};
    score_options.progress = [&](std::uint64_t events) { progress.update_or_stop(events); };
    try {
        const auto report = score::score_trace(reader, settings, score_options);
        if (!report) return tl::unexpected{report.error()};
        FileSink sink{*file};
        const auto written = format.write_paths(
            *report, reader.info(), {.weight = weight_of(options.weight), .jobs = settings.jobs}, sink);
        if (!written) return tl::unexpected{written.error()};
        if (auto finished = file->finish(); !finished) return tl::unexpected{finished.error()};
        say_losses(reader, options.trace, "calls are left out");
        if (!say_if_nothing(options, report->functions.empty())) say_paths(options, report->paths, *written);
    } catch (const std::runtime_error& error) {
        return fail("{}: not exported: {}", options.trace, error.what());
    }
    return kExitDone;
}

}  // namespace

Result<void> check_format_place(const ExportArguments& options) {
    const exports::Format& format = format_of(options);
    if (format.write_archive != nullptr) return check_archive_place(options, format);
    return check_output(options.output, {options.trace}, options.overwrite);
}

Result<int> export_format(const trace::TraceReader& reader, const ExportArguments& options) {
    const exports::Format& format = format_of(options);
    if (format.write_paths != nullptr) return export_paths(reader, options, format);
    const std::uint64_t budget = format.usual_budget > 0 ? options.budget.value_or(format.usual_budget) : 0;
    const Interruption interruption;
    if (format.write_archive != nullptr) {
        const auto written = export_archive(reader, options, format);
        if (!written) return tl::unexpected{written.error()};
        say_losses(reader, options.trace, "calls are left out");
        say_written(options, format, *written);
        return kExitDone;
    }
    auto file = FreshFile::create(options.output);
    if (!file) return tl::unexpected{file.error()};
    std::vector<views::Arrow> arrows;
    if (options.arrows) {
        auto found = find_arrows(reader, options);
        if (!found) return tl::unexpected{found.error()};
        arrows = std::move(*found);
        say_of_output(options, arrows.empty()
                                   ? "no arrows: no hint names a function of another thread that was "
                                     "running during a large loss"
                                   : output::counted(arrows.size(), "arrow", "arrows"));
    }
    // Baselines, choice and writing.
    const std::uint64_t passes = budget > 0 ? 3 : 2;
    ProgressLine progress{"exporting", passes * reader.events()};
    exports::EarlyLosses early;
    const auto visit =
        views::Visit::prepare(reader, options.settings,
                              [&](std::uint64_t events) {
                                  progress.update(events);
                                  return !Interruption::came();
                              },
                              {.self_losses = format.weighs_calls, .early = budget > 0 ? &early : nullptr});
    if (!visit) return tl::unexpected{visit.error()};
    FileSink sink{*file};
    const auto written = format.write(*visit,
                                      {.budget = budget,
                                       .weight = weight_of(options.weight),
                                       .jobs = options.settings.jobs,
                                       .arrows = arrows,
                                       .early = budget > 0 ? &early : nullptr},
                                      sink);
    if (!written) return tl::unexpected{written.error()};
    if (auto finished = file->finish(); !finished) return tl::unexpected{finished.error()};
    say_losses(reader, options.trace, "calls are left out");
    say_written(options, format, *written);
    return kExitDone;
}

}  // namespace rdam
