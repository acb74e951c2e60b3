// For whom threads wait, and what the one that they wait for does meanwhile: the owner, who comes last, or who notifies
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/hints/activities.h"
#include "analyzer/hints/hints.h"
#include "analyzer/report/report.h"
#include "tools/trace/event.h"

namespace rdam::hints {

/// For people: `thread 7 (worker)`.
std::string described_thread(const score::ThreadRow& row);

/// For people: `the mutex cache_lock`, `the semaphore 0x5000`, `pipe:[7]`. `kind`: Held::kind. Nothing: of several ones. 0: it has no
/// address.
std::string described_object(std::string_view kind, std::optional<std::uint64_t> address,
                             const VariableAt& variable_at);

/// A sum of waits of one kind, and of what their owners did. Times are kept ones, in ticks.
class OwnerTimes {
  public:
    /// All must outlive it.
    OwnerTimes(const trace::TraceInfo& info, const score::Report& report, const Activities& activities)
        : info_(&info), report_(&report), activities_(&activities) {}

    /// `time`: of `part`, or a part of it. A tick of it counts `weight`.
    void add(const Held& part, const Interval& time, double weight);

    double known() const { return known_; }  ///< in which it is known for which thread
    double woken() const { return woken_; }  ///< … in which it was for none any more (Held::kWoken)
    /// `at least `, if there are enough waits of which it is not known for whom; else empty.
    const char* at_least() const { return unknown_ >= kWorthSaying * (known_ + woken_) ? "at least " : ""; }
    std::size_t owners() const { return parts_of_.size(); }
    /// The thread of nearly all of known(), as an index into Report::threads.
    std::optional<std::size_t> owner() const;
    double known_for(std::size_t owner) const { return ticks_of_owner_.at(owner); }  ///< a part of known()
    /// As Held::kind.
    std::string_view kind() const { return kind_; }
    /// `the mutex cache_lock`, `the mutex 0x5000`, `a mutex`: what nearly all waited for.
    std::string object_text(const VariableAt& variable_at) const;

    struct Inside {
        std::uint32_t function = 0;
        double share = 0;  ///< of known()
        /// To where nearly all of these calls return, if the function is a wait, which programs make for many reasons; 0: to
        /// several places, or it is not known.
        std::uint64_t caller = 0;
    };
    /// What the owners did, as shares of known().
    struct Doing {
        /// The most special of the functions that they were inside: of those they were inside for about as much of
        /// the waits, the one that they were inside for the least time in all. Nothing: they were in none for long.
        std::optional<Inside> inside = {};
        double waiting = 0;    ///< off the processors by their own doing
        double preempted = 0;  ///< … because others were to run
    };
    Doing doing() const;
    /// `; it is inside flush() for 97 % of that time and gives it back in keep at db.c:12`; may be empty. `waited_ns`: of what
    /// the time is said that owners were preempted; 0: it is not said.
    std::string text(const Doing& doing, const char* subject, const AddressNames& names,
                     double waited_ns = 0) const;
    /// Who makes the calls that the owners are inside; empty: it is not known.
    std::string caller_text(const Inside& inside, const AddressNames& names) const;
    /// Where owners end most of the waits: give the object back, come to the barrier, notify.
    struct Ending {
        std::string where;  ///< as CallerAt; empty: it is not known
        double share = 0;   ///< of known()
    };
    Ending ending(const AddressNames& names) const;

  private:
    struct FunctionSums {
        double during = 0;  ///< the waits
        double all = 0;
    };
    using ByFunction = std::map<std::uint32_t, FunctionSums>;

    std::optional<Inside> most_special(const ByFunction& functions) const;
    std::uint64_t caller_of(std::uint32_t function) const;
    std::string for_whom() const;

    const trace::TraceInfo* info_;
    const score::Report* report_;
    const Activities* activities_;
    double known_ = 0;
    double woken_ = 0;
    double unknown_ = 0;
    std::string_view kind_ = "mutex";
    std::map<std::size_t, double> ticks_of_owner_;     // by thread
    std::map<std::uint64_t, double> ticks_of_object_;  // by address
    Held::By by_ = Held::By::owner;
    std::map<std::uint64_t, double> ticks_until_;  // by Held::ended_from
    std::map<std::size_t, std::vector<Steps::Part>> parts_of_;
};

inline constexpr double kNearlyAll = 0.8;

/// The key of nearly all of `all`.
template <class Key>
std::optional<Key> nearly_only(const std::map<Key, double>& sums, double all) {
    for (const auto& [key, sum] : sums)
        if (sum >= kNearlyAll * all) return key;
    return std::nullopt;
}

/// Who waits for whom, of all threads: for Analysis::waits.
WaitGraph wait_graph(const trace::TraceInfo& info, const score::Report& report, const Activities& activities,
                     const AddressNames& names);

}  // namespace rdam::hints
