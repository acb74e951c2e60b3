#include "tools/rdam/command/scoring_options.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "tools/rdam/command/option_values.h"
#include "tools/rdam/command/terminal.h"

namespace rdam {

void add_scoring_options(CLI::App& app, ScoringChoice& choice, score::Settings& settings) {
    constexpr int kMaxJobs = 1024;
    choice.threshold_given =
        app.add_option("--threshold", settings.threshold, "Highlight functions that score at least SCORE")
            ->option_text(fmt::format("SCORE [{}]", settings.threshold))
            ->check(number(0, 1));
    choice.baseline_given =
        app.add_option("--baseline", choice.baseline,
                       "Compare calls with the fastest call of their thread or of the process, allowing for "
                       "the clock's precision; with the plain minimum of their thread; or with a low "
                       "percentile of their thread (p1)")
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
    settings.keeps_summary = true;
    app.add_flag_callback(
        "--no-cache", [&settings] { settings.keeps_summary = false; },
        "Read all events, even if an earlier analysis has kept a summary of them, and keep none");
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
    app.add_option("--given-back-by", settings.given.given_back_by,
                   "GIVE gives back what TAKE takes: who waits in TAKE waits for the thread that has it")
        ->option_text("TAKE=GIVE");
    app.add_option(
           "--woken-by", settings.given.woken_by,
           "WAKE ends what is waited for in WAIT: who waits there waits for the thread that calls WAKE")
        ->option_text("WAIT=WAKE");
    app.add_flag("--deep-keys", settings.sequences.deep_keys,
                 "Also distinguish calls by their callees' keys");
    app.add_flag("--fold-loops", settings.sequences.fold_loops,
                 "Do not distinguish sequences by how often a call repeats");
}

namespace {

Result<RulesInForce> rules_from(const std::string& file) {
    auto rules = rules::read_rules(file);
    if (!rules) return tl::unexpected{rules.error()};
    return RulesInForce{file, std::move(*rules)};
}

/// Whether the name exists, even if it cannot be read: the error is reported later.
bool is_there(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    return std::filesystem::exists(status) && !std::filesystem::is_directory(status);
}

/// Each once, in the order of the traces.
std::vector<std::string> beside(const std::vector<std::string>& traces) {
    std::vector<std::string> files;
    for (const std::string& trace : traces) {
        const auto file = std::filesystem::path{trace}.replace_filename(rules::kFileName);
        const bool known = std::find(files.begin(), files.end(), file.string()) != files.end();
        if (!known && is_there(file)) files.push_back(file.string());
    }
    return files;
}

Result<std::optional<RulesInForce>> look_for(const std::vector<std::string>& traces) {
    const std::vector<std::string> files = beside(traces);
    std::optional<RulesInForce> found;
    for (const std::string& file : files) {
        auto rules = rules_from(file);
        if (!rules) return tl::unexpected{rules.error()};
        if (found && found->rules != rules->rules)
            return fail("{} and {} differ; choose one with --rules, or none with --no-rules", found->file,
                        file);
        if (!found) found = std::move(*rules);
    }
    if (found || !is_there(rules::kFileName)) return found;
    auto here = rules_from(rules::kFileName);
    if (!here) return tl::unexpected{here.error()};
    return std::move(*here);
}

}  // namespace

void add_rules_options(CLI::App& app, RulesChoice& choice) {
    auto* file = app.add_option("--rules", choice.file,
                                "Read keys, ignored functions and other rules from FILE, not from rdam.toml "
                                "next to the trace or in the current directory")
                     ->option_text("FILE");
    app.add_flag("--no-rules", choice.none, "Do not read a rules file")->excludes(file);
}

Result<std::optional<RulesInForce>> load_rules(const RulesChoice& choice,
                                               const std::vector<std::string>& traces) {
    if (choice.none) return std::nullopt;
    Result<std::optional<RulesInForce>> found = std::nullopt;
    if (choice.file.empty()) {
        found = look_for(traces);
    } else if (auto given = rules_from(choice.file)) {
        found = std::move(*given);
    } else {
        found = tl::unexpected{given.error()};
    }
    if (found && *found) say("rules: " + (*found)->file);
    return found;
}

void apply_rules(const RulesInForce& in_force, score::Settings& settings) {
    const rules::Rules& rules = in_force.rules;
    settings.rules = rules.named;
    settings.rules_file = in_force.file;
    settings.sequences.deep_keys = settings.sequences.deep_keys || rules.deep_keys.value_or(false);
    settings.sequences.fold_loops = settings.sequences.fold_loops || rules.fold_loops.value_or(false);
}

void say_unused_rules(const std::optional<RulesInForce>& rules, const score::SharedSettings& settings) {
    if (!rules) return;
    for (const std::string& text : settings.unused_rules())
        say(fmt::format("{}: {}; this rule is ignored", rules->file, text));
}

}  // namespace rdam
