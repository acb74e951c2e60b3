// The calls in which threads wait, and those of the functions with which they are paired: that give back what is waited for,
// or end the wait.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/hints/waits.h"

namespace rdam::hints {

/// What threads wait for: of which kind, and its address.
using Object = std::pair<std::uint32_t, std::uint64_t>;

/// A thread's call in which it waits for the object, or may do so.
struct Wait {
    Interval time;
    Object object;
    std::uint32_t function = 0;
    std::size_t thread = 0;
    std::string_view kind;     ///< as Held::kind
    std::uint64_t caller = 0;  ///< as TimedCall::caller
};

/// The only thread with this tid, Held::kNotKnown where there are several.
std::map<std::uint32_t, std::size_t> threads_by_tid(const score::Report& report);

/// Functions and their partners, which are about the same objects (CatalogueFunction, score::NamedRules).
struct Pairing {
    std::vector<std::uint32_t> waiters, partners;  ///< indices into TraceInfo::functions
    bool complete = true;                          ///< every call of them is in the trace
    bool ruled = false;                            ///< the user says so
    bool channel = false;                          ///< who waits receives what partners send
    std::string_view kind;                         ///< as Held::kind
};

/// By given_back_by, and by woken_by. Those with partners in the trace; a function is in one of them, but for those of kChannels,
/// which are the last ones.
std::vector<Pairing> lock_pairings(const trace::TraceInfo& info, const score::NamedRules& rules);
std::vector<Pairing> wake_pairings(const trace::TraceInfo& info, const score::NamedRules& rules);

/// Every call of the function is in the trace.
bool is_complete(const trace::FunctionInfo& function);

/// What is known of a function in a pairing.
struct Role {
    std::uint32_t number = 0;  ///< of the pairing
    bool waits = false;        ///< else it is a partner
    bool tries = false;        ///< `waits` is not to be taken literally: it takes what is free
    bool addressed = false;    ///< it works on an object with an address, whether that is a key or not
    bool shared = false, wakes_all = false, counts = false;  ///< as in the catalogue
    bool zero_fails = false, other_fails = false;            ///< likewise
    bool futex = false;                                      ///< likewise: in() says the rest
    bool channel = false;                                    ///< as in Pairing: Descriptors say the rest
    bool unclear = false;      ///< it is not known whose waits for the object end meanwhile
    bool all_unclear = false;  ///< … for any object of the pairing

    /// The role of this call: that of a call about a futex is what it does to it. Nothing: it has none.
    std::optional<Role> in(const score::TimedCall& call) const;

    /// It is known that the call has not taken anything, or that nobody has ended its wait.
    bool failed(const score::TimedCall& call) const {
        using samples::Returned;
        return (zero_fails && call.returned == Returned::zero) ||
               (other_fails && call.returned == Returned::other) ||
               ((zero_fails || other_fails) && call.returned == Returned::negative);
    }
    /// It is known that it has not failed.
    bool succeeded(const score::TimedCall& call) const {
        return !failed(call) &&
               ((!zero_fails && !other_fails) || call.returned != samples::Returned::not_known);
    }
};

/// The channels that file descriptors of the process lead to. Immutable, hence thread-safe.
class Descriptors {
  public:
    explicit Descriptors(const trace::TraceInfo& info);

    struct Through {
        std::uint32_t kind = 0;    ///< index into kChannels
        std::uint64_t number = 0;  ///< trace::ChannelInfo::reads
    };
    /// Through which channel the call (TimedCall::descriptor) receives or sends. Nothing: it is not known what the descriptor
    /// was at that time, or the process had no descriptor then that sends through that channel.
    std::optional<Through> of(const score::TimedCall& call, bool receives) const;

  private:
    std::map<std::uint64_t, std::vector<trace::ChannelInfo>> by_descriptor_;  // each in the order of time
    /// When the process has descriptors that send there: in the order of time, disjoint.
    std::map<std::pair<trace::ChannelInfo::Kind, std::uint64_t>, std::vector<Interval>> written_;
};

/// By function, of all of these.
std::map<std::uint32_t, Role> roles_in(const trace::TraceInfo& info, const std::vector<Pairing>& all);

/// Of which object a call is. Nothing: it has an address that is no key, so that it is not known. What has no
/// address is one object.
std::optional<std::uint64_t> object_of(const score::TimedCall& call, const Role& role);

/// Calls each(role, call, thread) for the calls of all functions of the pairings.
template <class Each>
void each_call(const trace::TraceInfo& info, const std::vector<Pairing>& all, const score::Report& report,
               const Each& each) {
    const std::map<std::uint32_t, Role> roles = roles_in(info, all);
    if (roles.empty()) return;
    const Descriptors descriptors{info};
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        for (const score::TimedCall& call : report.calls_about_waits(t)) {
            const auto role = roles.find(call.function);
            if (role == roles.end() || call.begin >= call.end) continue;
            std::optional<Role> own = role->second.in(call);
            if (!own) continue;
            if (!own->channel) {
                each(*own, call, t);
            } else if (const auto through = descriptors.of(call, own->waits)) {
                own->number += through->kind;
                score::TimedCall of_channel = call;
                of_channel.key = through->number;
                each(*own, of_channel, t);
            }
        }
    }
}

}  // namespace rdam::hints
