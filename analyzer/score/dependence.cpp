#include "analyzer/score/dependence.h"

#include <algorithm>
#include <array>
#include <functional>

namespace rdam::score {
namespace {

/// The 97.5 % quantile of Student's distribution with a degree of freedom for each pair of neighbours,
/// against that of the normal one: squares.
struct Scale {
    std::size_t blocks = 0;
    double factor = 1;
};
constexpr std::array<Scale, 3> kScales{{{16, 1.182}, {32, 1.083}, {64, 1.040}}};

std::vector<double> in_blocks(std::span<const LossAt> calls, const TickRange& life, std::size_t blocks) {
    std::vector<double> sums(blocks);
    const auto length = static_cast<double>(life.end - life.begin);
    for (const LossAt& call : calls) {
        const std::uint64_t since = std::max(call.begin, life.begin) - life.begin;
        const auto block =
            static_cast<std::size_t>(static_cast<double>(since) / length * static_cast<double>(blocks));
        sums[std::min(block, blocks - 1)] += call.lost * call.weight;
    }
    return sums;
}

double of_neighbours(std::span<const double> sums) {
    double squares = 0;
    for (std::size_t i = 1; i < sums.size(); ++i)
        squares += (sums[i] - sums[i - 1]) * (sums[i] - sums[i - 1]);
    const auto n = static_cast<double>(sums.size());
    return n * squares / (2 * (n - 1));
}

/// Of the estimate of their sum (call_sample.h): a call that was sure to be drawn adds nothing.
double sampling_variance(std::span<const LossAt> calls) {
    double variance = 0;
    for (const LossAt& call : calls)
        variance += call.lost * call.lost * call.weight * (call.weight - 1);
    return variance;
}

}  // namespace

std::optional<double> variance_over_time(std::span<const LossAt> calls, const TickRange& life,
                                         double independent) {
    if (calls.size() < kFewestOverTime || life.end <= life.begin) return {};
    double most = 0;
    for (const Scale& scale : kScales)
        most = std::max(most, scale.factor * of_neighbours(in_blocks(calls, life, scale.blocks)));
    return std::max(most - sampling_variance(calls), std::min(most, independent));
}

std::vector<LossAt> losses_of(const samples::CallSample& sample, std::span<const GroupTimes> groups,
                              GroupBases bases) {
    std::ranges::sort(bases, std::ranges::less{}, &GroupBases::value_type::first);
    std::vector<LossAt> losses;
    for (const samples::SampledCall& call : sample.taken()) {
        if (!(call.weight > 0) || call.group >= groups.size()) continue;
        const GroupTimes* group = &groups[call.group];
        const auto base =
            std::ranges::lower_bound(bases, group, std::ranges::less{}, &GroupBases::value_type::first);
        if (base == bases.end() || base->first != group) continue;
        losses.push_back(
            {call.begin, std::max(static_cast<double>(call.duration) - base->second, 0.0), call.weight});
    }
    return losses;
}

}  // namespace rdam::score
