// The time depends on a parameter, the caller, the calls inside or the return value.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"
#include "analyzer/sequences/sequence_names.h"
#include "tools/base/units.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::hints {
namespace {

std::string falls(const LossPart& loss, double left) {
    return fmt::format("the score falls from {:.2f} to {:.2f}", loss.row.rdam, left);
}

/// A value of a parameter or result, as its type orders it. Two have the same if they are equal.
std::uint64_t value_of(const trace::ParameterInfo& parameter, std::uint64_t word) {
    return ordered(word, parameter.kind, parameter.size);
}

using Of = Variable::Of;

/// A variable of the calls, and what to say of it.
struct Asked {
    Variable variable;
    std::string name;  ///< Hint::parameter
    std::string subject;
    std::string as_key;       ///< how to compare calls with the same value only
    std::string conclusion;   ///< what it means if it explains the loss
    std::string unless_time;  ///< … if it cannot be distinguished from the time of the run
};

/// Returns the share that the variable explains.
double add_if_explains(const LossPart& loss, const Asked& asked, const ValueOf& variable, Hints& hints) {
    const Explanation found = explanation_by(loss, variable);
    const double left = rdam_left(loss, found.share);
    if (loss.explained != nullptr) loss.explained->push_back({asked.name, found.share, left, asked.variable});
    if (found.share < kMinExplained) return found.share;
    const std::string text =
        found.or_time
            ? fmt::format(
                  "the loss follows {} ({:.0f} % of the variation), but also the time in the run: the two "
                  "cannot be distinguished here; {}",
                  asked.subject, 100 * found.share, asked.unless_time)
            : fmt::format("{} explains {:.0f} % of the variation; {} {}: {}", asked.subject,
                          100 * found.share, asked.as_key, falls(loss, left), asked.conclusion);
    hints.push_back({.kind = found.or_time ? HintKind::parameter_or_time : HintKind::parameter,
                     .text = text,
                     .share = found.share,
                     .parameter = asked.name,
                     .explains = found.share,
                     .rdam_with_key = left});
    return found.share;
}

constexpr auto kObjects =
    "some objects take longer than others, because they need more work or because other threads use them";

/// What it may mean that the time goes with a parameter.
std::string conclusion(const trace::FunctionInfo& function, const trace::ParameterInfo& parameter) {
    if (static_cast<ValueKind>(parameter.kind) == ValueKind::pointer) return kObjects;
    if (function.waits || function.busy_waits) return "it waits longer for some values than for others";
    return "if it determines the amount of work, this is not interference";
}

void judge_parameters(const LossPart& loss, Hints& hints) {
    const score::Sample& sample = loss.row.sample;
    for (std::size_t p = 0; p < loss.function.parameters.size(); ++p) {
        const trace::ParameterInfo& parameter = loss.function.parameters[p];
        if (parameter.key || parameter.word >= sample.words_per_call) continue;
        add_if_explains(
            loss,
            {.variable = {Of::parameter, p},
             .name = parameter.name,
             .subject = parameter.name,
             .as_key = fmt::format("with --key '{}:{}'", loss.row.name, parameter.name),
             .conclusion = conclusion(loss.function, parameter),
             .unless_time = fmt::format("if {} determines the amount of work, this is not interference",
                                        parameter.name)},
            [&](std::size_t i) { return value_of(parameter, sample.word(i, parameter.word)); }, hints);
    }
}

void judge_caller(const LossPart& loss, Hints& hints) {
    add_if_explains(
        loss,
        {.variable = {Of::caller},
         .name = kCaller,
         .subject = "the caller",
         .as_key = fmt::format("with --split-by-context '{}'", loss.row.name),
         .conclusion = "some call sites need more work, or call it while other threads are active",
         .unless_time = "if some call sites need more work, this is not interference"},
        [&](std::size_t i) { return loss.row.sample.calls[i].caller; }, hints);
}

/// If loops are folded, calls with more iterations inside belong to the same sequence. (Otherwise they do
/// not, and nothing could vary.)
void judge_loops(const LossPart& loss, Hints& hints) {
    constexpr double kMore = 0.2;
    const auto asked = [](const std::string& name, Variable variable) {
        return Asked{.variable = variable,
                     .name = name,
                     .subject = "the number of " + name,
                     .as_key = "without --fold-loops",
                     .conclusion = "more iterations take longer, whether they are work or retries",
                     .unless_time = "if it determines the amount of work, this is not interference"};
    };
    const score::Sample& sample = loss.row.sample;
    double best = 0;
    for (std::size_t g = 0; g < sample.repeated.size(); ++g) {
        const std::string& name = loss.info.functions[sample.repeated[g]].name;
        const ValueOf repeats = [&sample, g](std::size_t i) { return sample.repeats_of(i, g); };
        best = std::max(
            best, add_if_explains(loss, asked(fmt::format("calls of {} inside", name), {Of::repeats, g}),
                                  repeats, hints));
    }
    const ValueOf all = [&sample](std::size_t i) { return sample.calls[i].inside; };
    Hints together;
    if (add_if_explains(loss, asked(kCallsInside, {Of::calls_inside}), all, together) > best + kMore)
        hints.insert(hints.end(), together.begin(), together.end());
}

/// Without deep keys calls with other keys inside are of the same sequence.
void judge_keys_inside(const LossPart& loss, Hints& hints) {
    const auto& calls = loss.row.sample.calls;
    add_if_explains(
        loss,
        {.variable = {Of::keys_inside},
         .name = kKeysInside,
         .subject = "the combination of the callees' keys",
         .as_key = "with --deep-keys",
         .conclusion = kObjects,
         .unless_time = "if some of them need more work, this is not interference"},
        [&](std::size_t i) { return calls[i].inside_keys; }, hints);
}

/// Whether what calls are given explains about as much. A search returns another node for each key: what the
/// key explains the node explains as well, and chance would decide which of them is named.
bool is_told(const Hints& hints, double explains) {
    constexpr double kAboutAsMuch = 0.1;
    return std::ranges::any_of(hints, [&](const Hint& hint) {
        return (hint.kind == HintKind::parameter || hint.kind == HintKind::parameter_or_time) &&
               hint.share > explains - kAboutAsMuch;
    });
}

/// The values that most calls return.
std::vector<std::uint64_t> common_results(const LossPart& loss) {
    constexpr std::size_t kLookedAt = 8;
    std::map<std::uint64_t, double> counts;
    for (const score::ScoredCall& call : loss.row.sample.calls)
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

/// One of the common results that separates fast calls from slow ones.
struct BestResult {
    std::uint64_t value = 0;
    Explanation found;
};

BestResult best_result(const LossPart& loss) {
    const auto& calls = loss.row.sample.calls;
    BestResult best;
    for (const std::uint64_t value : common_results(loss)) {
        const Explanation one = explanation_by(loss, [&](std::size_t i) -> std::optional<std::uint64_t> {
            if (!calls[i].returned) return std::nullopt;
            return calls[i].result == value ? 1 : 0;
        });
        if (one.share > best.found.share) best = {value, one};
    }
    return best;
}

void add_early_return(const LossPart& loss, const BestResult& best, Hints& hints) {
    const auto& calls = loss.row.sample.calls;
    const auto returns_best = [&](std::size_t i) {
        return calls[i].returned && calls[i].result == best.value;
    };
    const double with = median_ns(loss, returns_best);
    const double without = median_ns(loss, [&](std::size_t i) { return !returns_best(i); });
    const double explains = best.found.share;
    const double left = rdam_left(loss, explains);
    if (loss.explained != nullptr) loss.explained->push_back({kReturnValue, explains, left, {Of::result}});
    hints.push_back(
        {.kind = HintKind::early_return,
         .text = fmt::format(
             "calls that return {} take {} (median), the others {}: this explains {:.0f} % of the variation; "
             "{}",
             sequences::shown_value(loss.info, loss.function.result.front(), best.value),
             output::human_time(with), output::human_time(without), 100 * explains,
             best.found.or_time
                 ? "it also follows the time in the run: the two cannot be distinguished here"
                 : "there are two paths through the function, or the value shows that the call had to wait"),
         .share = explains,
         .parameter = kReturnValue,
         .explains = explains,
         .rdam_with_key = left});
}

void judge_result(const LossPart& loss, Hints& hints) {
    if (loss.function.result.empty()) return;
    const BestResult best = best_result(loss);
    if (best.found.share >= kMinExplained) {
        add_early_return(loss, best, hints);
        return;
    }
    const trace::ParameterInfo& type = loss.function.result.front();
    const auto& calls = loss.row.sample.calls;
    Hints own;
    const double explains = add_if_explains(
        loss,
        {.variable = {Of::result},
         .name = kReturnValue,
         .subject = "the return value",
         .as_key = "among calls that return the same value",
         .conclusion = "it shows how much work there was, or how long the call had to wait",
         .unless_time = "if it shows how much work there was, this is not interference"},
        [&](std::size_t i) -> std::optional<std::uint64_t> {
            if (!calls[i].returned) return std::nullopt;
            return value_of(type, calls[i].result);
        },
        own);
    if (!is_told(hints, explains)) hints.insert(hints.end(), own.begin(), own.end());
}

}  // namespace

void find_parameters(const LossPart& loss, Hints& hints) {
    judge_parameters(loss, hints);
    judge_caller(loss, hints);
    judge_loops(loss, hints);
    judge_keys_inside(loss, hints);
    judge_result(loss, hints);
    find_pairs(loss, hints);
}

}  // namespace rdam::hints
