// The thread was not running: it waited for something, or another one ran in its place.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/hints/finders/finders.h"
#include "analyzer/output/units.h"

namespace rdam::hints {
namespace {

/// Shares of what the calls lost during which context switches were recorded.
struct OffShares {
    double blocked = 0, preempted = 0;
    std::size_t calls = 0;
};

OffShares off_shares(const LossPart& loss) {
    OffShares shares;
    double lost_ns = 0;
    for (const score::ScoredCall& call : loss.row.sample.calls) {
        if (!switches_known(loss.report, call.end)) continue;
        ++shares.calls;
        lost_ns += call.lost_ns * call.weight;
        const double off = call.blocked_ns + call.preempted_ns;
        if (!(off > 0)) continue;
        // The fastest calls may have waited as well: only time beyond theirs was lost.
        const double lost = std::min(off, call.lost_ns) * call.weight;
        shares.blocked += lost * call.blocked_ns / off;
        shares.preempted += lost * call.preempted_ns / off;
    }
    if (!(lost_ns > 0)) return {};
    shares.blocked /= lost_ns;
    shares.preempted /= lost_ns;
    return shares;
}

}  // namespace

void find_waits(const LossPart& loss, Hints& hints) {
    const score::FunctionRow& row = loss.row;
    const double share = row.lost_ns > 0 ? std::min(row.waited_ns / row.lost_ns, 1.0) : 0;
    if (share < kWorthTelling) return;
    hints.push_back(
        {.kind = "waited",
         .text = fmt::format(
             "{:.0f} % of the time lost is in {} waits, {} in all, each of which was recorded: another "
             "thread had what was asked for",
             100 * share, output::grouped(row.waits), output::human_time(row.waited_ns)),
         .share = share});
}

void find_off_processor(const LossPart& loss, Hints& hints) {
    const OffShares shares = off_shares(loss);
    const double off = shares.blocked + shares.preempted;
    if (shares.calls < kMinCalls || off < kWorthTelling) return;
    const bool waits = shares.blocked >= shares.preempted;
    const score::Report& report = loss.report;
    const bool part = report.switches.state == trace::SwitchInfo::State::stopped;
    hints.push_back({.kind = waits ? "blocked" : "preempted",
                     .text = fmt::format("for {:.0f} % of the time lost{}, the thread was off-CPU ({:.0f} % "
                                         "blocked, {:.0f} % preempted): {}",
                                         100 * off,
                                         part ? fmt::format(" in the first {} of the run",
                                                            output::human_time(report.switches_until_ns))
                                              : "",
                                         100 * shares.blocked, 100 * shares.preempted,
                                         waits ? "it waits for a lock, a file, memory or another thread"
                                               : "something else runs on its processor"),
                     .share = off});
}

std::optional<score::OffShare> off_share(const LossPart& loss) {
    const OffShares shares = off_shares(loss);
    if (shares.calls < kMinCalls) return {};
    return score::OffShare{shares.blocked, shares.preempted};
}

}  // namespace rdam::hints
