#include "analyzer/hints/activities.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/report/function_row.h"

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

namespace {

Interval span_of(const std::vector<score::ThreadTimeline>& timelines) {
    Interval span{UINT64_MAX, 0};
    const auto add = [&](std::uint64_t begin, std::uint64_t end) {
        span = {std::min(span.begin, begin), std::max(span.end, end)};
    };
    for (const score::ThreadTimeline& thread : timelines) {
        if (thread.begin < thread.end) add(thread.begin, thread.end);
        for (const score::TimedCall& call : thread.calls)
            add(call.begin, call.end);
        for (const samples::OwnedWait& wait : thread.waits)
            add(wait.begin, wait.end);
    }
    return span;
}

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

/// Since when which thread has a mutex, as far as waits for it say: the mutex names its owner when one begins,
/// who has waited has it when one ends, and it has been given back when one that waits is woken.
struct Owning {
    std::uint64_t since = 0;
    std::size_t owner = Held::kNotKnown;
    std::size_t before = Held::kNotKnown;  ///< of kWoken: who gave it back
};

/// The only thread with this tid.
std::map<std::uint32_t, std::size_t> threads_by_tid(const score::Report& report) {
    std::map<std::uint32_t, std::size_t> threads;
    for (std::size_t t = 0; t < report.threads.size(); ++t)
        if (const auto [at, anew] = threads.emplace(report.threads[t].tid, t); !anew)
            at->second = Held::kNotKnown;
    return threads;
}

/// Who had the mutex from `moment` on, until `next` (null: it is not known for how long); the one who waits is
/// `thread`.
std::size_t owner_between(const Owning& moment, const Owning* next, std::size_t thread) {
    std::size_t owner = moment.owner;
    if (next != nullptr && next->owner == Held::kWoken && next->before != owner) {
        // It was taken in a way that is not seen. Who gives it back twice has most likely hardly been without it.
        const bool again = owner == Held::kWoken && moment.before == next->before;
        owner = again ? next->before : Held::kNotKnown;
    }
    // Nobody waits for itself.
    return owner != thread ? owner : Held::kNotKnown;
}

/// By mutex, in the order of time.
using OwningByMutex = std::map<std::uint64_t, std::vector<Owning>>;

OwningByMutex owning_in(const score::Report& report) {
    const auto threads = threads_by_tid(report);
    OwningByMutex owning;
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        for (const samples::OwnedWait& wait : report.timeline[t].waits) {
            if (wait.given_back) {
                owning[wait.mutex].push_back({wait.begin, Held::kWoken, t});
                continue;
            }
            // 0: it is just being given back, or taken.
            const auto owner = threads.find(wait.owner);
            owning[wait.mutex].push_back(
                {wait.begin, owner != threads.end() ? owner->second : Held::kNotKnown});
            owning[wait.mutex].push_back({wait.end, t});
        }
    }
    for (auto& [mutex, moments] : owning)
        std::ranges::stable_sort(moments, {}, &Owning::since);
    return owning;
}

/// A wait has no more parts whose owners are known.
constexpr std::size_t kMaxParts = 1024;

/// From the last moment before the wait on; empty: there is none.
std::span<const Owning> moments_from(const std::vector<Owning>& moments, std::uint64_t begin) {
    const auto next = std::ranges::upper_bound(moments, begin, {}, &Owning::since);
    if (next == moments.begin()) return {};
    return {next - 1, moments.end()};
}

/// Of all waits together, about.
std::size_t count_parts(const score::Report& report, const OwningByMutex& owning) {
    std::size_t parts = 0;
    for (const score::ThreadTimeline& timeline : report.timeline) {
        for (const samples::OwnedWait& wait : timeline.waits) {
            if (wait.given_back) continue;
            const std::span<const Owning> moments = moments_from(owning.at(wait.mutex), wait.begin);
            const auto end = std::ranges::lower_bound(moments, wait.end, {}, &Owning::since);
            parts += std::min(static_cast<std::size_t>(end - moments.begin()), kMaxParts);
        }
    }
    return parts;
}

/// Calls add(end, owner) for the parts of a wait of `thread`, one behind the other. `moments` begin with the last
/// one before it.
template <class Add>
void add_parts(std::size_t thread, const samples::OwnedWait& wait, std::span<const Owning> moments,
               const Add& add) {
    if (moments.empty()) return add(wait.end, Held::kNotKnown);
    std::uint64_t from = wait.begin;
    for (std::size_t at = 0; from < wait.end; ++at) {
        const Owning* const next = at + 1 < moments.size() ? &moments[at + 1] : nullptr;
        const bool last = next == nullptr || next->since >= wait.end;
        if (at == kMaxParts && !last) return add(wait.end, Held::kNotKnown);
        const std::uint64_t to = last ? wait.end : std::max(from, next->since);
        if (from < to) add(to, owner_between(moments[at], last ? nullptr : next, thread));
        from = to;
    }
}

/// A thread's call of a barrier. Ticks of the trace.
struct Arrival {
    Interval time;
    std::size_t thread = 0;
};

/// The call of another thread that comes last: that begins last of all before any of those that come after
/// `call` ends. It hardly waits itself, or it is not the one. Null: it is not known. `calls`: of one barrier, in
/// the order of their begins.
const Arrival* last_to_come(const Arrival& call, std::span<const Arrival> calls) {
    constexpr double kHardly = 0.2;
    constexpr std::ptrdiff_t kLookedAt = 256;
    const auto first = std::ranges::upper_bound(calls, call.time.begin, {},
                                                [](const Arrival& other) { return other.time.begin; });
    std::uint64_t end = call.time.end;
    const Arrival* last = nullptr;
    for (auto each = first; each != calls.end() && each->time.begin < end; ++each) {
        if (each - first == kLookedAt) return nullptr;
        end = std::min(end, each->time.end);
        if (each->thread != call.thread) last = &*each;
    }
    return last != nullptr && last->time.ticks() <= kHardly * call.time.ticks() ? last : nullptr;
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
        std::ranges::sort(changes_, {}, &Change::time);
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

std::optional<KeptTime> KeptTime::of(const samples::Windows& windows, const Interval& run) {
    constexpr std::uint64_t kMaxWindows = std::uint64_t{1} << 22;
    KeptTime time;
    if (run.begin >= run.end) return time;
    if (windows.all()) {
        time.runs_.push_back({run, 0});
        return time;
    }
    const std::uint64_t first = run.begin >> windows.shift, last = run.end >> windows.shift;
    if (last - first > kMaxWindows) return std::nullopt;
    std::uint64_t before = 0;
    for (std::uint64_t number = first; number <= last; ++number) {
        if (!windows.keeps(number)) continue;
        const std::uint64_t from = number << windows.shift, ticks = std::uint64_t{1} << windows.shift;
        if (!time.runs_.empty() && time.runs_.back().kept.end == from)
            time.runs_.back().kept.end += ticks;
        else
            time.runs_.push_back({{from, from + ticks}, before});
        before += ticks;
    }
    return time;
}

std::uint64_t KeptTime::operator()(std::uint64_t tsc) const {
    const auto next = std::ranges::upper_bound(runs_, tsc, {}, [](const Run& run) { return run.kept.begin; });
    if (next == runs_.begin()) return 0;
    const Run& last = *(next - 1);
    return last.before + std::min(tsc, last.kept.end) - last.kept.begin;
}

Activities::Activities(const trace::TraceInfo& info, const score::Report& report) {
    if (!find_owners(report)) return;
    for (const score::ThreadTimeline& timeline : report.timeline)
        lives_.push_back(time_({timeline.begin, timeline.end}).ticks());
    threads_.reserve(report.timeline.size());
    for (const score::ThreadTimeline& timeline : report.timeline)
        threads_.push_back(inside(timeline, time_));
    std::map<std::uint32_t, Crowd> crowds;
    for (OfThread& thread : threads_)
        for (Inside& inside : thread)
            crowds[inside.function].add(inside);
    for (auto& [function, crowd] : crowds)
        of_any_.emplace(function, std::exchange(crowd, {}).any());
    find_arrivals(info, report);
    find_off(report);
}

void Activities::find_off(const score::Report& report) {
    // Of a part of the run alone, shares of the run would be false.
    if (report.switches.state != trace::SwitchInfo::State::recorded) return;
    for (const score::ThreadTimeline& timeline : report.timeline) {
        Intervals blocked, preempted;
        for (const samples::OffTime& each : timeline.off)
            (each.preempted ? preempted : blocked).push_back(time_({each.begin, each.end}));
        blocked = united(std::move(blocked));
        Off& off = off_.emplace_back();
        for (const Interval& time : blocked)
            off.blocked_ticks += time.ticks();
        off.blocked = Steps{blocked};
        off.preempted = Steps{united(std::move(preempted))};
    }
}

/// False: the run has an impossible length.
bool Activities::find_owners(const score::Report& report) {
    constexpr std::size_t kMostParts = std::size_t{1} << 20;
    const OwningByMutex owning = owning_in(report);
    // Each wait has as many parts as the mutex had owners meanwhile: fewer windows, if that is too much.
    samples::Windows windows = report.windows;
    for (std::size_t parts = count_parts(report, owning); parts > kMostParts; parts /= 2)
        windows.limit /= 2;
    const auto time = KeptTime::of(windows, span_of(report.timeline));
    if (!time) return false;
    time_ = *time;
    // Where threads are left out, they may have what others gave back.
    const std::size_t woken = report.left_out.threads > 0 ? Held::kNotKnown : Held::kWoken;
    waits_.resize(report.timeline.size());
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        for (const samples::OwnedWait& wait : report.timeline[t].waits) {
            const Interval kept = time_({wait.begin, wait.end});
            if (wait.given_back || kept.begin == kept.end) continue;
            std::uint64_t from = kept.begin;
            add_parts(
                t, wait, moments_from(owning.at(wait.mutex), wait.begin),
                [&](std::uint64_t end, std::size_t owner) {
                    const std::uint64_t to = end == wait.end ? kept.end : time_(end);
                    if (from < to)
                        waits_[t].push_back(
                            {{from, to}, wait.mutex, wait.function, owner == Held::kWoken ? woken : owner});
                    from = to;
                });
        }
        std::ranges::stable_sort(waits_[t], {}, [](const Held& part) { return part.time.begin; });
    }
    return true;
}

void Activities::find_arrivals(const trace::TraceInfo& info, const score::Report& report) {
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<Arrival>> barriers;  // by function and key
    std::set<std::uint32_t> functions;
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        if (score::is_barrier(info.functions[function])) functions.insert(function);
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        for (const score::TimedCall& call : report.timeline[t].calls)
            if (functions.contains(call.function) && call.begin < call.end)
                barriers[{call.function, call.key}].push_back({{call.begin, call.end}, t});
    }
    arrivals_.resize(report.timeline.size());
    for (auto& each : barriers) {
        const auto& barrier = each.first;
        std::vector<Arrival>& calls = each.second;
        std::ranges::sort(calls, {}, [](const Arrival& arrival) { return arrival.time.begin; });
        for (auto call = calls.begin(); call != calls.end(); ++call) {
            const Arrival* const last = last_to_come(*call, {calls.begin(), calls.end()});
            const auto add = [&](const Interval& time, std::size_t owner) {
                const Interval kept = time_(time);
                if (kept.begin < kept.end)
                    arrivals_[call->thread].push_back(
                        {kept, barrier.second, barrier.first, owner, Held::By::arrival});
            };
            if (last == nullptr) {
                add(call->time, Held::kNotKnown);
            } else {
                add({call->time.begin, last->time.begin}, last->thread);
                add({last->time.begin, call->time.end},
                    report.left_out.threads > 0 ? Held::kNotKnown : Held::kWoken);
            }
        }
    }
    for (std::vector<Held>& arrivals : arrivals_)
        std::ranges::stable_sort(arrivals, {}, [](const Held& part) { return part.time.begin; });
}

const Activities::Inside* Activities::find(std::size_t thread, std::uint32_t function) const {
    const auto found = std::ranges::lower_bound(threads_[thread], function, {}, &Inside::function);
    return found != threads_[thread].end() && found->function == function ? &*found : nullptr;
}

}  // namespace rdam::hints
