// What a user may change about an analysis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/sequences/sequence_builder.h"
#include "analyzer/statistics/loss.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// Functions that score at least this are highlighted by default.
inline constexpr double kWorthALook = 0.20;

/// Which part of a trace is looked at.
struct Selection {
    std::optional<double> since_ns = {}, until_ns = {};  ///< from the run's start
    std::uint64_t run_start_unix_ns = 0;    ///< of the run's first process; 0: this process is the first
    std::vector<std::string> threads = {};  ///< tids, or globs of names; empty: all
    std::vector<std::string> functions =
        {};  ///< `name`, `module:name` or globs of them: the ones that the report
             ///< shows; the others still tell sequences apart. Empty: all

    bool may_miss = false;  ///< a name that the trace lacks is no error: another trace of several has it

    bool has_window() const { return since_ns || until_ns; }
    bool asks_for_a_part() const { return has_window() || !threads.empty() || !functions.empty(); }
};

/// Settings for functions, by name.
struct NamedRules {
    std::vector<std::string> keys = {};     ///< `function:parameter`: tells sequences apart
    std::vector<std::string> no_keys = {};  ///< `function:parameter`: does not, though it would by default
    std::vector<std::string> split_by_context = {};  ///< functions: the place of a call tells it apart
    std::vector<std::string> ignore = {};  ///< functions that are left out as if they had not been wrapped
    /// `take=give`: give() gives back what take() takes, and `wait=wake`: wake() ends what is waited for in wait(),
    /// of the same object where both have its address as their only key.
    std::vector<std::string> given_back_by = {}, woken_by = {};

    bool have_partners() const { return !given_back_by.empty() || !woken_by.empty(); }
    bool operator==(const NamedRules&) const = default;
};

struct Settings {
    sequences::SequenceOptions sequences = {};
    NamedRules rules = {};           ///< a rules file's; a name that the trace lacks is passed over
    NamedRules given = {};           ///< for this analysis, and wins; such a name is an error
    double threshold = kWorthALook;  ///< functions that score at least this are highlighted
    Baseline baseline = {};          ///< what calls are compared with
    std::string rules_file = {};     ///< where `rules` come from, to be told; empty: no file
    bool patterns = false;           ///< finds the patterns among siblings too
    std::size_t bars = 0;            ///< FunctionRow::bars of each function; 0: none
    std::size_t largest_sampled =
        0;                      ///< so many of those that lost most are looked into, whatever they score
    bool paths = false;         ///< Report::paths
    bool path_callers = false;  ///< … with PathNode::caller
    bool course = false;        ///< Report::course
    Selection selection = {};
    unsigned jobs = 0;           ///< threads that analyze; 0: as many as there are processors
    bool keeps_summary = false;  ///< analyzer/report/summary.h
};

// The text form of baselines.

/// `thread`, `process`, or a percentile from `p0` to `p50`; nothing: none of these.
std::optional<Baseline> parse_baseline(const std::string& text);
/// What it would be parsed from.
std::string to_text(const Baseline& baseline);

// What the calls of a report were compared with, for its readers.

struct Comparison {
    Baseline baseline = {};
    NamedRules rules = {};  ///< a rules file's and those given, without what the trace lacks
    bool deep_keys = false;
    bool fold_loops = false;
    std::string rules_file = {};  ///< empty: none was in force
};

/// Of a trace in which `known` are the rules of a file that it has a use for.
Comparison comparison(const Settings& settings, NamedRules known);

// Rules about functions by name, and which traces have these functions.

/// A list of NamedRules, and how it is called where people write it.
struct RuleList {
    std::vector<std::string> NamedRules::*names;
    const char* title;
};
inline constexpr RuleList kRuleLists[] = {
    {&NamedRules::keys, "keys"},
    {&NamedRules::no_keys, "no-keys"},
    {&NamedRules::split_by_context, "split-by-context"},
    {&NamedRules::ignore, "ignore"},
    {&NamedRules::given_back_by, "given-back-by"},
    {&NamedRules::woken_by, "woken-by"},
};

/// Functions, by their indices, and those that end their waits.
struct Partners {
    std::vector<std::uint32_t> waiters, partners;
};
/// An entry of given_back_by or woken_by. Error: what the trace lacks, or that it is none.
Result<Partners> find_partners(const trace::TraceInfo& info, const std::string& text);

/// Whether the trace has what `text`, an entry of this list, names. Error: what it lacks, and what is
/// similar.
Result<void> find_named(const trace::TraceInfo& info, const RuleList& list, const std::string& text);

/// `rules` without those about what the trace lacks.
NamedRules known_rules(const trace::TraceInfo& info, const NamedRules& rules);

}  // namespace rdam::score
