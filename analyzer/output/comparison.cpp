#include "analyzer/output/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "tools/base/units.h"

namespace rdam::output {
namespace {

std::string listed(const std::vector<std::string>& names, std::size_t most) {
    std::string text;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
    return text;
}

}  // namespace

std::string baseline_in_words(const score::Baseline& baseline) {
    using Kind = score::Baseline::Kind;
    if (baseline.kind == Kind::thread) return "the fastest of their thread";
    if (baseline.kind == Kind::process) return "the fastest of the process";
    if (baseline.kind == Kind::minimum) return "the plain minimum of their thread";
    return fmt::format("percentile {:.6g} of their thread", baseline.fraction * 100);
}

std::string score_in_words(const score::Baseline& baseline) {
    return "the share of its life that a thread lost to calls that took longer than " +
           baseline_in_words(baseline);
}

std::string overall_score_in_words() {
    return "the share of its life that the worst thread of all processes lost";
}

std::vector<SettingInForce> settings_in_force(const score::Comparison& comparison, std::size_t max_names) {
    std::vector<SettingInForce> out;
    if (comparison.baseline.kind != score::Baseline::Kind::thread)
        out.push_back({"Calls compared with", baseline_in_words(comparison.baseline)});
    if (!comparison.rules_file.empty()) out.push_back({"Rules", comparison.rules_file});
    const auto add = [&](const char* name, const std::vector<std::string>& names) {
        if (!names.empty()) out.push_back({name, listed(names, max_names)});
    };
    add("Keys", comparison.rules.keys);
    add("No keys", comparison.rules.no_keys);
    add("Split by context", comparison.rules.split_by_context);
    add("Ignored", comparison.rules.ignore);
    add("Given back by", comparison.rules.given_back_by);
    add("Woken by", comparison.rules.woken_by);
    if (comparison.deep_keys) out.push_back({"Deep keys", ""});
    if (comparison.fold_loops) out.push_back({"Loops folded", ""});
    return out;
}

score::Comparison of_all(Reports reports) {
    score::Comparison all = reports.front()->comparison;
    for (const score::Report* report : reports.subspan(1))
        for (const score::RuleList& list : score::kRuleLists) {
            std::vector<std::string>& names = all.rules.*list.names;
            for (const std::string& name : report->comparison.rules.*list.names)
                if (std::ranges::find(names, name) == names.end()) names.push_back(name);
        }
    return all;
}

std::string settings_line(Reports reports) {
    constexpr std::size_t kMaxNames = 5;
    std::string text;
    if (reports.empty()) return text;
    for (SettingInForce& each : settings_in_force(of_all(reports), kMaxNames)) {
        each.name.front() = static_cast<char>(std::tolower(each.name.front()));
        const char* const between = each.value.empty() ? "" : each.name.ends_with("with") ? " " : ": ";
        text += (text.empty() ? "" : "; ") + each.name + between + each.value;
    }
    return text;
}

const char* verdict_name(causes::CauseVerdict verdict) {
    switch (verdict) {
        case causes::CauseVerdict::agree:
            return "agree";
        case causes::CauseVerdict::effect_only:
            return "effect_only";
        case causes::CauseVerdict::cause_only:
            return "cause_only";
        case causes::CauseVerdict::neither:
            break;
    }
    return "neither";
}

const char* verdict_text(causes::CauseVerdict verdict) {
    switch (verdict) {
        case causes::CauseVerdict::agree:
            return "effect and cause agree";
        case causes::CauseVerdict::effect_only:
            return "effect without known cause: look further";
        case causes::CauseVerdict::cause_only:
            return "cause without effect: leave it";
        case causes::CauseVerdict::neither:
            break;
    }
    return "";
}

const char* verdict_name(score::DiffVerdict verdict) {
    switch (verdict) {
        case score::DiffVerdict::better:
            return "better";
        case score::DiffVerdict::worse:
            return "worse";
        case score::DiffVerdict::only_a:
            return "only_a";
        case score::DiffVerdict::only_b:
            return "only_b";
        case score::DiffVerdict::same:
            break;
    }
    return "same";
}

namespace {

/// A sample differs from a record of every call, so the text says which of the two were sampled.
std::string sampled_text(const score::DiffRow& row) {
    const auto is_windowed = [](const score::FunctionRow* side) { return side != nullptr && side->windowed; };
    const bool a = is_windowed(row.a), b = is_windowed(row.b);
    if (a && b) return ", both sampled";
    return a ? fmt::format(", {} is sampled", kBefore) : b ? fmt::format(", {} is sampled", kAfter) : "";
}

std::string verdict_word(const score::DiffRow& row) {
    if (!row.scored) return "not scored";
    switch (row.verdict) {
        case score::DiffVerdict::same:
            return "~ same";
        case score::DiffVerdict::only_a:
            return row.recorded_in_both ? "only before" : "not recorded after";
        case score::DiffVerdict::only_b:
            return row.recorded_in_both ? "only after" : "not recorded before";
        default:
            return verdict_name(row.verdict);
    }
}

std::string factor_text(double factor) {
    constexpr double kMany = 100, kFew = 0.095;
    return fmt::format("{:.{}f} ×", factor, factor >= kMany ? 0 : factor >= kFew ? 2 : 4);
}

/// Empty: about as many, or it is not known.
std::string calls_text(const score::DiffRow& row) {
    constexpr double kAboutAsMany = 1.25;
    const std::optional<double> factor = score::factor_of_calls(row);
    if (!factor || (*factor<kAboutAsMany&& * factor> 1 / kAboutAsMany)) return {};
    return fmt::format(", {} the calls", factor_text(*factor));
}

}  // namespace

std::string verdict_in_words(const score::DiffRow& row) {
    return verdict_word(row) + sampled_text(row) + calls_text(row);
}

std::string run_change(const score::Report& before, const score::Report& after) {
    if (!(before.duration_ns > 0) || !(after.duration_ns > 0)) return {};
    return fmt::format("The run took {} before and {} after: {} as long.", human_time(before.duration_ns),
                       human_time(after.duration_ns), factor_text(after.duration_ns / before.duration_ns));
}

}  // namespace rdam::output
