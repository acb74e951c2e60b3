#include "tools/agent/process/machine_share.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <ctime>
#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <optional>
#include <sstream>
#include <system_error>
#include <thread>

#include "tools/agent/process/process_facts.h"
#include "tools/agent/process/process_numbers.h"
#include "tools/base/files.h"
#include "tools/base/text_lines.h"

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
constexpr double kKeptSeconds = 3600;
constexpr std::size_t kBootId = 64;  // bytes

double seconds_since_boot() {
    return static_cast<double>(now_ns(CLOCK_BOOTTIME)) * 1e-9;
}

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

ProcessorTimes processor_times(const std::string& proc_stat, const std::vector<std::uint32_t>& processors) {
    // user, nice, system, idle, iowait, irq, softirq, steal: what guests had is in the first two again
    constexpr std::size_t kIdle = 3, kIowait = 4, kIrq = 5, kSoftirq = 6, kSteal = 7, kColumns = 8;
    const auto ticks_a_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    ProcessorTimes times;
    std::istringstream lines(proc_stat);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream in(line);
        std::string name;
        if (!(in >> name) || !name.starts_with("cpu") || name.size() == 3) continue;
        std::array<double, kColumns> seconds{};
        for (double& each : seconds) {
            in >> each;
            each /= ticks_a_second;
        }
        const bool ours = std::ranges::any_of(
            processors, [&](std::uint32_t number) { return name.substr(3) == std::to_string(number); });
        if (!in || !ours) continue;
        times.wanted +=
            std::accumulate(seconds.begin(), seconds.end(), 0.0) - seconds[kIdle] - seconds[kIowait];
        times.interrupts += seconds[kIrq] + seconds[kSoftirq];
        times.stolen += seconds[kSteal];
    }
    return times;
}

ProcessorTimes processor_times(const std::vector<std::uint32_t>& processors) {
    return processor_times(contents("/proc/stat"), processors);
}

double share_of_run(double spun, const ProcessorTimes& during) {
    // Interrupts that take more than that, and go on for the whole run, are in /proc/stat.
    constexpr double kMaxUnseen = 0.05;
    double interrupts = std::min(spun, kMaxUnseen);
    double stolen = 0;
    if (during.wanted > 0) {
        interrupts = std::max(interrupts, during.interrupts / during.wanted);
        stolen = during.stolen / during.wanted;
    }
    return std::clamp(interrupts + stolen, 0.0, 1.0);
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
            const auto begin = Clock::now();
            auto last = begin;
            while (last - begin < kSlice) {
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

KeptShares::KeptShares(PlanStore store, const std::vector<std::uint32_t>& processors)
    : store_(std::move(store)),
      key_("share of the machine " +
           read_whole_file("/proc/sys/kernel/random/boot_id", kBootId).value_or("")) {
    for (const std::uint32_t processor : processors)
        key_ += std::to_string(processor) + ' ';
}

std::vector<KeptShares::Measured> KeptShares::fresh(double now) const {
    const auto bytes = store_.load(key_);
    if (!bytes || bytes->size() % sizeof(Measured) != 0 || bytes->size() > kEnough * sizeof(Measured))
        return {};
    std::vector<Measured> kept(bytes->size() / sizeof(Measured));
    std::memcpy(kept.data(), bytes->data(), bytes->size());
    std::erase_if(kept, [&](const Measured& each) {
        const double age = now - each.at;
        return !(age >= 0 && age < kKeptSeconds && each.share > 0 && each.share <= 1);
    });
    return kept;
}

double KeptShares::median(std::vector<Measured> shares) {
    const auto middle = shares.begin() + static_cast<std::ptrdiff_t>(shares.size() / 2);
    std::ranges::nth_element(shares, middle, {}, &Measured::share);
    return middle->share;
}

std::optional<double> KeptShares::load(double now) const {
    auto shares = fresh(now);
    if (shares.size() < kEnough) return {};
    return median(std::move(shares));
}

double KeptShares::add(double share, double now) const {
    auto shares = fresh(now);
    if (shares.size() >= kEnough) shares.erase(shares.begin());
    shares.push_back({share, now});
    std::vector<std::uint8_t> bytes(shares.size() * sizeof(Measured));
    std::memcpy(bytes.data(), shares.data(), bytes.size());
    store_.save(key_, bytes);
    return median(std::move(shares));
}

MachineShare::MachineShare(const std::vector<std::uint32_t>& processors, PlanStore store)
    : kept_(std::move(store), processors) {
    if (processors.empty()) return;
    if (const auto known = kept_.load(seconds_since_boot())) {
        known_ = *known;
        return;
    }
    shared_ = std::make_shared<Shared>();
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
    if (shared_) shared_->stop.store(true);
}

double MachineShare::result() {
    if (!shared_) return known_;
    std::unique_lock lock(shared_->mutex);
    shared_->changed.wait_until(lock, shared_->end, [&] { return shared_->working == 0; });
    shared_->stop.store(true);
    known_ = share_of(shared_->slices);
    lock.unlock();
    shared_.reset();
    if (known_ > 0) known_ = kept_.add(known_, seconds_since_boot());
    return known_;
}

namespace {

/// Checks the group and those around it. A container may see only the last part of the path, at `mount`.
bool any_up_from(std::string group, const std::function<bool(const std::string& folder)>& limited) {
    for (;;) {
        if (limited(group)) return true;
        if (group.empty()) return false;
        group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    }
}

bool is_limited(std::string_view controllers, const std::string& group, const std::string& mounts,
                unsigned processors) {
    if (controllers.empty())
        return any_up_from(group, [&](const std::string& folder) {
            return is_quota(first_line(mounts + folder + "/cpu.max"), processors) ||
                   is_quota(first_line(mounts + "/unified" + folder + "/cpu.max"), processors);
        });
    if (fmt::format(",{},", controllers).find(",cpu,") == std::string::npos) return false;
    return any_up_from(group, [&](const std::string& folder) {
        for (const std::string& mount : {mounts + "/cpu", mounts + "/cpu,cpuacct"}) {
            const std::string place = mount + folder + "/cpu.cfs_";
            if (is_quota(first_line(place + "quota_us") + " " + first_line(place + "period_us"), processors))
                return true;
        }
        return false;
    });
}

}  // namespace

bool is_quota(std::string_view cpu_max, unsigned processors) {
    const auto blank = cpu_max.find(' ');
    if (blank == std::string_view::npos) return false;
    const auto quota = number_in<double>(cpu_max.substr(0, blank));
    const auto period = number_in<double>(cpu_max.substr(blank + 1));
    return quota && period && *quota > 0 && *quota < *period * processors;
}

bool has_cpu_quota(std::string_view cgroups, const std::string& mounts, unsigned processors) {
    TextLines lines(cgroups);
    // number:controllers:path; version 2 names no controllers.
    for (std::string_view line; lines.next(line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first + 1);
        if (first == std::string_view::npos || second == std::string_view::npos) continue;
        std::string group{line.substr(second + 1)};
        if (group == "/") group.clear();
        if (is_limited(line.substr(first + 1, second - first - 1), group, mounts, processors)) return true;
    }
    return false;
}

bool has_cpu_quota(unsigned pid) {
    return has_cpu_quota(contents("/proc/" + std::to_string(pid) + "/cgroup"), "/sys/fs/cgroup",
                         std::thread::hardware_concurrency());
}

}  // namespace rdam::agent
