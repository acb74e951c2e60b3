// How large the losses of a trace's calls are: what is needed to choose those that are shown.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "analyzer/views/visit.h"

namespace rdam::exports {

/// Counts values by their size, in steps of some percent.
class SizeCounts {
  public:
    static constexpr std::size_t kClasses = 64 * 64;

    /// The class of a value; 0: not above 0. Larger values have no smaller classes.
    static std::size_t class_of(double value) {
        if (!(value > 0)) return 0;
        const std::uint64_t steps = std::bit_cast<std::uint64_t>(value) >> kShift;
        return static_cast<std::size_t>(
            std::clamp<std::uint64_t>(steps, kBelowFirst + 1, kBelowFirst + kClasses - 1) - kBelowFirst);
    }
    /// The least value of the class or of one above it; infinite: there is none.
    static double least_of(std::size_t value_class) {
        if (value_class == 0) return -std::numeric_limits<double>::infinity();
        if (value_class == 1) return std::numeric_limits<double>::denorm_min();
        if (value_class >= kClasses) return std::numeric_limits<double>::infinity();
        return std::bit_cast<double>((value_class + kBelowFirst) << kShift);
    }
    void add(double value) { ++counts_[class_of(value)]; }
    void add(const SizeCounts& other);
    /// The least class from which on there are at most `most` values.
    std::size_t class_with_at_most(std::uint64_t most) const;
    /// How many values there are from the class on.
    std::uint64_t from(std::size_t first) const;

  private:
    // The exponent and the first six bits after the point: steps of some 1 %.
    static constexpr unsigned kMantissa = 52, kShown = 6, kShift = kMantissa - kShown;
    static constexpr std::uint64_t kBelowFirst = (std::uint64_t{1023} << kShown) - 1;  // 1.0 is in class 1

    std::array<std::uint64_t, kClasses> counts_{};
};

/// Ticks: begin ≤ t ≤ end.
struct Span {
    std::uint64_t begin = 0, end = 0;
};

struct LargeLoss {
    double lost = 0;
    Span span;
    std::uint64_t slices = 1;  ///< with the calls around it
};
/// By the loss, then by time: none of a thread's calls are equal.
inline bool is_larger(const LargeLoss& a, const LargeLoss& b) {
    if (a.lost != b.lost) return a.lost > b.lost;
    return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.span.end < b.span.end;
}

/// The largest of the run. Which of equal ones does not depend on the order.
class LargestLosses {
  public:
    /// So many are kept by number.
    static constexpr std::size_t kMost = 1000;

    void add(const LargeLoss& loss) {
        if (heap_.size() < kKnown || is_larger(loss, heap_.front())) insert(loss);
    }
    void add(const LargestLosses& other);
    /// The `most` largest, by time; those that overlap are one.
    std::vector<Span> joined(std::size_t most) const;
    /// The least of the largest losses that take at most `slices` slices with the calls around them; nothing:
    /// there is none.
    std::optional<LargeLoss> least_within(std::uint64_t slices) const;

  private:
    /// Some calls are there twice, with less and more of their loss known.
    static constexpr std::size_t kKnown = 2 * kMost;

    void insert(const LargeLoss& loss);
    std::vector<LargeLoss> sorted() const;

    std::vector<LargeLoss> heap_;  // the least first
};

/// Counts what calls lost, each at least as much as any call inside it: from a threshold on, these are the
/// calls above it with all calls around them.
class NestedCounts {
  public:
    /// Calls are closed inside out, one after the other.
    void closed(std::uint32_t depth, double lost) {
        if (inner_.size() < depth + std::size_t{2}) inner_.resize(depth + std::size_t{2});
        const double most = std::max(lost, inner_[depth + std::size_t{1}]);
        inner_[depth + std::size_t{1}] = 0;
        counts_.add(most);
        inner_[depth] = std::max(inner_[depth], most);
    }
    const SizeCounts& counts() const { return counts_; }

  private:
    SizeCounts counts_;
    std::vector<double> inner_;  // by depth: the most of calls there, since the call around them began
};

/// The counts of one thread, or of all.
struct LossCounts {
    SizeCounts counts;
    LargestLosses largest;
    std::uint64_t calls = 0;

    void add(const LossCounts& other);
};

/// Counts the losses of one thread.
class Losses final : public views::CallVisitor {
  public:
    void opened(const views::Opened& /*call*/) override {}
    void closed(const views::Closed& call) override;
    LossCounts counts() const { return {nested_.counts(), largest_, calls_}; }

  private:
    NestedCounts nested_;
    LargestLosses largest_;
    std::uint64_t calls_ = 0;
};

/// What the pass that finds the baselines can count. It saves the one that counts losses, unless the
/// baselines took too long to settle or the losses are small compared with them. What is known of a loss is
/// the least that it may be, except for the calls before a baseline settled: of these, the longest of each
/// sequence is looked at again at the end.
class EarlyLosses final : public views::EarlyLook {
  public:
    std::unique_ptr<views::CallVisitor> begin() override;
    void end(const views::CallVisitor& visitor) override;

    // After the pass: by the most that calls may have lost, and by what they have lost at least.
    const LossCounts& most() const { return most_; }
    const SizeCounts& least() const { return least_; }

  private:
    class OfThread;

    std::mutex mutex_;
    LossCounts most_;
    SizeCounts least_;
};

// Which calls become slices of their own.

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

}  // namespace rdam::exports
