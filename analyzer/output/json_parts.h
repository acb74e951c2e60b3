// What the JSON outputs have in common. For this folder's .cpp files only: the library's header is large.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/output/fields.h"
#include "analyzer/output/json.h"
#include "tools/base/units.h"

namespace rdam::output {

using Json = nlohmann::ordered_json;

inline double finite(double value) {
    return std::isfinite(value) ? value : 0.0;
}

inline double nanoseconds(double value) {
    return rounded_nanoseconds(finite(value));
}

inline Json figure_json(Unit unit, double value) {
    switch (unit) {
        case Unit::time:
            return nanoseconds(value);
        case Unit::count:
            return static_cast<std::uint64_t>(value);
        case Unit::flag:
            return value != 0;
        default:
            return finite(value);
    }
}

/// The figures of a row by their keys.
template <class Row>
Json figures_json(Fields<Row> fields, const Row& row) {
    const score::Scored& scored = scored_of(row);
    Json out = Json::object();
    for (const Field<Row>& field : fields) {
        if (field.key.empty()) continue;
        const bool none = field.needs == Needs::known && scored.no_score;
        out[field.key] = none ? Json(nullptr) : figure_json(field.unit, field.value(row));
    }
    return out;
}

/// The object of to_json(), without `causes`.
Json report_json(const hints::Analysis& analysis, Symbols& symbols, const JsonOptions& options,
                 const causes::HotLines& hot_lines = {});

/// One of its `findings`.
Json finding_json(const hints::Analysis& analysis, const hints::Finding& finding, Symbols& symbols);

/// Its `causes`.
Json causes_json(const causes::CrossCheck& check, const JsonOptions& options);

/// Its `trace`.
Json trace_json(const score::Report& report);

/// The NUMA nodes: `[{node, processors[]}]`.
Json nodes_json(const trace::ProcessInfo& process);

/// `processors` and `migrations` of a function, if processors were recorded and it has a sample.
void add_processors(const trace::ProcessInfo& process, const score::FunctionRow& row, Json& function);

/// As it is printed.
std::string dump(const Json& json);

}  // namespace rdam::output
