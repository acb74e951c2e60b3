#include "analyzer/score/distribution.h"

#include <bit>
#include <cmath>
#include <utility>

namespace rdam::score {

std::uint64_t Distribution::saturating_sum(std::uint64_t a, std::uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

std::uint64_t Distribution::saturating_product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

// Values of the same power of two share 64 buckets; those below 64 have one each.
std::size_t Distribution::bucket_of(std::uint64_t value) {
    constexpr std::uint64_t kLinear = std::uint64_t{1} << kBucketBits;
    if (value < kLinear) return value;
    const unsigned power = static_cast<unsigned>(std::bit_width(value)) - 1;
    const unsigned shift = power - kBucketBits;
    return (std::size_t{shift} << kBucketBits) + (value >> shift);
}

std::uint64_t Distribution::middle_of(std::size_t bucket) {
    constexpr std::size_t kLinear = std::size_t{1} << kBucketBits;
    if (bucket < 2 * kLinear) return bucket;
    const std::size_t shift = (bucket >> kBucketBits) - 1;
    const std::uint64_t low = (std::uint64_t{bucket & (kLinear - 1)} + kLinear) << shift;
    return low + ((std::uint64_t{1} << shift) - 1) / 2;
}

inline void Distribution::count_in_bucket(std::size_t bucket, std::uint64_t times) {
    if (values_.empty()) first_bucket_ = bucket;
    if (bucket < first_bucket_) {
        values_.insert(values_.begin(), first_bucket_ - bucket, 0);
        first_bucket_ = bucket;
    } else if (bucket - first_bucket_ >= values_.size()) {
        values_.resize(bucket - first_bucket_ + 1);
    }
    values_[bucket - first_bucket_] += times;
}

void Distribution::spill() {
    const std::vector<std::uint64_t> exact = std::exchange(values_, {});
    if (exact.empty()) return;
    const auto [low, high] = std::ranges::minmax(exact);
    first_bucket_ = bucket_of(low);
    values_.assign(bucket_of(high) - first_bucket_ + 1, 0);
    for (const std::uint64_t value : exact)
        count_in_bucket(bucket_of(value), 1);
}

void Distribution::add(std::uint64_t value, std::uint64_t times) {
    if (!counts_in_buckets() && count_ + times > kExact) spill();
    count_ += times;
    sum_ = saturating_sum(sum_, times == 1 ? value : saturating_product(value, times));
    least_.add(value, times);
    max_ = std::max(max_, value);
    if (counts_in_buckets()) {
        count_in_bucket(bucket_of(value), times);
    } else {
        for (; times > 0; --times)
            values_.push_back(value);
    }
}

void Distribution::merge(const Distribution& other) {
    if (!other.counts_in_buckets()) {
        for (const std::uint64_t value : other.values_)
            add(value);
        return;
    }
    if (!counts_in_buckets()) spill();
    count_ += other.count_;
    sum_ = saturating_sum(sum_, other.sum_);
    least_.merge(other.least_);
    max_ = std::max(max_, other.max_);
    for (std::size_t i = 0; i < other.values_.size(); ++i) {
        if (other.values_[i] > 0) count_in_bucket(other.first_bucket_ + i, other.values_[i]);
    }
}

template <class Use>
void Distribution::for_each(const Use& use) const {
    if (!counts_in_buckets()) {
        for (const std::uint64_t value : values_)
            use(value, std::uint64_t{1});
        return;
    }
    for (std::size_t i = 0; i < values_.size(); ++i)
        if (values_[i] > 0) use(std::clamp(middle_of(first_bucket_ + i), min(), max_), values_[i]);
}

double Distribution::lost_from(std::uint64_t sum, std::uint64_t count, double base) {
    // Exact for a whole base. With others, what is no more than rounding is nothing.
    constexpr double kRounding = 1e-13;
    const double whole = std::floor(base);
    const std::uint64_t least = saturating_product(count, static_cast<std::uint64_t>(whole));
    if (sum < least) return 0;
    const double lost = static_cast<double>(sum - least) - (base - whole) * static_cast<double>(count);
    const double rounding = base != whole ? kRounding * static_cast<double>(sum) : 0;
    return lost > rounding ? lost : 0;
}

double Distribution::lost_above(double base) const {
    if (base <= static_cast<double>(min())) return lost_from(base);
    double lost = 0;
    for_each([&](std::uint64_t value, std::uint64_t times) {
        lost += std::max(static_cast<double>(value) - base, 0.0) * static_cast<double>(times);
    });
    return lost;
}

std::uint64_t Distribution::count_below(std::uint64_t value) const {
    std::uint64_t below = 0;
    for_each([&](std::uint64_t each, std::uint64_t times) { below += each < value ? times : 0; });
    return below;
}

double Distribution::variance() const {
    if (count_ == 0) return 0;
    const double mean = static_cast<double>(sum_) / static_cast<double>(count_);
    double squares = 0;
    for_each([&](std::uint64_t value, std::uint64_t times) {
        const double deviation = static_cast<double>(value) - mean;
        squares += deviation * deviation * static_cast<double>(times);
    });
    return squares / static_cast<double>(count_);
}

std::uint64_t Distribution::percentile(double fraction) const {
    if (count_ == 0) return 0;
    const double wanted = std::ceil(fraction * static_cast<double>(count_));
    const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1.0)), 1, count_);
    if (!counts_in_buckets()) {
        std::vector<std::uint64_t> sorted = values_;
        std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(rank - 1));
        return sorted[rank - 1];
    }
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
        seen += values_[i];
        if (seen >= rank) return std::clamp(middle_of(first_bucket_ + i), min(), max_);
    }
    return max_;
}

}  // namespace rdam::score
