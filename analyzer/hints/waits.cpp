#include "analyzer/hints/waits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/hints/waits_for.h"

namespace rdam::hints {
namespace {

// One wait may be inside another one: of a function of the program that waits by one of the library.

/// Cuts parts that overlap, of one thread, so that each time counts once: what is known before what is not, and of
/// that the shorter wait, which is the one inside.
class Cutter {
  public:
    /// `parts` in any order.
    void add(std::vector<Held>& parts) {
        for (Held& part : parts)
            all_.push_back(&part);
        lists_.push_back(&parts);
    }

    void cut() {
        std::ranges::sort(all_, {}, [](const Held* part) { return part->time.begin; });
        std::uint64_t end = 0;
        bool overlap = false;
        for (const Held* part : all_) {
            overlap = overlap || part->time.begin < end;
            end = std::max(end, part->time.end);
        }
        if (!overlap) return;
        std::ranges::stable_sort(all_, {}, [](const Held* part) {
            return std::pair{part->owner == Held::kNotKnown, part->wait.ticks()};
        });
        std::map<const Held*, std::vector<Held>> left;
        for (const Held* part : all_)
            left.emplace(part, take(*part));
        for (std::vector<Held>* const parts : lists_) {
            std::vector<Held> cut;
            for (const Held& part : *parts)
                cut.insert(cut.end(), left.at(&part).begin(), left.at(&part).end());
            *parts = std::move(cut);
        }
    }

  private:
    /// What of it has not been taken yet.
    std::vector<Held> take(const Held& part) {
        std::vector<Held> left;
        std::uint64_t from = part.time.begin;
        auto next = taken_.upper_bound(from);
        if (next != taken_.begin()) from = std::max(from, std::prev(next)->second);
        for (; from < part.time.end; ++next) {
            const std::uint64_t to =
                next != taken_.end() ? std::min(next->first, part.time.end) : part.time.end;
            if (from < to) {
                left.push_back(part);
                left.back().time = {from, to};
            }
            if (next == taken_.end()) break;
            from = std::max(from, next->second);
        }
        for (const Held& each : left)
            taken_.emplace(each.time.begin, each.time.end);
        return left;
    }

    std::vector<const Held*> all_;
    std::vector<std::vector<Held>*> lists_;
    std::map<std::uint64_t, std::uint64_t> taken_;  // begin, end
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

std::uint64_t KeptTime::kept_until(std::uint64_t tsc) const {
    const auto next = std::ranges::upper_bound(runs_, tsc, {}, [](const Run& run) { return run.kept.begin; });
    return next == runs_.begin() ? tsc : std::max(tsc, (next - 1)->kept.end);
}

Interval KeptTime::ticks(const Interval& kept) const {
    const auto of = [](std::uint64_t moment, const Run& run) {
        return run.kept.begin + (moment - run.before);
    };
    const auto behind = std::ranges::upper_bound(runs_, kept.begin, {}, &Run::before);
    const auto end = std::ranges::lower_bound(runs_, kept.end, {}, &Run::before);
    if (behind == runs_.begin() || end == runs_.begin()) return {};
    return {of(kept.begin, *(behind - 1)), of(kept.end, *(end - 1))};
}

Interval Waits::span(const score::Report& report) {
    Interval span{UINT64_MAX, 0};
    const auto add = [&](std::uint64_t begin, std::uint64_t end) {
        span = {std::min(span.begin, begin), std::max(span.end, end)};
    };
    for (const score::ThreadTimeline& thread : report.timeline) {
        if (thread.begin < thread.end) add(thread.begin, thread.end);
        for (const auto* const calls : {&thread.calls, &thread.wait_calls})
            for (const score::TimedCall& call : *calls)
                add(call.begin, call.end);
        for (const samples::OwnedWait& wait : thread.waits)
            add(wait.begin, wait.end);
    }
    return span;
}

Waits Waits::within(const KeptTime& time) const {
    Waits some;
    some.time_ = time;
    for (const Held::By by : Held::kBys) {
        ByThread& threads = some.by_[static_cast<std::size_t>(by)];
        threads.resize(by_[static_cast<std::size_t>(by)].size());
        for (std::size_t t = 0; t < threads.size(); ++t)
            for (Held part : of_thread(t, by)) {
                // A part may reach over windows that are not kept.
                part.time = time(time_.ticks(part.time));
                if (part.time.begin < part.time.end) threads[t].push_back(part);
            }
    }
    return some;
}

Releases Waits::releases(std::size_t most) const {
    struct Known {
        double ticks = 0;
        std::map<std::size_t, double> of_owners = {};
        const Held* last = nullptr;  ///< before it was woken
    };
    using Key = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint64_t>;
    Releases all;
    for (const Held::By by : Held::kBys)
        for (std::size_t thread = 0; thread < by_[static_cast<std::size_t>(by)].size(); ++thread) {
            std::map<Key, Known> waits;
            for (const Held& part : of_thread(thread, by)) {
                Known& known = waits[{part.wait.begin, part.wait.end, part.function, part.object}];
                known.ticks += part.time.ticks();
                if (part.is_owned()) known.of_owners[part.owner] += part.time.ticks();
                if (part.owner != Held::kWoken) known.last = &part;
            }
            for (const auto& [key, known] : waits) {
                const double counted = by != Held::By::end ? known.ticks : 0;
                all.waited += counted;
                if (known.last == nullptr || !known.last->is_owned()) continue;
                const Held& last = *known.last;
                all.released += counted;
                all.largest.push_back({.waiter = thread,
                                       .releaser = last.owner,
                                       .wait = last.wait,
                                       .at = time_.ticks(last.time).end,
                                       .waited = known.of_owners.at(last.owner),
                                       .by = by,
                                       .object = last.object,
                                       .function = last.function,
                                       .kind = last.kind,
                                       .ended_from = last.ended_from});
            }
        }
    std::ranges::stable_sort(all.largest, std::ranges::greater{}, &Release::waited);
    if (all.largest.size() > most) {
        all.left_out = all.largest.size() - most;
        all.largest.resize(most);
    }
    return all;
}

std::optional<Waits> Waits::of(const trace::TraceInfo& info, const score::Report& report) {
    constexpr std::size_t kMostParts = std::size_t{1} << 20;
    const Interval run = span(report);
    const samples::Windows& all = report.wait_windows ? *report.wait_windows : report.windows;
    auto time = KeptTime::of(all, run);
    if (!time) return std::nullopt;
    const LockOwners owners{info, report, *time};
    // Each wait has as many parts as its object had owners meanwhile: fewer windows, if that is too much.
    samples::Windows windows = all;
    for (std::size_t parts = owners.parts(); parts > kMostParts; parts /= 2)
        windows.limit /= 2;
    if (windows.limit != all.limit) time = KeptTime::of(windows, run);
    if (!time) return std::nullopt;

    Waits waits;
    waits.windows_ = windows;
    waits.time_ = *time;
    for (ByThread& threads : waits.by_)
        threads.resize(report.timeline.size());
    const auto of = [&](Held::By by, std::size_t thread) -> std::vector<Held>& {
        return waits.by_[static_cast<std::size_t>(by)][thread];
    };
    const auto add_as = [&](Held::By by) {
        return [&, by](const Wait& wait, const Interval& part, std::size_t owner, std::uint64_t ended_from) {
            if (const Interval kept = (*time)(part); kept.begin < kept.end)
                of(by, wait.thread)
                    .push_back({kept, wait.object.second, wait.function, owner, by, wait.time, wait.kind,
                                ended_from});
        };
    };
    owners.add_to([&](std::size_t thread) -> std::vector<Held>& { return of(Held::By::owner, thread); },
                  *time);
    add_arrivals(info, report, add_as(Held::By::arrival));
    add_notifiers(info, report, *time, add_as(Held::By::notifier));
    add_ends(report, add_as(Held::By::end));
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        Cutter cutter;
        for (ByThread& threads : waits.by_)
            cutter.add(threads[t]);
        cutter.cut();
        for (ByThread& threads : waits.by_) {
            // Where threads are left out, they may have what others gave back.
            if (report.left_out.threads > 0)
                for (Held& part : threads[t])
                    if (part.owner == Held::kWoken) part.owner = Held::kNotKnown;
            std::ranges::stable_sort(threads[t], {}, [](const Held& part) { return part.time.begin; });
        }
    }
    return waits;
}

}  // namespace rdam::hints
