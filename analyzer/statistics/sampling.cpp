#include "analyzer/statistics/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rdam::score {

double highest_of_normals(std::size_t count) {
    // Of 1, 2, 4, … 64; linear between their logarithms.
    constexpr std::array kHighest{0.0, 0.564, 1.029, 1.424, 1.766, 2.070, 2.344};
    const double at = std::log2(static_cast<double>(std::max<std::size_t>(count, 1)));
    const auto below = std::min(static_cast<std::size_t>(at), kHighest.size() - 1);
    const auto above = std::min(below + 1, kHighest.size() - 1);
    return kHighest[below] + (kHighest[above] - kHighest[below]) * (at - static_cast<double>(below));
}

double beyond_chance(double difference, double error) {
    return difference > 0 ? std::max(difference - error * error / difference, 0.0) : 0;
}

double poisson_factor(std::uint64_t weight) {
    const auto w = static_cast<double>(weight);
    return w * (w - 1);
}

void Spread::add(std::uint64_t weight, std::uint64_t c, double d, double times) {
    const double factor = poisson_factor(weight) * times;
    const auto count = static_cast<double>(c);
    calls += factor * count * count;
    mixed += factor * count * d;
    squares += factor * d * d;
    unrecorded += (weight - 1) * c;
}

void Spread::add(const Spread& other) {
    calls += other.calls;
    mixed += other.mixed;
    squares += other.squares;
    unrecorded += other.unrecorded;
}

double Spread::variance(double m) const {
    return std::max(squares - 2 * m * mixed + m * m * calls, 0.0);
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

void TreeSums::time(std::uint32_t function, std::uint32_t group, std::uint64_t duration, bool outermost) {
    Sum& sum = times_.of(group, function);
    ++(outermost ? sum.calls : sum.inner_calls);
    (outermost ? sum.time : sum.inner_time) += static_cast<double>(duration);
}

void TreeSums::end(std::uint64_t weight) {
    for (const Sum& sum : counts_.sums) {
        const auto calls = static_cast<double>(sum.calls);
        functions_[sum.number].count += poisson_factor(weight) * calls * calls;
    }
    counts_.clear();
    auto& sums = times_.sums;
    std::ranges::sort(sums, {}, &Sum::function);
    for (auto first = sums.begin(); first != sums.end();) {
        const auto last =
            std::find_if(first, sums.end(), [&](const Sum& sum) { return sum.function != first->function; });
        const auto together = std::count_if(first, last, [](const Sum& sum) { return sum.calls > 0; });
        Sum all{.function = first->function};
        for (; first != last; ++first) {
            GroupSampling& group = groups_[first->number];
            group.outermost.add(weight, first->calls, first->time, static_cast<double>(together));
            group.all.add(weight, first->calls + first->inner_calls, first->time + first->inner_time);
            all.calls += first->calls;
            all.time += first->time;
        }
        functions_[all.function].times.add(weight, all.calls, all.time);
    }
    times_.clear();
}

const GroupSampling* TreeSums::group(std::uint32_t number) const {
    const auto found = groups_.find(number);
    return found != groups_.end() ? &found->second : nullptr;
}

}  // namespace rdam::score
