// The durations of one group of calls: exact count, sum, minimum and maximum, and percentiles.
//
// Up to kExact values are kept as they are. Beyond, they are counted in buckets of a log-linear histogram (64
// buckets to each power of two): a percentile is then off by at most half a bucket, 0.8 % of its value.
// Values below 64 are always exact.
//
// Memory: nothing besides the object for one or two values, 4 bytes for each of few (8 where one lasts 2^32
// or more), 2 bytes for each of more, and as soon as that is less 4 bytes for each bucket between the least
// and the greatest (8 where there are 2^32 values): at most 15 KiB, and twice that.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "analyzer/statistics/packed_values.h"

namespace rdam::score {

// The two smallest of many values, and how often each occurs: what a baseline needs if the clock advances in
// steps, and errs.

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

    /// As adding each of them, of which `least` is the smallest.
    void add_all(std::span<const std::uint64_t> values, std::uint64_t least) {
        if (least > next_) {
            count_ += values.size();
            return;
        }
        for (const std::uint64_t value : values)
            add(value);
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

    template <class Archive>
    void fields(Archive& archive) {
        archive(min_, next_, min_count_, next_count_, count_);
        if constexpr (Archive::kReads) archive.expect(is_sound());
    }

  private:
    /// Of what comes from a file: the members agree.
    bool is_sound() const {
        if (min_count_ == 0) return min_ == kNone && next_ == kNone && next_count_ == 0 && count_ == 0;
        if (next_count_ == 0 ? next_ != kNone : next_ <= min_) return false;
        return min_count_ <= count_ && next_count_ <= count_ - min_count_;
    }

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

/// Not thread-safe; const methods may be called by several threads at once.
class Distribution {
  public:
    static constexpr std::size_t kExact = 32;
    static constexpr unsigned kBucketBits = 6;

    /// As `times` additions of the value; `times` ≥ 1.
    void add(std::uint64_t value, std::uint64_t times = 1);
    /// As adding each of them, in less time.
    void add_all(std::span<const std::uint64_t> values);
    /// Afterwards as if every value of `other` had been added here.
    void merge(const Distribution& other);
    /// Adds values that say nothing of how small a value can be but that it can be as small as the `bounds`:
    /// these belong to least() from now on, and what is less than `floor` or min() becomes that. Where there
    /// is no value yet they are added as any others.
    void merge_unsure(const Distribution& other, const Least& bounds, std::uint64_t floor);
    /// For an archive (tools/base/byte_archive.h).
    template <class Archive>
    void fields(Archive& archive) {
        archive(count_, sum_, least_, max_, form_, first_bucket_, values_);
        if constexpr (Archive::kReads) archive.expect(archive.good() && is_sound());
    }
    /// No value will be added for some time: queries take less time from now on.
    void seal();
    /// As a new one; it keeps memory for the next values.
    void clear();
    /// add(value) is about to be called, and its memory is rather in no cache.
    [[gnu::always_inline]] void prefetch(std::uint64_t value) const;
    /// All values are about to be looked at.
    [[gnu::always_inline]] void prefetch_all() const { values_.prefetch_all(); }

    std::uint64_t count() const { return count_; }
    std::uint64_t min() const { return count_ > 0 ? least_.min() : 0; }
    std::uint64_t max() const { return max_; }
    /// The least value besides one that is min(); equal to it if several are. max() where there is one value.
    std::uint64_t second() const { return std::min(least_.second(), max_); }
    const Least& least() const { return least_; }
    std::uint64_t sum() const { return sum_; }  ///< stays at 2^64 − 1 instead of overflowing
    /// Σ (value − min) over all values.
    std::uint64_t lost() const { return sum_ - std::min(sum_, saturating_product(count_, min())); }

    /// Σ max(value − base, 0); exact for a base up to min().
    double lost_above(double base) const;
    /// Σ (value − base), or 0 if that is less.
    double lost_from(double base) const { return lost_from(sum_, count_, base); }
    /// For `count` values with this sum.
    static double lost_from(std::uint64_t sum, std::uint64_t count, double base);
    /// Mean square of the deviations from the mean.
    double variance() const;

    /// The smallest value that at least `fraction` (0…1) of the values do not exceed; 0 if there are none.
    std::uint64_t percentile(double fraction) const;

    /// How many are less than `value`: of those that share its bucket, all or none.
    std::uint64_t count_below(std::uint64_t value) const;

    // Values of the same power of two share 64 buckets; those below 64 have one each.
    static std::size_t bucket_of(std::uint64_t value) {
        constexpr std::uint64_t kLinear = std::uint64_t{1} << kBucketBits;
        if (value < kLinear) return value;
        const unsigned power = static_cast<unsigned>(std::bit_width(value)) - 1;
        const unsigned shift = power - kBucketBits;
        return (std::size_t{shift} << kBucketBits) + (value >> shift);
    }
    static std::uint64_t middle_of(std::size_t bucket);  ///< of the values that share it
    static std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
    }
    static std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
        std::uint64_t product = 0;
        return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
    }

  private:
    /// What is in values_.
    enum class Form : std::uint8_t {
        few,     ///< nothing: up to two values are least_.min() and max_, in this order …
        turned,  ///< … or the other way round
        exact,   ///< the values, in the order in which they came; least_ may be less than any
        log,     ///< the number of each one's bucket
        sorted,  ///< the same, rising
        dense,   ///< how many are in each bucket from first_bucket_ on
    };
    friend constexpr Form last_of(Form /*any*/) { return Form::dense; }
    static constexpr std::size_t kMaxInLog = 4096;
    static constexpr std::size_t kBuckets = std::size_t{65 - kBucketBits} << kBucketBits;

    /// Of what comes from a file: nothing in it is out of range.
    bool is_sound() const;

    bool counts_in_buckets() const { return count_ > kExact; }
    template <class Use>
    void for_each(const Use& use) const;
    template <class Use>
    void for_each_exact(const Use& use) const;
    template <class Use>
    void for_each_bucket(const Use& use) const;
    void keep(std::uint64_t value, std::uint64_t times);
    void keep_exact(std::uint64_t value, std::uint64_t times);
    void spell_out(std::uint64_t largest);
    void add_first(std::span<const std::uint64_t> values);
    void keep_in_bucket(std::size_t bucket, std::uint64_t times);
    void count_in_bucket(std::size_t bucket, std::uint64_t times);
    void count_all(std::span<const std::uint64_t> values, std::uint64_t least, std::uint64_t largest);
    void make_room(std::uint64_t times);
    void spill();
    void make_dense();

    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    Least least_;
    std::uint64_t max_ = 0;
    [[no_unique_address]] PackedValues values_;
    std::uint16_t first_bucket_ = 0;  ///< dense
    Form form_ = Form::few;
};

inline void Distribution::prefetch(std::uint64_t value) const {
    if (form_ == Form::dense)
        values_.prefetch(bucket_of(value) - first_bucket_);
    else if (form_ != Form::few)
        values_.prefetch(values_.size());
}

inline void Distribution::add(std::uint64_t value, std::uint64_t times) {
    keep(value, times);
    count_ += times;
    sum_ = saturating_sum(sum_, times == 1 ? value : saturating_product(value, times));
    least_.add(value, times);
    max_ = std::max(max_, value);
}

}  // namespace rdam::score
