#include "analyzer/hints/steps.h"

#include <algorithm>

namespace rdam::hints {

Intervals united(Intervals intervals) {
    std::ranges::sort(intervals, {}, &Interval::begin);
    Intervals all;
    for (const Interval& each : intervals) {
        if (each.begin >= each.end) continue;
        if (!all.empty() && each.begin <= all.back().end)
            all.back().end = std::max(all.back().end, each.end);
        else
            all.push_back(each);
    }
    return all;
}

Steps::Steps(std::span<const Part> parts) {
    struct Change {
        std::uint64_t time;
        double by;
    };
    std::vector<Change> changes;
    changes.reserve(2 * parts.size());
    for (const Part& part : parts) {
        if (part.time.begin >= part.time.end) continue;
        changes.push_back({part.time.begin, part.value});
        changes.push_back({part.time.end, -part.value});
    }
    std::ranges::sort(changes, {}, &Change::time);
    moments_.reserve(changes.size());
    double value = 0;
    for (const Change& change : changes) {
        if (moments_.empty()) {
            moments_.push_back({change.time, 0});
        } else if (const Moment last = moments_.back(); last.time != change.time) {
            moments_.push_back(
                {change.time, last.until + value * static_cast<double>(change.time - last.time)});
        }
        value += change.by;
    }
}

Steps::Steps(const Intervals& set) {
    moments_.reserve(2 * set.size());
    double until = 0;
    for (const Interval& each : set) {
        moments_.push_back({each.begin, until});
        until += static_cast<double>(each.end - each.begin);
        moments_.push_back({each.end, until});
    }
}

double Steps::until(std::uint64_t time, std::size_t& passed) const {
    // In steps that double: times that are asked about one behind the other lie close together.
    std::size_t step = 1;
    for (; passed + step <= moments_.size() && moments_[passed + step - 1].time <= time; step *= 2)
        passed += step;
    const std::span near = std::span{moments_}.subspan(passed, std::min(step, moments_.size() - passed));
    passed +=
        static_cast<std::size_t>(std::ranges::upper_bound(near, time, {}, &Moment::time) - near.begin());
    if (passed == 0) return 0;
    const Moment& last = moments_[passed - 1];
    if (passed == moments_.size()) return last.until;
    const Moment& next = moments_[passed];
    const double part = static_cast<double>(time - last.time) / static_cast<double>(next.time - last.time);
    return last.until + part * (next.until - last.until);
}

double product(const Steps& a, const Steps& b) {
    const auto& few = a.moments_.size() <= b.moments_.size() ? a.moments_ : b.moments_;
    const Steps& many = &few == &a.moments_ ? b : a;
    if (few.empty()) return 0;
    std::size_t passed = 0;
    double sum = 0, before = many.until(few.front().time, passed);
    for (std::size_t i = 1; i < few.size(); ++i) {
        const double now = many.until(few[i].time, passed);
        const double value =
            (few[i].until - few[i - 1].until) / static_cast<double>(few[i].time - few[i - 1].time);
        sum += value * (now - before);
        before = now;
    }
    return sum;
}

}  // namespace rdam::hints
