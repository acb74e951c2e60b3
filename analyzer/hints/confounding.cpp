#include "analyzer/hints/confounding.h"

#include <algorithm>
#include <span>

#include "analyzer/hints/explain.h"

namespace rdam::hints {
namespace {

constexpr std::size_t kMaxConfoundingClasses = 32;

struct Placed {
    std::uint64_t value = 0;
    double order = 0;  ///< in time, from 0 on
};

std::vector<Placed> in_order_of_value(std::span<Moment> calls) {
    std::ranges::stable_sort(calls, {}, &Moment::begin);
    std::vector<Placed> placed;
    placed.reserve(calls.size());
    for (const Moment& call : calls)
        placed.push_back({call.value, static_cast<double>(placed.size())});
    std::ranges::stable_sort(placed, {}, &Placed::value);
    return placed;
}

/// For the calls of one stratum.
double of_stratum(std::span<Moment> moments) {
    const std::vector<Placed> calls = in_order_of_value(moments);
    const std::size_t in_class = std::max(calls.size() / kMaxConfoundingClasses, kMinInClass);
    const std::vector<std::size_t> ends = class_ends(std::span<const Placed>{calls}, in_class);
    const auto n = static_cast<double>(calls.size());
    if (ends.size() < 2) return 0;
    double within = 0;  // of the squares, if the calls of a class were anywhere: n · (n² − 1) / 12 for all
    double least = 0;   // … if the calls of each class were consecutive
    std::size_t begin = 0;
    for (const std::size_t end : ends) {
        const auto size = static_cast<double>(end - begin);
        double sum = 0, squares = 0;
        for (std::size_t i = begin; i < end; ++i) {
            sum += calls[i].order;
            squares += calls[i].order * calls[i].order;
        }
        within += squares - sum * sum / size;
        least += size * (size * size - 1) / 12;
        begin = end;
    }
    const double all = n * (n * n - 1) / 12;
    const double by_chance = all * (n - static_cast<double>(ends.size())) / (n - 1);
    return by_chance > least ? std::clamp((by_chance - within) / (by_chance - least), 0.0, 1.0) : 0;
}

}  // namespace

double goes_with_time(std::vector<Moment> calls) {
    std::ranges::stable_sort(calls, {}, &Moment::stratum);
    double sum = 0, weight = 0;
    for (std::size_t begin = 0, end = 0; begin < calls.size(); begin = end) {
        double here = 0;
        for (; end < calls.size() && calls[end].stratum == calls[begin].stratum; ++end)
            here += calls[end].weight;
        if (end - begin < kMinInStratum) continue;
        sum += here * of_stratum(std::span{calls}.subspan(begin, end - begin));
        weight += here;
    }
    return weight > 0 ? sum / weight : 0;
}

}  // namespace rdam::hints
