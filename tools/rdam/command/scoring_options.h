// How calls are scored: options of every subcommand that analyzes.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/shared_settings.h"
#include "analyzer/settings/rules.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"

namespace rdam {

// The rules file in force and its content: options of every subcommand that compares calls.

struct RulesChoice {
    std::string file;   ///< empty: look for one
    bool none = false;  ///< even if there is one
};

struct RulesInForce {
    std::string file;
    rules::Rules rules;
};

/// `choice` must outlive `app`.
void add_rules_options(CLI::App& app, RulesChoice& choice);

/// The given file; otherwise the one next to the traces; otherwise the one in the current directory;
/// otherwise nothing. Says on stderr which one it is. Errors: what is wrong in it, and two files that
/// contradict each other.
Result<std::optional<RulesInForce>> load_rules(const RulesChoice& choice,
                                               const std::vector<std::string>& traces);

/// Adds what the rules say about sequences, and the file's name; the names that `settings` has already win.
void apply_rules(const RulesInForce& in_force, score::Settings& settings);

/// Says on stderr which rules are about nothing that any of the traces has. `settings` has looked at them.
void say_unused_rules(const std::optional<RulesInForce>& rules, const score::SharedSettings& settings);

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
