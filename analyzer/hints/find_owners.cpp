// Which thread had the lock that was waited for, came last to the barrier, ended the wait, or was to end itself, and
// what was it doing?
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/owners.h"

namespace rdam::hints {
namespace {

/// Waits, weighted by the share of their time that was lost.
class WaitSums {
  public:
    WaitSums(const LossPart& loss, Held::By by)
        : loss_(loss),
          activities_(loss.activities),
          by_(by),
          times_(loss.info, loss.report, loss.activities) {
        if (by == Held::By::owner && loss.row.windowed && loss.row.waited_ns > 0)
            add_own_waits();
        else if (loss.row.outermost > 0)
            add_calls();
        else
            add_slow_calls();
    }

    /// Of the function's loss: in waits of which it is known for whom, or that the thread was woken.
    double share() const { return share_of(times_.known() + times_.woken()); }
    /// Of a function that is sampled in windows, a few calls that waited say little of the others.
    bool are_enough() const { return !loss_.row.windowed || calls_that_waited_ >= kMinCalls; }

    void tell(Hints& hints) const {
        const auto owner = times_.owner();
        const auto loser = nearly_only(ticks_of_loser_, times_.known() + times_.woken());
        const double known = share_of(owner ? times_.known_for(*owner) : times_.known()),
                     woken = share_of(times_.woken());
        const auto thread = [&](std::size_t number) {
            return described_thread(loss_.report.threads[number]);
        };
        const OwnerTimes::Doing doing = times_.doing();
        const std::string meanwhile = times_.text(doing, "it", loss_.names);
        const std::string who =
            owner ? thread(*owner) : fmt::format("another thread (one of {})", times_.owners());
        const double share = std::max(known, woken);
        std::string text = fmt::format("for {}{:.0f} % of the time lost in {}(){}, ", times_.at_least(),
                                       100 * share, loss_.row.name, loser ? " by " + thread(*loser) : "");
        text += by_ == Held::By::owner     ? of_lock(who, meanwhile, known, woken)
                : by_ == Held::By::arrival ? of_barrier(who, meanwhile, known, woken)
                : by_ == Held::By::end     ? of_join(who, meanwhile, known, woken)
                                           : of_notifier(who, meanwhile, known, woken);
        constexpr std::array kKinds{HintKind::owner, HintKind::last_to_come, HintKind::notifier,
                                    HintKind::joined};
        Hint hint{.kind = kKinds[static_cast<std::size_t>(by_)], .text = std::move(text), .share = share};
        if (doing.inside) hint.concurrent_function = loss_.info.functions[doing.inside->function].name;
        if (owner) hint.concurrent_thread = loss_.report.threads[*owner].tid;
        if (loser) hint.thread = loss_.report.threads[*loser].tid;
        hints.push_back(std::move(hint));
    }

  private:
    std::string of_lock(const std::string& who, const std::string& meanwhile, double known,
                        double woken) const {
        constexpr const char* kWoken = "the thread that was woken has not come to run yet";
        const std::string what = times_.object_text(loss_.names.variable_at);
        if (woken > known)
            return fmt::format("{} has been given back, and {}{}", what, kWoken,
                               known >= kWorthSaying
                                   ? fmt::format("; for {:.0f} % {} has it{}", 100 * known, who, meanwhile)
                                   : std::string{});
        return fmt::format(
            "{} has {} that is waited for{}{}", who, what, meanwhile,
            woken >= kWorthSaying
                ? fmt::format("; for {:.0f} % it has been given back, and {}", 100 * woken, kWoken)
                : std::string{});
    }

    std::string of_barrier(const std::string& who, const std::string& meanwhile, double known,
                           double woken) const {
        if (woken > known)
            return fmt::format("all have come, and the thread has not come to run yet{}",
                               known >= kWorthSaying ? fmt::format("; for {:.0f} % {} has not come yet{}",
                                                                   100 * known, who, meanwhile)
                                                     : std::string{});
        return fmt::format(
            "{} has not come yet{}{}", who, meanwhile,
            woken >= kWorthSaying
                ? fmt::format("; for {:.0f} % all have come, and the thread has not come to run yet",
                              100 * woken)
                : std::string{});
    }

    std::string of_notifier(const std::string& who, const std::string& meanwhile, double known,
                            double woken) const {
        const std::string what = times_.object_text(loss_.names.variable_at);
        const char* const done = words_of_ending(times_.kind()).done;
        // Who waits for a condition variable takes its mutex again.
        const bool goes_on =
            times_.kind() == "semaphore" || times_.kind() == "futex" || is_channel(times_.kind());
        const char* const rest = goes_on ? "the thread has not come to run yet"
                                         : "the thread waits for the mutex or has not come to run yet";
        if (woken > known)
            return fmt::format("{} has been {}, and {}{}", what, done, rest,
                               known >= kWorthSaying ? fmt::format("; for {:.0f} % {} has not {} it yet{}",
                                                                   100 * known, who, done, meanwhile)
                                                     : std::string{});
        return fmt::format("{} has not {} {} yet{}{}", who, done, what, meanwhile,
                           woken >= kWorthSaying
                               ? fmt::format("; for {:.0f} % it has, and {}", 100 * woken, rest)
                               : std::string{});
    }

    static std::string of_join(const std::string& who, const std::string& meanwhile, double known,
                               double woken) {
        return woken > known
                   ? "the thread that is joined has ended, and the one that joins it has not come to run yet"
                   : fmt::format("{} has not ended yet{}", who, meanwhile);
    }

    double share_of(double waited) const { return whole_ > 0 ? scale_ * waited / whole_ : 0; }

    /// Of a function that is sampled in windows, each wait is known, and few calls are.
    void add_own_waits() {
        scale_ = std::min(loss_.row.waited_ns / loss_.row.lost_ns, 1.0);
        calls_that_waited_ = loss_.row.waits;
        for (std::size_t t = 0; t < activities_.threads().size(); ++t) {
            for (const Held& part : activities_.waits().of_thread(t, by_)) {
                if (part.function != loss_.row.function) continue;
                whole_ += part.time.ticks();
                add(t, part, part.time, 1);
            }
        }
    }

    /// What a call has lost, at most that, it has lost in the waits in it.
    void add_calls() {
        const double base = loss_.row.baseline_ns / loss_.ns_per_tick;
        for (std::size_t t = 0; t < loss_.report.timeline.size(); ++t) {
            std::vector<score::TimedCall> calls;
            for (const score::TimedCall& call : loss_.report.timeline[t].calls)
                if (call.function == loss_.row.function && call.begin < call.end) calls.push_back(call);
            std::ranges::sort(calls, {}, &score::TimedCall::begin);
            std::uint64_t outermost = 0;
            for (const score::TimedCall& call : calls) {
                if (call.end <= outermost) continue;  // of a recursive function
                outermost = call.end;
                const Interval time{call.begin, call.end};
                if (const double lost = static_cast<double>(call.duration) - base; lost > 0)
                    add_waits_in(t, activities_.kept(time), lost / time.ticks());
            }
        }
    }

    /// Of one sequence it is not known which calls are its other ones.
    void add_slow_calls() {
        double lost = 0;
        for (const score::ScoredCall& call : loss_.row.sample.calls)
            if (call.lost_half()) lost += call.weight * call.lost_ns;
        scale_ = std::min(lost / loss_.lost_ns, 1.0);
        for (const score::SlowCall& call : loss_.row.slow)
            add_waits_in(call.thread, activities_.kept({call.begin, call.end}), call.lost);
    }

    /// `lost`: this share of the time of a call.
    void add_waits_in(std::size_t thread, const Interval& call, double lost) {
        const double lost_ticks = lost * call.ticks();
        whole_ += lost_ticks;
        const auto waits = activities_.waits().of_thread(thread, by_);
        const auto first =
            std::ranges::upper_bound(waits, call.begin, {}, [](const Held& part) { return part.time.end; });
        const auto part_in = [&](const Held& part) {
            return Interval{std::max(part.time.begin, call.begin), std::min(part.time.end, call.end)};
        };
        double waited = 0;
        for (auto each = first; each != waits.end() && each->time.begin < call.end; ++each)
            waited += part_in(*each).ticks();
        if (waited > 0) ++calls_that_waited_;
        for (auto each = first; each != waits.end() && each->time.begin < call.end; ++each)
            add(thread, *each, part_in(*each), std::min(lost_ticks / waited, 1.0));
    }

    void add(std::size_t thread, const Held& part, const Interval& time, double lost) {
        times_.add(part, time, lost);
        if (part.owner == Held::kNotKnown || time.begin >= time.end) return;
        ticks_of_loser_[thread] += lost * time.ticks();
    }

    const LossPart& loss_;
    const Activities& activities_;
    const Held::By by_;
    OwnerTimes times_;
    double scale_ = 1;  ///< of the loss, what `whole_` is
    double whole_ = 0;  ///< ticks
    std::uint64_t calls_that_waited_ = 0;
    std::map<std::size_t, double> ticks_of_loser_;  // by thread
};

}  // namespace

void find_owners(const LossPart& loss, Hints& hints) {
    for (const Held::By by : Held::kBys) {
        if (!loss.activities.waits().any(by)) continue;
        if (const WaitSums waits{loss, by}; waits.are_enough() && waits.share() >= kMinExplained)
            waits.tell(hints);
    }
}

}  // namespace rdam::hints
