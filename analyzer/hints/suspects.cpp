// Who was at work elsewhere while time was lost?
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/intervals.h"

namespace rdam::hints {
namespace {

/// So much more often while time is lost than at other times.
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

/// A part of a slow call. Those of a thread are disjoint and sorted.
struct Part {
    Interval time;
    double lost = 0;  ///< the share of its time
};
using Parts = std::vector<Part>;

Parts within(const Parts& parts, const Intervals& intervals) {
    Parts inside;
    for (std::size_t i = 0, j = 0; i < parts.size() && j < intervals.size();) {
        const Interval &part = parts[i].time, &other = intervals[j];
        const Interval both{std::max(part.begin, other.begin), std::min(part.end, other.end)};
        if (both.begin < both.end) inside.push_back({both, parts[i].lost});
        ++(part.end < other.end ? i : j);
    }
    return inside;
}

double lost_in(const Parts& parts) {
    double sum = 0;
    for (const Part& part : parts)
        sum += part.lost * static_cast<double>(part.time.end - part.time.begin);
    return sum;
}

Intervals times_of(const Parts& parts) {
    Intervals times;
    for (const Part& part : parts)
        times.push_back(part.time);
    return times;
}

/// What the losses of all threads have in common with a function elsewhere.
struct Overlap {
    double lost = 0;      ///< ticks lost while it ran
    double expected = 0;  ///< that would be if it ran as often then as at the other times of each thread
    std::map<std::size_t, double> by_thread;
};

class Search {
  public:
    explicit Search(const Suspicion& suspicion) : suspicion_(suspicion), activities_(suspicion.activities) {}

    void run(Hints& hints) {
        for (std::size_t t = 0; t < activities_.size(); ++t)
            look_at(t);
        if (!(lost_ > 0)) return;
        const auto lift = [this](const Overlap& overlap) {
            return (overlap.lost - overlap.expected) / lost_;
        };
        const auto best =
            std::ranges::max_element(overlaps_, {}, [&](const auto& each) { return lift(each.second); });
        if (best == overlaps_.end()) return;
        const double share = share_of_slow_calls() * best->second.lost / lost_;
        if (share < kWorthTelling || lift(best->second) < kLift) return;
        tell(best->first, best->second, share, hints);
    }

  private:
    void look_at(std::size_t t) {
        Parts calls;
        for (const score::SlowCall& call : suspicion_.row.slow)
            if (call.thread == t) calls.push_back({{call.begin, call.end}, call.lost});
        const auto own = activities_[t].find(suspicion_.row.function);
        if (calls.empty() || own == activities_[t].end()) return;
        std::ranges::sort(calls, {}, [](const Part& part) { return part.time.begin; });
        const Interval life{own->second.front().begin, own->second.back().end};
        const Intervals windows = kept_windows(suspicion_.report.windows, life.begin, life.end);
        const Parts slow = within(calls, windows);
        const Intervals slow_times = times_of(slow);
        const Intervals alive = intersection({life}, windows);
        const double lost = lost_in(slow);
        const double other_ticks = length(alive) - length(slow_times);
        lost_ += lost;
        lost_by_[t] = lost;
        std::map<std::uint32_t, Intervals> elsewhere;
        for (std::size_t u = 0; u < activities_.size(); ++u) {
            if (u == t) continue;
            for (const auto& [function, intervals] : activities_[u]) {
                overlaps_[function].by_thread[u] += lost_in(within(slow, intervals));
                auto& all = elsewhere[function];
                all.insert(all.end(), intervals.begin(), intervals.end());
            }
        }
        for (auto& [function, intervals] : elsewhere) {
            intervals = united(std::move(intervals));
            const double during = lost_in(within(slow, intervals));
            overlaps_[function].lost += during;
            // Threads are not compared with one another: none sees itself, and what one is always inside is
            // not there for that one alone.
            const double otherwise =
                length(intersection(alive, intervals)) - length(intersection(slow_times, intervals));
            overlaps_[function].expected += other_ticks > 0 ? lost * otherwise / other_ticks : during;
        }
    }

    /// Of the whole loss. What the other calls lost is not known to have passed while anything ran.
    double share_of_slow_calls() const {
        double lost = 0;
        for (const score::SampledCall& call : suspicion_.row.sample.calls)
            if (2 * call.lost_ns >= call.duration_ns) lost += call.weight * call.lost_ns;
        return std::min(lost / suspicion_.lost_ns, 1.0);
    }

    /// The thread that has nearly all of it.
    static std::optional<std::size_t> nearly_only(const std::map<std::size_t, double>& by_thread,
                                                  double all) {
        constexpr double kNearlyAll = 0.8;
        for (const auto& [thread, ticks] : by_thread)
            if (ticks >= kNearlyAll * all) return thread;
        return std::nullopt;
    }

    std::string described(std::size_t thread) const {
        const score::ThreadRow& row = suspicion_.report.threads[thread];
        return row.name.empty() ? fmt::format("thread {}", row.tid)
                                : fmt::format("thread {} ({})", row.tid, row.name);
    }

    void tell(std::uint32_t function, const Overlap& overlap, double share, Hints& hints) const {
        const auto loser = nearly_only(lost_by_, lost_);
        const auto other = nearly_only(overlap.by_thread, overlap.lost);
        const std::string& suspect = suspicion_.info.functions[function].name;
        score::Hint hint{
            .kind = "suspect",
            .text = fmt::format("{:.0f} % of the time lost in {}(){} passes while {} is inside {}() ({:.0f} "
                                "% of the other time)",
                                100 * share, suspicion_.row.name, loser ? " of " + described(*loser) : "",
                                other ? described(*other) : "another thread", suspect,
                                100 * overlap.expected / lost_),
            .share = share,
            .suspect = suspect};
        if (other) hint.suspect_thread = suspicion_.report.threads[*other].tid;
        if (loser) hint.thread = suspicion_.report.threads[*loser].tid;
        hints.push_back(std::move(hint));
    }

    const Suspicion& suspicion_;
    const std::vector<Activity>& activities_;
    std::map<std::uint32_t, Overlap> overlaps_;
    double lost_ = 0;  // ticks, in slow calls of all threads
    std::map<std::size_t, double> lost_by_;
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
