// The two smallest of many values, and how often each occurs: what a baseline needs if the clock advances in
// steps, and errs.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rdam::score {

/// Exact, however the values are added or merged.
class Least {
  public:
    static constexpr std::uint64_t kNone = UINT64_MAX;

    /// As `times` additions of the value; `times` ≥ 1.
    void add(std::uint64_t value, std::uint64_t times = 1) {
        count_ += times;
        if (value > next_) return;
        if (value == min_) {
            min_count_ += times;
        } else if (value < min_) {
            next_ = min_;
            next_count_ = min_count_;
            min_ = value;
            min_count_ = times;
        } else if (value == next_) {
            next_count_ += times;
        } else {
            next_ = value;
            next_count_ = times;
        }
    }

    /// Afterwards as if every value of `other` had been added here.
    void merge(const Least& other) {
        const std::uint64_t count = count_ + other.count_;
        if (other.min_count_ > 0) add(other.min_, other.min_count_);
        if (other.next_count_ > 0) add(other.next_, other.next_count_);
        count_ = count;
    }

    bool empty() const { return min_count_ == 0; }
    std::uint64_t count() const { return count_; }
    std::uint64_t min() const { return min_; }  ///< kNone if there are none
    /// The least value besides one that is min(); equal to it if several are; kNone where there is none.
    std::uint64_t second() const { return min_count_ > 1 ? min_ : next_; }

    /// The duration of the fastest call, as precisely as a clock that moves `step` at a time can tell (0: not
    /// known): work that takes equally long each time falls on two neighbouring steps. Their mean is right,
    /// and the lower one is too low by up to a step. 0 if there are none.
    double fastest(std::uint64_t step) const {
        if (empty()) return 0;
        const auto least = static_cast<double>(min_);
        if (next_count_ == 0 || next_ - min_ > step) return least;
        const auto at_min = static_cast<double>(min_count_);
        const auto at_next = static_cast<double>(next_count_);
        return least + static_cast<double>(next_ - min_) * (at_next / (at_min + at_next));
    }

    /// What equal work took, on average, where by the clock it seems to take `error` longer than the fastest
    /// of many. That of a few is nearer to the others: of n values that lie above a bound by amounts that are
    /// distributed exponentially, the least is above it by an nth of what they are on average (Rényi, On the
    /// theory of order statistics, 1953).
    double usual(std::uint64_t step, double error) const {
        return empty() ? 0 : fastest(step) + error * (1 - 1 / static_cast<double>(count_));
    }

    /// The least duration that is not below fastest(step). 0 if there are none.
    std::uint64_t floor(std::uint64_t step) const {
        if (empty()) return 0;
        return next_count_ > 0 && next_ - min_ <= step ? next_ : min_;
    }

  private:
    std::uint64_t min_ = kNone;
    std::uint64_t next_ = kNone;  ///< the least that is not min_
    std::uint64_t min_count_ = 0;
    std::uint64_t next_count_ = 0;
    std::uint64_t count_ = 0;  ///< of all
};

/// Of calls of some of which it is known only that they took no longer than `bound`, and something like
/// `seeming` (calls::Call::held): what sets a baseline. That is the others and the bounds, or, if there are
/// no others, what these seem to have taken.
class SureLeast {
  public:
    void add(const Least& sure) { sure_.merge(sure); }
    void add_unsure(const Least& seeming, const Least& bound) {
        seeming_.merge(seeming);
        bound_.merge(bound);
    }
    void merge(const SureLeast& other) {
        add(other.sure_);
        add_unsure(other.seeming_, other.bound_);
    }
    Least least() const {
        if (sure_.empty()) return seeming_;
        Least all = sure_;
        all.merge(bound_);
        return all;
    }
    /// Which no unsure call took less than, as well as a clock can tell that moves `step` at a time.
    std::uint64_t floor(std::uint64_t step) const { return sure_.empty() ? 0 : least().floor(step); }

  private:
    Least sure_;
    Least seeming_;
    Least bound_;
};

}  // namespace rdam::score
