#include "analyzer/statistics/loss.h"

#include <algorithm>
#include <cmath>

#include "analyzer/statistics/as_double.h"

namespace rdam::score {
namespace {

constexpr double kNormal95 = 1.96;
constexpr double kExponential95 = 2.995732;  // ln 20
constexpr double kFastest = 0.01;

}  // namespace

Base base_of(const Baseline& baseline, const Distribution& calls, const Least& thread, const Least& process) {
    const auto beside = [&](const Least& least) {
        return Base{.ticks = least.usual(baseline.step, baseline.error), .error = baseline.error};
    };
    switch (baseline.kind) {
        case Baseline::Kind::process:
            return beside(process);
        case Baseline::Kind::percentile:
            return {.ticks = as_double(calls.percentile(baseline.fraction)), .cuts = true};
        case Baseline::Kind::minimum:
            return {.ticks = thread.fastest(0)};
        case Baseline::Kind::thread:
            break;
    }
    return beside(thread);
}

double lost(const Distribution& calls, const Base& base) {
    return base.cuts ? calls.lost_above(base.ticks) : calls.lost_from(base.ticks);
}

void Loss::add(const Group& group, bool base_is_minimum) {
    if (group.count == 0) return;
    lost_ += group.lost;
    variance_ += group.count * group.variance;
    error_ += group.count * group.base_error;
    if (!base_is_minimum) return;
    const double slack = group.count > 1 ? group.gap * kExponential95 : group.base;
    slack_ += group.count * std::min(slack, group.base);
}

void Loss::add(const Loss& other) {
    lost_ += other.lost_;
    judged_ += other.judged_;
    robust_ += other.robust_;
    variance_ += other.variance_;
    slack_ += other.slack_;
    error_ += other.error_;
    unsure_ += other.unsure_;
    sure_ += other.sure_;
}

void Loss::add(const Distribution& calls, const Base& base) {
    const double group_lost = score::lost(calls, base);
    add(Group{.count = as_double(calls.count()),
              .lost = group_lost,
              .variance = calls.variance(),
              .base = base.ticks,
              .base_error = base.error,
              .gap = as_double(calls.second() - calls.min())},
        !base.cuts);
    if (base.cuts) return;
    if (calls.count() >= kMinCompared && base.ticks >= as_double(calls.min())) {
        judged_ += group_lost;
        robust_ += calls.lost_above(
            std::max({base.ticks, as_double(calls.second()), as_double(calls.percentile(kFastest))}));
    }
}

void Loss::add_known(double lost, double variance) {
    lost_ = std::max(lost_ + lost, 0.0);
    variance_ = std::max(variance_ + variance, 0.0);
}

void Loss::take_unsure(double taken, double most) {
    taken = std::min(taken, lost_);
    lost_ -= taken;
    slack_ += taken;
    unsure_ += std::max(most - taken, 0.0);
}

void Loss::multiply(double factor) {
    lost_ *= factor;
    judged_ *= factor;
    robust_ *= factor;
    variance_ *= factor;
    slack_ *= factor;
    error_ *= factor;
    unsure_ *= factor;
    sure_ *= factor;
}

double Loss::low() const {
    const double least = std::max(lost_ - error_ - unsure_, sure());
    return std::max(least - kNormal95 * std::sqrt(variance_), 0.0);
}

double Loss::high() const {
    return lost_ + kNormal95 * std::sqrt(variance_) + slack_ + error_;
}

double floor_of(const trace::TraceInfo& info, const Baseline& baseline, double calls, double time,
                double life) {
    if (life <= 0) return 0;
    double error = info.clock.error_ticks;
    if (baseline.kind == Baseline::Kind::minimum) error += static_cast<double>(info.clock.step_ticks);
    return std::clamp((calls * error + time * info.process.machine_share) / life, 0.0, 1.0);
}

}  // namespace rdam::score
