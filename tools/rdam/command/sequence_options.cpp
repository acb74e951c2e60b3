#include "tools/rdam/command/sequence_options.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

namespace rdam {

void add_sequence_options(CLI::App& app, score::Settings& settings) {
    app.add_option("--key", settings.given.keys, "Compare only calls with the same value of this parameter")
        ->option_text("FUNCTION:PARAMETER");
    app.add_option("--no-key", settings.given.no_keys,
                   "Compare calls regardless of the value of this parameter")
        ->option_text("FUNCTION:PARAMETER");
    app.add_option(
           "--split-by-context", settings.given.split_by_context,
           "Compare calls to this function only with calls from the same call site (the same return address)")
        ->option_text("FUNCTION");
    app.add_option("--ignore", settings.given.ignore, "Ignore this function, as if it had not been recorded")
        ->option_text("FUNCTION");
    app.add_flag("--deep-keys", settings.sequences.deep_keys,
                 "Also distinguish calls by their callees' keys");
    app.add_flag("--fold-loops", settings.sequences.fold_loops,
                 "Do not distinguish sequences by how often a call repeats");
}

}  // namespace rdam
