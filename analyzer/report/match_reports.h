// Which rows of several reports are of the same function.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/report/merge_reports.h"
#include "analyzer/report/report.h"

namespace rdam::score {

/// The file name of the program; empty: it is not known.
std::string program_of(const Report& report);

/// A function in one report.
struct InReport {
    const FunctionRow* row = nullptr;  ///< null: not called there
    bool recorded = false;             ///< wrapped, that is, and not necessarily called
};

struct MatchedFunction {
    FunctionIdentity identity;       ///< the module of the program itself is the empty one
    std::vector<InReport> a, b;      ///< in the order of the reports
    const FunctionRow& row() const;  ///< one with its name and module: b's, if there is one
};

/// The rows refer to the reports, which are those before (a) and after (b) a change of the program. A function is the same
/// in all if its name and its module are; the executables count as one module even if they have different file names.
/// If one of the reports is of another tool's trace, or has no module of a function, the name is enough where it
/// occurs once on each side.
std::vector<MatchedFunction> match_functions(std::span<const Report* const> a,
                                             std::span<const Report* const> b);

}  // namespace rdam::score
