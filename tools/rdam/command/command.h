// What a subcommand of `rdam` is: one file, one function, one line in the table of command_line.cpp.
#pragma once

#include <functional>

#include "tools/base/result.h"

namespace CLI {
class App;
}

namespace rdam {

/// Exit codes: docs/design.md §3.
inline constexpr int kExitDone = 0;
inline constexpr int kExitBadInput = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitWorse = 3;  ///< of rdam check: something got worse

/// Runs a subcommand whose options have been parsed. The value is the exit code; an Error is printed by main
/// as one line ("rdam: …") and becomes kExitBadInput.
using Run = std::function<Result<int>()>;

// Each declares its options on `app` (its name and description are set by the table) and returns what runs
// it. Options live in the returned function object.
Run add_run(CLI::App& app);
Run add_record(CLI::App& app);
Run add_hot(CLI::App& app);
Run add_analyze(CLI::App& app);
Run add_explain(CLI::App& app);
Run add_report(CLI::App& app);
Run add_export(CLI::App& app);
Run add_check(CLI::App& app);
Run add_study(CLI::App& app);
Run add_affinity(CLI::App& app);
Run add_doctor(CLI::App& app);

}  // namespace rdam
