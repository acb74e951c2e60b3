// Joins the scores, which are effects, with what other tools say about causes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analyzer/causes/cause_report.h"
#include "analyzer/causes/function_names.h"
#include "analyzer/report/report.h"
#include "tools/trace/event.h"

namespace rdam::causes {

/// From this score on there is an effect: the project's usual "worth a look".
inline constexpr double kEffect = score::kWorthALook;
/// From this share of a tool's total on there is a cause. A tool's total is spread over few functions that
/// matter and a long tail; 5 % is far above what sampling puts anywhere by chance (of 1000 samples ±1.4 %),
/// and a function with less of the misses or waits cannot lose a fifth of a thread's life by them unless all
/// others do too.
inline constexpr double kCause = 0.05;

enum class CauseVerdict : std::uint8_t {
    agree,        ///< an effect, and a cause for it
    effect_only,  ///< an effect that none of the tools explains
    cause_only,   ///< a cause without an effect
    neither,
};

struct CauseShare {
    double share = 0;  ///< as CauseRow, over all rows of the function
    double with_callees = 0;
    double absolute = 0;
};

struct CheckedFunction {
    const score::FunctionRow* row = nullptr;  ///< null: on the list and never called
    std::string name;
    std::string module;
    std::vector<CauseShare> causes;  ///< by report
    CauseVerdict verdict = CauseVerdict::neither;
};

/// The source line of a function, code inlined into it included, where it spends most of its time.
struct HotLine {
    std::string file;
    std::uint32_t line = 0;
    double share = 0;  ///< of the function's own time, 0…1
};

/// By function. From the first report that counts work (not CauseReport::disturbs) and has lines.
using HotLines = std::map<std::uint32_t, HotLine>;
HotLines hot_lines(const std::vector<CauseReport>& reports, const trace::TraceInfo& info);

/// A row of a tool that is about no function that was recorded.
struct NotRecorded {
    std::size_t report = 0;
    CauseRow row;
};

struct CrossCheck {
    std::vector<CauseReport> reports;
    std::vector<CheckedFunction> functions;  ///< by verdict, then highest score, then highest cause first
    std::vector<NotRecorded> not_recorded;   ///< with kCause or more; by report, highest share first
    HotLines hot_lines = {};
};

/// An effect agrees with a cause in the function or in what it calls, because its score is about both; a
/// cause without effect must be the function's own. Reports about work (CauseReport::disturbs) do not count.
/// The result points into `report`.
CrossCheck cross_check(std::vector<CauseReport> reports, const score::Report& report,
                       const trace::TraceInfo& info, FunctionLines& lines);

}  // namespace rdam::causes
