// Several processes (or ranks) over all: their functions, merged by module and name.
#pragma once

#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace rdam::score {

/// A function in one process.
struct ProcessShare : Scored {
    std::size_t process = 0;  ///< index into the reports
};

/// `rdam`: the highest over the processes that are not short-lived, and so over all of their threads; its
/// interval, `floor` and reservations are that process's.
struct OverallFunction : Scored {
    std::string name, module;
    std::string shown = {};      ///< shown_names()
    std::string file;            ///< FunctionIdentity
    std::size_t rank = 0;        ///< 1, 2, 3 … (analyzer/report/ranking.h)
    std::string by_design = {};  ///< FunctionRow::by_design
    double rdam_all = 0;         ///< lost_ns / Σ T of all threads of all processes
    double rdam_self = 0;
    bool sampled = false;                 ///< in some process
    bool switched_off = false;            ///< in some process
    std::vector<ProcessShare> processes;  ///< those that called it, highest score first
};

struct OverallReport {
    std::size_t runs = 0;           ///< ProcessInfo::run; a process that names none is a run of its own
    bool runs_named = true;         ///< all processes name theirs
    double threads_ns = 0;          ///< Σ T
    std::vector<bool> short_lived;  ///< by process: under kShortLife of the longest-lived process of its run
    std::vector<OverallFunction> functions;  ///< highest rdam first; then lost_ns, name, module
};

/// What is shown of several processes: a run may have thousands of them.
Report without_details(Report report);

OverallReport merge_reports(std::span<const Report> reports);

// Which functions of different reports are the same one.

struct FunctionIdentity {
    std::string module;
    std::string name;
    std::string
        file;  ///< of the source; empty unless several functions of some report can only be told apart by it

    auto operator<=>(const FunctionIdentity&) const =
        default;  // NOLINT(modernize-use-nullptr): there is none
};

/// Static functions of one module may share a name; lines change from build to build, files seldom.
class FunctionIdentities {
  public:
    /// Must be called with all reports first.
    void look_at(const Report& report);

    /// `module` instead of the row's own.
    FunctionIdentity of(const FunctionRow& row, const std::string& module) const;
    FunctionIdentity of(const FunctionRow& row) const { return of(row, row.module); }

  private:
    std::set<std::string> ambiguous_;  ///< names
};

}  // namespace rdam::score
