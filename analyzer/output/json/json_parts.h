// What the JSON outputs have in common. For this folder's .cpp files only: the library's header is large.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/output/json/json.h"
#include "analyzer/output/units.h"

namespace rdam::output {

using Json = nlohmann::ordered_json;

inline double finite(double value) {
    return std::isfinite(value) ? value : 0.0;
}

inline double nanoseconds(double value) {
    return told_nanoseconds(finite(value));
}

/// Null for what is not known.
inline Json known(bool unknown, double value) {
    return unknown ? Json(nullptr) : Json(value);
}

/// The object of to_json().
Json report_json(const score::Report& report, Symbols& symbols, const JsonOptions& options);

/// Its `trace`.
Json trace_json(const score::Report& report);

/// The NUMA nodes: `[{node, processors[]}]`.
Json nodes_json(const trace::ProcessInfo& process);

/// `processors` and `migrations` of a function, if processors were recorded and it has a sample.
void add_processors(const trace::ProcessInfo& process, const score::FunctionRow& row, Json& function);

/// As it is printed.
std::string dump(const Json& json);

}  // namespace rdam::output
