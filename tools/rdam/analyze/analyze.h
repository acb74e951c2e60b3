// What `rdam analyze` does with one trace, with several, and with two that are compared.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/output/text.h"
#include "analyzer/report/selection.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/rdam/command/scoring_options.h"
#include "tools/trace/reader.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rdam {

struct AnalyzeArguments {
    std::vector<std::string> traces;
    score::Settings settings;
    bool json = false;
    bool threads = false;
    bool sequences = false;
    bool verbose = false;
    bool diff = false;
    bool interactive = false;
    std::vector<std::string> causes;  ///< files of other tools
    std::string alone;                ///< a trace of the program with fewer threads; empty: none
    std::size_t top = 0;
    const CLI::Option* top_given = nullptr;
    std::string color = "auto";
    ScoringChoice scoring;
    std::optional<RulesInForce> rules = {};  ///< that are in force; `settings` have them already
};

/// Opens it, and says so on stderr if its recorder has to be waited for.
Result<trace::TraceReader> open_trace(const std::string& path);

Result<hints::Analysis> analysis_of(const trace::TraceReader& reader, const score::Settings& settings,
                                    const AnalyzeArguments& arguments);

/// With the given --color, for standard output.
bool wants_color(const AnalyzeArguments& arguments);

output::TextOptions text_options(const AnalyzeArguments& arguments);

/// Writes all of it to stdout.
Result<void> print_result(const std::string& text);

/// Several traces, one after the other. A trace that cannot be analyzed is one line on stderr and exit code
/// 1; the others are.
Result<int> analyze_several(const AnalyzeArguments& arguments);

/// Two traces.
Result<int> analyze_difference(const AnalyzeArguments& arguments);

/// Whether --since and --until leave anything of one of the traces. Reads no events.
class WindowCheck {
  public:
    /// Errors: those of score::resolve_selection().
    Result<void> look_at(const trace::TraceReader& reader, const score::Selection& selection);
    /// Error: in the window no thread of any of them runs, and when they do.
    Result<void> result() const;

  private:
    score::Selection asked_;
    std::optional<score::Presence> seen_;
};
/// … of one trace.
Result<void> check_window(const trace::TraceReader& reader, const score::Selection& selection);

/// --since, --until, --thread, --function.
void add_selection_options(CLI::App& app, score::Selection& selection);
/// Throws CLI::ValidationError if the window is empty.
void check_selection(const score::Selection& selection);

}  // namespace rdam
