// Who ends the waits for a condition variable, a semaphore or a futex.
#include <algorithm>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/hints/waits_for.h"

namespace rdam::hints {
namespace {

struct Signal {
    std::uint64_t time = 0;
    std::size_t thread = 0;
    bool wakes_all = false, counts = false;  ///< as in the catalogue
    std::uint64_t caller = 0;                ///< as TimedCall::caller
};

/// A wait, and the signal that ended it.
struct Notified {
    const Wait* wait = nullptr;
    std::optional<Signal> by;
};

/// The waits for one object, and its signals.
struct Notifying {
    std::vector<Wait> waits;
    std::vector<Wait> timed_out;  ///< for nobody that is known: none of the signals is theirs
    std::vector<Signal> signals;
    bool unclear = false;  ///< it is not known who ends them: Role::unclear
    bool channel = false;  ///< Pairing::channel
};

/// A signal ends the wait of the thread that is the first to return after it, of those that waited then. One that
/// counts is used up by the first call to return, whether that had to wait or not; what came before a call that had
/// to wait is used up.
std::vector<Notified> notified(Notifying& all) {
    std::ranges::sort(all.signals, {}, &Signal::time);
    std::ranges::sort(all.waits, {}, [](const Wait& wait) { return wait.time.begin; });
    std::vector<Notified> result;
    for (const Wait& wait : all.waits)
        result.push_back({&wait, {}});
    std::set<std::pair<std::uint64_t, std::size_t>> pending;  // end, index into `result`
    std::deque<Signal> counted;
    // With the last posts before it the first to return and those that still wait are woken; earlier ones were used
    // up by calls that are not recorded.
    const auto end_one = [&] {
        const std::size_t waiting = std::min(pending.size(), counted.size());
        Notified& ended = result[pending.begin()->second];
        pending.erase(pending.begin());
        if (ended.by || waiting == 0) return;
        const auto after = std::ranges::upper_bound(counted, ended.wait->time.begin, {}, &Signal::time);
        const auto inside = static_cast<std::size_t>(counted.end() - after);
        if (inside == 0) return counted.pop_front();
        const auto by = counted.end() - static_cast<std::ptrdiff_t>(std::min(waiting, inside));
        // Which of them those calls have used up is not known.
        const auto of_another = [&](const Signal& each) { return each.thread != by->thread; };
        if (inside <= waiting || std::find_if(after, counted.end(), of_another) == counted.end())
            ended.by = *by;
        counted.erase(counted.begin(), by + 1);
    };
    const auto notify = [&](const Signal& signal) {
        if (signal.counts) return counted.push_back(signal);
        for (const auto& [end, number] : pending) {
            if (result[number].by) continue;
            result[number].by = signal;
            if (!signal.wakes_all) break;
        }
    };
    std::size_t next = 0;
    const auto go_to = [&](std::uint64_t time) {
        while (next < result.size() || !pending.empty()) {
            const std::uint64_t begin = next < result.size() ? result[next].wait->time.begin : UINT64_MAX;
            const std::uint64_t end = pending.empty() ? UINT64_MAX : pending.begin()->first;
            if (std::min(begin, end) >= time) return;
            if (begin < end) {
                pending.emplace(result[next].wait->time.end, next);
                ++next;
            } else {
                end_one();
            }
        }
    };
    for (const Signal& signal : all.signals) {
        go_to(signal.time);
        notify(signal);
    }
    go_to(UINT64_MAX);
    return result;
}

/// Through a channel one may send what is not enough to end the wait, or to a thread of another process. So the last send in a wait
/// has ended it if all in it are of one thread, and the wait ends soon afterwards: within a fifth of its time, or in what it
/// takes to come to run.
std::vector<Notified> sent(Notifying& all, double ticks_per_second) {
    constexpr double kSoon = 0.2, kToRun = 0.005;
    std::ranges::sort(all.signals, {}, &Signal::time);
    std::vector<Notified> result;
    for (const Wait& wait : all.waits) {
        Notified& each = result.emplace_back(Notified{&wait, {}});
        const auto first = std::ranges::upper_bound(all.signals, wait.time.begin, {}, &Signal::time);
        const auto end = std::ranges::lower_bound(all.signals, wait.time.end, {}, &Signal::time);
        if (first >= end) continue;
        const Signal& last = *std::prev(end);
        const double rest = static_cast<double>(wait.time.end - last.time);
        const bool of_one =
            std::all_of(first, end, [&](const Signal& signal) { return signal.thread == last.thread; });
        if (of_one && (rest <= kSoon * wait.time.ticks() || rest <= kToRun * ticks_per_second))
            each.by = last;
    }
    return result;
}

std::map<Object, Notifying> notifications_in(const trace::TraceInfo& info, const score::Report& report) {
    std::map<Object, Notifying> objects;
    const std::vector<Pairing> all = wake_pairings(info, report.comparison.rules);
    std::vector<bool> waits_are_complete;
    std::set<std::uint32_t> unclear;
    for (const Pairing& pairing : all)
        waits_are_complete.push_back(std::ranges::all_of(
            pairing.waiters, [&](std::uint32_t f) { return is_complete(info.functions[f]); }));
    each_call(info, all, report, [&](const Role& role, const score::TimedCall& call, std::size_t thread) {
        const auto address = object_of(call, role);
        const Object object{role.number, address.value_or(0)};
        if (role.waits && waits_are_complete[role.number]) {
            Notifying& of_object = objects[object];
            of_object.channel = role.channel;
            (role.failed(call) ? of_object.timed_out : of_object.waits)
                .push_back({{call.begin, call.end}, object, call.function, thread, all[role.number].kind});
        }
        if (role.unclear) objects[object].unclear = true;
        if (role.all_unclear) unclear.insert(role.number);
        if (!role.waits && !role.failed(call) && all[role.number].complete && address)
            objects[object].signals.push_back({call.begin, thread, role.wakes_all, role.counts, call.caller});
    });
    for (auto& [object, of_object] : objects)
        of_object.unclear = of_object.unclear || unclear.contains(object.first);
    return objects;
}

}  // namespace

void add_notifiers(const trace::TraceInfo& info, const score::Report& report, const KeptTime& time,
                   const AddPart& add) {
    for (auto& [object, all] : notifications_in(info, report)) {
        for (const Wait& wait : all.timed_out)
            add(wait, wait.time, Held::kNotKnown, 0);
        for (const Notified& each : all.channel ? sent(all, info.clock.ticks_per_second) : notified(all)) {
            const Interval& wait = each.wait->time;
            // Another may have ended it in a time that is not kept.
            if (!each.by || all.unclear || !time.keeps({each.by->time, wait.end})) {
                add(*each.wait, wait, Held::kNotKnown, 0);
            } else {
                add(*each.wait, {wait.begin, each.by->time}, each.by->thread, each.by->caller);
                add(*each.wait, {each.by->time, wait.end}, Held::kWoken, 0);
            }
        }
    }
}

}  // namespace rdam::hints
