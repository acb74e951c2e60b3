#include <fmt/format.h>

#include <algorithm>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/hints.h"
#include "analyzer/report/function_identity.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

double calls_of(const score::FunctionRow& row) {
    return static_cast<double>(row.outermost);
}

/// By a call, in ns. What others had the processor for, as far as that is known, is no matter of threads.
struct Call {
    double lost = 0;
    double rest = 0;  ///< not lost
};

Call call_of(const score::FunctionRow& row) {
    const double lost = row.lost_ns / calls_of(row);
    const double preempted = row.off_share ? row.off_share->preempted : 0;
    return {.lost = lost * (1 - preempted), .rest = std::max(row.mean_ns - lost, 0.0)};
}

/// 0 where nothing is known.
double relative_loss(const score::FunctionRow& row) {
    const Call call = call_of(row);
    return call.rest > 0 ? call.lost / call.rest : 0;
}

std::string lost_by(const score::FunctionRow& row) {
    const Call call = call_of(row);
    const std::size_t threads = row.threads.size();
    return fmt::format("{} of {} with {} {}", output::human_time(call.lost),
                       output::human_time(call.lost + call.rest), threads,
                       threads == 1 ? "thread" : "threads");
}

bool comparable(const score::FunctionRow& one, const score::FunctionRow& many) {
    const auto has_enough = [](const score::FunctionRow& row) {
        return row.outermost >= kMinCalls && !row.unknown();
    };
    return has_enough(one) && has_enough(many) && one.threads.size() < many.threads.size() &&
           relative_loss(many) > 0;
}

/// Recordings of the same program differ; between these limits the hint says how much of the loss remains.
constexpr double kAsMuch = 0.67, kHardly = 0.33;

score::Hint compare(const score::FunctionRow& one, const score::FunctionRow& many) {
    const double share = std::min(relative_loss(one) / relative_loss(many), 1.0);
    const bool preempted =
        (one.off_share && one.off_share->preempted > 0) || (many.off_share && many.off_share->preempted > 0);
    const std::string figures =
        fmt::format("{}a call loses {}, and {}", preempted ? "not counting preemption, " : "", lost_by(one),
                    lost_by(many));
    if (share < kHardly)
        return {.kind = score::HintKind::with_threads,
                .text = fmt::format("{}: hardly any of the loss remains without the other threads", figures),
                .share = 1 - share};
    return {.kind = score::HintKind::varies_alone,
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

bool add_alone_hints(const score::Report& alone, score::Report& report) {
    score::FunctionIdentities identities;
    identities.look_at(alone);
    identities.look_at(report);
    std::size_t high = 0;
    std::size_t compared = 0;
    for (score::FunctionRow& row : report.functions) {
        if (row.rdam < report.threshold && row.sample.calls.empty()) continue;
        ++high;
        const score::FunctionRow* one = find(alone, identities, row);
        if (one == nullptr || !comparable(*one, row)) continue;
        ++compared;
        // The hint asks for a recording that is now there.
        std::erase_if(row.hints,
                      [](const score::Hint& hint) { return hint.kind == score::HintKind::no_parameter; });
        row.hints.insert(row.hints.begin(), compare(*one, row));
    }
    return compared > 0 || high == 0;
}

}  // namespace rdam::hints
