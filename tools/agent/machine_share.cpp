#include "tools/agent/machine_share.h"

#include <sched.h>
#include <sys/resource.h>

#include <chrono>

namespace rdam::agent {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Far more than a reading of the clock takes, and less than the shortest interrupt.
constexpr nanoseconds kGap{300};
constexpr milliseconds kSlice{1};
constexpr int kSlices = 5;
constexpr milliseconds kLongest{15};
/// Of all processors together; with less nothing is said.
constexpr milliseconds kLeast{3};

/// How often the kernel has let another thread run in this one's place.
long preemptions() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

}  // namespace

MachineShare::MachineShare(const std::vector<std::uint32_t>& processors) : spins_(processors.size()) {
    for (std::size_t i = 0; i < processors.size(); ++i)
        threads_.emplace_back([this, i, processor = processors[i]](const std::stop_token& stop) {
            spins_[i] = spin_on(processor, stop);
        });
}

MachineShare::Spin MachineShare::spin_on(std::uint32_t processor, const std::stop_token& stop) {
    const auto end = Clock::now() + kLongest;
    cpu_set_t set;
    CPU_ZERO(&set);
    if (processor < CPU_SETSIZE) CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) return {};
    Spin sum;
    auto last = Clock::now();
    for (int quiet = 0; quiet < kSlices && last < end && !stop.stop_requested();) {
        const long before = preemptions();
        const auto begin = last = Clock::now();
        nanoseconds taken{0};
        while (last - begin < kSlice) {
            const auto now = Clock::now();
            if (now - last > kGap) taken += now - last;
            last = now;
        }
        if (preemptions() != before) continue;
        sum.taken += taken.count();
        sum.all += nanoseconds(last - begin).count();
        ++quiet;
    }
    return sum;
}

double MachineShare::result() {
    for (std::jthread& thread : threads_)
        thread.join();
    threads_.clear();
    Spin sum;
    for (const Spin& spin : spins_) {
        sum.taken += spin.taken;
        sum.all += spin.all;
    }
    if (sum.all < nanoseconds(kLeast).count()) return 0;
    return static_cast<double>(sum.taken) / static_cast<double>(sum.all);
}

}  // namespace rdam::agent
