// Several traces at once, as they are shown: each process, and all of them together; or two that are compared.
#pragma once

#include <span>
#include <string>

#include "analyzer/output/findings.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/merge_reports.h"

namespace rdam::output {

/// A trace that could not be analyzed.
struct UnreadableTrace {
    std::string file;
    std::string error;
};

/// All that is shown. `files` and `reports` are in the same order.
struct Processes {
    const score::OverallReport& overall;
    std::span<const std::string> files;
    std::span<const score::Report> reports;
    std::span<const UnreadableTrace> unreadable;
    const SharedFindings& findings;
};

/// One of two recordings of a program.
struct DiffSide {
    std::string file;
    const score::Report& report;
};

struct Diff {
    DiffSide a, b;
    std::span<const score::DiffRow> rows;
};

}  // namespace rdam::output
