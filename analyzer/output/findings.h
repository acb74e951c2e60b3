// The findings of an analysis in words, and all that somebody who explains a trace to others needs, within bounds.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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

/// A finding of some of several processes, in the words of the one that lost most by it.
struct SharedFinding {
    FindingText text = {};
    std::size_t process = 0;                  ///< that one: index into the reports
    std::size_t finding = 0;                  ///< index into its Findings::all
    std::size_t rank = 0;                     ///< FunctionRow::rank there
    std::vector<std::size_t> processes = {};  ///< all that have it, rising
    double lost_ns = 0;                       ///< in all of them
};

/// Who waits for whom in one of several processes.
struct SharedWait {
    std::size_t process = 0;  ///< index into the reports
    std::string line;         ///< of edge_lines()
    bool by_design = false;   ///< WaitEdge::by_design
    double waited_ns = 0;
};

/// Of several processes, added one after the other. Findings in the same function of a program are one.
class SharedFindings {
  public:
    void add(const hints::Analysis& analysis, Symbols& symbols);

    /// Those that lost most, at most hints::Findings::kMost.
    std::vector<SharedFinding> largest() const;
    /// Why there are none; empty: there are some, or no process has called anything.
    std::string verdict() const;
    /// The longest waits for others of the same process, those by design behind all others; at most
    /// hints::WaitGraph::kInWords.
    const std::vector<SharedWait>& waits() const { return waits_; }
    /// How much of all threads' lives such waits are, and for how much of them it is known for whom; empty: there are
    /// none worth saying.
    std::string waits_summary() const;

  private:
    void add_waits(const hints::Analysis& analysis, std::size_t process);

    struct Candidate {
        SharedFinding shared = {};
        double most_ns = 0;  ///< in the process that `shared` is told of
    };

    std::map<std::pair<std::string, std::string>, Candidate> by_function_;  ///< of each program
    std::vector<SharedWait> waits_;
    double lives_ns_ = 0, waited_ns_ = 0, known_ns_ = 0, woken_ns_ = 0;
    std::size_t processes_ = 0;
    double threshold_ = 0;
    bool has_verdict_ = false;
};

/// `in #2 alone`, `in #2, which lost most by it, and in 3 other processes: 1.20 s in all`. `name`: of its process.
std::string where_shared(const SharedFinding& finding, const std::string& name);

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
/// command that prints it. At most kMaxExplanation bytes: if need be, long lines end at a sentence or word; what there is
/// no room for even so is left out, whole lines, and counted. Nothing from the trace gets into it except through printable().
std::string explanation(const hints::Analysis& analysis, Symbols& symbols, const ExplainOptions& options);

}  // namespace rdam::output
