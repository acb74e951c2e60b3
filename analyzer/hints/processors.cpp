// Calls that are slow on some processors, or because they changed the processor.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"
#include "analyzer/output/units.h"

namespace rdam::hints {
namespace {

/// A processor on which a few calls are slow is one on which something happened; one on which most are is
/// slow.
constexpr double kSlower = 1.5;

/// The calls have at least half of what they could have more of the loss than is their share.
bool stands_out(const Shares& shares) {
    return shares.calls < 1 && (shares.lost - shares.calls) / (1 - shares.calls) >= kWorthTelling;
}

bool stayed(const score::SampledCall& call) {
    return call.enter_cpu != trace::kNoCpu && call.enter_cpu == call.leave_cpu;
}

/// The processors on which the calls lose more than the mean, with at most half of the calls on them.
std::vector<std::uint16_t> slow_processors(const Suspicion& suspicion) {
    struct Sum {
        double lost = 0, calls = 0;
    };
    std::map<std::uint16_t, Sum> sums;
    const auto& calls = suspicion.row.sample.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        if (!stayed(calls[i])) continue;
        sums[calls[i].enter_cpu].lost += suspicion.lost[i] * calls[i].weight;
        sums[calls[i].enter_cpu].calls += calls[i].weight;
    }
    const double mean = suspicion.lost_ns / suspicion.calls;
    std::vector<std::uint16_t> slow;
    for (const auto& [cpu, sum] : sums)
        if (sum.lost > mean * sum.calls) slow.push_back(cpu);
    return slow;
}

std::string list(const std::vector<std::uint16_t>& cpus) {
    return fmt::format("{} {}", cpus.size() == 1 ? "processor" : "processors", fmt::join(cpus, ", "));
}

void find_slow_ones(const Suspicion& suspicion, Hints& hints) {
    const auto& calls = suspicion.row.sample.calls;
    const std::vector<std::uint16_t> slow = slow_processors(suspicion);
    if (slow.empty()) return;
    const auto on_slow = [&](std::size_t i) {
        return stayed(calls[i]) && std::ranges::find(slow, calls[i].enter_cpu) != slow.end();
    };
    const Shares shares = shares_of(suspicion, on_slow);
    if (!stands_out(shares)) return;
    const auto there_sampled = std::ranges::count_if(
        calls, [&](const auto& call) { return on_slow(static_cast<std::size_t>(&call - calls.data())); });
    const auto fewest = static_cast<std::ptrdiff_t>(kFewestCalls);
    if (there_sampled < fewest || std::ssize(calls) - there_sampled < fewest) return;
    const double there = median_ns(suspicion, on_slow);
    const double elsewhere = median_ns(suspicion, [&](std::size_t i) { return !on_slow(i); });
    if (there < kSlower * elsewhere) return;
    hints.push_back({.kind = "processor",
                     .text = fmt::format(
                         "{:.0f} % of the lost time is in the {:.0f} % of the calls that ran on {}: there "
                         "they take {} (median), elsewhere {}",
                         100 * shares.lost, 100 * shares.calls, list(slow), output::human_time(there),
                         output::human_time(elsewhere)),
                     .share = shares.lost});
}

void find_migrations(const Suspicion& suspicion, Hints& hints) {
    const auto& calls = suspicion.row.sample.calls;
    const Shares shares = shares_of(suspicion, [&](std::size_t i) {
        return calls[i].enter_cpu != trace::kNoCpu && calls[i].leave_cpu != trace::kNoCpu &&
               calls[i].enter_cpu != calls[i].leave_cpu;
    });
    if (!stands_out(shares)) return;
    hints.push_back(
        {.kind = "migration",
         .text = fmt::format("{:.0f} % of the lost time is in the {:.2g} % of the calls that began on one "
                             "processor and ended on another",
                             100 * shares.lost, 100 * shares.calls),
         .share = shares.lost});
}

}  // namespace

void find_processors(const Suspicion& suspicion, Hints& hints) {
    find_slow_ones(suspicion, hints);
    find_migrations(suspicion, hints);
}

}  // namespace rdam::hints
