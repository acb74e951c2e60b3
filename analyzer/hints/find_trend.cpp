// The loss grows, or falls, all through the run: with the number of calls so far, or with time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "analyzer/hints/finders.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

constexpr std::size_t kSlices = 20;
constexpr std::size_t kMinCallsInSlice = 5;

/// What a call loses on average in each twentieth of the run's calls.
using Means = std::array<double, kSlices>;

Means means_of(const LossPart& loss) {
    const auto& calls = loss.row.sample.calls;
    std::vector<std::size_t> order(calls.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return calls[i].begin; });
    std::array<double, kSlices> lost{}, weight{};
    double before = 0;
    for (const std::size_t i : order) {
        const double middle = before + calls[i].weight / 2;
        const auto slice = static_cast<std::size_t>(kSlices * middle / loss.calls);
        lost[std::min(slice, kSlices - 1)] += loss.lost[i] * calls[i].weight;
        weight[std::min(slice, kSlices - 1)] += calls[i].weight;
        before += calls[i].weight;
    }
    Means means{};
    for (std::size_t s = 0; s < kSlices; ++s)
        means[s] = weight[s] > 0 ? lost[s] / weight[s] : 0;
    return means;
}

/// Spearman's rank correlation with time. Equal means are in the order of time.
double rises(const Means& means) {
    std::array<std::size_t, kSlices> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t s) { return means[s]; });
    double squares = 0;
    for (std::size_t rank = 0; rank < kSlices; ++rank) {
        const double off = static_cast<double>(rank) - static_cast<double>(order[rank]);
        squares += off * off;
    }
    constexpr double kCount = kSlices;
    return 1 - 6 * squares / (kCount * (kCount * kCount - 1));
}

/// The part of the loss that is beyond what a call loses where it loses least.
double share_of(const Means& means) {
    const double least = std::ranges::min(means);
    const double mean = std::accumulate(means.begin(), means.end(), 0.0) / kSlices;
    return mean > 0 ? 1 - least / mean : 0;
}

bool said_by_parameter(const Hints& hints) {
    return std::ranges::any_of(hints, [](const Hint& hint) {
        return hint.kind == HintKind::parameter_or_time || hint.kind == HintKind::parameter;
    });
}

}  // namespace

void find_trend(const LossPart& loss, Hints& hints) {
    constexpr double kSteadily = 0.95;  // two consecutive levels reach 0.87 and some chance
    if (loss.row.sample.calls.size() < kSlices * kMinCallsInSlice || said_by_parameter(hints)) return;
    const Means means = means_of(loss);
    const double steadily = rises(means);
    const double share = share_of(means);
    if (std::abs(steadily) < kSteadily || share < kMinExplained) return;
    const bool more = steadily > 0;
    hints.push_back(
        {.kind = HintKind::trend,
         .text = fmt::format(
             "a call loses {} in the first twentieth of the calls and {} in the last, steadily {} in "
             "between: the loss follows the number of calls so far{}, or the time in the run",
             output::human_time(means.front()), output::human_time(means.back()), more ? "more" : "less",
             more ? " (a growing data structure)" : ""),
         .share = share});
}

}  // namespace rdam::hints
