// Arguments and results as they stand behind a record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/uftrace/names/arguments.h"

namespace rdam::inputs::uftrace {

/// Appends a word for each value, except for structures. How many bytes they take, with what fills up the
/// last 8; nothing: more than `data` has.
std::optional<std::size_t> decode_values(std::string_view data, const std::vector<ValueSpec>& specs,
                                         TraceBuilder& texts, std::vector<std::uint64_t>& words);

}  // namespace rdam::inputs::uftrace
