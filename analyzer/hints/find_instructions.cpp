// More work or slower work: whether the calls that lose time execute more instructions, or take longer for
// the same.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/variables.h"
#include "tools/base/units.h"

namespace rdam::hints {
namespace {

/// The share of calls of a stratum that lost least and are assumed to be undisturbed.
constexpr double kUndisturbed = 0.1;
/// Numbers of instructions that differ by less are the same: processors count interrupts as well, and what
/// probes execute is not quite the same in all of them.
constexpr double kAlike = 0.02;
constexpr double kAlikeInstructions = 32;
/// More instructions that would take less than this share of the loss, at the pace of the undisturbed calls,
/// are not its cause: waiting for a lock executes some more, too.
constexpr double kMinPlausible = 0.3;

struct Counted {
    std::size_t call = 0;  ///< in the sample
    double lost = 0;       ///< on the processor, ns
    double time = 0;       ///< on the processor, ns
    double instructions = 0;
    double weight = 1;

    double pace() const { return time / instructions; }
};

using Stratum = std::vector<Counted>;

/// Calls whose instructions are known, without strata of too few calls.
std::vector<Stratum> strata_of(const LossPart& loss) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Stratum> strata;
    const auto& calls = loss.row.sample.calls;
    for (std::size_t i = 0; i < calls.size(); ++i) {
        const score::ScoredCall& call = calls[i];
        if (call.instructions == 0 || !(call.weight > 0)) continue;
        const double off = std::min(call.blocked_ns + call.preempted_ns, call.lost_ns);
        strata[{call.thread, call.group}].push_back({.call = i,
                                                     .lost = call.lost_ns - off,
                                                     .time = call.duration_ns - off,
                                                     .instructions = static_cast<double>(call.instructions),
                                                     .weight = call.weight});
    }
    std::vector<Stratum> out;
    for (auto& [key, stratum] : strata)
        if (stratum.size() >= kMinInStratum) out.push_back(std::move(stratum));
    return out;
}

/// Half of the weight is at values up to this one.
double median(std::vector<std::pair<double, double>> weighted) {
    std::ranges::sort(weighted);
    double all = 0;
    for (const auto& [value, weight] : weighted)
        all += weight;
    double sum = 0;
    for (const auto& [value, weight] : weighted) {
        sum += weight;
        if (2 * sum >= all) return value;
    }
    return 0;
}

/// What the undisturbed calls of a stratum are like.
struct Standard {
    double instructions = 0;
    double pace = 0;  ///< ns an instruction
};

Standard standard_of(Stratum& stratum) {
    std::ranges::stable_sort(stratum, {}, &Counted::lost);
    double all = 0;
    for (const Counted& call : stratum)
        all += call.weight;
    std::vector<std::pair<double, double>> instructions;
    std::vector<std::pair<double, double>> paces;
    double sum = 0;
    for (const Counted& call : stratum) {
        instructions.emplace_back(call.instructions, call.weight);
        paces.emplace_back(call.pace(), call.weight);
        sum += call.weight;
        if (sum >= kUndisturbed * all) break;
    }
    return {median(std::move(instructions)), median(std::move(paces))};
}

/// The sums over the counted calls of a function. Shares refer to its whole loss.
struct CountedLoss {
    double known = 0;  ///< lost by calls whose instructions are known
    double plausible =
        0;  ///< what the additional instructions would take at the undisturbed pace, or the loss if less
    std::vector<std::optional<std::uint64_t>>
        steps;  ///< by call: its instructions, those that are alike being the same
    double slow_instructions = 0, slow_pace = 0;  ///< where the loss is: medians by loss
    double fast_instructions = 0, fast_pace = 0;  ///< of the undisturbed calls
};

std::uint64_t step_of(double instructions, double standard) {
    constexpr double kMiddle = 1ULL << 52;  // so that those below the standard have numbers, too
    const double step = std::max(kAlikeInstructions, kAlike * standard);
    return static_cast<std::uint64_t>(
        kMiddle + std::clamp(std::round((instructions - standard) / step), -kMiddle, kMiddle));
}

CountedLoss find(const LossPart& loss) {
    CountedLoss found;
    found.steps.resize(loss.row.sample.calls.size());
    std::vector<std::pair<double, double>> slow, slow_pace, fast, fast_pace;
    for (Stratum& stratum : strata_of(loss)) {
        const Standard standard = standard_of(stratum);
        double all = 0;
        for (const Counted& call : stratum) {
            const double lost = call.lost * call.weight / loss.lost_ns;
            const double work = std::max(call.instructions - standard.instructions, 0.0) * standard.pace;
            found.known += lost;
            found.plausible += std::min(call.lost, work) * call.weight / loss.lost_ns;
            found.steps[call.call] = step_of(call.instructions, standard.instructions);
            slow.emplace_back(call.instructions, lost);
            slow_pace.emplace_back(call.pace(), lost);
            all += call.weight;
        }
        fast.emplace_back(standard.instructions, all);
        fast_pace.emplace_back(standard.pace, all);
    }
    found.slow_instructions = median(std::move(slow));
    found.slow_pace = median(std::move(slow_pace));
    found.fast_instructions = median(std::move(fast));
    found.fast_pace = median(std::move(fast_pace));
    return found;
}

std::string against(const CountedLoss& found) {
    return fmt::format("{} vs. {}", output::human_count(found.slow_instructions),
                       output::human_count(found.fast_instructions));
}

void add_more(const LossPart& loss, const CountedLoss& found, double share, Hints& hints) {
    if (found.slow_instructions <= found.fast_instructions) return;
    if (loss.function.busy_waits || loss.function.waits) {
        hints.push_back(
            {.kind = HintKind::busy_wait,
             .text = fmt::format("calls that lose time execute more instructions ({}): this function waits, "
                                 "so these may be iterations of a waiting loop; find out what makes it wait",
                                 against(found)),
             .share = share});
        return;
    }
    hints.push_back({.kind = HintKind::more_work,
                     .text = fmt::format("calls that lose time execute more instructions ({}): more work, or "
                                         "iterations of a waiting loop",
                                         against(found)),
                     .share = share});
}

}  // namespace

void find_instructions(const LossPart& loss, Hints& hints) {
    const CountedLoss found = find(loss);
    if (found.known < kMinExplained) return;
    const double explains = explained_by(loss, [&](std::size_t i) { return found.steps[i]; });
    const double more = explains * std::min(found.known, 1.0);
    if (more >= kMinExplained) {
        // What waits busily does so at a pace of its own.
        if (found.plausible >= kMinPlausible || loss.function.busy_waits) add_more(loss, found, more, hints);
        return;
    }
    const double slower =
        std::min(1 - explains, 1 - found.plausible / found.known) * std::min(found.known, 1.0);
    if (slower < kMinExplained || loss.function.waits || loss.function.busy_waits) return;
    hints.push_back(
        {.kind = HintKind::slower_work,
         .text = fmt::format("the same instructions take longer ({:.2g} ns each vs. {:.2g}, with about {} "
                             "per call): caches, memory, processor frequency, or interference",
                             found.slow_pace, found.fast_pace, output::human_count(found.slow_instructions)),
         .share = slower});
}

}  // namespace rdam::hints
