// The durations of one group of calls: exact count, sum, minimum and maximum, and percentiles.
//
// Up to kExact values are kept as they are. Beyond, they are counted in buckets of a log-linear histogram (64
// buckets to each power of two): a percentile is then off by at most half a bucket, 0.8 % of its value.
// Values below 64 are always exact.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/score/least.h"

namespace rdam::score {

class Distribution {
  public:
    static constexpr std::size_t kExact = 32;
    static constexpr unsigned kBucketBits = 6;

    /// As `times` additions of the value; `times` ≥ 1.
    void add(std::uint64_t value, std::uint64_t times = 1);
    /// Afterwards as if every value of `other` had been added here.
    void merge(const Distribution& other);

    std::uint64_t count() const { return count_; }
    std::uint64_t min() const { return count_ > 0 ? least_.min() : 0; }
    std::uint64_t max() const { return max_; }
    /// The least value besides one that is min(); equal to it if several are. max() where there is one value.
    std::uint64_t second() const { return count_ > 1 ? least_.second() : max_; }
    const Least& least() const { return least_; }
    std::uint64_t sum() const { return sum_; }  ///< stays at 2^64 − 1 instead of overflowing
    /// Σ (value − min) over all values.
    std::uint64_t lost() const { return sum_ - std::min(sum_, saturating_product(count_, min())); }

    /// Σ max(value − base, 0); exact for a base up to min().
    double lost_above(double base) const;
    /// Σ (value − base), or 0 if that is less.
    double lost_from(double base) const { return lost_from(sum_, count_, base); }
    /// Of `count` values of this sum.
    static double lost_from(std::uint64_t sum, std::uint64_t count, double base);
    /// Mean square of the deviations from the mean.
    double variance() const;

    /// The smallest value that at least `fraction` (0…1) of the values do not exceed; 0 if there are none.
    std::uint64_t percentile(double fraction) const;

    /// How many are less than `value`: of those that share its bucket, all or none.
    std::uint64_t count_below(std::uint64_t value) const;

    static std::size_t bucket_of(std::uint64_t value);
    static std::uint64_t middle_of(std::size_t bucket);  ///< of the values that share it
    static std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b);
    static std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b);

  private:
    bool counts_in_buckets() const { return count_ > kExact; }
    template <class Use>
    void for_each(const Use& use) const;
    void count_in_bucket(std::size_t bucket, std::uint64_t times);
    void spill();

    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    Least least_;
    std::uint64_t max_ = 0;
    std::size_t first_bucket_ = 0;
    // The values themselves while they are few, then the counts of the buckets from first_bucket_ on.
    std::vector<std::uint64_t> values_;
};

}  // namespace rdam::score
