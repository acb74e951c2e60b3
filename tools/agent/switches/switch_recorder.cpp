#include "tools/agent/switches/switch_recorder.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/agent/process/priorities.h"

namespace rdam::agent {

namespace {

/// Records of another processor that are as old have arrived: they are timed just before they are stored.
constexpr std::uint64_t kSettledNs = 2'000'000;
/// Of one processor's time, for the records.
constexpr double kMaxShare = 0.08;
/// A burst that is shorter does not stop the recording.
constexpr std::uint64_t kWindowNs = 100'000'000;
/// The clocks are compared at least as often; what a killed agent had not read is lost.
constexpr int kTakeMilliseconds = 1000;

}  // namespace

SwitchRecorder::SwitchRecorder(std::uint32_t pid, shm::Clock clock, settings::Switches wanted,
                               trace::SwitchInfo& info)
    : wanted_(wanted), info_(info), clock_(clock), cost_(clock_.now_ns()) {
    info_.state = trace::SwitchInfo::State::off;
    if (wanted == settings::Switches::off) return;
    auto rings = SwitchRings::open(pid, clock_.source());
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!rings || wake_ < 0) {
        info_.state = trace::SwitchInfo::State::unavailable;
        info_.reason = rings ? "no descriptor is left" : rings.error().message;
        return;
    }
    info_.state = trace::SwitchInfo::State::recorded;
    rings_.emplace(std::move(*rings));
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {
        // The rings are emptied when the agent writes anyhow.
    }
}

SwitchRecorder::~SwitchRecorder() {
    stop_thread();
    if (wake_ >= 0) close(wake_);
}

void SwitchRecorder::stop_thread() {
    if (!thread_.joinable()) return;
    ending_.store(true);
    eventfd_write(wake_, 1);
    thread_.join();
}

void SwitchRecorder::watch_agent(pid_t pid) {
    other_.store(static_cast<std::uint32_t>(pid));
    if (wake_ >= 0) eventfd_write(wake_, 1);
}

/// Until there is something to take, or it is time to; false: to stop.
bool SwitchRecorder::await(std::vector<pollfd>& waits, int milliseconds) const {
    constexpr std::chrono::milliseconds kBetween{10};
    // Where it is forbidden (seccomp):
    if (poll(waits.data(), waits.size(), milliseconds) < 0 && errno != EINTR)
        std::this_thread::sleep_for(kBetween);
    eventfd_t told = 0;
    eventfd_read(wake_, &told);
    return !ending_.load();
}

std::vector<pollfd> SwitchRecorder::waits() const {
    std::vector<pollfd> all{{wake_, POLLIN, 0}};
    for (const int fd : rings_->descriptors())
        all.push_back({fd, POLLIN, 0});
    return all;
}

void SwitchRecorder::run() {
    ask_for_first_turns();
    std::vector<pollfd> awaited = waits();
    bool grows = false;
    while (await(awaited, grows ? 0 : kTakeMilliseconds)) {
        if (const std::uint32_t other = other_.exchange(0); other != 0) rings_->watch_agent(other);
        // It would be ready for ever.
        for (pollfd& wait : awaited)
            if ((wait.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) wait.fd = -1;
        // Without the lock: it may take the kernel long, and as long as this thread is there nobody else
        // touches the rings.
        const bool grew = std::exchange(grows, rings_->grow());
        {
            const std::lock_guard guard(mutex_);
            take(false);
            if (!rings_) return;
        }
        if (grew && !grows) awaited = waits();
    }
}

/// `all`: nothing will come any more.
void SwitchRecorder::take(bool all) {
    const std::uint64_t settled = all ? UINT64_MAX : clock_.now_ns() - kSettledNs;
    const std::uint64_t most_ns = rings_->take(records_);
    clock_.look();
    const auto middle = std::stable_partition(records_.begin(), records_.end(),
                                              [&](const SwitchRecord& each) { return each.ns < settled; });
    std::ranges::stable_sort(records_.begin(), middle, {}, &SwitchRecord::ns);
    for (auto each = records_.begin(); each != middle; ++each)
        log_.add(*each, clock_.ticks(each->ns));
    records_.erase(records_.begin(), middle);
    handed_over_ = rings_->handed_over();
    const std::uint64_t lost = rings_->lost() - std::exchange(lost_, rings_->lost());
    // At least: they may be of threads that hand the processor over.
    if (!all) watch_cost(most_ns, lost * trace::SwitchInfo::kRecordNs / 2);
}

std::optional<double> SwitchCost::add(std::uint64_t taken_ns, std::uint64_t lost_ns,
                                      std::uint64_t lost_since_ns, std::uint64_t now_ns) {
    cost_ns_ += taken_ns + lost_ns;
    since_ns_ = std::min(since_ns_, lost_since_ns);
    const std::uint64_t elapsed = now_ns - since_ns_;
    if (elapsed < kWindowNs) return std::nullopt;
    since_ns_ = now_ns;
    return static_cast<double>(std::exchange(cost_ns_, 0)) / static_cast<double>(elapsed);
}

void SwitchRecorder::watch_cost(std::uint64_t taken_ns, std::uint64_t lost_ns) {
    const double share = cost_.add(taken_ns, lost_ns, rings_->take_lost_since(), clock_.now_ns()).value_or(0);
    if (wanted_ == settings::Switches::on || share <= kMaxShare) return;
    take(true);
    stopped_ = clock_.ticks(clock_.now_ns());
    why_stopped_ = fmt::format("recording them took some {:.0f} % of a processor", 100 * share);
    log_.stop();
    rings_.reset();
    // A poll that goes on would keep the events alive.
    eventfd_write(wake_, 1);
}

void SwitchRecorder::write(trace::TraceWriter* writer) {
    std::vector<OffCpuLog::Part> parts;
    {
        // The writing thread may have low priority, and the rings must not wait for it.
        const std::lock_guard guard(mutex_);
        if (rings_ && !thread_.joinable()) take(false);
        if (stopped_ != 0) {
            info_.state = trace::SwitchInfo::State::stopped;
            info_.until = stopped_;
            info_.reason = why_stopped_;
        }
        info_.missing = log_.missing();
        info_.handed_over = handed_over_;
        // The kernel reports a loss with the next record only, which may not come.
        info_.lost = std::max<std::uint64_t>(lost_, info_.missing.empty() ? 0 : 1) + log_.dropped();
        if (writer != nullptr) parts = log_.take_parts();
    }
    for (OffCpuLog::Part& part : parts)
        // What does not fit is counted by the writer.
        static_cast<void>(writer->append_off_cpu(part.tid, part.intervals));
}

void SwitchRecorder::finish(trace::TraceWriter* writer) {
    stop_thread();
    if (rings_) {
        take(true);
        log_.finish();
        rings_.reset();
    }
    write(writer);
}

namespace {

constexpr std::uint64_t kMinNs = 10'000'000;

}  // namespace

SwitchClock::SwitchClock(shm::Clock clock) : same_(clock == shm::Clock::monotonic) {
    if (!same_) from_ = to_ = read_moment(source());
}

clockid_t SwitchClock::source() const {
    return same_ ? CLOCK_MONOTONIC : CLOCK_MONOTONIC_RAW;
}

std::uint64_t SwitchClock::now_ns() const {
    return rdam::agent::now_ns(source());
}

void SwitchClock::look() {
    if (same_) return;
    const Moment now = read_moment(source());
    // The first rate is better than none, however short the time it is from.
    const bool first = from_.ns == to_.ns;
    if (now.ns <= to_.ns || (!first && now.ns - to_.ns < kMinNs)) return;
    set(to_, now);
}

void SwitchClock::set(const Moment& from, const Moment& to) {
    from_ = from;
    to_ = to;
}

std::uint64_t SwitchClock::ticks(std::uint64_t ns) const {
    if (same_) return ns;
    if (from_.ns == to_.ns) return to_.tsc;
    const double rate = static_cast<double>(to_.tsc - from_.tsc) / static_cast<double>(to_.ns - from_.ns);
    const auto since = static_cast<double>(static_cast<std::int64_t>(ns - from_.ns));
    return from_.tsc + static_cast<std::uint64_t>(std::llround(since * rate));
}

}  // namespace rdam::agent
