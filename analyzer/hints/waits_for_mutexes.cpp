// Who has a robust or priority-inheriting mutex: every lock and unlock of it is recorded, and each lock says whom the mutex
// names as its owner when it begins.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "analyzer/hints/waits_for.h"

namespace rdam::hints {
namespace {

using Owning = LockOwners::Owning;

// What glibc writes in place of an owner (nptl/pthreadP.h).
/// The last owner died, and the one that has the mutex now has not called pthread_mutex_consistent() yet.
constexpr std::uint32_t kInconsistent = std::numeric_limits<std::int32_t>::max();
/// Nobody can have it any more.
constexpr std::uint32_t kNotRecoverable = kInconsistent - 1;

/// What a call says of a mutex, at one moment.
struct Sight {
    Owning said;
    bool free = false;  ///< the mutex names nobody: nobody has it, or it is just changing
};

/// In which all locks and unlocks are recorded, from the beginning on: until then.
std::uint64_t recorded_until(const trace::TraceInfo& info) {
    std::uint64_t until = UINT64_MAX;
    for (const trace::FunctionInfo& function : info.functions) {
        if (function.wait_of == 0 || !function.partner) continue;
        for (const std::uint64_t end : {function.windowed_since, function.switched_off})
            if (end != 0) until = std::min(until, end);
    }
    return until;
}

/// Whether the next one that says anything of an owner agrees with `owner` having had it up to then: who has it gives it
/// back, and nothing else is seen before. So has not who was refused it (the mutex is not recoverable), nor who was
/// followed by another one that took it in a way which is not recorded.
bool is_confirmed(std::size_t owner, const Sight* next) {
    return next == nullptr || next->said.owner == owner ||
           (next->said.owner == Held::kWoken && next->said.before == owner);
}

/// `sights` of one mutex, in the order of time.
std::vector<Owning> settled(const std::vector<Sight>& sights, const score::Report& report) {
    std::vector<Owning> moments;
    for (auto sight = sights.begin(); sight != sights.end(); ++sight) {
        Owning moment = sight->said;
        if (sight->free) {
            // What is known by others includes that it is changing.
            if (moments.empty() || moments.back().owner == Held::kNotKnown) moments.push_back(moment);
            continue;
        }
        const auto following =
            std::find_if(std::next(sight), sights.end(), [](const Sight& each) { return !each.free; });
        const Sight* const next = following != sights.end() ? &*following : nullptr;
        if (moment.owner >= Held::kWoken) {
            // Who gives back what has been given back took it in a way that is not recorded, and it is not known when.
            if (next != nullptr && next->said.owner == Held::kWoken) moment.owner = Held::kNotKnown;
            moments.push_back(moment);
            continue;
        }
        // The kernel gives back what somebody had who has ended.
        const Owning died{report.timeline[moment.owner].end, Held::kWoken, moment.owner};
        const bool dies = next == nullptr || next->said.since > died.since;
        if (died.since <= moment.since) {
            moments.push_back({moment.since, Held::kWoken, moment.owner});
        } else {
            if (!dies && !is_confirmed(moment.owner, next)) moment.owner = Held::kNotKnown;
            moments.push_back(moment);
            if (dies) moments.push_back(died);
        }
    }
    return moments;
}

/// Nobody had it, and nobody else got it meanwhile.
bool is_free(const Interval& time, const std::vector<Owning>& moments) {
    const auto next = std::ranges::upper_bound(moments, time.begin, {}, &Owning::since);
    return next != moments.begin() && std::prev(next)->owner == Held::kWoken &&
           (next == moments.end() || next->since >= time.end);
}

using Sights = std::map<Object, std::vector<Sight>>;

/// What the locks and unlocks of one thread say, and its locks that may have had to wait.
class OfThread {
  public:
    OfThread(std::size_t thread, const std::map<std::uint32_t, std::size_t>& threads, const KeptTime& known)
        : thread_(thread), threads_(threads), known_(known) {}

    void add(const samples::OwnedWait& wait, Sights& sights, std::vector<Wait>& waits) {
        // A mutex of its kind may be had several times: who unlocks it then need not give it back.
        Again& again = again_[wait.mutex];
        if (!known_.keeps({again.since, wait.begin})) again.times = 0;
        again.since = wait.begin;
        const Object object{kRecordedMutexes, wait.mutex};
        if (wait.given_back) {
            if (again.times == 0)
                sights[object].push_back({.said = {wait.begin, Held::kWoken, thread_, false, wait.caller}});
            else
                --again.times;
            return;
        }
        if (wait.owner == kNotRecoverable) return;
        const auto named = threads_.find(wait.owner);
        const std::size_t owner = named != threads_.end() ? named->second : Held::kNotKnown;
        if (wait.owner == 0)
            sights[object].push_back({.said = {wait.begin, Held::kWoken}, .free = true});
        else if (wait.owner != kInconsistent)
            sights[object].push_back({.said = {wait.begin, owner}});
        again.times = owner == thread_ ? again.times + 1 : 0;
        if (owner == thread_) return;
        sights[object].push_back({.said = {wait.end, thread_}});
        waits.push_back({{wait.begin, wait.end}, object, wait.function, thread_, "mutex"});
    }

  private:
    struct Again {
        std::uint64_t since = 0;
        std::size_t times = 0;
    };

    std::size_t thread_;
    const std::map<std::uint32_t, std::size_t>& threads_;
    const KeptTime& known_;
    std::map<std::uint64_t, Again> again_;  // by mutex
};

}  // namespace

void add_recorded_mutexes(const trace::TraceInfo& info, const score::Report& report, const KeptTime& known,
                          std::vector<Wait>& waits, std::map<Object, std::vector<Owning>>& owning) {
    std::vector<Wait> all;
    Sights sights;
    const auto threads = threads_by_tid(report);
    for (std::size_t t = 0; t < report.timeline.size(); ++t) {
        OfThread thread{t, threads, known};
        for (const samples::OwnedWait& wait : report.timeline[t].waits)
            if (wait.all) thread.add(wait, sights, all);
    }
    const std::uint64_t until = recorded_until(info);
    for (auto& [object, of_mutex] : sights) {
        const auto since = [](const Sight& sight) { return sight.said.since; };
        std::erase_if(of_mutex, [&](const Sight& sight) { return since(sight) >= until; });
        std::ranges::stable_sort(of_mutex, {}, since);
        std::vector<Owning> moments = settled(of_mutex, report);
        if (until != UINT64_MAX) {
            std::erase_if(moments, [&](const Owning& moment) { return moment.since >= until; });
            moments.push_back({until});
        }
        note_ends(moments);
        owning.emplace(object, std::move(moments));
    }
    for (const Wait& wait : all)
        if (!is_free(wait.time, owning.at(wait.object))) waits.push_back(wait);
}

}  // namespace rdam::hints
