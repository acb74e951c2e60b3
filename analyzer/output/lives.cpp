#include "analyzer/output/lives.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/base/units.h"

namespace rdam::output {

double running_ns(const score::ThreadRow& row) {
    const score::OffCpuRow& off = *row.off_cpu;
    return std::max(row.duration_ns - off.blocked_ns - off.preempted_ns - off.recorder_ns - off.crowded_ns,
                    0.0);
}

bool states_known(const score::Report& report) {
    return report.switches.state == trace::SwitchInfo::State::recorded && report.switches.lost == 0 &&
           !report.switches.of_calls();
}

std::optional<States> states_of(const score::Report& report) {
    if (!states_known(report) || report.left_out.threads > 0) return std::nullopt;
    States states;
    for (const score::ThreadRow& row : report.threads) {
        if (row.fiber != 0) continue;
        if (!row.off_cpu) return std::nullopt;
        states.lives_ns += row.duration_ns;
        states.running += running_ns(row);
        states.waiting += row.off_cpu->blocked_ns;
        states.by_others += row.off_cpu->preempted_ns;
    }
    if (states.lives_ns <= 0) return std::nullopt;
    states.running /= states.lives_ns;
    states.waiting /= states.lives_ns;
    states.by_others /= states.lives_ns;
    states.preempted = std::max(1 - states.running - states.waiting, 0.0);
    return states;
}

std::string by_others_text(double share) {
    constexpr double kNothing = 0.0005;
    return share < kNothing ? "" : ", by others for " + percent(share);
}

std::string thread_states(const score::Report& report) {
    const auto states = states_of(report);
    if (!states || report.duration_ns <= 0) return {};
    return fmt::format(
        "{:.2f} threads ran at a time on average; of their lives, threads ran for {}, waited for {} and were "
        "preempted for {}{}",
        states->running * states->lives_ns / report.duration_ns, percent(states->running),
        percent(states->waiting), percent(states->preempted), by_others_text(states->by_others));
}

std::string short_thread_states(const score::Report& report) {
    const auto states = states_of(report);
    if (!states) return {};
    return fmt::format("Threads: running {:.0f} %, waiting {:.0f} %, preempted {:.0f} %",
                       100 * states->running, 100 * states->waiting, 100 * states->preempted);
}

namespace {

std::string edge_line(const hints::WaitEdge& edge, bool at_least) {
    constexpr double kNearlyAll = 0.995;
    const bool one = edge.waiter_tids.size() == 1, one_owner = edge.owner_tids.size() == 1;
    const std::string time = edge.waited_ns > 0
                                 ? fmt::format(" ({}{})", human_time(edge.waited_ns), one ? "" : " in all")
                                 : std::string{};
    const std::string begin = fmt::format(
        "for {}{} of {}{}, {} {}", at_least && edge.share < kNearlyAll ? "at least " : "",
        percent(edge.share), one ? "its life" : "their lives", time, edge.waiters, one ? "waits" : "wait");
    using For = hints::WaitEdge::For;
    if (edge.reason == For::last_to_come)
        return fmt::format("{} in {} for {}, which {} last{}", begin, edge.object_name, edge.owners,
                           one_owner ? "comes" : "come in turn", edge.meanwhile);
    if (edge.reason == For::notifier)
        return fmt::format(
            "{} until {} {} {}{}", begin, edge.owners,
            one_owner ? hints::words_of_ending(edge.kind).does : hints::words_of_ending(edge.kind).plural,
            edge.object_name, edge.meanwhile);
    if (edge.reason == For::end)
        return fmt::format("{} until {} end{}{}", begin, edge.owners, one_owner ? "s" : "", edge.meanwhile);
    return fmt::format("{} for {}, which {} {}{}", begin, edge.object_name, edge.owners,
                       one_owner ? "has" : "have in turn", edge.meanwhile);
}

/// Of a chain, which no edge tells.
std::string end_line(const hints::WaitEnd& end) {
    return fmt::format(
        "followed to its end, {} of this waiting is for {}, {} through others that wait for {}{}",
        percent(end.share), end.threads, percent(end.through), end.tids.size() == 1 ? "it" : "them",
        end.meanwhile);
}

constexpr double kMinShareOfWaits = 0.05;

}  // namespace

std::vector<std::string> edge_lines(const hints::WaitGraph& graph) {
    std::vector<std::string> lines;
    for (const hints::WaitEdge& edge : graph.edges)
        if (edge.share >= hints::WaitGraph::kWorthALine && lines.size() < hints::WaitGraph::kInWords)
            lines.push_back(edge_line(edge, graph.at_least() && edge.reason != hints::WaitEdge::For::end));
    return lines;
}

std::string waits_text(const hints::WaitGraph& graph) {
    const std::string woken =
        graph.woken >= kMinShareOfWaits
            ? fmt::format(", and for {} the thread had been woken and could not go on yet",
                          percent(graph.woken))
            : std::string{};
    const std::string blocked =
        graph.of_blocked ? fmt::format("; these waits are {} of the time that threads were blocked",
                                       percent(*graph.of_blocked))
                         : std::string{};
    const double not_known = std::max(1 - graph.known - graph.woken, 0.0);
    const std::string unknown =
        not_known >= kMinShareOfWaits ? fmt::format(", for {} it is not", percent(not_known)) : std::string{};
    return fmt::format(
        "recorded waits for locks, at barriers, for signals and for data are {} of all threads' "
        "lives: for {} of that it is known for whom{}{}{}",
        percent(graph.of_lives), percent(graph.known), unknown, woken, blocked);
}

std::vector<std::string> wait_lines(const hints::WaitGraph& graph) {
    std::vector<std::string> lines = edge_lines(graph);
    const bool told = !lines.empty();
    if (graph.joins_alone || (lines.empty() && graph.of_lives < kMinShareOfWaits)) return lines;
    for (const hints::WaitEnd& end : graph.ends)
        if (end.is_worth_saying() && !end.meanwhile.empty()) lines.push_back(end_line(end));
    if (graph.preempted * graph.known >= kMinShareOfWaits)
        lines.push_back(fmt::format(
            "for {} of the time waited, the thread at the end of the chain could run, and something "
            "else has its processor",
            percent(graph.preempted * graph.known)));
    if (graph.circular >= kMinShareOfWaits)
        lines.push_back(fmt::format("for {} of this waiting, threads wait for one another in a circle",
                                    percent(graph.circular)));
    if (told) lines.emplace_back(kWorthOfWaits);
    lines.push_back(waits_text(graph));
    return lines;
}

}  // namespace rdam::output
