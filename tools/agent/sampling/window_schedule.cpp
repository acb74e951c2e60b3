#include "tools/agent/sampling/window_schedule.h"

#include <algorithm>

namespace rdam::agent {
namespace {

/// The weight of the previous window relative to the next: the last fifty windows, a second or two, decide.
constexpr double kCostMemory = 0.98;
/// The duty rises slowly, because calls are counted late, and falls at once.
constexpr double kRise = 1.1;
/// Gaps differ by up to half of their length: a program with a period of its own must not fall into step.
constexpr double kJitter = 0.5;

}  // namespace

double WindowSchedule::affordable(const Totals& totals, double share) {
    recent_open_ = kCostMemory * recent_open_ + (totals.open - last_.open);
    recent_cost_ = kCostMemory * recent_cost_ + (totals.cost - last_.cost);
    last_ = totals;
    constexpr double kMinDuty = kMin / kLongestPeriod;
    if (totals.cost > share * totals.elapsed) return kMinDuty;
    const double cost_of_window = recent_open_ > 0 ? recent_cost_ / recent_open_ : 0;
    return std::clamp(cost_of_window > 0 ? share / cost_of_window : kMaxDuty, kMinDuty, kMaxDuty);
}

WindowSchedule::Next WindowSchedule::next(const Totals& totals, double share, double most) {
    duty_ = std::min(affordable(totals, share), kRise * duty_);
    const double length = std::clamp(duty_ * kUsualPeriod, kMin, std::clamp(most, kMin, kMax));
    const double gap = std::min(length / duty_, kLongestPeriod) - length;
    return {gap * std::uniform_real_distribution{1 - kJitter, 1 + kJitter}(random_), length};
}

}  // namespace rdam::agent
