// The work depends on a parameter, the caller or the return value: no interference, most likely.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/hints/explain.h"
#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"
#include "analyzer/mining/sequence_names.h"
#include "analyzer/output/units.h"

namespace rdam::hints {
namespace {

std::string falls(const Suspicion& suspicion, double left) {
    return fmt::format("the score falls from {:.2f} to {:.2f}", suspicion.row.rdam, left);
}

/// A value of a parameter or result, as its type orders it. Two have the same if they are equal.
std::uint64_t value_of(const trace::ParameterInfo& parameter, std::uint64_t word) {
    return ordered(word, parameter.kind, parameter.size);
}

/// Gives what it explains.
double judge(const Suspicion& suspicion, const std::string& name, const Variable& variable,
             const std::string& as_key, Hints& hints, const std::string& before_name = "",
             const std::string& conclusion = "the work depends on it, probably no interference") {
    const double explains = explained_by(suspicion, variable);
    const double left = rdam_left(suspicion, explains);
    if (suspicion.explained != nullptr) suspicion.explained->push_back({name, explains, left});
    if (explains < kWorthTelling) return explains;
    hints.push_back({.kind = "parameter",
                     .text = fmt::format("{}{} explains {:.0f} % of the variation; {} {}: {}", before_name,
                                         name, 100 * explains, as_key, falls(suspicion, left), conclusion),
                     .share = explains,
                     .parameter = name,
                     .explains = explains,
                     .rdam_with_key = left});
    return explains;
}

void judge_parameters(const Suspicion& suspicion, Hints& hints) {
    const score::Sample& sample = suspicion.row.sample;
    for (const trace::ParameterInfo& parameter : suspicion.function.parameters) {
        if (parameter.key || parameter.word >= sample.words_per_call) continue;
        judge(
            suspicion, parameter.name,
            [&](std::size_t i) { return value_of(parameter, sample.word(i, parameter.word)); },
            fmt::format("with --key '{}:{}'", suspicion.row.name, parameter.name), hints);
    }
}

void judge_caller(const Suspicion& suspicion, Hints& hints) {
    judge(
        suspicion, "caller", [&](std::size_t i) { return suspicion.row.sample.calls[i].caller; },
        fmt::format("with --split-by-context '{}'", suspicion.row.name), hints);
}

/// Where loops are folded calls with more inside are of the same sequence. (Elsewhere they are not, and there
/// is nothing that could vary.)
void judge_loops(const Suspicion& suspicion, Hints& hints) {
    constexpr double kMore = 0.2;
    constexpr auto kNumber = "the number of ";
    constexpr auto kUnfolded = "without --fold-loops";
    const score::Sample& sample = suspicion.row.sample;
    double best = 0;
    for (std::size_t g = 0; g < sample.repeated.size(); ++g) {
        const std::string& name = suspicion.info.functions[sample.repeated[g]].name;
        const Variable repeats = [&sample, g](std::size_t i) { return sample.repeats_of(i, g); };
        best = std::max(best, judge(suspicion, fmt::format("calls of {} inside", name), repeats, kUnfolded,
                                    hints, kNumber));
    }
    const Variable all = [&sample](std::size_t i) { return sample.calls[i].inside; };
    Hints together;
    if (judge(suspicion, "calls inside", all, kUnfolded, together, kNumber) > best + kMore)
        hints.insert(hints.end(), together.begin(), together.end());
}

/// Without deep keys calls with other keys inside are of the same sequence.
void judge_keys_inside(const Suspicion& suspicion, Hints& hints) {
    const auto& calls = suspicion.row.sample.calls;
    judge(
        suspicion, "keys of calls inside", [&](std::size_t i) { return calls[i].inside_keys; },
        "with --deep-keys", hints);
}

/// Whether what calls are given explains about as much. A search returns another node for each key: what the
/// key explains the node explains as well, and chance would decide which of them is named.
bool is_told(const Hints& hints, double explains) {
    constexpr double kAsMuch = 0.1;
    return std::ranges::any_of(hints, [&](const score::Hint& hint) {
        return hint.kind == "parameter" && hint.share > explains - kAsMuch;
    });
}

/// The values that most calls return.
std::vector<std::uint64_t> common_results(const Suspicion& suspicion) {
    constexpr std::size_t kLookedAt = 8;
    std::map<std::uint64_t, double> counts;
    for (const score::SampledCall& call : suspicion.row.sample.calls)
        if (call.returned) counts[call.result] += call.weight;
    std::vector<std::uint64_t> values;
    values.reserve(counts.size());
    for (const auto& [value, count] : counts)
        values.push_back(value);
    std::ranges::stable_sort(values, std::ranges::greater{},
                             [&](std::uint64_t value) { return counts[value]; });
    if (values.size() > kLookedAt) values.resize(kLookedAt);
    return values;
}

void judge_result(const Suspicion& suspicion, Hints& hints) {
    if (suspicion.function.result.empty()) return;
    const trace::ParameterInfo& type = suspicion.function.result.front();
    const auto& calls = suspicion.row.sample.calls;
    std::uint64_t best = 0;
    double explains = 0;
    for (const std::uint64_t value : common_results(suspicion)) {
        const double one = explained_by(suspicion, [&](std::size_t i) -> std::optional<std::uint64_t> {
            if (!calls[i].returned) return std::nullopt;
            return calls[i].result == value ? 1 : 0;
        });
        if (one <= explains) continue;
        explains = one;
        best = value;
    }
    if (explains < kWorthTelling) {
        const Variable result = [&](std::size_t i) -> std::optional<std::uint64_t> {
            if (!calls[i].returned) return std::nullopt;
            return value_of(type, calls[i].result);
        };
        Hints own;
        explains = judge(suspicion, kReturnValue, result, "among calls with the same one", own, "the ",
                         "it is how much work there was, or it tells how long the call had to wait");
        if (!is_told(hints, explains)) hints.insert(hints.end(), own.begin(), own.end());
        return;
    }
    const auto returns_best = [&](std::size_t i) { return calls[i].returned && calls[i].result == best; };
    const double with = median_ns(suspicion, returns_best);
    const double without = median_ns(suspicion, [&](std::size_t i) { return !returns_best(i); });
    hints.push_back(
        {.kind = "early_return",
         .text = fmt::format(
             "calls that return {} take {} (median), the others {}: that explains {:.0f} % of the "
             "variation; two ways through the function, which is no interference by itself, unless the value "
             "tells that the call had to wait",
             mining::format_value(type, best), output::human_time(with), output::human_time(without),
             100 * explains),
         .share = explains,
         .parameter = kReturnValue,
         .explains = explains,
         .rdam_with_key = rdam_left(suspicion, explains)});
}

}  // namespace

void find_parameters(const Suspicion& suspicion, Hints& hints) {
    judge_parameters(suspicion, hints);
    judge_caller(suspicion, hints);
    judge_loops(suspicion, hints);
    judge_keys_inside(suspicion, hints);
    judge_result(suspicion, hints);
}

}  // namespace rdam::hints
