#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/export/losses.h"
#include "analyzer/hints/hints.h"
#include "analyzer/hints/owners.h"
#include "analyzer/hints/waits.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/views/visit.h"
#include "tools/base/interruption.h"
#include "tools/base/units.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/fresh_file.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/export/export.h"
#include "tools/trace/clock.h"

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

/// What is at addresses, each looked up once.
class Names {
  public:
    explicit Names(const trace::TraceInfo& info) : names_(output::address_names(info)) {}

    const std::string& object_text(const hints::Release& release) {
        const auto [place, is_new] = objects_.try_emplace({release.kind, release.object});
        if (is_new) place->second = hints::described_object(release.kind, release.object, names_.variable_at);
        return place->second;
    }
    /// `, in flush_cache at srv.c:12`: where the wait is ended; may be empty.
    const std::string& place_text(const hints::Release& release) {
        const auto [place, is_new] = places_.try_emplace(release.ended_from);
        if (is_new && release.ended_from != 0 && names_.caller_at) {
            const std::string caller = names_.caller_at(release.ended_from);
            if (!caller.empty()) place->second = ", in " + caller;
        }
        return place->second;
    }

  private:
    hints::AddressNames names_;
    std::map<std::pair<std::string_view, std::uint64_t>, std::string> objects_;
    std::map<std::uint64_t, std::string> places_;
};

exports::Arrow arrow_of(const hints::Release& release, const score::Report& report,
                        const trace::TraceInfo& info, Names& names) {
    const score::ThreadRow& releaser = report.threads[release.releaser];
    const std::string who = hints::described_thread(releaser);
    std::string does, waits;
    switch (release.by) {
        case hints::Held::By::owner:
            does = "gives back " + names.object_text(release);
            waits = fmt::format("waits for {}: {}", who, names.object_text(release));
            break;
        case hints::Held::By::notifier:
            does =
                fmt::format("{} {}", hints::words_of_ending(release.kind).does, names.object_text(release));
            waits = fmt::format("waits for {}: {}", who, names.object_text(release));
            break;
        case hints::Held::By::arrival:
            does = "comes last to " + info.functions[release.function].name;
            waits = fmt::format("waits for {}, which comes last to {}", who,
                                info.functions[release.function].name);
            break;
        case hints::Held::By::end:
            does = "ends";
            waits = fmt::format("waits until {} ends", who);
            break;
    }
    return {.from = {releaser.number, release.at, does + names.place_text(release)},
            .to = {report.threads[release.waiter].number, release.wait.end, waits},
            .begin = release.wait.begin,
            .waited_ns = release.waited * trace::nanoseconds_per_tick(info.clock)};
}

void say_arrows(const ExportArguments& options, const hints::Releases& releases) {
    if (releases.largest.empty() && releases.waited <= 0)
        return say_of_output(options, "no arrows: no wait of a thread for another one is recorded");
    std::string text =
        releases.largest.empty() ? "no arrows" : output::counted(releases.largest.size(), "arrow", "arrows");
    if (releases.left_out > 0)
        text += fmt::format("; {} shorter waits have none", output::grouped(releases.left_out));
    if (releases.waited > 0)
        text += fmt::format(
            ": who ended waits for locks, at barriers, for signals and for data is known for {} of their "
            "time",
            output::percent(releases.released / releases.waited));
    say_of_output(options, text);
}

/// Of who waits for whom, which takes an analysis of its own.
Result<std::vector<exports::Arrow>> find_arrows(const trace::TraceReader& reader,
                                                const ExportArguments& options) {
    constexpr std::size_t kMost = 10'000;
    ProgressLine progress{"analyzing", reader.events()};
    try {
        const auto report =
            score::score_trace(reader, options.settings,
                               {.max_sequences = 0, .samples = true, .progress = [&](std::uint64_t events) {
                                    progress.update_or_stop(events);
                                }});
        if (!report) return tl::unexpected{report.error()};
        const auto waits = hints::Waits::of(reader.info(), *report);
        const hints::Releases releases = waits ? waits->releases(kMost) : hints::Releases{};
        say_arrows(options, releases);
        Names names{reader.info()};
        std::vector<exports::Arrow> arrows;
        arrows.reserve(releases.largest.size());
        for (const hints::Release& release : releases.largest)
            arrows.push_back(arrow_of(release, *report, reader.info(), names));
        return arrows;
    } catch (const std::runtime_error& error) {
        return fail("{}: not exported: {}", options.trace, error.what());
    }
}

Result<int> export_paths(const trace::TraceReader& reader, const ExportArguments& options,
                         const exports::Format& format) {
    const Interruption interruption{Interruption::Told::here};
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
    const Interruption interruption{Interruption::Told::here};
    if (format.write_archive != nullptr) {
        const auto written = export_archive(reader, options, format);
        if (!written) return tl::unexpected{written.error()};
        say_losses(reader, options.trace, "calls are left out");
        say_written(options, format, *written);
        return kExitDone;
    }
    auto file = FreshFile::create(options.output);
    if (!file) return tl::unexpected{file.error()};
    std::vector<exports::Arrow> arrows;
    if (options.arrows) {
        auto found = find_arrows(reader, options);
        if (!found) return tl::unexpected{found.error()};
        arrows = std::move(*found);
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
