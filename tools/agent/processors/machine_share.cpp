#include "tools/agent/processors/machine_share.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <sstream>
#include <system_error>
#include <thread>

namespace rdam::agent {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kSlice{1};
constexpr int kSlices = 5;
constexpr milliseconds kLongestSpin{15};
/// If a reading takes longer than this, it cannot be distinguished from an interrupt.
constexpr nanoseconds kSlowClock{200};

std::int64_t between(Clock::time_point from, Clock::time_point to) {
    return nanoseconds(to - from).count();
}

/// How often the kernel has let another thread run in this one's place.
long preemptions() {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/// Nanoseconds between two readings, at the best.
std::int64_t usual_gap() {
    constexpr int kReadings = 64;
    std::int64_t least = INT64_MAX;
    auto last = Clock::now();
    for (int i = 0; i < kReadings; ++i) {
        const auto now = Clock::now();
        least = std::min(least, between(last, now));
        last = now;
    }
    return std::max<std::int64_t>(least, 1);
}

bool run_on(std::uint32_t processor) {
    // Other policies would not let the program run meanwhile, or us.
    if (processor >= CPU_SETSIZE || sched_getscheduler(0) != SCHED_OTHER) return false;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace

double share_of(std::span<const Gaps> slices) {
    constexpr std::size_t kMin = 3;
    if (slices.size() < kMin) return 0;
    const auto worst = std::ranges::max_element(slices, {}, &Gaps::taken);
    std::int64_t taken = 0;
    std::int64_t all = 0;
    for (auto slice = slices.begin(); slice != slices.end(); ++slice) {
        if (slice == worst) continue;
        taken += slice->taken();
        all += slice->all();
    }
    return all > 0 ? static_cast<double>(taken) / static_cast<double>(all) : 0;
}

double stolen_seconds(const std::string& proc_stat) {
    constexpr int kBefore = 7;  // user, nice, system, idle, iowait, irq, softirq
    std::istringstream in(proc_stat);
    std::string word;
    if (!(in >> word) || word != "cpu") return 0;
    for (int i = 0; i < kBefore; ++i)
        in >> word;
    double ticks = 0;
    if (!(in >> ticks) || ticks < 0) return 0;
    return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double stolen_seconds() {
    std::ifstream file("/proc/stat");
    std::string line;
    std::getline(file, line);
    return stolen_seconds(line);
}

StolenShare::StolenShare() : stolen_(stolen_seconds()), begin_(between({}, Clock::now())) {}

double StolenShare::now() const {
    constexpr double kSecond = 1e9;
    const double seconds = static_cast<double>(between({}, Clock::now()) - begin_) / kSecond;
    const double all = seconds * static_cast<double>(std::max(1u, std::thread::hardware_concurrency()));
    return all > 0 ? std::clamp((stolen_seconds() - stolen_) / all, 0.0, 1.0) : 0;
}

struct MachineShare::Shared {
    const Clock::time_point end = Clock::now() + kLongestSpin;
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t working = 0;
    std::vector<Gaps> slices;
    std::atomic<bool> stop{false};

    void spin() {
        const std::int64_t usual = usual_gap();
        if (usual > kSlowClock.count()) return;
        for (int quiet = 0; quiet < kSlices && Clock::now() < end && !stop.load();) {
            const long before = preemptions();
            Gaps slice(usual);
            auto last = Clock::now();
            while (slice.all() < nanoseconds(kSlice).count()) {
                const auto now = Clock::now();
                slice.add(between(last, now));
                last = now;
            }
            if (preemptions() != before) continue;
            const std::lock_guard lock(mutex);
            slices.push_back(slice);
            ++quiet;
        }
    }

    void finish() {
        const std::lock_guard lock(mutex);
        --working;
        changed.notify_all();
    }
};

MachineShare::MachineShare(const std::vector<std::uint32_t>& processors)
    : shared_(std::make_shared<Shared>()) {
    shared_->working = processors.size();
    for (const std::uint32_t processor : processors) {
        try {
            std::thread([shared = shared_, processor] {
                if (run_on(processor)) shared->spin();
                shared->finish();
            }).detach();
        } catch (const std::system_error&) {
            // As many threads as the system lets us have.
            shared_->finish();
        }
    }
}

MachineShare::~MachineShare() {
    shared_->stop.store(true);
}

double MachineShare::result() {
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait_until(lock, shared_->end, [&] { return shared_->working == 0; });
    shared_->stop.store(true);
    return share_of(shared_->slices);
}

}  // namespace rdam::agent
