#include "analyzer/calls/call.h"

#include <algorithm>
#include <cmath>

namespace rdam::calls {
namespace {

/// No call is longer: years at any speed.
constexpr std::uint64_t kMax = std::uint64_t{1} << 60;

double sane(double instructions) {
    constexpr double kMaxOfProbe = 1e6;
    return std::isfinite(instructions) && instructions > 0 && instructions < kMaxOfProbe ? instructions : 0;
}

}  // namespace

std::uint64_t net_instructions(const ProbeInstructions& probe, std::uint64_t before, std::uint64_t after,
                               std::uint64_t nested) {
    if (before == 0 || after <= before || after - before > kMax) return 0;
    const double probes = probe.inner + probe.total * static_cast<double>(nested);
    const double net = static_cast<double>(after - before) - probes;
    return static_cast<std::uint64_t>(std::max(std::round(net), 1.0));
}

ProbeInstructions probe_instructions(const trace::CounterInfo& counters) {
    return {.total = sane(counters.probe), .inner = sane(counters.probe_inner)};
}

}  // namespace rdam::calls
