#include "analyzer/output/json/diff_json.h"

#include <algorithm>

#include "analyzer/output/json/json_parts.h"
#include "analyzer/output/wording/verdicts.h"

namespace rdam::output {
namespace {

Json function_json(const score::FunctionRow& row) {
    return {{"rdam", known(row.no_figures(), finite(row.rdam))},
            {"rdam_low", known(row.no_figures(), finite(row.rdam_low))},
            {"rdam_high", known(row.no_figures(), finite(row.rdam_high))},
            {"rdam_all", known(row.no_figures(), finite(row.rdam_all))},
            {"occurrences", row.occurrences},
            {"median_ns", nanoseconds(row.median_ns)},
            {"lost_ns", known(row.no_figures(), nanoseconds(row.lost_ns))},
            {"sampled", row.sampled},
            {"windowed", row.windowed},
            {"lower_bound", row.lower_bound},
            {"minimum_alone", row.minimum_alone}};
}

Json row_json(const score::DiffRow& row) {
    Json out{{"name", row.name},
             {"module", row.module},
             {"file", row.file},
             {"verdict", verdict_name(row.verdict)},
             {"change", finite(row.change)},
             {"scored", row.scored},
             {"recorded_in_both", row.recorded_in_both}};
    if (row.a != nullptr) out["a"] = function_json(*row.a);
    if (row.b != nullptr) out["b"] = function_json(*row.b);
    return out;
}

Json side_json(const DiffSide& side) {
    Json out{{"file", side.file}};
    out.update(trace_json(side.report));
    return out;
}

}  // namespace

std::string diff_json(const Diff& diff, std::size_t top) {
    const std::size_t shown = top == 0 ? diff.rows.size() : std::min(top, diff.rows.size());
    Json rows = Json::array();
    for (const score::DiffRow& row : diff.rows.first(shown))
        rows.push_back(row_json(row));
    return dump({{"a", side_json(diff.a)}, {"b", side_json(diff.b)}, {"diff", rows}});
}

}  // namespace rdam::output
