#include "tools/agent/switches/switch_clock.h"

#include <time.h>

#include <cmath>

namespace rdam::agent {
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
    timespec time{};
    clock_gettime(source(), &time);
    constexpr std::uint64_t kSecond = 1'000'000'000;
    return static_cast<std::uint64_t>(time.tv_sec) * kSecond + static_cast<std::uint64_t>(time.tv_nsec);
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
