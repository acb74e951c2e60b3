#include "tools/agent/sampling/first_moments.h"

#include <fmt/format.h>

#include <algorithm>

#include "wrappers/support/printable.h"

namespace rdam::agent {
namespace {

/// Fewer calls a second in one thread cost little, however short they are.
constexpr double kMany = 1e6;
/// Fewer have cost some milliseconds: a burst, or a program that is done.
constexpr std::uint64_t kEnough = 250'000;
constexpr double kMinOwnCalls = 0.05;

}  // namespace

bool FirstMoments::wants_next() {
    if (chunks_ >= kMax) return false;
    ++chunks_;
    return chunks_ <= kAll || chunks_ % kEach == 0;
}

void FirstMoments::see(std::span<const trace::Event> events) {
    if (events.empty()) return;
    const std::uint64_t weight = chunks_ <= kAll ? 1 : kEach;
    if (functions_.size() < info_.functions.size()) functions_.resize(info_.functions.size());
    std::vector<std::uint64_t> calls(functions_.size());
    open_.clear();
    std::uint64_t all = 0;
    for (const trace::Event& event : events) {
        // What ends next was begun on another stack.
        if (event.kind == trace::EventKind::stack_switch) open_.clear();
        if (event.kind >= trace::EventKind::pause || event.function >= functions_.size()) continue;
        if (event.kind != trace::EventKind::leave) {
            ++calls[event.function];
            ++all;
            if (event.kind == trace::EventKind::enter) open_.push_back({event.function, event.tsc});
            continue;
        }
        if (open_.empty() || open_.back().function != event.function) {
            open_.clear();
            continue;
        }
        Function& function = functions_[event.function];
        function.calls += weight;
        function.ticks += weight * (event.tsc - open_.back().tsc);
        open_.pop_back();
    }
    const auto elapsed = static_cast<double>(events.back().tsc - events.front().tsc);
    if (elapsed <= 0 || info_.clock.ticks_per_second <= 0) return;
    const double own =
        std::max(elapsed - static_cast<double>(all) * info_.clock.probe_ticks, kMinOwnCalls * elapsed);
    for (std::size_t f = 0; f < functions_.size(); ++f) {
        const double per_second = static_cast<double>(calls[f]) / elapsed * info_.clock.ticks_per_second;
        if (per_second <= functions_[f].per_second) continue;
        functions_[f].per_second = per_second;
        functions_[f].slowdown = elapsed / own;
    }
}

std::vector<std::string> FirstMoments::take_notices() {
    std::vector<std::string> notices;
    for (std::size_t f = 0; f < functions_.size(); ++f) {
        Function& function = functions_[f];
        const trace::FunctionInfo& info = info_.functions[f];
        if (function.named || info.sampled || function.calls < kEnough || function.per_second < kMany)
            continue;
        const double mean = static_cast<double>(function.ticks) / static_cast<double>(function.calls) -
                            info_.clock.probe_inner_ticks;
        if (mean > info_.clock.probe_ticks) continue;
        function.named = true;
        constexpr double kMillion = 1e6;
        const double nanoseconds = 1e9 / info_.clock.ticks_per_second;
        notices.push_back(
            fmt::format("{} is called {:.0f} million times a second and takes no longer than its probe, "
                        "{:.0f} ns: recording every call makes its threads take about {:.1f} × as long; "
                        "without --all-calls (RDAM_ALL_CALLS) its calls are sampled",
                        printable(info.name), function.per_second / kMillion,
                        info_.clock.probe_ticks * nanoseconds, function.slowdown));
    }
    return notices;
}

}  // namespace rdam::agent
