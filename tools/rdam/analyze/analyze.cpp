// rdam analyze: from a trace to scores.
#include "tools/rdam/analyze/analyze.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "analyzer/causes/cross_check.h"
#include "analyzer/causes/formats.h"
#include "analyzer/hints/findings.h"
#include "analyzer/inputs/open.h"
#include "analyzer/output/json.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/shared_settings.h"
#include "tools/rdam/analyze/several_traces.h"
#include "tools/rdam/command/command.h"
#include "tools/rdam/command/option_values.h"
#include "tools/rdam/command/terminal.h"
#include "tools/rdam/screen/screen.h"

namespace rdam {
namespace {

constexpr std::size_t kListedSequences = 1000;
constexpr std::size_t kAllSequences = SIZE_MAX;
constexpr std::size_t kTopOfTable = 20;
constexpr std::size_t kBars = 40;
/// On a terminal, as many columns are drawn as it has room for, each of some of these.
constexpr std::size_t kFineBars = 240;
constexpr int kMaxShown = 1'000'000'000;

score::SharedSettings seen_by(const score::Settings& settings, const trace::TraceInfo& info) {
    score::SharedSettings shared{settings};
    shared.look_at(info);
    return shared;
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

std::string report_text(const hints::Analysis& analysis, output::Symbols& symbols,
                        const AnalyzeArguments& arguments, const causes::CrossCheck& check) {
    return arguments.json ? output::to_json(analysis, symbols, {.top = arguments.top}, check)
                          : output::to_text(analysis, symbols, text_options(arguments), check);
}

/// The hints of `analysis`, with what the other trace says of its functions.
Result<std::vector<hints::FunctionHints>> compare_alone(const AnalyzeArguments& arguments,
                                                        const trace::TraceInfo& info,
                                                        const hints::Analysis& analysis) {
    const auto reader = open_trace(arguments.alone);
    if (!reader) return tl::unexpected{reader.error()};
    say_if_same(arguments.alone, reader->info(), info);
    score::Settings settings = seen_by(arguments.settings, reader->info()).for_trace(reader->info());
    settings.threshold = 0;  // how much of a small loss is preemption matters, too
    const auto alone = analysis_of(*reader, settings, arguments);
    if (!alone) return tl::unexpected{alone.error()};
    if (auto compared = hints::compare_alone(*alone, analysis)) return std::move(*compared);
    say(
        fmt::format("{}: no function that scores at least {} in {} was called often enough here by fewer "
                    "threads: nothing can be compared",
                    arguments.alone, analysis.report.threshold, arguments.traces.front()));
    return analysis.functions;
}

Result<int> analyze_one(const AnalyzeArguments& arguments) {
    // This comes first, because it takes no time: a user who mistyped a name should not wait for the trace.
    auto other_tools = read_all_causes(arguments.causes);
    if (!other_tools) return tl::unexpected{other_tools.error()};
    const auto reader = open_trace(arguments.traces.front());
    if (!reader) return tl::unexpected{reader.error()};
    say_unused_rules(arguments.rules, seen_by(arguments.settings, reader->info()));
    if (auto seen = check_window(*reader, arguments.settings.selection); !seen)
        return tl::unexpected{seen.error()};
    const auto symbols = output::make_symbols(reader->info());
    std::optional<output::SymbolsAhead> ahead;
    if (arguments.settings.jobs != 1) ahead.emplace(*symbols, reader->info());
    auto analysis = analysis_of(*reader, arguments.settings, arguments);
    if (!analysis) return tl::unexpected{analysis.error()};
    ahead.reset();
    if (!arguments.alone.empty()) {
        auto compared = compare_alone(arguments, reader->info(), *analysis);
        if (!compared) return tl::unexpected{compared.error()};
        analysis->functions = std::move(*compared);
        analysis->findings = hints::find_findings(reader->info(), analysis->report, analysis->functions,
                                                  output::variable_names(reader->info()));
    }
    causes::CrossCheck check;
    causes::ObjectLines lines{reader->info()};
    if (!arguments.causes.empty())
        check = causes::cross_check(std::move(*other_tools), analysis->report, reader->info(), lines);
    const std::string text = report_text(*analysis, *symbols, arguments, check);
    if (auto printed = print_result(text); !printed) return tl::unexpected{printed.error()};
    return kExitDone;
}

screen::RulesPlace rules_place(const AnalyzeArguments& arguments) {
    if (arguments.rules)
        return {.file = arguments.rules->file, .in_force = true, .rules = arguments.rules->rules};
    const std::filesystem::path trace{arguments.traces.front()};
    return {.file = std::filesystem::path{trace}.replace_filename(rules::kFileName).string()};
}

/// One trace, on a screen.
Result<int> analyze_interactively(const AnalyzeArguments& arguments) {
    const auto reader = open_trace(arguments.traces.front());
    if (!reader) return tl::unexpected{reader.error()};
    score::SharedSettings shared{arguments.settings};
    shared.look_at(reader->info());
    say_unused_rules(arguments.rules, shared);
    if (auto seen = check_window(*reader, arguments.settings.selection); !seen)
        return tl::unexpected{seen.error()};
    auto done = screen::run(*reader, arguments.settings, rules_place(arguments), wants_color(arguments));
    if (!done) return tl::unexpected{done.error()};
    return kExitDone;
}

Result<int> run(AnalyzeArguments arguments) {
    if (arguments.traces.empty()) arguments.traces = {"trace.bin"};
    if (arguments.settings.bars > 0 && !arguments.json && text_options(arguments).width > 0)
        arguments.settings.bars = kFineBars;
    auto rules = use_scoring(arguments.scoring, arguments.traces, arguments.settings);
    if (!rules) return tl::unexpected{rules.error()};
    arguments.rules = std::move(*rules);
    if (arguments.interactive) return analyze_interactively(arguments);
    if (arguments.diff) return analyze_difference(arguments);
    arguments.traces = each_once(arguments.traces);
    return arguments.traces.size() > 1 ? analyze_several(arguments) : analyze_one(arguments);
}

/// What makes no sense on a screen; null: all does.
const char* not_on_screen(const AnalyzeArguments& arguments) {
    if (arguments.json) return "--json";
    if (arguments.diff) return "--diff";
    if (!arguments.causes.empty()) return "--causes";
    if (!arguments.alone.empty()) return "--alone";
    if (arguments.settings.patterns) return "--patterns";
    if (arguments.settings.bars > 0) return "--histogram";
    if (arguments.threads) return "--threads";
    if (arguments.sequences) return "--sequences";
    if (arguments.verbose) return "--verbose";
    if (arguments.top_given->count() > 0) return "--top";
    if (arguments.traces.size() > 1) return "a second trace";
    if (arguments.traces == std::vector<std::string>{"-"}) return "-, as keys come from there";
    return nullptr;
}

/// Checks that involve several options.
void check_usage(const AnalyzeArguments& arguments) {
    if (arguments.diff && arguments.traces.size() != 2)
        throw CLI::ValidationError("--diff", "compares two traces, the older one first");
    if (arguments.diff && (arguments.settings.patterns || arguments.settings.bars > 0 ||
                           arguments.sequences || arguments.threads))
        throw CLI::ValidationError(
            "--diff", "compares functions: no --histogram, --patterns, --sequences or --threads");
    if (!arguments.causes.empty() && (arguments.diff || arguments.traces.size() > 1))
        throw CLI::ValidationError("--causes", "cross-checks one trace: no --diff, and no second trace");
    if (!arguments.alone.empty() && (arguments.diff || arguments.traces.size() > 1))
        throw CLI::ValidationError("--alone", "compares with one trace: no --diff, and no second trace");
    const char* unwanted = arguments.interactive ? not_on_screen(arguments) : nullptr;
    if (unwanted != nullptr)
        throw CLI::ValidationError("--interactive",
                                   std::string{"shows the functions of one trace: leave out "} + unwanted);
    check_selection(arguments.settings.selection);
}

}  // namespace

Result<trace::TraceReader> open_trace(const std::string& path) {
    std::optional<ProgressLine> line;
    const auto progress = [&](std::uint64_t done, std::uint64_t total) {
        if (!line) line.emplace("reading", total);
        line->update_or_stop(done);
    };
    try {
        return inputs::open_any(
            path,
            {.waiting = [&] { say(path + ": waiting for rdam-agent to finish it"); }, .progress = progress});
    } catch (const std::runtime_error& error) {
        return fail("{}: not read: {}", path, error.what());
    }
}

Result<hints::Analysis> analysis_of(const trace::TraceReader& reader, const score::Settings& settings,
                                    const AnalyzeArguments& arguments) {
    ProgressLine progress{"analyzing", reader.events()};
    return hints::analyze(
        reader, settings,
        {.max_sequences = arguments.sequences && arguments.json ? kAllSequences : kListedSequences,
         .progress = [&](std::uint64_t events) { progress.update(events); },
         .names = output::address_names(reader.info())});
}

/// Whether standard output is a terminal that can do more than a teletype.
bool on_terminal() {
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal != nullptr && std::string_view{terminal} == "dumb";
    return !dumb && isatty(STDOUT_FILENO) == 1;
}

bool wants_color(const AnalyzeArguments& arguments) {
    const std::string& choice = arguments.color;
    if (choice != "auto") return choice == "always";
    const char* no_color = std::getenv("NO_COLOR");
    return (no_color == nullptr || *no_color == '\0') && on_terminal();
}

/// COLUMNS, if somebody has set it, is what they want.
std::size_t terminal_width() {
    if (!on_terminal()) return 0;
    const char* const wanted = std::getenv("COLUMNS");
    const std::string_view text = wanted == nullptr ? "" : wanted;
    std::uint16_t columns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), columns);
    if (error == std::errc{} && end == text.data() + text.size() && columns > 0) return columns;
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

output::TextOptions text_options(const AnalyzeArguments& arguments) {
    return {.top = arguments.top_given->count() > 0 ? arguments.top : kTopOfTable,
            .threads = arguments.threads,
            .sequences = arguments.sequences,
            .verbose = arguments.verbose,
            .histogram = arguments.settings.bars > 0,
            .color = wants_color(arguments),
            .width = terminal_width(),
            .threshold = arguments.settings.threshold};
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
    app.add_option("trace", options->traces,
                   "Traces to analyze, of one process or of several; -: from standard input")
        ->option_text("TRACE [trace.bin]");
    app.add_flag("-i,--interactive", options->interactive,
                 "Browse the scores on a full screen, and change what calls are compared with");
    app.add_flag("--json", options->json, "Print JSON");
    options->top_given =
        app.add_option("--top", options->top, "Show the first N functions of the ranking; 0: all")
            ->option_text("N")
            ->check(whole_number(0, kMaxShown));
    app.add_flag("--threads", options->threads,
                 "Also show what each thread did with its life, and its scores");
    app.add_flag("--sequences", options->sequences, "Also show the call sequences of each function");
    app.add_flag("-v,--verbose", options->verbose,
                 "Report how each sampled function was sampled, with the standard errors of its figures");
    app.add_flag_callback(
        "--histogram", [&settings] { settings.bars = kBars; },
        "Also show how the durations of each function's calls are distributed");
    app.add_flag("--patterns", settings.patterns,
                 "Also find and score repeating patterns in the calls of each thread");
    add_sequence_options(app, settings);
    add_rules_options(app, options->scoring.rules);
    add_selection_options(app, settings.selection);
    app.add_flag("--diff", options->diff, "Compare two traces: report what is better or worse in the second");
    app.add_option("--alone", options->alone,
                   "Compare with TRACE, a run of the same program with fewer threads, and list functions "
                   "that lose as much there")
        ->option_text("TRACE");
    app.add_option("--causes", options->causes,
                   "Cross-check the scores with the output of another tool: perf report, perf c2c, perf "
                   "lock, Coz, callgrind, DRD or Helgrind")
        ->option_text("FILE");
    add_scoring_options(app, options->scoring, settings);
    app.add_option("--color", options->color, "Use colors: auto, always or never")
        ->option_text("WHEN")
        ->check(one_of({"auto", "always", "never"}));
    app.callback([options] { check_usage(*options); });
    return [options] { return run(*options); };
}

}  // namespace rdam
