#include "analyzer/hints/waits.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/report/function_row.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::hints {
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

/// What threads wait for: of which kind, and its address.
using Object = std::pair<std::uint32_t, std::uint64_t>;

/// The kind of the mutexes that name their owners. Others are numbered.
constexpr std::uint32_t kMutexes = UINT32_MAX;

/// A thread's call in which it waits for the object, or may do so.
struct Wait {
    Interval time;
    Object object;
    std::uint32_t function = 0;
    std::size_t thread = 0;
    std::string_view kind;  ///< as Held::kind
};

// Functions and their partners (CatalogueFunction, score::NamedRules).

struct Pairing {
    std::vector<std::uint32_t> waiters, partners;  ///< indices into TraceInfo::functions
    bool complete = true;                          ///< every call of them is in the trace
    bool ruled = false;                            ///< the user says so
    std::string_view kind;                         ///< as Held::kind
};

/// One of the two relations.
struct Relation {
    std::vector<std::string> CatalogueFunction::*known;
    std::vector<std::string> score::NamedRules::*ruled;
    std::string_view kind;  ///< of what a rule is about
};
constexpr Relation kGivenBackBy{&CatalogueFunction::given_back_by, &score::NamedRules::given_back_by, "lock"};
constexpr Relation kWokenBy{&CatalogueFunction::woken_by, &score::NamedRules::woken_by, "condition"};

bool is_complete(const trace::FunctionInfo& function) {
    return function.windowed_since == 0 && !function.sampled && function.switched_off == 0 &&
           function.most_rate == 0;
}

std::string_view linkage_name(const trace::FunctionInfo& function) {
    return function.linkage_name.empty() ? function.name : function.linkage_name;
}

/// By the parameter that is the key.
std::string_view kind_of(const CatalogueFunction& function) {
    constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
        {"mutex", "mutex"},          {"rwlock", "read-write lock"}, {"cond", "condition variable"},
        {"sem", "semaphore"},        {"barrier", "barrier"},        {"lck", "critical section"},
        {"pptr", "critical section"}};
    if (function.barrier) return "barrier";
    if (function.keys.empty()) return "critical section";
    const auto* const kind =
        std::ranges::find(kKinds, function.keys.front(), [](const auto& each) { return each.first; });
    return kind != std::end(kKinds) ? kind->second : "lock";
}

bool have_common(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
    return std::ranges::any_of(a, [&](std::uint32_t each) { return std::ranges::find(b, each) != b.end(); });
}

void add_to(std::vector<std::uint32_t>& to, const std::vector<std::uint32_t>& more) {
    for (const std::uint32_t each : more)
        if (std::ranges::find(to, each) == to.end()) to.push_back(each);
}

/// Those with partners in the trace. Functions with the same partners are about the same objects.
std::vector<Pairing> pairings(const trace::TraceInfo& info, const score::NamedRules& rules,
                              const Relation& relation) {
    std::map<std::pair<std::uint32_t, std::vector<std::string>>, Pairing> by_partners;
    for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
        const CatalogueFunction* const known = score::known_wait(info.functions[f]);
        if (known == nullptr || (known->*relation.known).empty()) continue;
        Pairing& pairing = by_partners[{info.functions[f].object, known->*relation.known}];
        pairing.waiters.push_back(f);
        pairing.kind = kind_of(*known);
    }
    for (auto& each : by_partners) {
        const auto& [object, names] = each.first;
        for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
            const trace::FunctionInfo& function = info.functions[f];
            if (function.object == object && function.wait_of == 0 &&
                std::ranges::find(names, linkage_name(function)) != names.end())
                each.second.partners.push_back(f);
        }
    }
    std::vector<Pairing> all;
    for (auto& [partners, pairing] : by_partners)
        if (!pairing.partners.empty()) all.push_back(std::move(pairing));
    for (const std::string& text : rules.*relation.ruled) {
        const auto named = score::find_partners(info, text);
        if (!named) continue;  // of another trace
        Pairing ruled{
            .waiters = named->waiters, .partners = named->partners, .ruled = true, .kind = relation.kind};
        // What has a function in common is about the same objects.
        std::erase_if(all, [&](const Pairing& other) {
            const bool common =
                have_common(ruled.waiters, other.waiters) || have_common(ruled.partners, other.partners);
            if (!common) return false;
            add_to(ruled.waiters, other.waiters);
            add_to(ruled.partners, other.partners);
            if (!other.ruled) ruled.kind = other.kind;
            return true;
        });
        all.push_back(std::move(ruled));
    }
    for (Pairing& pairing : all)
        for (const auto* const functions : {&pairing.waiters, &pairing.partners})
            for (const std::uint32_t f : *functions)
                pairing.complete = pairing.complete && is_complete(info.functions[f]);
    return all;
}

/// What is known of a function in a pairing, once for all of its calls.
struct Role {
    std::uint32_t number = 0;  ///< of the pairing
    bool waits = false;        ///< else it is a partner
    bool addressed = false;    ///< it works on an object with an address, whether that is a key or not
    bool shared = false, wakes_all = false, counts = false;  ///< as in the catalogue
};

Role role_of(const trace::FunctionInfo& function, const Pairing& pairing, std::uint32_t number, bool waits) {
    const bool pointer = std::ranges::any_of(function.parameters, [](const trace::ParameterInfo& parameter) {
        return parameter.kind == static_cast<std::uint8_t>(ValueKind::pointer);
    });
    // Of what a rule is about, several threads may have it, and what is given may be kept.
    Role role{
        .number = number, .waits = waits, .addressed = pointer, .shared = true, .counts = pairing.ruled};
    if (const CatalogueFunction* const known = Catalogue::builtin().find(linkage_name(function));
        known != nullptr) {
        role.addressed = pointer || !known->keys.empty();
        role.shared = known->shared || pairing.ruled;
        role.wakes_all = known->wakes_all;
        role.counts = known->counts;
    }
    return role;
}

/// Of which object a call is. Nothing: it has an address that is no key, so that it is not known. What has no
/// address is one object.
std::optional<std::uint64_t> object_of(const score::TimedCall& call, const Role& role) {
    if (call.key != 0) return call.key;
    return role.addressed ? std::nullopt : std::optional<std::uint64_t>{0};
}

/// Calls each(role, call, thread) for the calls of all functions of the pairings.
template <class Each>
void each_call(const trace::TraceInfo& info, const std::vector<Pairing>& all, const score::Report& report,
               const Each& each) {
    std::map<std::uint32_t, Role> roles;  // by function
    for (std::uint32_t number = 0; number < all.size(); ++number)
        for (const bool waits : {false, true})
            for (const std::uint32_t f : waits ? all[number].waiters : all[number].partners)
                roles[f] = role_of(info.functions[f], all[number], number, waits);
    if (roles.empty()) return;
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        for (const score::TimedCall& call : report.timeline[t].calls) {
            const auto role = roles.find(call.function);
            if (role != roles.end() && call.begin < call.end) each(role->second, call, t);
        }
    }
}

// Who has a lock.

/// Since when which thread has the object: by what waits for a mutex say (it names its owner when one begins, who
/// has waited has it when one ends, and it has been given back when one that waits is woken), or by the calls
/// that take it and give it back.
struct Owning {
    std::uint64_t since = 0;
    std::size_t owner = Held::kNotKnown;
    std::size_t before = Held::kNotKnown;  ///< of kWoken: who gave it back
};

/// In the order of time.
using OwningByObject = std::map<Object, std::vector<Owning>>;

/// The only thread with this tid.
std::map<std::uint32_t, std::size_t> threads_by_tid(const score::Report& report) {
    std::map<std::uint32_t, std::size_t> threads;
    for (std::size_t t = 0; t < report.threads.size(); ++t)
        if (const auto [at, anew] = threads.emplace(report.threads[t].tid, t); !anew)
            at->second = Held::kNotKnown;
    return threads;
}

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

void add_mutexes(const score::Report& report, std::vector<Wait>& waits, OwningByObject& owning) {
    const auto threads = threads_by_tid(report);
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        for (const samples::OwnedWait& wait : report.timeline[t].waits) {
            const Object object{kMutexes, wait.mutex};
            std::vector<Owning>& moments = owning[object];
            if (wait.given_back) {
                moments.push_back({wait.begin, Held::kWoken, t});
                continue;
            }
            waits.push_back({{wait.begin, wait.end}, object, wait.function, t, "mutex"});
            // 0: it is just being given back, or taken.
            const auto owner = threads.find(wait.owner);
            moments.push_back({wait.begin, owner != threads.end() ? owner->second : Held::kNotKnown});
            moments.push_back({wait.end, t});
        }
    }
    for (auto& [object, moments] : owning)
        std::ranges::stable_sort(moments, {}, &Owning::since);
}

/// A lock is taken when a call ends, and given back when one begins.
struct Change {
    std::uint64_t time = 0;
    std::size_t thread = 0;
    bool taken = false;
    bool alone = false;  ///< nobody else has it from then on
};

/// A time in which a thread has a lock; of kNotKnown: in which it is not known who has it.
struct Hold {
    Interval time;
    std::size_t thread = Held::kNotKnown;
};

/// `changes` of one lock, in the order of time. A thread has it only if it was seen to take it and to give it back:
/// who gives back what it was not seen to take (by a call that is not recorded, or in another thread's place), or
/// takes what it is not seen to give back (its call failed, or another thread does), may have it or not.
std::vector<Hold> holds_of(std::span<const Change> changes, const KeptTime& time) {
    std::vector<Hold> holds;
    std::map<std::size_t, std::vector<std::uint64_t>> open;  // by thread
    std::map<std::size_t, std::uint64_t> before;             // likewise, its last change
    std::set<std::size_t> takers;                            // of which `open` has something
    const auto not_known = [&](std::uint64_t begin, std::uint64_t end) {
        if (begin < end) holds.push_back({{begin, end}});
    };
    for (const Change& change : changes) {
        std::vector<std::uint64_t>& begins = open[change.thread];
        // In a time that is not kept it may have been given back. The last may be what is given back now.
        while (begins.size() > (change.taken ? 0U : 1U) && !time.keeps({begins.front(), change.time})) {
            not_known(begins.front(), time.kept_until(begins.front()));
            begins.erase(begins.begin());
        }
        if (change.taken && change.alone) {
            for (const std::size_t other : takers)
                if (other != change.thread)
                    for (const std::uint64_t begin : std::exchange(open[other], {}))
                        not_known(begin, change.time);
            takers.clear();
        }
        if (change.taken) {
            begins.push_back(change.time);
            takers.insert(change.thread);
        } else if (begins.empty()) {
            const auto last = before.find(change.thread);
            not_known(last != before.end() ? last->second : 0, change.time);
        } else {
            if (begins.back() < change.time) holds.push_back({{begins.back(), change.time}, change.thread});
            begins.pop_back();
        }
        before[change.thread] = change.time;
    }
    for (const auto& [thread, begins] : open)
        for (const std::uint64_t begin : begins)
            not_known(begin, UINT64_MAX);
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
    std::multiset<std::pair<std::uint64_t, std::size_t>> open;  // end, thread
    std::size_t unknown = 0, last = Held::kNotKnown;
    for (auto bound = bounds.begin(); bound != bounds.end();) {
        const std::uint64_t now = bound->time;
        for (; bound != bounds.end() && bound->time == now; ++bound) {
            const Hold& hold = *bound->hold;
            if (hold.thread == Held::kNotKnown)
                unknown += bound->begins ? 1 : std::size_t{0} - 1;
            else if (bound->begins)
                open.emplace(hold.time.end, hold.thread);
            else if (open.erase({hold.time.end, hold.thread}) > 0)
                last = hold.thread;
        }
        const Owning moment = unknown > 0     ? Owning{now}
                              : !open.empty() ? Owning{now, open.rbegin()->second}
                                              : Owning{now, Held::kWoken, last};
        if (moments.empty() || moments.back().owner != moment.owner) moments.push_back(moment);
    }
    return moments;
}

void add_locks(const trace::TraceInfo& info, const score::Report& report, const KeptTime& time,
               std::vector<Wait>& waits, OwningByObject& owning) {
    std::map<Object, std::vector<Change>> changes;
    const std::vector<Pairing> all = pairings(info, report.comparison.rules, kGivenBackBy);
    each_call(info, all, report, [&](const Role& role, const score::TimedCall& call, std::size_t thread) {
        const auto address = object_of(call, role);
        if (!all[role.number].complete || !address) return;
        const Object object{role.number, *address};
        changes[object].push_back({role.waits ? call.end : call.begin, thread, role.waits, !role.shared});
        if (role.waits)
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

/// Calls add(end, owner) for the parts of a wait, one behind the other. `moments` begin with the last one before
/// it.
template <class Add>
void add_parts(const Wait& wait, std::span<const Owning> moments, const KeptTime& time, const Add& add) {
    const std::uint64_t end = wait.time.end;
    if (moments.empty()) return add(end, Held::kNotKnown);
    std::uint64_t from = wait.time.begin;
    for (std::size_t at = 0; from < end; ++at) {
        const Owning* const next = at + 1 < moments.size() ? &moments[at + 1] : nullptr;
        const bool last = next == nullptr || next->since >= end;
        if (at == kMaxParts && !last) return add(end, Held::kNotKnown);
        const std::uint64_t to = last ? end : std::max(from, next->since);
        std::size_t owner = owner_between(moments[at], last ? nullptr : next, wait.thread);
        // In a time that is not kept another may have taken it.
        if (owner == Held::kWoken && !time.keeps({moments[at].since, to})) owner = Held::kNotKnown;
        if (from < to) add(to, owner);
        from = to;
    }
}

/// The parts of the wait, for `to`.
void add_owned(const Wait& wait, const OwningByObject& owning, const KeptTime& time, std::vector<Held>& to) {
    const Interval kept = time(wait.time);
    if (kept.begin == kept.end) return;
    const std::size_t before = to.size();
    std::uint64_t from = kept.begin;
    add_parts(wait, moments_from(owning.at(wait.object), wait.time.begin), time,
              [&](std::uint64_t end, std::size_t owner) {
                  const std::uint64_t until = end == wait.time.end ? kept.end : time(end);
                  if (from < until)
                      to.push_back({{from, until},
                                    wait.object.second,
                                    wait.function,
                                    owner,
                                    Held::By::owner,
                                    wait.time.end - wait.time.begin,
                                    wait.kind});
                  from = until;
              });
    // A call that takes a lock which nobody has is no wait.
    const auto nobody = [](const Held& part) { return part.owner == Held::kWoken; };
    if (wait.object.first != kMutexes && std::ranges::all_of(std::span{to}.subspan(before), nobody))
        to.resize(before);
}

// Who comes last to a barrier.

/// The call of another thread that comes last: that begins last of all before any of those that come after
/// `call` ends. It hardly waits itself, or it is not the one. Null: it is not known. `calls`: of one barrier, in
/// the order of their begins.
const Wait* last_to_come(const Wait& call, std::span<const Wait> calls) {
    constexpr double kHardly = 0.2;
    constexpr std::ptrdiff_t kLookedAt = 256;
    const auto first = std::ranges::upper_bound(calls, call.time.begin, {},
                                                [](const Wait& other) { return other.time.begin; });
    std::uint64_t end = call.time.end;
    const Wait* last = nullptr;
    for (auto each = first; each != calls.end() && each->time.begin < end; ++each) {
        if (each - first == kLookedAt) return nullptr;
        end = std::min(end, each->time.end);
        if (each->thread != call.thread) last = &*each;
    }
    return last != nullptr && last->time.ticks() <= kHardly * call.time.ticks() ? last : nullptr;
}

/// By function and key, each in the order of the calls' begins.
std::map<Object, std::vector<Wait>> barriers_in(const trace::TraceInfo& info, const score::Report& report) {
    std::set<std::uint32_t> functions;
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        if (score::is_barrier(info.functions[function])) functions.insert(function);
    std::map<Object, std::vector<Wait>> barriers;
    for (std::size_t t = 0; t < report.timeline.size(); ++t)
        for (const score::TimedCall& call : report.timeline[t].calls)
            if (functions.contains(call.function) && call.begin < call.end) {
                const Object object{call.function, call.key};
                barriers[object].push_back({{call.begin, call.end}, object, call.function, t, "barrier"});
            }
    for (auto& [barrier, calls] : barriers)
        std::ranges::sort(calls, {}, [](const Wait& call) { return call.time.begin; });
    return barriers;
}

// Who ends the waits for a condition variable or a semaphore.

struct Signal {
    std::uint64_t time = 0;
    std::size_t thread = 0;
    bool wakes_all = false, counts = false;  ///< as in the catalogue
};

/// A wait, and the signal that ended it.
struct Notified {
    const Wait* wait = nullptr;
    std::optional<Signal> by;
};

/// The waits for one object, and its signals.
struct Notifying {
    std::vector<Wait> waits;
    std::vector<Signal> signals;
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

std::map<Object, Notifying> notifications_in(const trace::TraceInfo& info, const score::Report& report) {
    std::map<Object, Notifying> objects;
    const std::vector<Pairing> all = pairings(info, report.comparison.rules, kWokenBy);
    std::vector<bool> waits_are_complete;
    for (const Pairing& pairing : all)
        waits_are_complete.push_back(std::ranges::all_of(
            pairing.waiters, [&](std::uint32_t f) { return is_complete(info.functions[f]); }));
    each_call(info, all, report, [&](const Role& role, const score::TimedCall& call, std::size_t thread) {
        const auto address = object_of(call, role);
        const Object object{role.number, address.value_or(0)};
        if (role.waits && waits_are_complete[role.number])
            objects[object].waits.push_back(
                {{call.begin, call.end}, object, call.function, thread, all[role.number].kind});
        if (!role.waits && all[role.number].complete && address)
            objects[object].signals.push_back({call.begin, thread, role.wakes_all, role.counts});
    });
    return objects;
}

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
            return std::pair{part->owner == Held::kNotKnown, part->of};
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

std::optional<Waits> Waits::of(const trace::TraceInfo& info, const score::Report& report) {
    constexpr std::size_t kMostParts = std::size_t{1} << 20;
    const Interval run = span_of(report.timeline);
    auto time = KeptTime::of(report.windows, run);
    if (!time) return std::nullopt;
    std::vector<Wait> owned;
    OwningByObject owning;
    add_mutexes(report, owned, owning);
    add_locks(info, report, *time, owned, owning);
    // Each wait has as many parts as its object had owners meanwhile: fewer windows, if that is too much.
    samples::Windows windows = report.windows;
    for (std::size_t parts = count_parts(owned, owning); parts > kMostParts; parts /= 2)
        windows.limit /= 2;
    if (windows.limit != report.windows.limit) time = KeptTime::of(windows, run);
    if (!time) return std::nullopt;

    Waits waits;
    waits.time_ = *time;
    for (ByThread& threads : waits.by_)
        threads.resize(report.timeline.size());
    const auto of = [&](Held::By by, std::size_t thread) -> std::vector<Held>& {
        return waits.by_[static_cast<std::size_t>(by)][thread];
    };
    for (const Wait& wait : owned)
        add_owned(wait, owning, *time, of(Held::By::owner, wait.thread));
    const auto add = [&](const Wait& wait, Held::By by, const Interval& part, std::size_t owner) {
        if (const Interval kept = (*time)(part); kept.begin < kept.end)
            of(by, wait.thread)
                .push_back({kept, wait.object.second, wait.function, owner, by,
                            wait.time.end - wait.time.begin, wait.kind});
    };
    for (const auto& [barrier, calls] : barriers_in(info, report)) {
        for (const Wait& call : calls) {
            const Wait* const last = last_to_come(call, calls);
            const std::uint64_t come = last != nullptr ? last->time.begin : call.time.begin;
            add(call, Held::By::arrival, {call.time.begin, come}, last != nullptr ? last->thread : 0);
            add(call, Held::By::arrival, {come, call.time.end},
                last != nullptr ? Held::kWoken : Held::kNotKnown);
        }
    }
    for (auto& [object, all] : notifications_in(info, report)) {
        for (const Notified& each : notified(all)) {
            const Interval& wait = each.wait->time;
            // Another may have ended it in a time that is not kept.
            if (!each.by || !time->keeps({each.by->time, wait.end})) {
                add(*each.wait, Held::By::notifier, wait, Held::kNotKnown);
            } else {
                add(*each.wait, Held::By::notifier, {wait.begin, each.by->time}, each.by->thread);
                add(*each.wait, Held::By::notifier, {each.by->time, wait.end}, Held::kWoken);
            }
        }
    }
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
