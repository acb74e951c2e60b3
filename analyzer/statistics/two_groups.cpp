#include "analyzer/statistics/two_groups.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>

namespace rdam::score {
namespace {

/// The runs that are in the second group.
using Division = std::vector<std::size_t>;

/// How many ways there are to choose; more than kMostDivisions are not counted any further.
double ways(std::size_t all, std::size_t chosen) {
    double count = 1;
    for (std::size_t i = 1; i <= std::min(chosen, all - chosen) && count <= kMostDivisions; ++i)
        count = count * static_cast<double>(all - i + 1) / static_cast<double>(i);
    return std::round(count);
}

/// The one that there is comes first.
std::vector<Division> divisions(std::size_t first, std::size_t second) {
    const std::size_t all = first + second;
    Division made(second);
    std::iota(made.begin(), made.end(), first);
    std::vector<Division> result{made};
    if (ways(all, second) <= kMostDivisions) {
        std::vector<char> chosen(all);
        std::fill_n(chosen.begin(), second, 1);
        do {
            Division division;
            for (std::size_t run = 0; run < all; ++run)
                if (chosen[run] != 0) division.push_back(run);
            if (division != made) result.push_back(std::move(division));
        } while (std::ranges::prev_permutation(chosen).found);
        return result;
    }
    std::mt19937_64 random{2010};
    std::vector<std::size_t> order(all);
    std::iota(order.begin(), order.end(), std::size_t{0});
    while (result.size() < kMostDivisions) {
        for (std::size_t i = 0; i < second; ++i)
            std::swap(order[i], order[i + random() % (all - i)]);
        Division division(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(second));
        std::ranges::sort(division);
        result.push_back(std::move(division));
    }
    return result;
}

/// One value of all runs.
class Value {
  public:
    Value(const std::vector<double>& runs, std::size_t first)
        : runs_(runs), first_(static_cast<double>(first)), all_(static_cast<double>(runs.size())) {
        sum_ = std::accumulate(runs.begin(), runs.end(), 0.0);
        for (const double run : runs)
            squares_ += (run - sum_ / all_) * (run - sum_ / all_);
    }

    double difference(const Division& division) const {
        double second = 0;
        for (const std::size_t run : division)
            second += runs_[run];
        return second / (all_ - first_) - (sum_ - second) / first_;
    }

    double statistic(const Division& division) const {
        const double apart = difference(division);
        const double each = 1 / first_ + 1 / (all_ - first_);
        const double within = std::max(0.0, squares_ - apart * apart / each);
        return apart / (std::sqrt(within / (all_ - 2) * each) + kLeastSpread * std::sqrt(each));
    }

    /// A division of runs of which the second group's are shifted by δ has a difference as large as the one that there is if δ is
    /// at least what the runs that leave the group have, on average, over those that come: the limits are order
    /// statistics of that.
    void set_interval(const std::vector<Division>& divisions, Shift& shift) const {
        std::vector<double> limits;
        for (std::size_t i = 1; i < divisions.size(); ++i)
            if (const auto limit = limit_of(divisions[i])) limits.push_back(*limit);
        const auto outside =
            static_cast<std::size_t>((1 - kConfidence) / 2 * static_cast<double>(limits.size() + 1));
        if (outside == 0) return;
        std::ranges::sort(limits);
        shift.low = limits[outside - 1];
        shift.high = limits[limits.size() - outside];
    }

  private:
    std::optional<double> limit_of(const Division& division) const {
        const auto first = static_cast<std::size_t>(first_);
        double came = 0,
               left = std::accumulate(runs_.begin() + static_cast<std::ptrdiff_t>(first), runs_.end(), 0.0);
        std::size_t swapped = 0;
        for (const std::size_t run : division) {
            if (run < first) {
                came += runs_[run];
                ++swapped;
            } else {
                left -= runs_[run];
            }
        }
        if (swapped == 0) return {};
        return (left - came) / static_cast<double>(swapped);
    }

    const std::vector<double>& runs_;
    double first_, all_;
    double sum_ = 0, squares_ = 0;
};

}  // namespace

double least_p(std::size_t first, std::size_t second) {
    if (first == 0 || second == 0) return 1;
    return 1 / std::min(ways(first + second, second), static_cast<double>(kMostDivisions));
}

std::vector<Shift> compare_groups(std::span<const std::vector<double>> values, std::size_t first) {
    if (values.empty()) return {};
    const std::vector<Division> all = divisions(first, values.front().size() - first);
    std::vector<Value> each;
    std::vector<Shift> shifts;
    std::vector<double> made;  // the statistics of the division that there is
    for (const std::vector<double>& runs : values) {
        const Value& value = each.emplace_back(runs, first);
        Shift& shift = shifts.emplace_back();
        shift.difference = value.difference(all.front());
        value.set_interval(all, shift);
        made.push_back(value.statistic(all.front()));
    }
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return made[i]; });
    constexpr double kSame = 1e-9;  // sums of the same figures in another order
    std::vector<std::size_t> as_large(values.size());
    for (const Division& division : all) {
        double greatest = -HUGE_VAL;
        for (std::size_t i = order.size(); i-- > 0;) {
            greatest = std::max(greatest, each[order[i]].statistic(division));
            if (greatest >= made[order[i]] - kSame * std::abs(made[order[i]])) ++as_large[i];
        }
    }
    double p = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        p = std::max(p, static_cast<double>(as_large[i]) / static_cast<double>(all.size()));
        shifts[order[i]].p = p;
    }
    return shifts;
}

}  // namespace rdam::score
