#include "tools/agent/counters.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "tools/agent/process/privileges.h"

namespace rdam::agent {
namespace {

std::string why_refused(int error) {
    const char* text = std::strerror(error);
    switch (error) {
        case ENOENT:
        case ENODEV:
        case EOPNOTSUPP:
            return fmt::format(
                "perf_event_open: {} (the machine has no hardware counters; most virtual machines have none)",
                text);
        case EACCES:
        case EPERM:
            return fmt::format("perf_event_open: {} ({})", text, who_forbids_perf());
        case ENOSYS:
            return fmt::format("perf_event_open: {} (the kernel has no perf events)", text);
        default:
            return fmt::format("perf_event_open: {}", text);
    }
}

std::string why_not(const shm::Measured& measured) {
    const auto error = static_cast<int>(measured.counters_error);
    switch (measured.counters) {
        case shm::Counters::refused:
            return why_refused(error);
        case shm::Counters::unmappable:
            return fmt::format(
                "the counter cannot be mapped: {} (give more with kernel.perf_event_mlock_kb or ulimit -l)",
                std::strerror(error));
        case shm::Counters::unreadable:
            return "the kernel does not let programs read hardware counters "
                   "(/sys/bus/event_source/devices/cpu/rdpmc is 0)";
        case shm::Counters::occupied:
            return "the instruction counter does not run: something else is using it";
        case shm::Counters::unlike:
            return "the machine has two kinds of processors, with separate counters";
        default:
            return "the recorder gave no reason";
    }
}

}  // namespace

trace::CounterInfo describe_counters(const shm::Measured& measured) {
    using State = trace::CounterInfo::State;
    constexpr double kScale = 1.0 / 16;
    switch (measured.counters) {
        case shm::Counters::off:
            return {.state = State::off, .reason = {}};
        case shm::Counters::counting:
            return {.state = State::counted,
                    .reason = {},
                    .probe = static_cast<double>(measured.probe_instructions_x16) * kScale,
                    .probe_inner = static_cast<double>(measured.inner_instructions_x16) * kScale};
        default:
            return {.state = State::unavailable, .reason = why_not(measured)};
    }
}

}  // namespace rdam::agent
