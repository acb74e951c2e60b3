// How much less information a function's calls carry than as many independent ones: a disturbance often hits
// neighbouring calls, too.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/score/call_sample.h"
#include "analyzer/sequences/sequence_store.h"
#include "tools/trace/clock.h"

namespace rdam::score {

/// A call, or as many like it as its weight says. Times in ticks.
struct LossAt {
    std::uint64_t begin = 0;
    double lost = 0;
    double weight = 1;
};

/// The variance of Σ weight × lost over lives like this one, from what it came to in sixteenths of the time:
/// half of the mean square of the differences between neighbouring ones, times their number (J. von Neumann
/// et al., The mean square successive difference, Ann. Math. Statist. 12, 1941), at all offsets of an eighth
/// of them (D. Howe, D. Allan, J. Barnes, Properties of signal sources and measurement methods, 1981: the
/// overlapping Allan variance). Bursts that are shorter than a block are seen by that. What lasts longer, a
/// phase or a trend, counts as the program's own, which other runs have as well.
///
/// What the sample of calls leaves to chance is taken out of it, as far as `independent` at the lowest: the
/// variance that as many independent calls would have. Nothing: fewer than kMinOverTime calls.
std::optional<double> variance_over_time(std::span<const LossAt> calls, const trace::TickRange& life,
                                         double independent);
inline constexpr std::size_t kMinOverTime = 64;

/// What the calls of each group are compared with, in ticks.
using GroupBases = std::vector<std::pair<sequences::GroupId, double>>;

/// The losses of the calls of a sample, against the base of their groups. Calls of other groups are left out.
std::vector<LossAt> losses_of(const samples::CallSample& sample, GroupBases bases);

}  // namespace rdam::score
