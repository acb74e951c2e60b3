// How the losses of a function overlap with the functions that other threads are inside, and whether these threads
// do the same work.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "analyzer/hints/activities.h"
#include "analyzer/report/report.h"

namespace rdam::hints {

/// With a function elsewhere.
struct Overlap {
    double lost = 0;  ///< ticks lost while another thread was inside it
    double expected =
        0;              ///< that would be if that were so as often then as at the other times of each thread
    double beside = 0;  ///< … as during its other calls of the function, which it may always make side by
                        ///< side with others
};

/// Threads are not compared with one another: none sees itself, and what one is always inside is not there
/// for that one alone.
class Overlaps {
  public:
    using ByThread = std::map<std::size_t, double>;  ///< ticks, by index into Report::threads

    /// `slow`: calls of `function`. O((n + m) log n) at most for n of them and m calls in the timelines.
    Overlaps(const Activities& activities, std::uint32_t function, std::span<const score::SlowCall> slow);

    double lost() const { return lost_; }  ///< ticks, of all threads
    const ByThread& lost_by() const { return lost_by_; }
    const std::map<std::uint32_t, Overlap>& with() const { return with_; }  ///< by function
    /// Ticks lost by others while this thread was inside `function`.
    ByThread while_inside(std::uint32_t function) const;

  private:
    using Parts = std::vector<Steps::Part>;

    void add(std::size_t thread, const Intervals& own, const Parts& slow);

    const Activities& activities_;
    Steps loss_;                            ///< of all threads
    std::map<std::size_t, Steps> loss_of_;  ///< by thread
    double lost_ = 0;
    ByThread lost_by_;
    std::map<std::uint32_t, Overlap> with_;
};

// Threads that do the same work at the same time, as those of a parallel region do.
//
// When one of them has more to do, so have the others: each is inside the function while the other is, and
// neither is why the other takes long. Where parallel regions are recorded (GOMP_parallel), what threads do
// during one of them is known to be so. Otherwise such calls begin together. Among many threads, or beside
// one that makes many short calls, some call or other always begins about then, so as many as are found at
// other times are taken off.

struct SideBySide {
    double share = 0;  ///< of what slow calls lost while another thread was inside the function as well
    std::set<std::size_t> threads;  ///< that make such calls, by index into Report::threads
};

/// `slow`: calls of `function`. O((n + m) log n) for n calls of it in the timelines and m slow ones.
SideBySide side_by_side(const trace::TraceInfo& info, const score::Report& report, std::uint32_t function,
                        std::span<const score::SlowCall> slow);

}  // namespace rdam::hints
