#include "analyzer/export/budget.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tools/base/in_parallel.h"

namespace rdam::formats {
namespace {

/// The calls around the largest losses that are shown lasted for such a part of them.
constexpr std::uint64_t kPartOfShown = 100;

/// So many calls, with those around them.
std::uint64_t most_calls(std::uint64_t budget) {
    return budget * 3 / 8;
}

/// Around so many of the largest losses all threads are shown: as long as calls there, of which a thread has
/// kPartOfShown at each depth, are an eighth of the budget.
std::size_t shown_losses(std::uint64_t budget, std::size_t threads) {
    return budget / 8 / (kPartOfShown * std::max<std::size_t>(threads, 1));
}

/// Whether the calls that are chosen by what is known early are nearly those that would be chosen later: of
/// few it is not known what they lost, and most of those that may be above the threshold are.
bool tells_enough(const views::Visit& visit, const EarlyLosses& early, std::uint64_t budget) {
    if (!visit.unsettled() || *visit.unsettled() > most_calls(budget) / 2) return false;
    // By the least of the largest there may be more than those.
    if (const auto least = early.most().largest.least_within(most_calls(budget) / 2);
        least && early.most().counts.from(SizeCounts::class_of(least->lost)) > most_calls(budget))
        return false;
    const std::uint64_t wanted = std::min(early.most().calls, most_calls(budget));
    return early.least().from(early.most().counts.class_with_at_most(most_calls(budget))) >= wanted / 2;
}

Result<LossCounts> count_losses(const views::Visit& visit, unsigned jobs) {
    const auto& threads = visit.threads();
    std::mutex mutex;
    LossCounts all;
    const auto count = [&](std::size_t i) -> Result<void> {
        Losses losses;
        if (auto read = visit.thread(threads[i], losses); !read) return read;
        const std::lock_guard guard{mutex};
        all.add(losses.counts());
        return {};
    };
    if (auto counted = score::try_in_parallel(threads.size(), score::threads_for(jobs), count); !counted)
        return tl::unexpected{counted.error()};
    return all;
}

Result<SizeCounts> count_off_cpu(const views::Visit& visit) {
    SizeCounts counts;
    for (const std::uint32_t thread : visit.threads()) {
        const auto intervals = visit.off_cpu(thread);
        if (!intervals) return tl::unexpected{intervals.error()};
        for (const trace::OffCpu& each : *intervals)
            counts.add(static_cast<double>(each.in - each.out));
    }
    return counts;
}

}  // namespace

Result<Kept> Kept::choose(const views::Visit& visit, std::uint64_t budget, unsigned jobs,
                          const EarlyLosses* early) {
    const auto off = count_off_cpu(visit);
    if (!off) return tl::unexpected{off.error()};
    const bool early_enough = early != nullptr && tells_enough(visit, *early, budget);
    const auto losses = early_enough ? Result<LossCounts>{early->most()} : count_losses(visit, jobs);
    if (!losses) return tl::unexpected{losses.error()};
    Kept kept;
    kept.all_ = false;
    kept.lost_ = SizeCounts::least_of(losses->counts.class_with_at_most(most_calls(budget)));
    if (const auto least = losses->largest.least_within(most_calls(budget) / 2)) {
        kept.least_ = *least;
        // All that may have lost as much.
        if (early_enough) kept.least_.span = {UINT64_MAX, UINT64_MAX};
    }
    kept.off_ = off->class_with_at_most(budget / 4);
    kept.around_ = losses->largest.joined(shown_losses(budget, visit.threads().size()));
    return kept;
}

bool Kept::lasted_for_a_part(const views::Closed& call, std::size_t begun) const {
    for (; begun > 0 && around_[begun - 1].end >= call.begin; --begun) {
        const Span& span = around_[begun - 1];
        const std::uint64_t shared = std::min(call.tsc, span.end) - std::max(call.begin, span.begin);
        if (shared >= (span.end - span.begin) / kPartOfShown + 1) return true;
    }
    return false;
}

}  // namespace rdam::formats
