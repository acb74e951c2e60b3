#include "libprobe/event/clock.h"

#include <cpuid.h>
#include <fcntl.h>
#include <time.h>

#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"

namespace rdam::probe {
namespace {

constexpr std::uint64_t kNotTold = 0xfff;

std::uint64_t monotonic() {
    timespec now{};
    sys::call(SYS_clock_gettime, CLOCK_MONOTONIC, sys::word(&now));
    return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec);
}

struct CpuId {
    std::uint32_t eax = 0;
    std::uint32_t ebx = 0;
    std::uint32_t ecx = 0;
    std::uint32_t edx = 0;
};

/// All zero where the processor has no such leaf.
CpuId cpuid(std::uint32_t leaf) {
    CpuId id;
    if (__get_cpuid_count(leaf, 0, &id.eax, &id.ebx, &id.ecx, &id.edx) == 0) return {};
    return id;
}

bool is_invariant() {
    constexpr std::uint32_t kPowerManagement = 0x80000007;
    constexpr std::uint32_t kInvariantCounter = 1u << 8;
    return (cpuid(kPowerManagement).edx & kInvariantCounter) != 0;
}

bool has_rdpid() {
    constexpr std::uint32_t kFeatures = 7;
    constexpr std::uint32_t kRdpid = 1u << 22;
    return (cpuid(kFeatures).ecx & kRdpid) != 0;
}

}  // namespace

bool find_clock(std::string_view name, shm::Clock& clock) {
    for (const shm::Clock each :
         {shm::Clock::rdtscp, shm::Clock::unfenced, shm::Clock::rdtsc, shm::Clock::monotonic})
        if (name == shm::kClockNames[static_cast<std::uint32_t>(each)]) {
            clock = each == shm::Clock::rdtsc && has_rdpid() ? shm::Clock::rdpid : each;
            return true;
        }
    return false;
}

std::uint64_t read_clock() {
    std::uint64_t processor = 0;
    return read_clock(processor);
}

std::uint64_t read_clock(std::uint64_t& processor) {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t told = kNotTold;
    switch (globals.settings.clock) {
        case shm::Clock::monotonic:
            processor = kNotTold;
            return monotonic();
        case shm::Clock::rdtsc:
            asm volatile("rdtsc" : "=a"(low), "=d"(high));
            break;
        case shm::Clock::rdpid: {
            std::uint64_t whole = 0;
            asm volatile("rdtsc\n\trdpid %2" : "=a"(low), "=d"(high), "=r"(whole));
            told = static_cast<std::uint32_t>(whole);
            break;
        }
        case shm::Clock::rdtscp:
        case shm::Clock::unfenced:
            asm volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(told));
            break;
    }
    processor = told & kNotTold;
    return std::uint64_t{high} << 32 | low;
}

void fence_clock() {
    if (globals.settings.clock == shm::Clock::rdtscp) asm volatile("lfence" : : : "memory");
}

bool counter_is_steady() {
    static constexpr char kSource[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    char text[32] = {};
    const long fd = sys::call(SYS_open, sys::word(kSource), O_RDONLY | O_CLOEXEC);
    if (sys::failed(fd)) return is_invariant();
    const long size = sys::call(SYS_read, fd, sys::word(text), sizeof text);
    sys::call(SYS_close, fd);
    const std::string_view source{text, size > 0 ? static_cast<std::size_t>(size) : 0};
    for (const std::string_view other : {"hpet", "acpi_pm", "jiffies", "refined-jiffies"})
        if (source.starts_with(other)) return false;
    return !source.empty() || is_invariant();
}

}  // namespace rdam::probe
