#include "analyzer/hints/wait_calls.h"

#include <algorithm>
#include <string>

#include "analyzer/sequences/known_functions.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::hints {
namespace {

/// One of the two relations.
struct Relation {
    std::vector<std::string> CatalogueFunction::*known;
    std::vector<std::string> score::NamedRules::*ruled;
    std::string_view kind;  ///< of what a rule is about
};
constexpr Relation kGivenBackBy{&CatalogueFunction::given_back_by, &score::NamedRules::given_back_by, "lock"};
constexpr Relation kWokenBy{&CatalogueFunction::woken_by, &score::NamedRules::woken_by, "condition"};

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
    if (function.futex) return "futex";
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

/// Functions with the same partners are about the same objects.
std::vector<Pairing> pairings(const trace::TraceInfo& info, const score::NamedRules& rules,
                              const Relation& relation) {
    std::map<std::pair<std::uint32_t, std::vector<std::string>>, Pairing> by_partners;
    for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
        const CatalogueFunction* const known = sequences::known_function(info.functions[f]);
        if (known == nullptr || (known->*relation.known).empty()) continue;
        if (!known->tries() && sequences::known_wait(info.functions[f]) == nullptr) continue;
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

Role role_of(const trace::FunctionInfo& function, const Pairing& pairing, std::uint32_t number, bool waits) {
    const bool pointer = std::ranges::any_of(function.parameters, [](const trace::ParameterInfo& parameter) {
        return parameter.kind == static_cast<std::uint8_t>(ValueKind::pointer);
    });
    // Of what a rule is about, several threads may have it, and what is given may be kept.
    Role role{
        .number = number, .waits = waits, .addressed = pointer, .shared = true, .counts = pairing.ruled};
    if (const CatalogueFunction* const known = sequences::known_function(function); known != nullptr) {
        role.addressed = pointer || !known->keys.empty();
        role.shared = known->shared || pairing.ruled;
        role.tries = known->tries();
        role.zero_fails = known->zero_fails;
        role.other_fails = known->other_fails;
        role.wakes_all = known->wakes_all;
        role.counts = known->counts;
        role.futex = known->futex && !pairing.ruled;
        role.channel = pairing.channel;
    }
    return role;
}

}  // namespace

bool is_complete(const trace::FunctionInfo& function) {
    return function.windowed_since == 0 && !function.sampled && function.switched_off == 0 &&
           function.most_rate == 0;
}

std::optional<Role> Role::in(const score::TimedCall& call) const {
    using sequences::FutexCall;
    if (!futex) return *this;
    if (call.futex == FutexCall::none) return std::nullopt;
    Role role = *this;
    role.waits = call.futex == FutexCall::wait;
    role.wakes_all = call.futex == FutexCall::wake_all;
    role.all_unclear = call.futex == FutexCall::moves;
    role.unclear = role.all_unclear || call.futex == FutexCall::other;
    // It returns 0 for a wait that was ended, and how many it has woken.
    role.other_fails = role.waits;
    role.zero_fails = !role.waits && !role.unclear;
    return role;
}

std::map<std::uint32_t, std::size_t> threads_by_tid(const score::Report& report) {
    std::map<std::uint32_t, std::size_t> threads;
    for (std::size_t t = 0; t < report.threads.size(); ++t)
        if (const auto [at, anew] = threads.emplace(report.threads[t].tid, t); !anew)
            at->second = Held::kNotKnown;
    return threads;
}

std::vector<Pairing> lock_pairings(const trace::TraceInfo& info, const score::NamedRules& rules) {
    return pairings(info, rules, kGivenBackBy);
}

std::vector<Pairing> wake_pairings(const trace::TraceInfo& info, const score::NamedRules& rules) {
    std::vector<Pairing> all = pairings(info, rules, kWokenBy);
    if (info.channels.empty()) return all;
    Pairing channel;
    channel.channel = true;
    for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
        const CatalogueFunction* const known = sequences::known_wait(info.functions[f]);
        if (known == nullptr || (!known->receives && !known->sends)) continue;
        (known->receives ? channel.waiters : channel.partners).push_back(f);
        channel.complete = channel.complete && is_complete(info.functions[f]);
    }
    if (channel.waiters.empty() || channel.partners.empty()) return all;
    for (const std::string_view kind : kChannels) {
        channel.kind = kind;
        all.push_back(channel);
    }
    return all;
}

Descriptors::Descriptors(const trace::TraceInfo& info) {
    for (const trace::ChannelInfo& each : info.channels) {
        by_descriptor_[each.descriptor].push_back(each);
        if (each.writes != 0) written_[{each.kind, each.writes}].push_back({each.since, each.until});
    }
    for (auto& [descriptor, all] : by_descriptor_)
        std::ranges::stable_sort(all, {}, &trace::ChannelInfo::since);
    for (auto& [channel, times] : written_) {
        std::ranges::sort(times, {}, &Interval::begin);
        std::vector<Interval> disjoint;
        for (const Interval& time : times)
            if (!disjoint.empty() && time.begin <= disjoint.back().end)
                disjoint.back().end = std::max(disjoint.back().end, time.end);
            else
                disjoint.push_back(time);
        times = std::move(disjoint);
    }
}

std::optional<Descriptors::Through> Descriptors::of(const score::TimedCall& call, bool receives) const {
    const auto all = by_descriptor_.find(call.key);
    if (!call.descriptor || all == by_descriptor_.end()) return std::nullopt;
    const auto next = std::ranges::upper_bound(all->second, call.begin, {}, &trace::ChannelInfo::since);
    if (next == all->second.begin()) return std::nullopt;
    const trace::ChannelInfo& then = *std::prev(next);
    const std::uint64_t number = receives ? then.reads : then.writes;
    // Who receives need not have the descriptor any more when the call ends.
    if (call.begin > then.until || number == 0) return std::nullopt;
    const auto written = written_.find({then.kind, number});
    if (written == written_.end()) return std::nullopt;
    const auto first = std::ranges::lower_bound(written->second, call.begin, {}, &Interval::end);
    if (first == written->second.end() || first->begin > call.end) return std::nullopt;
    return Through{static_cast<std::uint32_t>(then.kind), number};
}

std::map<std::uint32_t, Role> roles_in(const trace::TraceInfo& info, const std::vector<Pairing>& all) {
    std::map<std::uint32_t, Role> roles;
    for (std::uint32_t number = 0; number < all.size(); ++number)
        for (const bool waits : {false, true})
            for (const std::uint32_t f : waits ? all[number].waiters : all[number].partners) {
                const Role role = role_of(info.functions[f], all[number], number, waits);
                // Of channels the first kind's: the call says which it is about.
                if (role.channel)
                    roles.emplace(f, role);
                else
                    roles[f] = role;
            }
    return roles;
}

std::optional<std::uint64_t> object_of(const score::TimedCall& call, const Role& role) {
    if (call.key != 0) return call.key;
    return role.addressed ? std::nullopt : std::optional<std::uint64_t>{0};
}

}  // namespace rdam::hints
