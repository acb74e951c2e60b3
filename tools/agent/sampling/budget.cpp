#include "tools/agent/sampling/budget.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rdam::agent {
namespace {

/// Part of the share is kept for what a window does not show (its neighbours are not like it), and for the
/// windows in which the hottest functions are recorded.
constexpr double kUsed = 0.8;
/// Calls that are not recorded may take up to this part of what is available; beyond, functions are windowed.
constexpr double kForUnrecorded = 0.5;
/// Call trees that are fewer than this in a window are too long to be sampled.
constexpr double kFewTrees = 4;
/// A function is windowed permanently, so not because of a window or two in which the machine was busy.
constexpr double kRateMemory = 0.75;
constexpr double kInsufficient = 1.5;  ///< the least pressure of a window in which sampling does not suffice
constexpr double kMinProbability = 1.0 / 64;
/// The least of a window that is believed to be the program's own time, should the costs be overestimated.
constexpr double kMinOwn = 0.02;

std::uint8_t rate_for(double probability) {
    const double rate = std::ceil(-std::log2(probability));
    return static_cast<std::uint8_t>(std::clamp(rate, 0.0, double{RDAM_MOST_RATE}));
}

}  // namespace

void Budget::Thread::begin_window(std::uint64_t tsc) {
    since = tsc;
    recorded = 0;
    in_windows = 0;
    paused = 0;
    std::ranges::fill(trees, Trees{});
    std::ranges::fill(calls, 0.0);
}

Budget::Thread& Budget::of(std::uint32_t thread, std::uint32_t function) {
    if (last_.second == nullptr || last_.first != thread) last_ = {thread, &threads_[thread]};
    Thread& data = *last_.second;
    if (function >= data.trees.size()) {
        data.trees.resize(function + std::size_t{1});
        data.calls.resize(function + std::size_t{1});
    }
    return data;
}

void Budget::call(std::uint32_t thread, std::uint32_t function, bool tree, std::uint8_t rate) {
    Thread& data = of(thread, function);
    if (tree) {
        data.root = function;
        data.weight = std::ldexp(1.0, rate);
        data.trees[function].count += data.weight;
    }
    if (windowed(function)) {
        ++data.in_windows;
        return;
    }
    ++data.recorded;
    data.trees[data.root].calls += data.weight;
    data.calls[function] += data.weight;
}

void Budget::region(std::uint32_t thread, std::uint32_t function) {
    Thread& data = of(thread, function);
    data.root = function;
    data.weight = 1;
    ++data.recorded;
}

void Budget::paused(std::uint32_t thread, std::uint64_t ticks) {
    threads_[thread].paused += static_cast<double>(ticks);
}

bool Budget::seen(std::uint32_t thread, std::uint64_t tsc) {
    Thread& data = threads_[thread];
    if (data.since == 0) data.begin_window(tsc);
    const double elapsed = tsc > data.since ? static_cast<double>(tsc - data.since) : 0;
    if (elapsed < window_) return false;
    changed_ = false;
    reconsider(data, elapsed);
    data.begin_window(tsc);
    return apply() || changed_;
}

double Budget::share_of_windows(double share) {
    return (1 - kUsed) * share;
}

void Budget::ended(std::uint32_t thread) {
    threads_.erase(thread);
    last_ = {};
}

/// Without the functions that are windowed this is what the trees cost when none is
/// recorded.
double Budget::cost_of_unrecorded(const Trees& trees) const {
    return trees.count * costs_.unrecorded + std::max(trees.calls - trees.count, 0.0) * costs_.inside;
}

/// … and what recording all of them costs besides.
double Budget::cost_of_recorded(const Trees& trees, double flush) const {
    return std::max(trees.calls * (costs_.recorded + flush) - cost_of_unrecorded(trees), 0.0);
}

void Budget::reconsider(Thread& thread, double elapsed) {
    // Chunks are filled by calls in windows as well.
    const auto recorded = static_cast<double>(thread.recorded);
    const double all = recorded + static_cast<double>(thread.in_windows);
    const double flush = all > 0 ? thread.paused / all : 0;
    double unrecorded = 0;
    double calls = 0;
    for (const Trees& trees : thread.trees) {
        unrecorded += cost_of_unrecorded(trees);
        calls += trees.calls;
    }
    const double sampled = calls > 0 ? recorded / calls : 1;
    const double cost = (all > 0 ? flush * recorded : thread.paused) + recorded * costs_.recorded +
                        unrecorded * std::max(1 - sampled, 0.0);
    const double own = std::max(elapsed - cost, kMinOwn * elapsed);
    const double available = share_ * own * kUsed;
    const double now = pressure(thread, available);
    const bool enough = sample(thread, available, flush);
    thread.pressure =
        kRateMemory * thread.pressure + (1 - kRateMemory) * (enough ? now : std::max(now, kInsufficient));
    if (enough) return;
    if (thread.pressure <= 1) return sample_least(thread, available, flush);
    thread.pressure = 0;
    while (window_most_called(thread) && !sample(thread, available, flush)) {
    }
}

/// Finds rates that keep the thread within `available` ticks: a limit for what recording the trees of one
/// function may cost, so that rare functions are recorded whole. False: there are none.
bool Budget::sample(Thread& thread, double available, double flush) {
    double unrecorded = 0;
    std::vector<std::pair<double, std::uint32_t>> costs;
    for (std::uint32_t function = 0; function < thread.trees.size(); ++function) {
        const Trees& trees = thread.trees[function];
        if (trees.calls <= 0) continue;
        unrecorded += cost_of_unrecorded(trees);
        costs.emplace_back(cost_of_recorded(trees, flush), function);
    }
    thread.wanted.clear();
    double left = available - unrecorded;
    for (const auto& [cost, function] : costs)
        left -= cost;
    if (left >= 0) return true;
    if (unrecorded > kForUnrecorded * available) return false;
    left = available - unrecorded;
    std::ranges::sort(costs);
    for (std::size_t i = 0; i < costs.size(); ++i) {
        const auto [cost, function] = costs[i];
        const double limit = left / static_cast<double>(costs.size() - i);
        if (cost > limit && thread.trees[function].count < kFewTrees) return false;
        const double taken = std::min(cost, limit);
        if (cost > 0) thread.wanted[function] = rate_for(taken / cost);
        left -= taken;
    }
    return true;
}

/// What calls cost that are not recorded, as a part of what they may.
double Budget::pressure(const Thread& thread, double available) const {
    double unrecorded = 0;
    for (const Trees& trees : thread.trees)
        unrecorded += cost_of_unrecorded(trees);
    return unrecorded / (kForUnrecorded * available);
}

/// Trees that cost next to nothing are recorded whole all the same.
void Budget::sample_least(Thread& thread, double available, double flush) const {
    for (std::uint32_t function = 0; function < thread.trees.size(); ++function) {
        const Trees& trees = thread.trees[function];
        if (trees.count >= kFewTrees && cost_of_recorded(trees, flush) > kMinProbability * available)
            thread.wanted[function] = rate_for(kMinProbability);
    }
}

/// The function with the most calls in the window is as if it had not been called.
bool Budget::window_most_called(Thread& thread) {
    const auto most = std::ranges::max_element(thread.calls);
    if (most == thread.calls.end() || *most <= 0) return false;
    const auto function = static_cast<std::uint32_t>(most - thread.calls.begin());
    const double calls = std::exchange(*most, 0.0);
    if (function >= windowed_.size()) windowed_.resize(function + std::size_t{1});
    windowed_[function] = true;
    changed_ = true;
    // Its own trees are gone. Which of the others it was called in is not known: each loses its part.
    const double own_trees = std::exchange(thread.trees[function], Trees{}).count;
    double all = 0;
    for (const Trees& trees : thread.trees)
        all += trees.calls;
    const double kept = all > 0 ? std::max(1 - std::max(calls - own_trees, 0.0) / all, 0.0) : 1;
    for (Trees& trees : thread.trees)
        trees.calls *= kept;
    return true;
}

/// What the most demanding thread wants. Down by one step at a time: a quiet window proves little.
bool Budget::apply() {
    std::map<std::uint32_t, std::uint8_t> wanted;
    for (const auto& [number, thread] : threads_)
        for (const auto& [function, rate] : thread.wanted)
            wanted[function] = std::max(wanted[function], rate);
    bool changed = false;
    if (!wanted.empty() && wanted.rbegin()->first >= rates_.size())
        rates_.resize(wanted.rbegin()->first + std::size_t{1});
    for (std::uint32_t function = 0; function < rates_.size(); ++function) {
        std::uint8_t& rate = rates_[function];
        const auto found = wanted.find(function);
        const std::uint8_t now = found != wanted.end() ? found->second : std::uint8_t{0};
        const std::uint8_t next = now >= rate ? now : static_cast<std::uint8_t>(rate - 1);
        changed = changed || next != rate;
        rate = next;
    }
    return changed;
}

}  // namespace rdam::agent
