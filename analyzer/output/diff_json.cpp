#include <algorithm>

#include "analyzer/output/comparison.h"
#include "analyzer/output/json.h"
#include "analyzer/output/json_parts.h"

namespace rdam::output {
namespace {

Json row_json(const score::DiffRow& row) {
    Json out{{"name", row.name},
             {"module", row.module},
             {"file", row.file},
             {"verdict", verdict_name(row.verdict)},
             {"change", finite(row.change)},
             {"scored", row.scored},
             {"recorded_in_both", row.recorded_in_both}};
    if (row.a != nullptr) out["a"] = figures_json(function_fields(), *row.a);
    if (row.b != nullptr) out["b"] = figures_json(function_fields(), *row.b);
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
