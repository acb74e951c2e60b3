// Threads that do the same work at the same time, as those of a parallel region do.
//
// When one of them has more to do, so have the others: each is inside the function while the other is, and
// neither is why the other takes long. Where parallel regions are recorded (GOMP_parallel), what threads do
// during one of them is known to be so. Otherwise such calls begin together. Among many threads, or beside
// one that makes many short calls, some call or other always begins about then, so as many as are found at
// other times are taken off.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "analyzer/report/report.h"

namespace rdam::hints {

struct SideBySide {
    double share = 0;  ///< of what slow calls lost while another thread was inside the function as well
    std::set<std::size_t> threads;  ///< that make such calls, by index into Report::threads
};

/// `slow`: calls of `function`. O((n + m) log n) for n calls of it in the timelines and m slow ones.
SideBySide side_by_side(const trace::TraceInfo& info, const score::Report& report, std::uint32_t function,
                        std::span<const score::SlowCall> slow);

}  // namespace rdam::hints
