// What calls were compared with, in words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/causes/cross_check.h"
#include "analyzer/output/summed_notes.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/settings/settings.h"

namespace rdam::output {

/// `the fastest of their thread`.
std::string baseline_in_words(const score::Baseline& baseline);

/// What a score is: `the share of its life that a thread lost to calls that took longer than …`.
std::string score_in_words(const score::Baseline& baseline);
/// … over several processes, in short.
std::string overall_score_in_words();

/// `Ignored`, `write, read`; without a value, the name says all. Not made safe for a terminal.
struct SettingInForce {
    std::string name, value;
};

/// The settings that are not the default. A list has its first `max_names`, and how many more there are.
std::vector<SettingInForce> settings_in_force(const score::Comparison& comparison, std::size_t max_names);

/// That of several reports of one analysis, with the names of all.
score::Comparison of_all(Reports reports);

/// The same in a line, for one or several reports of one analysis; empty: all are the default.
std::string settings_line(Reports reports);

// The results of comparisons, in words.

/// `agree`, `effect_only`, `cause_only`, `neither`.
const char* verdict_name(causes::CauseVerdict verdict);

/// For people; empty: there is nothing to say.
const char* verdict_text(causes::CauseVerdict verdict);

/// `better`, `worse`, `same`, `only_a`, `only_b`.
const char* verdict_name(score::DiffVerdict verdict);

/// How the two recordings of a comparison are called.
inline constexpr const char* kBefore = "before";
inline constexpr const char* kAfter = "after";

/// What came of a function, in words: `worse`, `only after`, `~ same, after is sampled, 0.0054 × the calls`.
std::string verdict_in_words(const score::DiffRow& row);

/// How long both took, as a sentence; empty: it is not known.
std::string run_change(const score::Report& before, const score::Report& after);

}  // namespace rdam::output
