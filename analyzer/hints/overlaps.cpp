#include "analyzer/hints/overlaps.h"

#include <utility>

namespace rdam::hints {
namespace {

double ticks(const Interval& time) {
    return static_cast<double>(time.end - time.begin);
}

}  // namespace

Overlaps::Overlaps(const Activities& activities, std::uint32_t function,
                   std::span<const score::SlowCall> slow)
    : activities_(activities) {
    std::map<std::size_t, Parts> by_thread;
    Parts losses, expectations, besides;
    for (const score::SlowCall& call : slow)
        if (const Interval time = activities.kept(call); time.begin < time.end)
            by_thread[call.thread].push_back({time, call.lost});
    for (auto& [thread, slow_parts] : by_thread) {
        const Parts parts = std::exchange(slow_parts, {});
        const Activities::Inside* own = activities.find(thread, function);
        if (own == nullptr) continue;
        add(thread, own->times, parts, expectations, besides);
        losses.insert(losses.end(), parts.begin(), parts.end());
    }
    loss_ = Steps{std::exchange(losses, {})};
    const Steps expectation{std::exchange(expectations, {})};
    const Steps beside{std::exchange(besides, {})};
    for (const auto& [other, any] : activities.of_any()) {
        with_[other].lost += product(loss_, any);
        with_[other].expected += product(expectation, any);
        with_[other].beside += product(beside, any);
    }
}

void Overlaps::add(std::size_t thread, const Intervals& own, const Parts& slow, Parts& expectations,
                   Parts& besides) {
    constexpr std::size_t kFewest = 30;
    const Interval life{own.front().begin, own.back().end};
    double lost = 0, slow_ticks = 0, own_ticks = 0;
    for (const Steps::Part& call : slow) {
        lost += call.value * ticks(call.time);
        slow_ticks += ticks(call.time);
    }
    for (const Interval& time : own)
        own_ticks += ticks(time);
    /// The loss, spread over these times without the slow calls.
    const auto spread = [&](const Intervals& times, double of) {
        Parts parts = slow;
        const double otherwise = of - slow_ticks;
        if (!(otherwise > 0)) return parts;
        for (Steps::Part& call : parts)
            call.value = -lost / otherwise;
        for (const Interval& time : times)
            parts.push_back({time, lost / otherwise});
        return parts;
    };
    const Parts expected = spread({life}, ticks(life));
    const bool calls_otherwise = own.size() >= slow.size() + kFewest && own_ticks > slow_ticks;
    const Parts beside = calls_otherwise ? spread(own, own_ticks) : expected;
    lost_ += lost;
    lost_by_[thread] = lost;
    const Steps& loss = loss_of_[thread] = Steps{slow};
    const Steps expectation{expected}, besides_it{beside};
    for (const Activities::Inside& inside : activities_.threads()[thread]) {
        with_[inside.function].lost -= product(loss, inside.alone);
        with_[inside.function].expected -= product(expectation, inside.alone);
        with_[inside.function].beside -= product(besides_it, inside.alone);
    }
    expectations.insert(expectations.end(), expected.begin(), expected.end());
    besides.insert(besides.end(), beside.begin(), beside.end());
}

Overlaps::ByThread Overlaps::while_inside(std::uint32_t function) const {
    ByThread lost;
    for (std::size_t t = 0; t < activities_.threads().size(); ++t) {
        const Activities::Inside* inside = activities_.find(t, function);
        if (inside == nullptr) continue;
        const Steps times{inside->times};
        const auto own = loss_of_.find(t);
        lost[t] = product(loss_, times) - (own != loss_of_.end() ? product(own->second, times) : 0);
    }
    return lost;
}

}  // namespace rdam::hints
