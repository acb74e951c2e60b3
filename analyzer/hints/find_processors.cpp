// Calls that are slow on some processors or NUMA nodes, or because they changed the processor or node.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

/// A processor on which a few calls are slow is one on which something happened; one on which most are is
/// slow.
constexpr double kSlower = 1.5;
/// Where more of the calls run, they are as calls are, and the few elsewhere are the odd ones.
constexpr double kMaxShareThere = 0.6;

bool stayed(const score::ScoredCall& call) {
    return call.enter_cpu != trace::kNoCpu && call.enter_cpu == call.leave_cpu;
}

/// The processors on which the calls lose more than the mean.
std::vector<std::uint16_t> slow_processors(const LossPart& loss) {
    struct Sum {
        double lost = 0, calls = 0;
    };
    std::map<std::uint16_t, Sum> sums;
    const auto& calls = loss.row.sample.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (!stayed(calls[i])) continue;
        sums[calls[i].enter_cpu].lost += loss.lost[i] * calls[i].weight;
        sums[calls[i].enter_cpu].calls += calls[i].weight;
    }
    const double mean = loss.lost_ns / loss.calls;
    std::vector<std::uint16_t> slow;
    for (const auto& [cpu, sum] : sums)
        if (sum.lost > mean * sum.calls) slow.push_back(cpu);
    return slow;
}

/// The processors on which calls stayed, by node.
std::map<std::uint32_t, std::set<std::uint16_t>> used_by_node(const LossPart& loss) {
    std::map<std::uint32_t, std::set<std::uint16_t>> used;
    for (const score::ScoredCall& call : loss.row.sample.calls) {
        if (!stayed(call)) continue;
        if (const auto node = trace::node_of(loss.info.process, call.enter_cpu))
            used[*node].insert(call.enter_cpu);
    }
    return used;
}

/// The nodes if these are all of their processors that were used, several of each: a single one could be
/// meant instead of its node. Empty: there are no such nodes, or there are other processors as well.
std::vector<std::uint32_t> as_nodes(const LossPart& loss, const std::vector<std::uint16_t>& cpus) {
    std::vector<std::uint32_t> nodes;
    std::size_t told = 0;
    for (const auto& [node, used] : used_by_node(loss)) {
        const auto slow = std::ranges::count_if(
            used, [&](std::uint16_t cpu) { return std::ranges::find(cpus, cpu) != cpus.end(); });
        if (slow == 0) continue;
        if (slow < 2 || slow != std::ssize(used)) return {};
        nodes.push_back(node);
        told += used.size();
    }
    if (told != cpus.size()) return {};
    return nodes;
}

template <class Number>
std::string list(std::string_view what, const std::vector<Number>& numbers) {
    return fmt::format("{}{} {}", what, plural_ending(numbers.size()), fmt::join(numbers, ", "));
}

std::string where(const LossPart& loss, const std::vector<std::uint16_t>& cpus) {
    const auto nodes = as_nodes(loss, cpus);
    if (nodes.empty()) return list("processor", cpus);
    return fmt::format("{} ({})", list("NUMA node", nodes), list("processor", cpus));
}

void find_slow_ones(const LossPart& loss, Hints& hints) {
    const auto& calls = loss.row.sample.calls;
    const std::vector<std::uint16_t> slow = slow_processors(loss);
    if (slow.empty()) return;
    const auto on_slow = [&](std::size_t i) {
        return stayed(calls[i]) && std::ranges::find(slow, calls[i].enter_cpu) != slow.end();
    };
    const Shares shares = shares_of(loss, on_slow);
    if (!stands_out(shares) || !stands_out(shares_without_worst(loss, on_slow)) ||
        shares.calls > kMaxShareThere)
        return;
    const auto there_sampled = std::ranges::count_if(
        calls, [&](const auto& call) { return on_slow(static_cast<std::size_t>(&call - calls.data())); });
    const auto fewest = static_cast<std::ptrdiff_t>(kMinCalls);
    if (there_sampled < fewest || std::ssize(calls) - there_sampled < fewest) return;
    const double there = median_ns(loss, on_slow);
    const double elsewhere = median_ns(loss, [&](std::size_t i) { return !on_slow(i); });
    if (there < kSlower * elsewhere) return;
    hints.push_back({.kind = HintKind::processor,
                     .text = fmt::format("{:.0f} % of the lost time is in the {} of the calls that ran "
                                         "on {}: they take {} there (median) and {} elsewhere",
                                         100 * shares.lost, share_text(shares.calls), where(loss, slow),
                                         output::human_time(there), output::human_time(elsewhere)),
                     .share = shares.lost});
}

bool moved(const score::ScoredCall& call) {
    return call.enter_cpu != trace::kNoCpu && call.leave_cpu != trace::kNoCpu &&
           call.enter_cpu != call.leave_cpu;
}

bool changed_node(const LossPart& loss, const score::ScoredCall& call) {
    if (!moved(call)) return false;
    const auto from = trace::node_of(loss.info.process, call.enter_cpu);
    const auto to = trace::node_of(loss.info.process, call.leave_cpu);
    return from && to && *from != *to;
}

Hint migration(const Shares& shares, std::string_view what) {
    return {.kind = HintKind::migration,
            .text = fmt::format("{:.0f} % of the lost time is in the {:.2g} % of the calls that began on one "
                                "{} and ended on another",
                                100 * shares.lost, 100 * shares.calls, what),
            .share = shares.lost};
}

/// Reports migrations between nodes separately if the calls that changed the node lost the time.
void find_migrations(const LossPart& loss, Hints& hints) {
    constexpr double kNearlyAll = 0.8;
    const auto& calls = loss.row.sample.calls;
    const auto moves = [&](std::size_t i) { return moved(calls[i]); };
    if (!stands_out(shares_without_worst(loss, moves))) return;
    const Shares all = shares_of(loss, moves);
    const Shares far = shares_of(loss, [&](std::size_t i) { return changed_node(loss, calls[i]); });
    const bool others_lose_as_much = (all.lost - far.lost) * far.calls >= far.lost * (all.calls - far.calls);
    const bool others = all.calls > far.calls;
    if (stands_out(far) && far.lost >= kNearlyAll * all.lost && !(others && others_lose_as_much)) {
        hints.push_back(migration(far, "NUMA node"));
        hints.back().text += ", perhaps far from the memory they use (bind the thread to a node)";
    } else if (stands_out(all)) {
        hints.push_back(migration(all, "processor"));
    }
}

}  // namespace

void find_processors(const LossPart& loss, Hints& hints) {
    find_slow_ones(loss, hints);
    find_migrations(loss, hints);
}

}  // namespace rdam::hints
