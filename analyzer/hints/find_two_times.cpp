// The calls take one of two times, and hardly any other.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/hints/finders.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

struct Timed {
    double ns = 0;  ///< without what was lost off the processor
    double lost = 0;
    double weight = 1;
};

std::vector<Timed> in_order(const LossPart& loss) {
    std::vector<Timed> calls;
    for (std::size_t i = 0; i < loss.lost.size(); ++i) {
        const score::ScoredCall& call = loss.row.sample.calls[i];
        const double off = call.lost_ns - loss.lost[i];
        if (const double ns = call.duration_ns - off; ns > 0)
            calls.push_back({ns, loss.lost[i], call.weight});
    }
    std::ranges::stable_sort(calls, {}, &Timed::ns);
    return calls;
}

double weight_of(std::span<const Timed> calls) {
    double weight = 0;
    for (const Timed& call : calls)
        weight += call.weight;
    return weight;
}

/// Splits where the sum of the squared deviations of the logarithms from the means of both parts is smallest
/// (N. Otsu, A threshold selection method from gray-level histograms, IEEE Trans. SMC 9, 1979): returns the
/// first call of the upper part.
std::size_t split(std::span<const Timed> calls) {
    double all = 0, sum = 0;
    for (const Timed& call : calls) {
        all += call.weight;
        sum += call.weight * std::log(call.ns);
    }
    double best = -1, below = 0, below_sum = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < calls.size(); ++i) {
        below += calls[i].weight;
        below_sum += calls[i].weight * std::log(calls[i].ns);
        const double apart = below_sum / below - (sum - below_sum) / (all - below);
        const double between = below * (all - below) * apart * apart;
        if (between > best) {
            best = between;
            at = i + 1;
        }
    }
    return at;
}

/// The median, if nearly all are near it.
std::optional<double> only_time(std::span<const Timed> calls) {
    constexpr double kNear = 1.25, kNearlyAll = 0.9;
    const double all = weight_of(calls);
    double sum = 0, median = 0;
    for (const Timed& call : calls) {
        sum += call.weight;
        median = call.ns;
        if (2 * sum >= all) break;
    }
    double near = 0;
    for (const Timed& call : calls)
        if (call.ns < kNear * median && median < kNear * call.ns) near += call.weight;
    if (near < kNearlyAll * all) return std::nullopt;
    return median;
}

}  // namespace

void find_two_times(const LossPart& loss, Hints& hints) {
    constexpr double kApart = 2, kMin = 0.05, kStepsApart = 2.01;
    const std::vector<Timed> calls = in_order(loss);
    if (calls.size() < kMinCalls) return;
    const std::size_t at = split(calls);
    const std::span fast = std::span{calls}.first(at), slow = std::span{calls}.subspan(at);
    const double slow_share = weight_of(slow) / weight_of(calls);
    if (std::min(slow_share, 1 - slow_share) < kMin) return;
    const auto short_time = only_time(fast), long_time = only_time(slow);
    if (!short_time || !long_time || *long_time < kApart * *short_time) return;
    // Equal work takes both.
    if (*long_time - *short_time <= kStepsApart * loss.report.clock_step_ns) return;
    double lost = 0;
    for (const Timed& call : slow)
        lost += call.lost * call.weight;
    const double share = lost / loss.lost_ns;
    if (share < kMinExplained) return;
    hints.push_back({.kind = HintKind::two_times,
                     .text = fmt::format(
                         "nearly all calls take about {} ({:.0f} %) or about {} ({:.0f} %): two paths "
                         "through the function, cache hits and misses, or a disturbance of constant length",
                         output::human_time(*short_time), 100 * (1 - slow_share),
                         output::human_time(*long_time), 100 * slow_share),
                     .share = share});
}

}  // namespace rdam::hints
