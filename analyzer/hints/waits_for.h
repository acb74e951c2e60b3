// Whom threads wait for, a file for each way to know it: waits_for_….cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "analyzer/hints/wait_calls.h"
#include "analyzer/hints/waits.h"

namespace rdam::hints {

/// Kinds of objects that calls of no pairing are about: mutexes that name their owners when waits for them begin, and those of
/// which every lock and unlock is recorded as well. Others are numbered.
constexpr std::uint32_t kMutexes = UINT32_MAX, kRecordedMutexes = UINT32_MAX - 1;

/// Who has the locks that threads wait for. Immutable, hence thread-safe.
class LockOwners {
  public:
    LockOwners(const trace::TraceInfo& info, const score::Report& report, const KeptTime& time);

    /// Of all waits together, about.
    std::size_t parts() const;
    /// The parts of all waits, those of a thread to `of(thread)`. `of` must return the same vector each time.
    void add_to(const std::function<std::vector<Held>&(std::size_t thread)>& of, const KeptTime& time) const;

    /// Since when which thread has the object: by what waits for a mutex say (it names its owner when one begins, who
    /// has waited has it when one ends, and it has been given back when one that waits is woken), or by the calls
    /// that take it and give it back.
    struct Owning {
        std::uint64_t since = 0;
        std::size_t owner = Held::kNotKnown;
        std::size_t before = Held::kNotKnown;  ///< of kWoken: who gave it back
        bool perhaps = false;                  ///< what has been given back may have been taken
        std::uint64_t ended_from = 0;          ///< as in Held; of kWoken: of `before`
    };

  private:
    std::vector<Wait> waits_;
    KeptTime recorded_;                             // in which all of Report::timeline's waits are known
    std::map<Object, std::vector<Owning>> owning_;  // each in the order of time
};

/// Completes ended_from of the moments of one object before those in which it is given back.
void note_ends(std::vector<LockOwners::Owning>& moments);

/// The waits for the mutexes of kRecordedMutexes, and since when which thread has had these.
/// `known`: in which every OwnedWait is kept.
void add_recorded_mutexes(const trace::TraceInfo& info, const score::Report& report, const KeptTime& known,
                          std::vector<Wait>& waits,
                          std::map<Object, std::vector<LockOwners::Owning>>& owning);

/// A part of the wait, in ticks of the run, and for whom it is: a thread, which ends it as in Held, Held::kWoken or Held::kNotKnown.
using AddPart =
    std::function<void(const Wait& wait, const Interval& part, std::size_t owner, std::uint64_t ended_from)>;

/// Who comes last to barriers.
void add_arrivals(const trace::TraceInfo& info, const score::Report& report, const AddPart& add);
/// Who signals condition variables, posts semaphores, or calls what ends a wait by a rule.
void add_notifiers(const trace::TraceInfo& info, const score::Report& report, const KeptTime& time,
                   const AddPart& add);
/// Which threads are joined.
void add_ends(const score::Report& report, const AddPart& add);

}  // namespace rdam::hints
