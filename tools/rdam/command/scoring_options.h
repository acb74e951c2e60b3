// How calls are scored: options of every subcommand that analyzes.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/rdam/command/rules_options.h"

namespace rdam {

struct ScoringChoice {
    std::string baseline = "thread";
    const CLI::Option* baseline_given = nullptr;
    const CLI::Option* threshold_given = nullptr;
    RulesChoice rules;
};

/// --threshold, --baseline and --jobs. Both must outlive `app`.
void add_scoring_options(CLI::App& app, ScoringChoice& choice, score::Settings& settings);

/// Adds to `settings` what the rules in force say, and the baseline; what was given on the command line wins.
/// Errors: those of load_rules().
Result<std::optional<RulesInForce>> use_scoring(const ScoringChoice& choice,
                                                const std::vector<std::string>& traces,
                                                score::Settings& settings);

// Which calls are the same sequence: options that every subcommand has that compares calls.

/// `settings` must outlive `app`.
void add_sequence_options(CLI::App& app, score::Settings& settings);

}  // namespace rdam
