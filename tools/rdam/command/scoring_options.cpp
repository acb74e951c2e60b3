#include "tools/rdam/command/scoring_options.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <utility>

#include "analyzer/settings/settings.h"
#include "tools/rdam/command/option_values.h"

namespace rdam {

void add_scoring_options(CLI::App& app, ScoringChoice& choice, score::Settings& settings) {
    constexpr int kMaxJobs = 1024;
    choice.threshold_given =
        app.add_option("--threshold", settings.threshold, "Highlight functions that score at least SCORE")
            ->option_text("SCORE [0.2]")
            ->check(number(0, 1));
    choice.baseline_given =
        app.add_option("--baseline", choice.baseline,
                       "Compare calls with the fastest one of their thread or of the whole process, as "
                       "precisely as the clock can tell; with the plain minimum of their thread; or with a "
                       "low percentile of their thread (p1)")
            ->option_text("thread|process|minimum|pN [thread]")
            ->check(CLI::Validator(
                [](const std::string& text) {
                    return score::parse_baseline(text)
                               ? std::string{}
                               : "'" + text +
                                     "' is not thread, process, minimum or a percentile like p1 (p0 to p50)";
                },
                "TEXT:{thread,process,minimum,p1}"));
    app.add_option("--jobs", settings.jobs, "Analyze with N threads; 0: one per processor")
        ->option_text("N")
        ->check(whole_number(0, kMaxJobs));
}

Result<std::optional<RulesInForce>> use_scoring(const ScoringChoice& choice,
                                                const std::vector<std::string>& traces,
                                                score::Settings& settings) {
    auto loaded = load_rules(choice.rules, traces);
    if (!loaded) return loaded;
    settings.baseline = *score::parse_baseline(choice.baseline);
    if (!*loaded) return loaded;
    apply_rules(**loaded, settings);
    const rules::Rules& rules = (*loaded)->rules;
    if (rules.baseline && choice.baseline_given->count() == 0)
        settings.baseline = *score::parse_baseline(*rules.baseline);
    if (rules.threshold && choice.threshold_given->count() == 0) settings.threshold = *rules.threshold;
    return loaded;
}

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
