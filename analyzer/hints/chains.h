// Where waits end: a thread that is waited for may wait for another one itself, and so on. The thread at the end of such a
// chain is what all in it wait for (the cascades of wPerf: Zhou et al., OSDI 2018, section 3.2, of times instead of
// segments).
#pragma once

#include <cstddef>
#include <vector>

#include "analyzer/hints/activities.h"

namespace rdam::hints {

/// A thread while it is waited for and waits for nobody of whom it is known.
struct ChainEnd {
    std::size_t thread = 0;  ///< index into Report::threads
    /// Kept times, disjoint and in their order; how many threads wait for it, directly or through others.
    std::vector<Steps::Part> waiters = {};
    double direct = 0;  ///< ticks waited for it, of all threads that wait for it directly
};

/// What all these threads waited for others is the sum over all ends of their parts, plus `circular`.
struct Chains {
    std::vector<ChainEnd> ends = {};  ///< in the order of the threads
    double circular = 0;  ///< ticks waited by threads that wait for one another in a circle, or for these
};

/// Joins are links of chains, but who joins is not told of as waiting. In the kept times of `waits`, of `threads` threads.
/// O(n (log n + d)) for n waits and chains of d threads.
Chains follow_waits(const Waits& waits, std::size_t threads);

}  // namespace rdam::hints
