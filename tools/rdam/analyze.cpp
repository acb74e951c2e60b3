// rdam analyze: from a trace to scores.
#include "analyzer/score/analyze.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

#include "analyzer/causes/cross_check.h"
#include "analyzer/causes/formats.h"
#include "analyzer/output/causes.h"
#include "analyzer/output/json.h"
#include "analyzer/output/symbols.h"
#include "analyzer/output/symbols_ahead.h"
#include "analyzer/output/text.h"
#include "analyzer/trace/reader.h"
#include "tools/rdam/analyze.h"
#include "tools/rdam/command.h"
#include "tools/rdam/progress_line.h"
#include "tools/rdam/sequence_options.h"
#include "wrappers/support/printable.h"

namespace rdam {
namespace {

constexpr std::size_t kListedSequences = 1000;
constexpr std::size_t kAllSequences = SIZE_MAX;
constexpr std::size_t kTopOfTable = 20;
constexpr int kMostShown = 1'000'000'000;

std::optional<score::Baseline> parse_baseline(const std::string& text) {
    using Kind = score::Baseline::Kind;
    static const std::regex percentile("p([0-9]{1,2}([.][0-9]{1,6})?)");
    if (text == "thread") return score::Baseline{};
    if (text == "process") return score::Baseline{Kind::process};
    std::smatch match;
    if (!std::regex_match(text, match, percentile)) return std::nullopt;
    const double percent = std::stod(match[1]);
    if (percent > 50) return std::nullopt;
    return score::Baseline{Kind::percentile, percent / 100};
}

bool wants_color(const std::string& choice) {
    if (choice != "auto") return choice == "always";
    const char* no_color = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    const bool plain = (no_color != nullptr && *no_color != '\0') ||
                       (terminal != nullptr && std::string_view{terminal} == "dumb");
    return !plain && isatty(STDOUT_FILENO) == 1;
}

causes::CauseReports read_all_causes(const std::vector<std::string>& files) {
    std::vector<causes::CauseReport> all;
    for (const std::string& file : files) {
        auto reports = causes::read_causes(file);
        if (!reports) return reports;
        std::ranges::move(*reports, std::back_inserter(all));
    }
    return all;
}

std::string report_text(const score::Report& report, output::Symbols& symbols,
                        const AnalyzeArguments& arguments) {
    return arguments.json ? output::to_json(report, symbols, {.top = arguments.top})
                          : output::to_text(report, symbols, text_options(arguments));
}

std::string report_text(const score::Report& report, output::Symbols& symbols,
                        const AnalyzeArguments& arguments, const causes::CrossCheck& check) {
    if (arguments.json) return output::to_json(report, symbols, {.top = arguments.top}, check);
    const output::TextOptions options = text_options(arguments);
    return output::to_text(report, symbols, options) + "\n" + output::causes_text(check, options);
}

Result<int> analyze_one(const AnalyzeArguments& arguments) {
    // First, for it takes no time: who mistyped a name is not to wait for the trace.
    auto other_tools = read_all_causes(arguments.causes);
    if (!other_tools) return tl::unexpected{other_tools.error()};
    const auto reader = open_trace(arguments.traces.front());
    if (!reader) return tl::unexpected{reader.error()};
    const auto symbols = output::make_symbols(reader->info());
    std::optional<output::SymbolsAhead> ahead;
    if (arguments.settings.jobs != 1) ahead.emplace(*symbols, reader->info());
    const auto report = report_on(*reader, arguments.settings, arguments);
    if (!report) return tl::unexpected{report.error()};
    ahead.reset();
    causes::ObjectLines lines{reader->info()};
    const std::string text =
        arguments.causes.empty()
            ? report_text(*report, *symbols, arguments)
            : report_text(*report, *symbols, arguments,
                          causes::cross_check(std::move(*other_tools), *report, reader->info(), lines));
    if (auto printed = print_result(text); !printed) return tl::unexpected{printed.error()};
    return kExitDone;
}

Result<int> run(AnalyzeArguments arguments) {
    if (arguments.traces.empty()) arguments.traces = {"trace.bin"};
    if (arguments.diff) return analyze_difference(arguments);
    return arguments.traces.size() > 1 ? analyze_several(arguments) : analyze_one(arguments);
}

/// What no single option can tell.
void check_usage(const AnalyzeArguments& arguments) {
    if (arguments.diff && arguments.traces.size() != 2)
        throw CLI::ValidationError("--diff", "compares two traces, the older one first");
    if (arguments.diff && (arguments.settings.patterns || arguments.sequences || arguments.threads))
        throw CLI::ValidationError("--diff", "compares functions: no --patterns, --sequences or --threads");
    if (!arguments.causes.empty() && (arguments.diff || arguments.traces.size() > 1))
        throw CLI::ValidationError("--causes", "cross-checks one trace: no --diff, and no second trace");
    const score::Selection& selection = arguments.settings.selection;
    if (selection.since_ns && selection.until_ns && *selection.since_ns >= *selection.until_ns)
        throw CLI::ValidationError("--until", "must be later than --since");
}

}  // namespace

Result<trace::TraceReader> open_trace(const std::string& path) {
    return trace::TraceReader::open(
        path, [&] { fmt::print(stderr, "rdam: {}: waiting for its recorder to finish\n", printable(path)); });
}

Result<score::Report> report_on(const trace::TraceReader& reader, const score::Settings& settings,
                                const AnalyzeArguments& arguments) {
    ProgressLine progress{"analyzing", reader.events()};
    return score::analyze(
        reader, settings,
        {.most_sequences = arguments.sequences && arguments.json ? kAllSequences : kListedSequences,
         .progress = [&](std::uint64_t events) { progress.update(events); }});
}

output::TextOptions text_options(const AnalyzeArguments& arguments) {
    return {.top = arguments.top_given->count() > 0 ? arguments.top : kTopOfTable,
            .threads = arguments.threads,
            .sequences = arguments.sequences,
            .color = wants_color(arguments.color)};
}

Result<void> print_result(const std::string& text) {
    const bool written =
        std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    if (!written)
        return fail("standard output: {}; write to a file or a place that has room", std::strerror(errno));
    return {};
}

Run add_analyze(CLI::App& app) {
    const auto options = std::make_shared<AnalyzeArguments>();
    score::Settings& settings = options->settings;
    app.add_option("trace", options->traces, "The traces to analyze: of one process, or of several")
        ->option_text("TRACE [trace.bin]");
    app.add_flag("--json", options->json, "Print JSON");
    options->top_given =
        app.add_option("--top", options->top, "Show the N functions with the highest score; 0: all")
            ->option_text("N")
            ->check(CLI::Range(0, kMostShown));
    app.add_flag("--threads", options->threads, "Show the scores of each thread as well");
    app.add_flag("--sequences", options->sequences, "Show the sequences of each function as well");
    app.add_flag("--patterns", settings.patterns,
                 "Find the patterns among the calls of each thread, and score them as well");
    add_sequence_options(app, settings);
    add_selection_options(app, settings.selection);
    app.add_flag("--diff", options->diff,
                 "Say what is better or worse in the second trace than in the first");
    app.add_option("--causes", options->causes,
                   "Cross-check the scores with what another tool printed: perf report, perf c2c, perf lock, "
                   "Coz, callgrind, "
                   "DRD or Helgrind")
        ->option_text("FILE")
        ->allow_extra_args(false);
    app.add_option(
           "--baseline", options->baseline,
           "What calls are compared with: the fastest of their thread, the fastest of the process, or a "
           "low percentile of their thread's (p1)")
        ->option_text("thread|process|pN [thread]")
        ->check(CLI::Validator(
            [](const std::string& text) {
                return parse_baseline(text) ? std::string{}
                                            : text +
                                                  " is neither thread nor process nor a percentile like p1 "
                                                  "(p0 to p50)";
            },
            ""));
    app.add_option("--jobs", settings.jobs, "Threads that analyze; 0: as many as there are processors")
        ->option_text("N")
        ->check(CLI::Range(0, 1024));
    app.add_option("--color", options->color, "Use colors: auto, always or never")
        ->option_text("WHEN")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    app.callback([options] { check_usage(*options); });
    return [options] {
        options->settings.baseline = *parse_baseline(options->baseline);
        return run(*options);
    };
}

}  // namespace rdam
