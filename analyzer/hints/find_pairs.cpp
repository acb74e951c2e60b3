// The time goes with two parameters together, as with the sides of a rectangle, or with one of them and with
// how much was put into a structure before: neither explains it alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"

namespace rdam::hints {
namespace {

/// Pairs of more parameters than this are not tried.
constexpr std::size_t kMaxParameters = 8;
/// Values of a variable in a pair. Fewer where the calls would not suffice for the square of it.
constexpr std::size_t kMaxPairClasses = 16;
constexpr std::size_t kMinPairClasses = 4;

std::size_t classes_for(std::size_t calls) {
    constexpr double kInPair = 16;
    const auto square = static_cast<double>(calls) / kInPair;
    return std::clamp(static_cast<std::size_t>(std::sqrt(square)), kMinPairClasses, kMaxPairClasses);
}

/// A variable's values as classes of about as many calls each, by call of the sample.
struct ParameterClasses {
    std::string name;
    std::vector<std::uint64_t> of_call;
};

ParameterClasses classes_of(const std::string& name, const std::vector<std::uint64_t>& values) {
    std::vector<std::uint64_t> sorted = values;
    std::ranges::sort(sorted);
    std::vector<std::uint64_t> different = sorted;
    different.erase(std::unique(different.begin(), different.end()), different.end());
    std::vector<std::uint64_t> bounds;  // the least value of each class but the first
    const std::size_t wanted = classes_for(values.size());
    if (different.size() <= wanted) {
        bounds.assign(different.begin() + 1, different.end());
    } else {
        for (std::size_t c = 1; c < wanted; ++c)
            bounds.push_back(sorted[sorted.size() * c / wanted]);
    }
    ParameterClasses classes{.name = name, .of_call = {}};
    for (const std::uint64_t value : values)
        classes.of_call.push_back(
            static_cast<std::uint64_t>(std::ranges::upper_bound(bounds, value) - bounds.begin()));
    return classes;
}

/// The parameters that vary.
std::vector<ParameterClasses> parameters_of(const LossPart& loss) {
    const score::Sample& sample = loss.row.sample;
    std::vector<ParameterClasses> parameters;
    for (const trace::ParameterInfo& parameter : loss.function.parameters) {
        if (parameter.key || parameter.word >= sample.words_per_call) continue;
        std::vector<std::uint64_t> values;
        for (std::size_t i = 0; i < sample.calls.size(); ++i)
            values.push_back(ordered(sample.word(i, parameter.word), parameter.kind, parameter.size));
        ParameterClasses classes = classes_of(parameter.name, values);
        const bool varies = std::ranges::any_of(classes.of_call, [](std::uint64_t c) { return c > 0; });
        if (varies) parameters.push_back(std::move(classes));
    }
    return parameters;
}

/// The calls of all threads in the order in which they began.
ParameterClasses calls_so_far(const LossPart& loss) {
    std::vector<std::uint64_t> begins;
    for (const score::ScoredCall& call : loss.row.sample.calls)
        begins.push_back(call.begin);
    return classes_of(kCallsSoFar, begins);
}

struct Pair {
    double explains = 0;
    std::string a, b;
};

double together(const LossPart& loss, const ParameterClasses& a, const ParameterClasses& b) {
    return explained_by(loss, [&](std::size_t i) { return a.of_call[i] * kMaxPairClasses + b.of_call[i]; });
}

Pair best_pair(const LossPart& loss, const std::vector<ParameterClasses>& parameters) {
    Pair best;
    for (std::size_t a = 0; a < parameters.size(); ++a) {
        for (std::size_t b = a + 1; b < parameters.size(); ++b) {
            const double explains = together(loss, parameters[a], parameters[b]);
            if (explains > best.explains) best = {explains, parameters[a].name, parameters[b].name};
        }
    }
    return best;
}

bool tell_parameters(const LossPart& loss, const std::vector<ParameterClasses>& parameters, Hints& hints) {
    const Pair pair = best_pair(loss, parameters);
    if (pair.explains < kMinExplained) return false;
    const double left = rdam_left(loss, pair.explains);
    const std::string& name = loss.row.name;
    hints.push_back(
        {.kind = HintKind::parameter,
         .text = fmt::format("{0} and {1} together explain {2:.0f} % of the variation; with --key '{3}:{0}' "
                             "--key '{3}:{1}' the score falls from {4:.2f} to about {5:.2f}: if they "
                             "determine the amount of work, this is not interference",
                             pair.a, pair.b, 100 * pair.explains, name, loss.row.rdam, left),
         .share = pair.explains,
         .parameter = pair.a + ", " + pair.b,
         .explains = pair.explains,
         .rdam_with_key = left});
    return true;
}

/// What a call does to a structure that grows with the calls depends on how large it is, and on where.
void tell_growth(const LossPart& loss, const std::vector<ParameterClasses>& parameters, Hints& hints) {
    constexpr double kMore = 0.2;  // than the number of calls alone, which is the time of the run
    const ParameterClasses count = calls_so_far(loss);
    const double alone = explained_by(loss, [&](std::size_t i) { return count.of_call[i]; });
    Pair best{.explains = 0, .a = {}, .b = count.name};
    for (const ParameterClasses& parameter : parameters)
        if (const double explains = together(loss, parameter, count); explains > best.explains)
            best = {explains, parameter.name, count.name};
    if (best.explains < std::max(kMinExplained, alone + kMore)) return;
    hints.push_back(
        {.kind = HintKind::parameter,
         .text = fmt::format(
             "{} and the number of calls so far together explain {:.0f} % of the variation: if the work "
             "depends on {} and on something that grows with the calls, this is not interference",
             best.a, 100 * best.explains, best.a),
         .share = best.explains,
         .parameter = best.a + ", " + best.b,
         .explains = best.explains,
         .rdam_with_key = rdam_left(loss, best.explains)});
}

}  // namespace

void find_pairs(const LossPart& loss, Hints& hints) {
    if (std::ranges::any_of(hints, [](const Hint& hint) { return !hint.parameter.empty(); })) return;
    const std::vector<ParameterClasses> parameters = parameters_of(loss);
    if (parameters.size() > kMaxParameters) return;
    if (!tell_parameters(loss, parameters, hints)) tell_growth(loss, parameters, hints);
}

}  // namespace rdam::hints
