// The page of `rdam report`: one file that a browser opens from disk, with no request to any network.
//
// What it holds is bounded whatever the trace's size (kMaxBytes): rows, points, stacks and timelines are
// chosen here, those that lost most, and the page says how many were left out. Text from the trace is
// untrusted: it is made printable, and stands in the page as text or as JSON, never as markup.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyzer/hints/hints.h"
#include "analyzer/output/processes.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/report.h"
#include "analyzer/report/run_course.h"
#include "analyzer/views/around.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::output {

/// Of the whole page.
inline constexpr std::size_t kMaxBytes = 2'000'000;

/// One recording. What it refers to must outlive the call.
struct PageRun {
    std::string file;
    const hints::Analysis& analysis;
    const trace::TraceInfo& info;
    Symbols& symbols;
    std::span<const views::Surroundings> around;
};

/// A run of several processes. What it refers to must outlive the call.
struct PageProcesses {
    Processes all;
    const score::RunCourse& course;
    std::vector<std::size_t> with_page;  ///< the processes of PageInput::runs, by index into the reports
};

struct PageInput {
    std::vector<PageRun> runs;
    std::span<const score::DiffRow> diff = {};  ///< of the first two runs; empty: they are not compared
    const PageProcesses* processes = nullptr;   ///< null: the runs are not those of one run's processes
};

/// Whether rdam was built with a chart library, without which there is no page.
bool page_is_there();

/// Errors: page_is_there() is false; the run has so many threads and names that no page of kMaxBytes holds
/// them.
Result<std::string> report_html(const PageInput& input);

}  // namespace rdam::output
