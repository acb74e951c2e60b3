#include "analyzer/score/sampling.h"

#include <algorithm>

namespace rdam::score {

void Spread::add(double factor, double c, double d) {
    calls += factor * c * c;
    mixed += factor * c * d;
    times += factor * d * d;
}

void Spread::add(const Spread& other) {
    calls += other.calls;
    mixed += other.mixed;
    times += other.times;
}

double Spread::variance(double m) const {
    return std::max(times - 2 * m * mixed + m * m * calls, 0.0);
}

TreeSums::Sum& TreeSums::Sums::of(std::uint32_t number, std::uint32_t function) {
    if (number >= places.size()) places.resize(number + std::size_t{1});
    if (places[number] == 0) {
        sums.push_back({.number = number, .function = function});
        places[number] = static_cast<std::uint32_t>(sums.size());
    }
    return sums[places[number] - 1];
}

void TreeSums::Sums::clear() {
    for (const Sum& sum : sums)
        places[sum.number] = 0;
    sums.clear();
}

void TreeSums::count(std::uint32_t function) {
    ++counts_.of(function, function).calls;
}

void TreeSums::time(std::uint32_t function, std::uint32_t group, std::uint64_t duration) {
    Sum& sum = times_.of(group, function);
    ++sum.calls;
    sum.time += static_cast<double>(duration);
}

void TreeSums::end(std::uint64_t weight) {
    const auto w = static_cast<double>(weight);
    const double factor = w * (w - 1);
    for (const Sum& sum : counts_.sums)
        functions_[sum.number].count += factor * sum.calls * sum.calls;
    counts_.clear();
    auto& sums = times_.sums;
    std::ranges::sort(sums, {}, &Sum::function);
    for (auto first = sums.begin(); first != sums.end();) {
        const auto last =
            std::find_if(first, sums.end(), [&](const Sum& sum) { return sum.function != first->function; });
        const auto together = static_cast<double>(last - first);
        Sum all{.function = first->function};
        for (; first != last; ++first) {
            groups_[first->number].add(factor * together, first->calls, first->time);
            all.calls += first->calls;
            all.time += first->time;
        }
        functions_[all.function].times.add(factor, all.calls, all.time);
    }
    times_.clear();
}

const Spread* TreeSums::group(std::uint32_t number) const {
    const auto found = groups_.find(number);
    return found != groups_.end() ? &found->second : nullptr;
}

}  // namespace rdam::score
