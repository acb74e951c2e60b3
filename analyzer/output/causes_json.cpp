#include <algorithm>

#include "analyzer/output/comparison.h"
#include "analyzer/output/json.h"
#include "analyzer/output/json_parts.h"

namespace rdam::output {
namespace {

Json source_json(const causes::CauseReport& report) {
    return {{"tool", report.tool}, {"label", report.label},         {"unit", report.unit},
            {"file", report.file}, {"total", finite(report.total)}, {"disturbs", report.disturbs}};
}

Json function_json(const causes::CheckedFunction& function) {
    Json shares = Json::array();
    for (const causes::CauseShare& cause : function.causes)
        shares.push_back({{"share", finite(cause.share)},
                          {"with_callees", finite(cause.with_callees)},
                          {"absolute", finite(cause.absolute)}});
    return {{"name", function.name},
            {"module", function.module},
            {"rdam", function.row == nullptr ? 0 : finite(function.row->rdam)},
            {"lost_ns", function.row == nullptr ? 0 : nanoseconds(function.row->lost_ns)},
            {"called", function.row != nullptr},
            {"verdict", verdict_name(function.verdict)},
            {"text", verdict_text(function.verdict)},
            {"shares", shares}};
}

Json not_recorded_json(const causes::NotRecorded& entry) {
    return {{"report", entry.report},
            {"name", entry.row.function},
            {"module", entry.row.module},
            {"file", entry.row.file},
            {"line", entry.row.line},
            {"share", finite(entry.row.share)},
            {"absolute", finite(entry.row.absolute)}};
}

}  // namespace

Json causes_json(const causes::CrossCheck& check, const JsonOptions& options) {
    Json reports = Json::array();
    for (const causes::CauseReport& source : check.reports)
        reports.push_back(source_json(source));
    Json functions = Json::array();
    const std::size_t shown =
        options.top == 0 ? check.functions.size() : std::min(options.top, check.functions.size());
    for (std::size_t i = 0; i < shown; ++i)
        functions.push_back(function_json(check.functions[i]));
    Json not_recorded = Json::array();
    for (const causes::NotRecorded& entry : check.not_recorded)
        not_recorded.push_back(not_recorded_json(entry));
    return {{"effect_from", causes::kEffect},
            {"cause_from", causes::kCause},
            {"reports", reports},
            {"functions", functions},
            {"not_recorded", not_recorded}};
}

}  // namespace rdam::output
