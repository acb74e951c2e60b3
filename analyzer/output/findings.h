// The findings of an analysis in words, and all that somebody who explains a trace to others needs, within bounds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/output/symbols.h"

namespace rdam::output {

/// A finding for people. Not made safe for a terminal.
struct FindingText {
    std::string title;               ///< the function, which threads lost how much
    std::vector<std::string> lines;  ///< where, why, what to try
};

/// One for each of analysis.findings, the most important first.
std::vector<FindingText> finding_texts(const hints::Analysis& analysis, Symbols& symbols);

/// The place of a finding: `worker at app.c:42`; empty: none is known.
std::string place_text(const hints::Finding& finding, Symbols& symbols);

// `rdam explain`.

/// No explanation is larger, whatever the trace.
inline constexpr std::size_t kMaxExplanation = 4096;

struct ExplainOptions {
    std::string trace;                      ///< its file, as it was given
    std::vector<std::string> options = {};  ///< with which the same analysis is printed by `rdam analyze`
    bool json = false;                      ///< else Markdown
};

/// Findings, threads, who waits for whom, the first functions of the ranking and the reservations, each with the
/// command that prints it. At most kMaxExplanation bytes: what there is no room for is left out, whole lines, and
/// counted. Nothing from the trace gets into it except through printable().
std::string explanation(const hints::Analysis& analysis, Symbols& symbols, const ExplainOptions& options);

}  // namespace rdam::output
