// What the values of a description can be. Those that decide how the rest is read make the whole message
// implausible; a measurement that cannot be is damaged, and as good as unknown.
#pragma once

#include <cmath>
#include <cstdint>
#include <exception>

#include "tools/trace/event.h"
#include "tools/trace/format.h"

namespace rdam::trace {

/// Thrown by the readers of messages, as protozero's own exceptions are, and caught in reader.cpp.
struct Implausible : std::exception {};

/// Called for each structure that has been read.
template <class Structure>
void check(Structure&) {}

inline void check(ProcessInfo& process) {
    if (!(process.machine_share >= 0 && process.machine_share <= 1)) process.machine_share = 0;
}

inline void check(ClockInfo& clock) {
    constexpr std::uint64_t kMaxStep = 1'000'000'000;  // ticks; other tools' clocks move by up to a second
    constexpr double kMaxRate = 1e18;     // a second; no clock is finer, nor coarser than a second
    constexpr double kMaxError = 0xffff;  // ticks, more than the recorder measures
    constexpr double kMaxProbe = 1e9;
    const auto keep_within = [](double& value, double least, double most) {
        if (!(value >= least && value <= most)) value = 0;
    };
    if (clock.step_ticks > kMaxStep) clock.step_ticks = 0;
    keep_within(clock.ticks_per_second, 1, kMaxRate);
    keep_within(clock.probe_ticks, 0, kMaxProbe);
    keep_within(clock.probe_inner_ticks, 0, kMaxProbe);
    keep_within(clock.floor_ticks, 0, kMaxProbe);
    keep_within(clock.flow_ticks, 0, kMaxProbe);
    keep_within(clock.error_ticks, 0, kMaxError);
}

inline void check(AgentInfo& agent) {
    for (const double each : {agent.cpu_seconds, agent.running_cpu_seconds})
        if (!std::isfinite(each) || each < 0) throw Implausible{};
    agent.told = true;
}

inline void check(FunctionInfo& function) {
    if (function.enter_words > format::kMaxEventWords || function.leave_words > format::kMaxEventWords ||
        function.most_rate > kMaxSampling)
        throw Implausible{};
}

}  // namespace rdam::trace
