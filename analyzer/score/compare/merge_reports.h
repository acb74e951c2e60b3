// Several processes (or ranks) over all: their functions, merged by module and name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/score/report/report.h"

namespace rdam::score {

/// A function in one process.
struct ProcessShare {
    std::size_t process = 0;  ///< index into the reports
    double rdam = 0, rdam_low = 0, rdam_high = 0;
    std::uint64_t occurrences = 0;
    double median_ns = 0;
    double lost_ns = 0;
    bool few_windows = false;
    bool unknown = false;  ///< FunctionRow::unknown()
};

struct OverallFunction {
    std::string name, module;
    std::string file;  ///< FunctionIdentity
    double rdam = 0;   ///< highest over the processes that are not short-lived: over all of their threads
    double rdam_low = 0, rdam_high = 0;  ///< of that process
    double floor = 0;                    ///< of that process
    std::size_t rank = 0;                ///< 1, 2, 3 … (analyzer/score/report/ranking.h)
    std::string by_design = {};          ///< FunctionRow::by_design
    double rdam_all = 0;                 ///< lost_ns / Σ T of all threads of all processes
    double rdam_self = 0;
    std::uint64_t occurrences = 0;
    double lost_ns = 0;
    bool sampled = false;                 ///< in some process
    bool estimates_occurrences = false;   ///< in some process
    bool few_windows = true;              ///< in every process that called it: no score
    bool never_known = true;              ///< FunctionRow::unknown() in every process that called it
    bool switched_off = false;            ///< in some process
    bool lower_bound = false;             ///< in the process that sets rdam
    bool minimum_alone = false;           ///< in the process that sets rdam
    bool maybe_recorder = false;          ///< in the process that sets rdam
    std::vector<ProcessShare> processes;  ///< those that called it, highest score first

    bool unknown() const { return never_known; }
    bool no_figures() const { return never_known && !few_windows; }
};

struct OverallReport {
    std::size_t runs = 0;           ///< ProcessInfo::run; a process that names none is a run of its own
    bool runs_named = true;         ///< all processes name theirs
    double threads_ns = 0;          ///< Σ T
    std::vector<bool> short_lived;  ///< by process: under kShortLife of the longest-lived process of its run
    std::vector<OverallFunction> functions;  ///< highest rdam first; then lost_ns, name, module
};

OverallReport merge_reports(std::span<const Report> reports);

}  // namespace rdam::score
