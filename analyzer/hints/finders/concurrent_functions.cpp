// Which function was another thread inside while time was lost?
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzer/hints/evidence/overlaps.h"
#include "analyzer/hints/finders/finders.h"

namespace rdam::hints {
namespace {

/// So much more often while time is lost than at other times.
constexpr double kLift = 0.25;

class Search {
  public:
    explicit Search(const LossPart& loss)
        : loss_(loss), overlaps_(loss.activities, loss.row.function, loss.row.slow) {
        for (const score::FunctionRow& row : loss.report.functions)
            if (row.sampled) sampled_.insert(row.function);
    }

    void run(Hints& hints) const {
        if (!(overlaps_.lost() > 0)) return;
        const auto lift = [this](const Overlap& overlap) {
            return (overlap.lost - overlap.expected) / overlaps_.lost();
        };
        auto best = overlaps_.with().end();
        for (auto each = overlaps_.with().begin(); each != overlaps_.with().end(); ++each)
            if (!is_sampled(each->first) &&
                (best == overlaps_.with().end() || lift(each->second) > lift(best->second)))
                best = each;
        if (best == overlaps_.with().end()) return;
        const double share = share_of_slow_calls() * best->second.lost / overlaps_.lost();
        if (share < kWorthTelling || lift(best->second) < kLift) return;
        tell(best->first, best->second, share, hints);
    }

  private:
    /// When threads are inside such a function is known for the time of its samples only: at other times
    /// nobody would seem to be.
    bool is_sampled(std::uint32_t function) const { return sampled_.contains(function); }

    /// As a share of the whole loss. It is not known what ran while the other calls lost their time.
    double share_of_slow_calls() const {
        double lost = 0;
        for (const score::ScoredCall& call : loss_.row.sample.calls)
            if (call.lost_half()) lost += call.weight * call.lost_ns;
        return std::min(lost / loss_.lost_ns, 1.0);
    }

    /// The thread that has nearly all of it.
    static std::optional<std::size_t> nearly_only(const Overlaps::ByThread& by_thread, double all) {
        constexpr double kNearlyAll = 0.8;
        for (const auto& [thread, ticks] : by_thread)
            if (ticks >= kNearlyAll * all) return thread;
        return std::nullopt;
    }

    std::string described(std::size_t thread) const {
        const score::ThreadRow& row = loss_.report.threads[thread];
        if (row.fiber != 0) return row.name;
        return row.name.empty() ? fmt::format("thread {}", row.tid)
                                : fmt::format("thread {} ({})", row.tid, row.name);
    }

    std::string another() const {
        const bool fibers = std::ranges::any_of(loss_.report.threads,
                                                [](const score::ThreadRow& row) { return row.fiber != 0; });
        return fibers ? "another thread or fiber" : "another thread";
    }

    void tell(std::uint32_t function, const Overlap& overlap, double share, Hints& hints) const {
        const auto loser = nearly_only(overlaps_.lost_by(), overlaps_.lost());
        const auto other = nearly_only(overlaps_.while_inside(function), overlap.lost);
        const std::string& concurrent = loss_.info.functions[function].name;
        score::Hint hint{
            .kind = "concurrent",
            .text = fmt::format(
                "for {:.0f} % of the time lost in {}(){}, {} is inside {}() (for {:.0f} % of the other time)",
                100 * share, loss_.row.name, loser ? " by " + described(*loser) : "",
                other ? described(*other) : another(), concurrent,
                100 * std::max(overlap.expected, 0.0) / overlaps_.lost()),
            .share = share,
            .concurrent_function = concurrent};
        if (other) hint.concurrent_thread = loss_.report.threads[*other].tid;
        if (loser) hint.thread = loss_.report.threads[*loser].tid;
        hints.push_back(std::move(hint));
    }

    const LossPart& loss_;
    const Overlaps overlaps_;
    std::set<std::uint32_t> sampled_;  ///< functions
};

}  // namespace

void find_concurrent_functions(const LossPart& loss, Hints& hints) {
    if (loss.row.slow.empty() || !loss.activities.several_threads()) return;
    Search{loss}.run(hints);
}

}  // namespace rdam::hints
