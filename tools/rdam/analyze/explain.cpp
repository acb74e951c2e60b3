// rdam explain: what a trace shows, in few words.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/output/findings.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/shared_settings.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/command/command.h"

namespace rdam {
namespace {

/// The options that were given, as somebody would type them for `rdam analyze`.
std::vector<std::string> given_options(const CLI::App& app) {
    std::vector<std::string> words;
    for (const CLI::Option* option : app.get_options()) {
        if (option->count() == 0 || !option->nonpositional() || option->check_lname("json")) continue;
        const std::string name = "--" + option->get_lnames().front();
        if (option->get_items_expected_max() == 0) {
            words.push_back(name);
            continue;
        }
        for (const std::string& value : option->results()) {
            words.push_back(name);
            words.push_back(value);
        }
    }
    return words;
}

Result<int> explain(AnalyzeArguments arguments, const std::vector<std::string>& options) {
    if (arguments.traces.empty()) arguments.traces = {"trace.bin"};
    const std::string& trace = arguments.traces.front();
    const auto rules = use_scoring(arguments.scoring, arguments.traces, arguments.settings);
    if (!rules) return tl::unexpected{rules.error()};
    const auto reader = open_trace(trace);
    if (!reader) return tl::unexpected{reader.error()};
    score::SharedSettings shared{arguments.settings};
    shared.look_at(reader->info());
    say_unused_rules(*rules, shared);
    if (auto seen = check_window(*reader, arguments.settings.selection); !seen)
        return tl::unexpected{seen.error()};
    const auto analysis = analysis_of(*reader, arguments.settings, arguments);
    if (!analysis) return tl::unexpected{analysis.error()};
    const auto symbols = output::make_symbols(reader->info());
    const std::string text = output::explanation(
        *analysis, *symbols, {.trace = trace, .options = options, .json = arguments.json});
    if (auto printed = print_result(text); !printed) return tl::unexpected{printed.error()};
    return kExitDone;
}

}  // namespace

Run add_explain(CLI::App& app) {
    const auto options = std::make_shared<AnalyzeArguments>();
    app.add_option("trace", options->traces, "The trace to explain")
        ->option_text("TRACE [trace.bin]")
        ->expected(0, 1);
    app.add_flag("--json", options->json, "Print JSON, not Markdown");
    add_sequence_options(app, options->settings);
    add_rules_options(app, options->scoring.rules);
    add_selection_options(app, options->settings.selection);
    add_scoring_options(app, options->scoring, options->settings);
    app.callback([options] { check_selection(options->settings.selection); });
    return [options, &app] { return explain(*options, given_options(app)); };
}

}  // namespace rdam
