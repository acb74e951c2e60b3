// The figures of a row on the page, as data for its script (analyzer/output/fields.h).
#pragma once

#include <string>
#include <string_view>

#include "analyzer/output/json_parts.h"

namespace rdam::output {

/// Figures that the page needs beside those of its columns.
constexpr bool is_of_the_page(std::string_view key) {
    return key == "rank" || key == "rdam_high" || key == "floor" || key == "rdam_all" || key == "max_ns";
}

/// By their keys, without those that are not known; `cells` has what a column says otherwise than by its
/// unit.
template <class Row>
Json page_figures(Fields<Row> fields, const Row& row) {
    Json out = Json::object();
    for (const Field<Row>& field : fields) {
        if (field.key.empty() || (field.title.empty() && !is_of_the_page(field.key))) continue;
        if (field.needs != Needs::timed || has(row, field.needs))
            out[field.key] = figure_json(field.unit, field.value(row));
        const std::string text = field.title.empty() ? "" : cell(field, row);
        if (!text.empty() && (field.unit == Unit::share || text != figure_text(field.unit, field.value(row))))
            out["cells"][field.key] = text;
    }
    return out;
}

/// `[{title, key, unit}, …]`
template <class Row>
Json page_columns(Fields<Row> fields) {
    constexpr const char* kUnits[] = {"name", "score", "share", "count", "time"};
    Json out = Json::array();
    for (const Field<Row>& field : fields) {
        const bool name = field.unit == Unit::name;
        if (field.title.empty() || (field.key.empty() && !name)) continue;
        out.push_back({{"title", field.title},
                       {"key", name ? "name" : field.key},
                       {"unit", kUnits[static_cast<std::size_t>(field.unit)]}});
    }
    return out;
}

}  // namespace rdam::output
