// The work depends on two parameters together, as on the sides of a rectangle: neither explains it alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/hints/explain.h"
#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"

namespace rdam::hints {
namespace {

/// Pairs of more parameters than this are not tried.
constexpr std::size_t kMostParameters = 8;
/// Values of a parameter in a pair: the calls must suffice for the square of it.
constexpr std::size_t kMostClasses = 8;

/// A parameter's values as classes of about as many calls each, by call of the sample.
struct Classes {
    std::string name;
    std::vector<std::uint64_t> of_call;
};

Classes classes_of(const Suspicion& suspicion, const trace::ParameterInfo& parameter) {
    const score::Sample& sample = suspicion.row.sample;
    std::vector<std::uint64_t> values;
    for (std::size_t i = 0; i < sample.calls.size(); ++i)
        values.push_back(ordered(sample.word(i, parameter.word), parameter.kind, parameter.size));
    std::vector<std::uint64_t> sorted = values;
    std::ranges::sort(sorted);
    std::vector<std::uint64_t> different = sorted;
    different.erase(std::unique(different.begin(), different.end()), different.end());
    std::vector<std::uint64_t> bounds;  // the least value of each class but the first
    if (different.size() <= kMostClasses) {
        bounds.assign(different.begin() + 1, different.end());
    } else {
        for (std::size_t c = 1; c < kMostClasses; ++c)
            bounds.push_back(sorted[sorted.size() * c / kMostClasses]);
    }
    Classes classes{.name = parameter.name, .of_call = {}};
    for (const std::uint64_t value : values)
        classes.of_call.push_back(
            static_cast<std::uint64_t>(std::ranges::upper_bound(bounds, value) - bounds.begin()));
    return classes;
}

struct Pair {
    double explains = 0;
    std::string a, b;
};

Pair best_pair(const Suspicion& suspicion, const std::vector<Classes>& parameters) {
    Pair best;
    for (std::size_t a = 0; a < parameters.size(); ++a) {
        for (std::size_t b = a + 1; b < parameters.size(); ++b) {
            const double explains = explained_by(suspicion, [&](std::size_t i) {
                return parameters[a].of_call[i] * kMostClasses + parameters[b].of_call[i];
            });
            if (explains > best.explains) best = {explains, parameters[a].name, parameters[b].name};
        }
    }
    return best;
}

}  // namespace

void find_pairs(const Suspicion& suspicion, Hints& hints) {
    if (std::ranges::any_of(hints, [](const score::Hint& hint) { return !hint.parameter.empty(); })) return;
    std::vector<Classes> parameters;
    for (const trace::ParameterInfo& parameter : suspicion.function.parameters) {
        if (parameter.key || parameter.word >= suspicion.row.sample.words_per_call) continue;
        Classes classes = classes_of(suspicion, parameter);
        const bool varies = std::ranges::any_of(classes.of_call, [](std::uint64_t c) { return c > 0; });
        if (varies) parameters.push_back(std::move(classes));
    }
    if (parameters.size() > kMostParameters) return;
    const Pair pair = best_pair(suspicion, parameters);
    if (pair.explains < kWorthTelling) return;
    const double left = rdam_left(suspicion, pair.explains);
    const std::string& name = suspicion.row.name;
    hints.push_back(
        {.kind = "parameter",
         .text = fmt::format("{0} and {1} together explain {2:.0f} % of the variation; with --key '{3}:{0}' "
                             "--key '{3}:{1}' the score falls from {4:.2f} to about {5:.2f}: the work "
                             "depends on both, probably no interference",
                             pair.a, pair.b, 100 * pair.explains, name, suspicion.row.rdam, left),
         .share = pair.explains,
         .parameter = pair.a + ", " + pair.b,
         .explains = pair.explains,
         .rdam_with_key = left});
}

}  // namespace rdam::hints
