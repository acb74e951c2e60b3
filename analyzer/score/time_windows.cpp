#include "analyzer/score/time_windows.h"

#include <bit>

namespace rdam::samples {

bool WindowSample::reaches_in_behind(std::uint64_t first, std::uint64_t last) const {
    // With so many it is as good as certain that one is kept, or the call is cut to none later on.
    constexpr std::uint64_t kLookedAt = 64;
    if (last - first > kLookedAt) return true;
    for (std::uint64_t number = first + 1; number <= last; ++number)
        if (windows_.keeps(number)) return true;
    return false;
}

bool WindowSample::keep(const WindowCall& call) {
    if (call.end < call.begin) return false;
    while (calls_.size() >= most_ && windows_.limit > 1) {
        windows_.limit /= 2;
        std::erase_if(calls_, [this](const WindowCall& each) { return !reaches_in(each); });
    }
    if (calls_.size() >= most_ || !reaches_in(call)) return false;
    calls_.push_back(call);
    return true;
}

WindowSample WindowSample::renumbered(std::span<const std::uint32_t> numbers) const {
    WindowSample sample{0, windows_.shift};
    sample.windows_ = windows_;
    sample.calls_.reserve(calls_.size());
    for (WindowCall call : calls_) {
        call.group = numbers[call.group];
        if (call.group != UINT32_MAX) sample.calls_.push_back(call);
    }
    return sample;
}

unsigned window_shift(double ticks_per_second, std::uint64_t run_ticks) {
    constexpr double kWindowsASecond = 1000;
    constexpr unsigned kMaxWindows = 18;  // bits
    const double ticks = ticks_per_second / kWindowsASecond;
    const bool sane = ticks >= 2 && ticks < 1e15;
    const auto wanted =
        sane ? static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(ticks)) - 1) : 1U;
    const auto run = static_cast<unsigned>(std::bit_width(run_ticks));
    return run > kMaxWindows + wanted ? run - kMaxWindows : wanted;
}

}  // namespace rdam::samples
