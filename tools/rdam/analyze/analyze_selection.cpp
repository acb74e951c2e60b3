// The options of `rdam analyze` that choose a part of a trace.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <optional>

#include "analyzer/output/units.h"
#include "tools/rdam/analyze/analyze.h"
#include "tools/rdam/command/time_value.h"

namespace rdam {
namespace {

void add_time(CLI::App& app, const std::string& name, std::optional<double>& time,
              const std::string& description) {
    app.add_option_function<std::string>(
           name,
           [name, &time](const std::string& text) {
               const auto parsed = parse_time(text);
               if (!parsed) throw CLI::ValidationError(name, parsed.error().message);
               time = *parsed;
           },
           description)
        ->option_text("TIME");
}

}  // namespace

Result<void> check_window(const score::Selection& selection, std::span<const score::Report> reports) {
    const auto is_empty = [](const score::Report& report) { return report.threads.empty(); };
    if (!std::ranges::all_of(reports, is_empty)) return {};
    if (!selection.since_ns && selection.until_ns)
        return fail("--until {}: no thread runs that early; give a later end",
                    output::human_time(*selection.until_ns));
    if (!selection.since_ns) return {};
    return fail("--since {}: no thread runs that late; --threads without --since shows when threads run",
                output::human_time(*selection.since_ns));
}

void check_selection(const score::Selection& selection) {
    if (selection.since_ns && selection.until_ns && *selection.since_ns >= *selection.until_ns)
        throw CLI::ValidationError("--until", "is not later than --since: give a later end");
}

void add_selection_options(CLI::App& app, score::Selection& selection) {
    add_time(app, "--since", selection.since_ns,
             "Analyze only what happens after this time in the run, e.g. 1.5s, 200ms or plain seconds");
    add_time(app, "--until", selection.until_ns, "Analyze only what happens before this time in the run");
    app.add_option("--thread", selection.threads,
                   "Analyze only threads with this tid or name; * and ? are wildcards")
        ->option_text("THREAD");
    app.add_option("--function", selection.functions,
                   "Show only this function; the others still distinguish its calls")
        ->option_text("FUNCTION");
}

}  // namespace rdam
