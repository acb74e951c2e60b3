// Who was at work elsewhere while the slow calls were slow?
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/intervals.h"

namespace rdam::hints {
namespace {

/// So much more often during the slow calls than at other times.
constexpr double kLift = 0.25;

Intervals kept_windows(const samples::Windows& windows, std::uint64_t begin, std::uint64_t end) {
    constexpr std::uint64_t kMostWindows = std::uint64_t{1} << 22;  // a run of impossible length has more
    if (windows.all()) return {{begin, end}};
    if ((end >> windows.shift) - (begin >> windows.shift) > kMostWindows) return {};
    Intervals kept;
    for (std::uint64_t number = begin >> windows.shift; number <= end >> windows.shift; ++number) {
        if (!windows.keeps(number)) continue;
        const std::uint64_t from = number << windows.shift;
        kept.push_back({from, from + (std::uint64_t{1} << windows.shift)});
    }
    return united(std::move(kept));
}

/// What the slow calls of all threads have in common with a function elsewhere.
struct Overlap {
    double slow = 0;      ///< ticks of slow calls during which it ran
    double expected = 0;  ///< that would be if it ran as often then as at the other times of each thread
    std::map<std::size_t, double> by_thread;
};

class Search {
  public:
    explicit Search(const Suspicion& suspicion) : suspicion_(suspicion), activities_(suspicion.activities) {}

    void run(Hints& hints) {
        for (std::size_t t = 0; t < activities_.size(); ++t)
            look_at(t);
        if (!(slow_ > 0)) return;
        const auto lift = [this](const Overlap& overlap) {
            return (overlap.slow - overlap.expected) / slow_;
        };
        const auto best =
            std::ranges::max_element(overlaps_, {}, [&](const auto& each) { return lift(each.second); });
        if (best == overlaps_.end()) return;
        const double share = best->second.slow / slow_;
        if (share < kWorthTelling || lift(best->second) < kLift) return;
        hints.push_back(
            {.kind = "suspect",
             .text = fmt::format(
                 "{:.0f} % of the time of its slow calls passes while {} is inside {}() ({:.0f} % "
                 "of the other time)",
                 100 * share, who(best->second), suspicion_.info.functions[best->first].name,
                 100 * best->second.expected / slow_),
             .share = share});
    }

  private:
    void look_at(std::size_t t) {
        Intervals slow_calls;
        for (const score::SlowCall& call : suspicion_.row.slow)
            if (call.thread == t) slow_calls.push_back({call.begin, call.end});
        const auto own = activities_[t].find(suspicion_.row.function);
        if (slow_calls.empty() || own == activities_[t].end()) return;
        const Intervals windows =
            kept_windows(suspicion_.report.windows, own->second.front().begin, own->second.back().end);
        const Intervals slow = intersection(united(std::move(slow_calls)), windows);
        const Intervals alive = intersection({{own->second.front().begin, own->second.back().end}}, windows);
        const double slow_ticks = length(slow);
        const double other_ticks = length(alive) - slow_ticks;
        slow_ += slow_ticks;
        std::map<std::uint32_t, Intervals> elsewhere;
        for (std::size_t u = 0; u < activities_.size(); ++u) {
            if (u == t) continue;
            for (const auto& [function, intervals] : activities_[u]) {
                overlaps_[function].by_thread[u] += length(intersection(slow, intervals));
                auto& all = elsewhere[function];
                all.insert(all.end(), intervals.begin(), intervals.end());
            }
        }
        for (auto& [function, intervals] : elsewhere) {
            intervals = united(std::move(intervals));
            const double during = length(intersection(slow, intervals));
            overlaps_[function].slow += during;
            // Threads are not compared with one another: none sees itself, and what one is always inside is
            // not there for that one alone.
            const double otherwise = length(intersection(alive, intervals)) - during;
            overlaps_[function].expected += other_ticks > 0 ? slow_ticks * otherwise / other_ticks : during;
        }
    }

    /// The thread, if it is nearly always the same one.
    std::string who(const Overlap& overlap) const {
        constexpr double kNearlyAlways = 0.8;
        for (const auto& [thread, ticks] : overlap.by_thread)
            if (ticks >= kNearlyAlways * overlap.slow)
                return fmt::format("thread {}", suspicion_.info.threads[thread].tid);
        return "another thread";
    }

    const Suspicion& suspicion_;
    const std::vector<Activity>& activities_;
    std::map<std::uint32_t, Overlap> overlaps_;
    double slow_ = 0;  // ticks of slow calls, all threads
};

}  // namespace

std::vector<Activity> activities_of(const score::Report& report) {
    std::vector<Activity> activities;
    for (const score::ThreadTimeline& thread : report.timeline) {
        Activity& activity = activities.emplace_back();
        for (const score::TimedCall& call : thread.calls)
            activity[call.function].push_back({call.begin, call.end});
        for (auto& [function, intervals] : activity)
            intervals = united(std::move(intervals));
    }
    return activities;
}

void find_suspects(const Suspicion& suspicion, Hints& hints) {
    if (suspicion.row.slow.empty() || suspicion.activities.size() < 2) return;
    Search{suspicion}.run(hints);
}

}  // namespace rdam::hints
