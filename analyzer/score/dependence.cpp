#include "analyzer/score/dependence.h"

#include <algorithm>
#include <functional>

namespace rdam::score {
namespace {

constexpr std::size_t kBlocks = 16;
constexpr std::size_t kOffsets = 8;  ///< at which they begin: parts of a block
/// The 97.5 % quantile of Student's distribution with ten degrees of freedom against that of the normal one,
/// squared. Sixteen blocks are worth ten as neighbours, and some more at all offsets.
constexpr double kFewBlocks = 1.292;

std::vector<double> in_parts(std::span<const LossAt> calls, const trace::TickRange& life) {
    std::vector<double> sums(kBlocks * kOffsets);
    const auto parts = static_cast<double>(sums.size());
    const auto length = static_cast<double>(life.end - life.begin);
    for (const LossAt& call : calls) {
        const std::uint64_t since = std::max(call.begin, life.begin) - life.begin;
        const auto part = static_cast<std::size_t>(static_cast<double>(since) / length * parts);
        sums[std::min(part, sums.size() - 1)] += call.lost * call.weight;
    }
    return sums;
}

/// Half of the mean square of what neighbouring blocks differ by.
double of_neighbours(std::span<const double> parts) {
    std::vector<double> until{0};
    for (const double part : parts)
        until.push_back(until.back() + part);
    double squares = 0;
    const std::size_t pairs = parts.size() + 1 - 2 * kOffsets;
    for (std::size_t i = 0; i < pairs; ++i) {
        const double difference = until[i + 2 * kOffsets] - 2 * until[i + kOffsets] + until[i];
        squares += difference * difference;
    }
    return squares / static_cast<double>(2 * pairs);
}

/// The variance of the estimate of their sum (call_sample.h). A call that was certain to be drawn adds
/// nothing.
double sampling_variance(std::span<const LossAt> calls) {
    double variance = 0;
    for (const LossAt& call : calls)
        variance += call.lost * call.lost * call.weight * (call.weight - 1);
    return variance;
}

}  // namespace

std::optional<double> variance_over_time(std::span<const LossAt> calls, const trace::TickRange& life,
                                         double independent) {
    if (calls.size() < kMinOverTime || life.end <= life.begin) return {};
    const double most = kFewBlocks * kBlocks * of_neighbours(in_parts(calls, life));
    return std::max(most - sampling_variance(calls), std::min(most, independent));
}

std::vector<LossAt> losses_of(const samples::CallSample& sample, GroupBases bases) {
    std::ranges::sort(bases, std::ranges::less{}, &GroupBases::value_type::first);
    std::vector<LossAt> losses;
    for (const samples::SampledCall& call : sample.taken()) {
        if (!(call.weight > 0)) continue;
        const auto base =
            std::ranges::lower_bound(bases, call.group, std::ranges::less{}, &GroupBases::value_type::first);
        if (base == bases.end() || base->first != call.group) continue;
        losses.push_back(
            {call.begin, std::max(static_cast<double>(call.duration) - base->second, 0.0), call.weight});
    }
    return losses;
}

}  // namespace rdam::score
