// Who has a lock: mutexes say it themselves when a wait begins, of other locks the calls say it.
#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "analyzer/hints/waits_for.h"
#include "analyzer/sequences/known_functions.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::hints {
namespace {

using Owning = LockOwners::Owning;
/// In the order of time.
using OwningByObject = std::map<Object, std::vector<Owning>>;

/// Who had the object from `moment` on, until `next` (null: it is not known for how long); the one who waits is
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

/// It may give up: who has waited need not have the mutex.
bool may_give_up(const trace::TraceInfo& info, std::uint32_t function) {
    if (function >= info.functions.size()) return false;
    const CatalogueFunction* const known = sequences::known_function(info.functions[function]);
    return known != nullptr && known->other_fails;
}

void add_mutexes(const trace::TraceInfo& info, const score::Report& report, std::vector<Wait>& waits,
                 OwningByObject& owning) {
    const auto threads = threads_by_tid(report);
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        for (const samples::OwnedWait& wait : report.timeline[t].waits) {
            if (wait.joins || wait.all) continue;
            const Object object{kMutexes, wait.mutex};
            std::vector<Owning>& moments = owning[object];
            if (wait.given_back) {
                moments.push_back({wait.begin, Held::kWoken, t, false, wait.caller});
                continue;
            }
            waits.push_back({{wait.begin, wait.end}, object, wait.function, t, "mutex"});
            // 0: it is just being given back, or taken.
            const auto owner = threads.find(wait.owner);
            moments.push_back({wait.begin, owner != threads.end() ? owner->second : Held::kNotKnown});
            if (may_give_up(info, wait.function))
                moments.push_back({.since = wait.end, .perhaps = true});
            else
                moments.push_back({wait.end, t});
        }
    }
    for (auto& [object, moments] : owning) {
        std::ranges::stable_sort(moments, {}, &Owning::since);
        // Who gives up changes nothing: the owner still has it.
        std::size_t before = Held::kNotKnown;
        std::erase_if(moments, [&](const Owning& moment) {
            if (moment.perhaps && before != Held::kWoken) return true;
            before = moment.owner;
            return false;
        });
        note_ends(moments);
    }
}

/// A lock is taken when a call ends, and given back when one begins.
struct Change {
    std::uint64_t time = 0;
    std::size_t thread = 0;
    bool taken = false;
    bool alone = false;        ///< nobody else has it from then on
    bool sure = true;          ///< else it may have failed
    std::uint64_t caller = 0;  ///< as TimedCall::caller
};

/// A time in which a thread has a lock; of kNotKnown: in which it is not known who has it.
struct Hold {
    Interval time;
    std::size_t thread = Held::kNotKnown;
    std::uint64_t ended_from = 0;  ///< as in Held
};

/// `changes` of one lock, in the order of time. A thread has it only if it was seen to take it and to give it back:
/// who gives back what it was not seen to take (by a call that is not recorded, or in another thread's place), or
/// takes what it is not seen to give back (its call failed, or another thread does), may have it or not.
std::vector<Hold> holds_of(std::span<const Change> changes, const KeptTime& time) {
    struct Open {
        std::uint64_t begin = 0;
        bool alone = false;
        bool doubtful = false;  ///< another thread may have given it back
    };
    std::vector<Hold> holds;
    std::map<std::size_t, std::vector<Open>> open;  // by thread
    std::map<std::size_t, std::uint64_t> before;    // likewise, its last change
    std::set<std::size_t> takers;                   // of which `open` has something
    const auto not_known = [&](std::uint64_t begin, std::uint64_t end) {
        if (begin < end) holds.push_back({{begin, end}});
    };
    for (const Change& change : changes) {
        std::vector<Open>& takes = open[change.thread];
        // In a time that is not kept it may have been given back. The last may be what is given back now.
        while (takes.size() > (change.taken ? 0U : 1U) && !time.keeps({takes.front().begin, change.time})) {
            not_known(takes.front().begin, time.kept_until(takes.front().begin));
            takes.erase(takes.begin());
        }
        if (change.taken && !change.sure && std::ranges::any_of(open, [&](const auto& other) {
                return other.first != change.thread &&
                       std::ranges::any_of(other.second,
                                           [&](const Open& each) { return change.alone || each.alone; });
            })) {
            // It has failed, unless what the other one has taken has been given back in its place.
            before[change.thread] = change.time;
            continue;
        }
        if (change.taken && change.alone) {
            for (const std::size_t other : takers)
                if (other != change.thread)
                    for (const Open& take : std::exchange(open[other], {}))
                        not_known(take.begin, change.time);
            takers.clear();
        }
        // What is given back without having been taken may be what another thread has taken.
        if (!change.taken && (takes.empty() || takes.back().doubtful))
            for (const std::size_t other : takers)
                if (other != change.thread)
                    for (Open& take : open[other])
                        take.doubtful = true;
        if (change.taken) {
            takes.push_back({change.time, change.alone});
            takers.insert(change.thread);
        } else if (takes.empty()) {
            const auto last = before.find(change.thread);
            not_known(last != before.end() ? last->second : 0, change.time);
        } else {
            if (takes.back().doubtful)
                not_known(takes.back().begin, change.time);
            else if (takes.back().begin < change.time)
                holds.push_back({{takes.back().begin, change.time}, change.thread, change.caller});
            takes.pop_back();
        }
        before[change.thread] = change.time;
    }
    for (const auto& [thread, takes] : open)
        for (const Open& take : takes)
            not_known(take.begin, UINT64_MAX);
    return holds;
}

/// At each time the one whose hold ends last, for whom a thread that waits has to wait longest.
std::vector<Owning> owning_by(const std::vector<Hold>& holds) {
    struct Bound {
        std::uint64_t time;
        const Hold* hold;
        bool begins;
    };
    std::vector<Bound> bounds;
    for (const Hold& hold : holds) {
        bounds.push_back({hold.time.begin, &hold, true});
        bounds.push_back({hold.time.end, &hold, false});
    }
    std::ranges::sort(bounds, {}, &Bound::time);
    std::vector<Owning> moments;
    std::multiset<std::tuple<std::uint64_t, std::size_t, std::uint64_t>>
        open;  // end, thread, Hold::ended_from
    std::size_t unknown = 0, last = Held::kNotKnown;
    for (auto bound = bounds.begin(); bound != bounds.end();) {
        const std::uint64_t now = bound->time;
        for (; bound != bounds.end() && bound->time == now; ++bound) {
            const Hold& hold = *bound->hold;
            if (hold.thread == Held::kNotKnown)
                unknown += bound->begins ? 1 : std::size_t{0} - 1;
            else if (bound->begins)
                open.emplace(hold.time.end, hold.thread, hold.ended_from);
            else if (open.erase({hold.time.end, hold.thread, hold.ended_from}) > 0)
                last = hold.thread;
        }
        Owning moment{now};
        if (unknown == 0 && open.empty()) {
            moment.owner = Held::kWoken;
            moment.before = last;
        } else if (unknown == 0) {
            std::tie(std::ignore, moment.owner, moment.ended_from) = *open.rbegin();
        }
        if (moments.empty() || moments.back().owner != moment.owner ||
            moments.back().ended_from != moment.ended_from)
            moments.push_back(moment);
    }
    return moments;
}

void add_locks(const trace::TraceInfo& info, const score::Report& report, const KeptTime& time,
               std::vector<Wait>& waits, OwningByObject& owning) {
    std::map<Object, std::vector<Change>> changes;
    const std::vector<Pairing> all = lock_pairings(info, report.comparison.rules);
    each_call(info, all, report, [&](const Role& role, const score::TimedCall& call, std::size_t thread) {
        const auto address = object_of(call, role);
        if (!all[role.number].complete || !address) return;
        const Object object{role.number, *address};
        std::vector<Change>& of_object = changes[object];
        if (!role.failed(call))
            of_object.push_back({role.waits ? call.end : call.begin, thread, role.waits, !role.shared,
                                 role.succeeded(call), call.caller});
        if (role.waits && !role.tries)
            waits.push_back({{call.begin, call.end}, object, call.function, thread, all[role.number].kind});
    });
    for (auto& [object, of_object] : changes) {
        std::ranges::stable_sort(of_object, {}, &Change::time);
        owning.emplace(object, owning_by(holds_of(of_object, time)));
    }
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
std::size_t count_parts(const std::vector<Wait>& waits, const OwningByObject& owning) {
    std::size_t parts = 0;
    for (const Wait& wait : waits) {
        const std::span<const Owning> moments = moments_from(owning.at(wait.object), wait.time.begin);
        const auto end = std::ranges::lower_bound(moments, wait.time.end, {}, &Owning::since);
        parts += std::min(static_cast<std::size_t>(end - moments.begin()), kMaxParts);
    }
    return parts;
}

/// Calls add(end, owner, ended_from) for the parts of a wait, one behind the other. `moments` begin with the last one before
/// it. `known`: in which nothing that changes the owner is missing.
template <class Add>
void add_parts(const Wait& wait, std::span<const Owning> moments, const KeptTime& known, const Add& add) {
    const std::uint64_t end = wait.time.end;
    if (moments.empty()) return add(end, Held::kNotKnown, 0);
    std::uint64_t from = wait.time.begin;
    for (std::size_t at = 0; from < end; ++at) {
        const Owning* const next = at + 1 < moments.size() ? &moments[at + 1] : nullptr;
        const bool last = next == nullptr || next->since >= end;
        if (at == kMaxParts && !last) return add(end, Held::kNotKnown, 0);
        const std::uint64_t to = last ? end : std::max(from, next->since);
        std::size_t owner = owner_between(moments[at], last ? nullptr : next, wait.thread);
        const std::uint64_t ended_from = owner >= Held::kWoken        ? 0
                                         : owner == moments[at].owner ? moments[at].ended_from
                                                                      : next->ended_from;
        // In a time that is not kept another may have taken it.
        if (owner == Held::kWoken && !known.keeps({moments[at].since, to})) owner = Held::kNotKnown;
        if (wait.object.first == kRecordedMutexes && owner != Held::kNotKnown) {
            const std::uint64_t until = std::min(known.kept_until(moments[at].since), to);
            if (from < until) add(until, owner, ended_from);
            from = std::max(from, until);
            owner = Held::kNotKnown;
        }
        if (from < to) add(to, owner, ended_from);
        from = to;
    }
}

/// The parts of the wait, for `to`.
void add_owned(const Wait& wait, const OwningByObject& owning, const KeptTime& time, const KeptTime& known,
               std::vector<Held>& to) {
    const Interval kept = time(wait.time);
    if (kept.begin == kept.end) return;
    const std::size_t before = to.size();
    std::uint64_t from = kept.begin;
    add_parts(wait, moments_from(owning.at(wait.object), wait.time.begin), known,
              [&](std::uint64_t end, std::size_t owner, std::uint64_t ended_from) {
                  const std::uint64_t until = end == wait.time.end ? kept.end : time(end);
                  if (from < until)
                      to.push_back({{from, until},
                                    wait.object.second,
                                    wait.function,
                                    owner,
                                    Held::By::owner,
                                    wait.time,
                                    wait.kind,
                                    ended_from});
                  from = until;
              });
    // A call that takes a lock which nobody has is no wait.
    const auto nobody = [](const Held& part) { return part.owner == Held::kWoken; };
    if (wait.object.first != kMutexes && std::ranges::all_of(std::span{to}.subspan(before), nobody))
        to.resize(before);
}

}  // namespace

void note_ends(std::vector<Owning>& moments) {
    for (std::size_t at = moments.size(); at-- > 1;) {
        const Owning& next = moments[at];
        Owning& each = moments[at - 1];
        const std::size_t ends = next.owner == Held::kWoken ? next.before : next.owner;
        if (each.owner < Held::kWoken && each.owner == ends) each.ended_from = next.ended_from;
    }
}

LockOwners::LockOwners(const trace::TraceInfo& info, const score::Report& report, const KeptTime& time)
    : recorded_(KeptTime::of(report.owned_windows, Waits::span(report)).value_or(time)) {
    add_mutexes(info, report, waits_, owning_);
    add_recorded_mutexes(info, report, recorded_, waits_, owning_);
    add_locks(info, report, time, waits_, owning_);
}

std::size_t LockOwners::parts() const {
    return count_parts(waits_, owning_);
}

void LockOwners::add_to(const std::function<std::vector<Held>&(std::size_t thread)>& of,
                        const KeptTime& time) const {
    for (const Wait& wait : waits_)
        add_owned(wait, owning_, time, wait.object.first == kRecordedMutexes ? recorded_ : time,
                  of(wait.thread));
}

}  // namespace rdam::hints
