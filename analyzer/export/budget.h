// Which calls become slices of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "analyzer/export/losses.h"
#include "analyzer/views/visit.h"

namespace rdam::formats {

/// The decision, for all threads.
class Kept {
  public:
    /// All calls.
    Kept() = default;
    /// About `budget` slices: of the calls that lost most and the calls around them three eighths, the 1,000
    /// that lost most of all among them if they take no more than half of that with the calls around them; of
    /// the longest times off the processors a quarter. Reads the threads once, several at a time, unless
    /// `early` (null: none) tells enough.
    static Result<Kept> choose(const views::Visit& visit, std::uint64_t budget, unsigned jobs,
                               const EarlyLosses* early);

    bool all() const { return all_; }
    /// For the calls of a thread in the order of time. `inner`: a call inside it is kept. `begun`: the
    /// caller's, for one thread, at first 0.
    bool keeps(const views::Closed& call, bool inner, std::size_t& begun) const {
        return all_ || inner || call.lost >= lost_ || is_largest(call) || is_around(call, begun);
    }
    bool keeps(const trace::OffCpu& each) const {
        return all_ || SizeCounts::class_of(static_cast<double>(each.in - each.out)) >= off_;
    }

  private:
    bool is_largest(const views::Closed& call) const {
        return call.lost >= least_.lost && !is_larger(least_, {call.lost, {call.begin, call.tsc}});
    }
    /// Whether it lasted for a part of one of the largest losses. Of these, `begun` have begun before.
    bool is_around(const views::Closed& call, std::size_t& begun) const {
        while (begun < around_.size() && around_[begun].begin <= call.tsc)
            ++begun;
        return begun > 0 && around_[begun - 1].end >= call.begin && lasted_for_a_part(call, begun);
    }
    bool lasted_for_a_part(const views::Closed& call, std::size_t begun) const;

    bool all_ = true;
    double lost_ = 0;                                               ///< from so many ticks on
    std::size_t off_ = 0;                                           ///< from that class on
    LargeLoss least_{std::numeric_limits<double>::infinity(), {}};  // of those that are kept by number
    std::vector<Span> around_;  // the largest losses: by time, not overlapping
};

}  // namespace rdam::formats
