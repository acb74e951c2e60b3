#include "analyzer/hints/evidence/overlaps.h"

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
    Parts losses, expectations;
    for (const score::SlowCall& call : slow)
        if (const Interval time = activities.kept(call); time.begin < time.end)
            by_thread[call.thread].push_back({time, call.lost});
    for (auto& [thread, slow_parts] : by_thread) {
        const Parts parts = std::exchange(slow_parts, {});
        const Activities::Inside* own = activities.find(thread, function);
        if (own == nullptr) continue;
        add(thread, {own->times.front().begin, own->times.back().end}, parts, expectations);
        losses.insert(losses.end(), parts.begin(), parts.end());
    }
    loss_ = Steps{std::exchange(losses, {})};
    const Steps expectation{std::exchange(expectations, {})};
    for (const auto& [other, any] : activities.of_any()) {
        with_[other].lost += product(loss_, any);
        with_[other].expected += product(expectation, any);
    }
}

void Overlaps::add(std::size_t thread, const Interval& life, const Parts& slow, Parts& expectations) {
    double lost = 0, otherwise = ticks(life);
    for (const Steps::Part& call : slow) {
        lost += call.value * ticks(call.time);
        otherwise -= ticks(call.time);
    }
    Parts expected = slow;
    if (otherwise > 0) {
        for (Steps::Part& call : expected)
            call.value = -lost / otherwise;
        expected.push_back({life, lost / otherwise});
    }
    lost_ += lost;
    lost_by_[thread] = lost;
    const Steps& loss = loss_of_[thread] = Steps{slow};
    const Steps expectation{expected};
    for (const Activities::Inside& inside : activities_.threads()[thread]) {
        with_[inside.function].lost -= product(loss, inside.alone);
        with_[inside.function].expected -= product(expectation, inside.alone);
    }
    expectations.insert(expectations.end(), expected.begin(), expected.end());
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
