#include <fmt/format.h>

#include <algorithm>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/hints.h"
#include "analyzer/report/merge_reports.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

/// A call of a function, in ns. What others had the processor for, as far as that is known, is no matter of
/// threads.
struct Call {
    Call(const score::FunctionRow& row, const FunctionHints& hints)
        : enough(row.outermost >= kMinCalls && !row.unknown()),
          threads(row.threads.size()),
          preempted(hints.off_share ? hints.off_share->preempted : 0) {
        const double all = row.lost_ns / static_cast<double>(row.outermost);
        lost = all * (1 - preempted);
        rest = std::max(row.mean_ns - all, 0.0);
    }

    bool enough;  ///< there are enough such calls
    std::size_t threads;
    double preempted;  ///< of what is lost
    double lost = 0;
    double rest = 0;  ///< not lost

    /// 0 where nothing is known.
    double relative_loss() const { return rest > 0 ? lost / rest : 0; }
    std::string text() const {
        return fmt::format("{} of {} with {} {}", output::human_time(lost), output::human_time(lost + rest),
                           threads, threads == 1 ? "thread" : "threads");
    }
};

/// Recordings of the same program differ; between these limits the hint says how much of the loss remains.
constexpr double kAsMuch = 0.67, kHardly = 0.33;

Hint compare(const Call& one, const Call& many) {
    const double share = std::min(one.relative_loss() / many.relative_loss(), 1.0);
    const bool preempted = one.preempted > 0 || many.preempted > 0;
    const std::string figures = fmt::format(
        "{}a call loses {}, and {}", preempted ? "not counting preemption, " : "", one.text(), many.text());
    if (share < kHardly)
        return {.kind = HintKind::with_threads,
                .text = fmt::format("{}: hardly any of the loss remains without the other threads", figures),
                .share = 1 - share};
    return {.kind = HintKind::varies_alone,
            .text = share >= kAsMuch
                        ? fmt::format("{}: it varies as much without the other threads", figures)
                        : fmt::format("{}: about {:.0f} % of the loss remains without the other threads",
                                      figures, 100 * share),
            .share = share};
}

const score::FunctionRow* find(const score::Report& report, const score::FunctionIdentities& identities,
                               const score::FunctionRow& like) {
    const auto found = std::ranges::find_if(report.functions, [&](const score::FunctionRow& row) {
        return identities.of(row) == identities.of(like);
    });
    return found != report.functions.end() ? &*found : nullptr;
}

}  // namespace

std::optional<std::vector<FunctionHints>> compare_alone(const Analysis& alone, const Analysis& analysis) {
    score::FunctionIdentities identities;
    identities.look_at(alone.report);
    identities.look_at(analysis.report);
    std::vector<FunctionHints> all;
    std::size_t high = 0;
    std::size_t compared = 0;
    for (const score::FunctionRow& row : analysis.report.functions) {
        FunctionHints& found = all.emplace_back(analysis.of(row));
        if (row.rdam < analysis.report.threshold && row.sample.calls.empty()) continue;
        ++high;
        const score::FunctionRow* one = find(alone.report, identities, row);
        if (one == nullptr) continue;
        const Call fewer{*one, alone.of(*one)}, more{row, found};
        if (!fewer.enough || !more.enough || fewer.threads >= more.threads || !(more.relative_loss() > 0))
            continue;
        ++compared;
        // The hint asks for a recording that is now there.
        std::erase_if(found.hints, [](const Hint& hint) { return hint.kind == HintKind::no_parameter; });
        found.hints.insert(found.hints.begin(), compare(fewer, more));
    }
    if (compared == 0 && high > 0) return {};
    return all;
}

}  // namespace rdam::hints
