#include "analyzer/hints/activities.h"

#include <algorithm>
#include <utility>

#include "tools/base/in_parallel.h"

namespace rdam::hints {

namespace {

/// Those of parts one behind the other, or of one thread, are in order already.
template <class Change>
void sort_by_time(std::vector<Change>& changes) {
    if (!std::ranges::is_sorted(changes, {}, &Change::time)) std::ranges::sort(changes, {}, &Change::time);
}

}  // namespace

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
    sort_by_time(changes);
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

namespace {

Activities::OfThread inside(const score::ThreadTimeline& timeline, const KeptTime& time) {
    std::map<std::uint32_t, Intervals> by_function;
    for (const score::TimedCall& call : timeline.calls)
        by_function[call.function].push_back(time({call.begin, call.end}));
    Activities::OfThread all;
    for (auto& [function, intervals] : by_function)
        if (Intervals times = united(std::move(intervals)); !times.empty()) {
            Steps during{times};
            all.push_back({function, std::move(times), std::move(during), {}});
        }
    return all;
}

/// The times at which one or more threads are inside a function, and for each thread those at which only it
/// is.
class Crowd {
  public:
    void add(Activities::Inside& inside) {
        const auto number = static_cast<std::uint32_t>(members_.size());
        members_.push_back({&inside, {}});
        for (const Interval& each : inside.times) {
            changes_.push_back({each.begin, number, true});
            changes_.push_back({each.end, number, false});
        }
    }

    /// Returns which thread was alone at which time. May be called once.
    Steps any() {
        sort_by_time(changes_);
        Intervals any;
        std::size_t count = 0;
        std::uint64_t numbers = 0;  // Σ over threads inside: the number of a thread that is alone
        std::uint64_t since = 0;
        for (const Change& change : changes_) {
            if (count > 0 && change.time > since) {
                const Interval time{since, change.time};
                append(any, time);
                if (count == 1) append(members_[numbers].alone, time);
            }
            since = change.time;
            count += change.enters ? 1 : std::size_t{0} - 1;
            numbers += change.enters ? change.member : std::uint64_t{0} - change.member;
        }
        for (Member& member : members_)
            member.inside->alone = Steps{member.alone};
        return Steps{any};
    }

  private:
    struct Member {
        Activities::Inside* inside;
        Intervals alone;
    };
    struct Change {
        std::uint64_t time;
        std::uint32_t member;
        bool enters;
    };

    static void append(Intervals& to, const Interval& time) {
        if (!to.empty() && to.back().end == time.begin)
            to.back().end = time.end;
        else
            to.push_back(time);
    }

    std::vector<Member> members_;
    std::vector<Change> changes_;
};

}  // namespace

Activities::Activities(const trace::TraceInfo& info, const score::Report& report, unsigned jobs) {
    auto waits = Waits::of(info, report);
    if (!waits) return;
    all_waits_ = std::move(*waits);
    samples::Windows windows = report.windows;
    windows.limit = std::min(windows.limit, all_waits_.windows().limit);
    if (windows.limit == all_waits_.windows().limit) {
        waits_ = all_waits_;
    } else if (const auto time = KeptTime::of(windows, Waits::span(report)); time) {
        waits_ = all_waits_.within(*time);
    } else {
        return;
    }
    for (const score::ThreadTimeline& timeline : report.timeline)
        lives_.push_back(kept({timeline.begin, timeline.end}).ticks());
    threads_.resize(report.timeline.size());
    score::in_parallel(threads_.size(), jobs,
                       [&](std::size_t t) { threads_[t] = inside(report.timeline[t], waits_.time()); });
    std::map<std::uint32_t, std::vector<Inside*>> members;
    for (OfThread& thread : threads_)
        for (Inside& inside : thread)
            members[inside.function].push_back(&inside);
    std::vector<std::pair<std::span<Inside* const>, Steps*>> crowds;
    for (const auto& [function, inside] : members)
        crowds.emplace_back(inside, &of_any_[function]);
    score::in_parallel(crowds.size(), jobs, [&](std::size_t i) {
        Crowd crowd;
        for (Inside* const inside : crowds[i].first)
            crowd.add(*inside);
        *crowds[i].second = crowd.any();
    });
    find_off(report);
}

void Activities::find_off(const score::Report& report) {
    // Of a part of the run alone, shares of the run would be false.
    if (report.switches.state != trace::SwitchInfo::State::recorded) return;
    for (const score::ThreadTimeline& timeline : report.timeline) {
        Intervals blocked, preempted;
        for (const samples::OffTime& each : timeline.off)
            (each.preempted ? preempted : blocked).push_back(kept({each.begin, each.end}));
        blocked = united(std::move(blocked));
        Off& off = off_.emplace_back();
        for (const Interval& time : blocked)
            off.blocked_ticks += time.ticks();
        off.blocked = Steps{blocked};
        off.preempted = Steps{united(std::move(preempted))};
    }
}

const Activities::Inside* Activities::find(std::size_t thread, std::uint32_t function) const {
    const auto found = std::ranges::lower_bound(threads_[thread], function, {}, &Inside::function);
    return found != threads_[thread].end() && found->function == function ? &*found : nullptr;
}

}  // namespace rdam::hints
