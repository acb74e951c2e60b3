// The thread was not running: it waited for something, or another one ran in its place.
#include <fmt/format.h>

#include <algorithm>

#include "analyzer/hints/finders.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

/// Of calls during which context switches were recorded. Nanoseconds.
struct OffSums {
    double lost = 0;
    double blocked = 0, preempted = 0;          ///< of it: time off the processors beyond that of the fastest
    double all_blocked = 0, all_preempted = 0;  ///< that of the fastest, too

    void add(const score::ScoredCall& call) {
        lost += call.lost_ns * call.weight;
        const double off = call.blocked_ns + call.preempted_ns;
        if (!(off > 0)) return;
        all_blocked += call.blocked_ns * call.weight;
        all_preempted += call.preempted_ns * call.weight;
        // The fastest calls may have waited as well: only time beyond theirs was lost.
        const double part = std::min(off, call.lost_ns) * call.weight / off;
        blocked += part * call.blocked_ns;
        preempted += part * call.preempted_ns;
    }
    /// The calls are a sample, and so is how much of such time is lost; how much there was is known.
    void correct(const score::OffTime& known) {
        blocked = known.blocked_ns * (all_blocked > 0 ? blocked / all_blocked : 1);
        preempted = known.preempted_ns * (all_preempted > 0 ? preempted / all_preempted : 1);
    }
};

struct OffShares {
    double blocked = 0, preempted = 0;
    std::size_t calls = 0;
};

OffShares off_shares(const LossPart& loss) {
    const score::FunctionRow& row = loss.row;
    OffShares shares;
    OffSums all, in_windows;
    for (const score::ScoredCall& call : row.sample.calls) {
        if (!switches_known(loss.report, call)) continue;
        ++shares.calls;
        const bool is_sample = row.off_in_windows && call.end > loss.function.windowed_since;
        (is_sample ? in_windows : all).add(call);
    }
    if (row.off_in_windows) {
        in_windows.correct(*row.off_in_windows);
        all.lost = row.lost_ns;
        all.blocked += in_windows.blocked;
        all.preempted += in_windows.preempted;
    }
    if (!(all.lost > 0)) return {};
    const double most = std::max(all.lost, all.blocked + all.preempted);
    shares.blocked = all.blocked / most;
    shares.preempted = all.preempted / most;
    return shares;
}

/// A part of the time lost, at least and at most.
struct Part {
    double least = 0, most = 0;

    bool is_narrow() const { return most - least <= kNarrow; }
    std::string text() const {
        if (is_narrow()) return fmt::format("{:.0f} %", 50 * (least + most));
        return fmt::format("{:.0f} to {:.0f} %", 100 * least, 100 * most);
    }

  private:
    static constexpr double kNarrow = 0.05;
};

/// Of a function that was sampled, what its calls lost on processors is an estimate, and what they waited is
/// not.
Part known_part(const LossPart& loss, double known_ns) {
    const score::FunctionRow& row = loss.row;
    const double all = loss.report.threads_ns;
    const bool has_interval = row.rdam_all_high > 0 && all > 0;
    const auto of = [&](double lost) { return known_ns / std::max(lost, known_ns); };
    return {.least = of(has_interval ? std::max(row.lost_ns, row.rdam_all_high * all) : row.lost_ns),
            .most = of(has_interval ? std::min(row.lost_ns, row.rdam_all_low * all) : row.lost_ns)};
}

}  // namespace

void find_waits(const LossPart& loss, Hints& hints) {
    const score::FunctionRow& row = loss.row;
    const double share = row.lost_ns > 0 ? std::min(row.waited_ns / row.lost_ns, 1.0) : 0;
    if (share < kMinExplained) return;
    hints.push_back({.kind = HintKind::waited,
                     .text = fmt::format("{} of the time lost is in {} waits, {} in all, each of which was "
                                         "recorded: another thread held what this one asked for",
                                         known_part(loss, row.waited_ns).text(), output::grouped(row.waits),
                                         output::human_time(row.waited_ns)),
                     .share = share});
}

void find_off_processor(const LossPart& loss, Hints& hints) {
    const OffShares shares = off_shares(loss);
    const double off = shares.blocked + shares.preempted;
    if (shares.calls < kMinCalls || off < kMinExplained) return;
    const bool waits = shares.blocked >= shares.preempted;
    const score::Report& report = loss.report;
    const bool stopped = report.switches.state == trace::SwitchInfo::State::stopped;
    const bool missing = !report.switches.missing.empty();
    const Part part = loss.row.off_in_windows ? known_part(loss, off * loss.row.lost_ns) : Part{off, off};
    const double of = part.is_narrow() ? 1 : off;
    if (report.switches.of_calls()) {
        hints.push_back(
            {.kind = HintKind::blocked,
             .text = fmt::format("for {} of the time lost, the thread was off-CPU: whether it waited or was "
                                 "preempted is not told",
                                 part.text()),
             .share = off});
        return;
    }
    hints.push_back(
        {.kind = waits ? HintKind::blocked : HintKind::preempted,
         .text = fmt::format(
             "for {}{} of the time lost{}, the thread was off-CPU ({:.0f} %{} blocked, {:.0f} % "
             "preempted): {}",
             missing && loss.row.off_in_windows ? "at least " : "", part.text(),
             stopped
                 ? fmt::format(" in the first {} of the run", output::human_time(report.switches_until_ns))
             : missing && !loss.row.off_in_windows ? " where context switches are known"
                                                   : "",
             100 * shares.blocked / of, part.is_narrow() ? "" : " of that", 100 * shares.preempted / of,
             waits ? "it waits for a lock, a file, memory or another thread"
                   : "something else runs on its processor"),
         .share = off});
}

double on_processor_share(const LossPart& whole, const LossPart& on) {
    if (!whole.row.off_in_windows) return on.lost_ns / whole.lost_ns;
    const OffShares shares = off_shares(whole);
    return std::max(1 - shares.blocked - shares.preempted, 0.0);
}

std::optional<OffShare> off_share(const LossPart& loss) {
    const OffShares shares = off_shares(loss);
    if (shares.calls < kMinCalls) return {};
    return OffShare{shares.blocked, shares.preempted};
}

}  // namespace rdam::hints
