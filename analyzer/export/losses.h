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

namespace rdam::formats {

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
    /// The least of the largest that take no more than so many slices with the calls around them; nothing:
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

/// Of one thread, or of all.
struct LossCounts {
    SizeCounts counts;
    LargestLosses largest;
    std::uint64_t calls = 0;

    void add(const LossCounts& other);
};

/// Of one thread.
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

/// What can be told in the pass that finds the baselines. It saves the one that counts losses, unless the
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

}  // namespace rdam::formats
