// Which calls become slices of their own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/views/visit.h"

namespace rdam::formats {

/// Counts values by their size, in steps of some percent.
class SizeCounts {
  public:
    static constexpr std::size_t kClasses = 64 * 16;

    /// The class of a value; 0: not above 0. Larger values have no smaller classes.
    static std::size_t class_of(double value);
    void add(double value) { ++counts_[class_of(value)]; }
    void add(const SizeCounts& other);
    /// The least class from which on there are at most `most` values.
    std::size_t class_with_at_most(std::uint64_t most) const;

  private:
    std::array<std::uint64_t, kClasses> counts_{};
};

/// Ticks: begin ≤ t ≤ end.
struct Span {
    std::uint64_t begin = 0, end = 0;
};

/// The decision, for all threads.
class Kept {
  public:
    /// All calls.
    Kept() = default;
    /// About `budget` slices: of the calls that lost most and the calls around them half of that, of the
    /// longest times off the processors a quarter. Reads the threads once, several at a time.
    static Result<Kept> choose(const views::Visit& visit, std::uint64_t budget, unsigned jobs);

    bool all() const { return all_; }
    /// `inner`: a call inside it is kept.
    bool keeps(const views::Closed& call, bool inner) const {
        return all_ || inner || SizeCounts::class_of(call.lost) >= lost_ || is_around(call);
    }
    bool keeps(const trace::OffCpu& each) const {
        return all_ || SizeCounts::class_of(static_cast<double>(each.in - each.out)) >= off_;
    }

  private:
    bool is_around(const views::Closed& call) const;

    bool all_ = true;
    std::size_t lost_ = 0, off_ = 0;
    std::vector<Span> around_;  // the largest losses: by time, not overlapping
};

}  // namespace rdam::formats
