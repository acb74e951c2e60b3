#include "analyzer/statistics/floor.h"

#include <algorithm>

namespace rdam::score {

double floor_of(const trace::TraceInfo& info, const Baseline& baseline, double calls, double time,
                double life) {
    if (life <= 0) return 0;
    double error = info.clock.error_ticks;
    if (baseline.kind == Baseline::Kind::minimum) error += static_cast<double>(info.clock.step_ticks);
    return std::clamp((calls * error + time * info.process.machine_share) / life, 0.0, 1.0);
}

}  // namespace rdam::score
