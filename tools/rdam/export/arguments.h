// What `rdam export` was asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzer/settings/settings.h"
#include "tools/rdam/command/rules_options.h"
#include "tools/trace/reader.h"

namespace rdam {

struct ExportArguments {
    std::string trace = "trace.bin";
    std::string columns;                       ///< a directory or a .parquet file; empty: a format
    std::string format;                        ///< of formats::all_formats(); empty: columns
    std::string output = "-";                  ///< of a format
    std::optional<std::uint64_t> budget = {};  ///< slices; 0: all calls; nothing: the format's usual ones
    std::string weight = {};                   ///< kWeights; empty: the first
    bool arrows = false;
    score::Settings settings;
    RulesChoice rules_choice;
    std::string rules;  ///< the file in force
    bool overwrite = false;
};

/// Says on stderr what the trace has lost, and the export therefore has not. `unknown_ends`: what has become
/// of calls of which nobody knows when they ended.
void say_losses(const trace::TraceReader& reader, const std::string& name, const std::string& unknown_ends);

}  // namespace rdam
