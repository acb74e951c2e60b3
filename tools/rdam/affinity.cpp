// `rdam affinity`: what the threads of a trace share, and where to run them. The work is the Python module's
// (tools/python/rdam/study/affinity.py), the options are those of this command line.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/rdam/command/command.h"
#include "tools/rdam/command/option_values.h"
#include "tools/rdam/command/python_module.h"

namespace rdam {
namespace {

constexpr int kMaxSockets = 4096;

struct AffinityArguments {
    std::string trace = "trace.bin";
    std::string output, strategy;
    int sockets = 0;
    bool json = false;
};

/// Does not return if all is well: this process becomes the module.
Result<int> run_affinity(const AffinityArguments& arguments) {
    nlohmann::json request = {{"trace", arguments.trace}, {"json", arguments.json}};
    if (!arguments.output.empty()) request["output"] = arguments.output;
    if (!arguments.strategy.empty()) request["strategy"] = arguments.strategy;
    if (arguments.sockets > 0) request["sockets"] = arguments.sockets;
    return become_python_module("rdam.study.affinity", "affinity", request);
}

}  // namespace

Run add_affinity(CLI::App& app) {
    auto arguments = std::make_shared<AffinityArguments>();
    app.add_option("trace", arguments->trace,
                   "A trace, a folder that 'rdam export --columns' has made of one, or a graph in JSON as "
                   "--json writes it")
        ->option_text("TRACE [trace.bin]");
    auto* const json = app.add_flag("--json", arguments->json, "Print the graph as JSON");
    app.add_option("--strategy", arguments->strategy,
                   "Print a pinning by this strategy, for 'rdam study --pin file:FILE'")
        ->option_text("STRATEGY")
        ->check(one_of({"compact", "scatter", "gp", "lp-compact", "lp-scatter", "lpgp", "gplp"}))
        ->excludes(json);
    app.add_option("--sockets", arguments->sockets, "Use only the first N sockets [all]")
        ->option_text("N")
        ->check(whole_number(1, kMaxSockets))
        ->excludes(json);
    app.add_option("-o,--output", arguments->output, "Write it to FILE instead of standard output")
        ->option_text("FILE");
    return [arguments] { return run_affinity(*arguments); };
}

}  // namespace rdam
