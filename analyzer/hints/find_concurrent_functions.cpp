// Which function was another thread inside while time was lost?
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/overlaps.h"
#include "analyzer/hints/owners.h"
#include "analyzer/sequences/known_functions.h"

namespace rdam::hints {
namespace {

/// So much more often while time is lost than at other times.
constexpr double kLift = 0.25;

class Search {
  public:
    explicit Search(const LossPart& loss)
        : loss_(loss), overlaps_(loss.activities, loss.row.function, loss.row.slow) {
        for (const score::FunctionRow& row : loss.report.functions)
            if (row.sampled) left_out_.insert(row.function);
        leave_out_waits();
        leave_out_side_by_side();
    }

    void run(Hints& hints) const {
        if (!(overlaps_.lost() > 0)) return;
        const auto lift = [this](const Overlap& overlap) {
            return (overlap.lost - std::max(overlap.expected, overlap.beside)) / overlaps_.lost();
        };
        auto best = overlaps_.with().end();
        for (auto each = overlaps_.with().begin(); each != overlaps_.with().end(); ++each)
            if (!left_out_.contains(each->first) &&
                (best == overlaps_.with().end() || lift(each->second) > lift(best->second)))
                best = each;
        if (best == overlaps_.with().end()) return;
        const double share = share_of_slow_calls() * best->second.lost / overlaps_.lost();
        if (share < kMinExplained || lift(best->second) < kLift) return;
        tell(best->first, best->second, share, hints);
    }

  private:
    /// Who waits for other threads to come, to end or to notify it, or for a lock, disturbs nobody: it is the
    /// others that it waits for.
    void leave_out_waits() {
        const std::vector<std::uint32_t> waiters = trace::waiters(loss_.info.functions);
        left_out_.insert(waiters.begin(), waiters.end());
        for (const auto& [function, any] : overlaps_.with()) {
            const trace::FunctionInfo& info = loss_.info.functions[function];
            const CatalogueFunction* const known = sequences::known_function(info);
            if (known == nullptr) continue;
            const bool waits = known_wait(info) != nullptr;
            if (known->for_threads || (waits && !known->partners().empty())) left_out_.insert(function);
        }
    }

    /// Nor is what threads do that work side by side with the loser.
    void leave_out_side_by_side() {
        const SideBySide together =
            side_by_side(loss_.info, loss_.report, loss_.row.function, loss_.row.slow);
        if (together.share < kMinExplained) return;
        for (const std::size_t thread : together.threads)
            for (const Activities::Inside& inside : loss_.activities.threads()[thread])
                left_out_.insert(inside.function);
    }

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

    std::string described(std::size_t thread) const { return described_thread(loss_.report.threads[thread]); }

    std::string another() const {
        const bool fibers = std::ranges::any_of(loss_.report.threads,
                                                [](const score::ThreadRow& row) { return row.fiber != 0; });
        return fibers ? "another thread or fiber" : "another thread";
    }

    void tell(std::uint32_t function, const Overlap& overlap, double share, Hints& hints) const {
        const auto loser = nearly_only(overlaps_.lost_by(), overlaps_.lost());
        const auto other = nearly_only(overlaps_.while_inside(function), overlap.lost);
        const std::string& concurrent = loss_.info.functions[function].name;
        Hint hint{
            .kind = HintKind::concurrent,
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
    /// Functions. Of those that are sampled it is known for the time of the samples only who is inside them:
    /// at other times nobody would seem to be.
    std::set<std::uint32_t> left_out_;
};

}  // namespace

void find_concurrent_functions(const LossPart& loss, Hints& hints) {
    if (loss.row.slow.empty() || !loss.activities.several_threads()) return;
    // What is lost in the code that it runs, that code's own hints are about.
    const CatalogueFunction* known = known_wait(loss.function);
    if (known != nullptr && !known->runs.empty() && lost_inside(loss) >= kMinExplained) return;
    Search{loss}.run(hints);
}

}  // namespace rdam::hints
