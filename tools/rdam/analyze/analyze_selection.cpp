// The options of `rdam analyze` that choose a part of a trace.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <optional>
#include <string>

#include "tools/base/units.h"
#include "tools/rdam/analyze/analyze.h"

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

Result<void> WindowCheck::look_at(const trace::TraceReader& reader, const score::Selection& selection) {
    if (!selection.has_window()) return {};
    asked_ = selection;
    const auto found = score::presence(reader, selection);
    if (!found) return tl::unexpected{found.error()};
    if (!*found) return {};
    if (!seen_) seen_ = **found;
    seen_->begin_ns = std::min(seen_->begin_ns, (*found)->begin_ns);
    seen_->end_ns = std::max(seen_->end_ns, (*found)->end_ns);
    seen_->in_window = seen_->in_window || (*found)->in_window;
    return {};
}

Result<void> WindowCheck::result() const {
    if (!asked_.has_window() || !seen_ || seen_->in_window) return {};
    const bool all = asked_.threads.empty();
    if (asked_.since_ns && *asked_.since_ns >= seen_->end_ns)
        return fail("--since {}: no thread runs that late: {} at {}; give an earlier begin",
                    output::human_time(*asked_.since_ns), all ? "the run ends" : "the last of --thread ends",
                    output::human_time(seen_->end_ns));
    if (asked_.until_ns && *asked_.until_ns <= seen_->begin_ns)
        return fail("--until {}: no thread runs that early: {} at {}; give a later end",
                    output::human_time(*asked_.until_ns),
                    all ? "the run begins" : "the first of --thread begins",
                    output::human_time(seen_->begin_ns));
    return fail("--since and --until: no thread runs in between; rdam analyze --threads shows when they do");
}

Result<void> check_window(const trace::TraceReader& reader, const score::Selection& selection) {
    WindowCheck check;
    if (auto looked = check.look_at(reader, selection); !looked) return looked;
    return check.result();
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
                   "Show only this function, with its possible causes even if it scores little; calls to "
                   "other functions still distinguish its calls")
        ->option_text("FUNCTION");
}

}  // namespace rdam
