#include "analyzer/statistics/distribution.h"

#include <array>
#include <cmath>
#include <utility>

namespace rdam::score {

std::uint64_t Distribution::middle_of(std::size_t bucket) {
    constexpr std::size_t kLinear = std::size_t{1} << kBucketBits;
    if (bucket < 2 * kLinear) return bucket;
    const std::size_t shift = (bucket >> kBucketBits) - 1;
    const std::uint64_t low = (std::uint64_t{bucket & (kLinear - 1)} + kLinear) << shift;
    return low + ((std::uint64_t{1} << shift) - 1) / 2;
}

bool Distribution::is_sound() const {
    // No trace has as many calls; sums of a few such numbers are far from overflowing.
    constexpr std::uint64_t kMostCalls = std::uint64_t{1} << 56;
    const std::size_t size = values_.size();
    if (count_ > kMostCalls || (count_ > 0 && (least_.empty() || least_.min() > max_))) return false;
    switch (form_) {
        case Form::few:
        case Form::turned:
            return size == 0 && count_ <= 2;
        case Form::exact:
            return size == count_ && count_ <= kExact && values_.bytes() >= 4;
        case Form::log:
        case Form::sorted:
            return size == count_ && count_ > kExact && size <= kMaxInLog && values_.bytes() == 2 &&
                   std::all_of(values_.begin(), values_.end(),
                               [](std::uint16_t bucket) { return bucket < kBuckets; });
        case Form::dense:
            break;
    }
    if (count_ <= kExact || first_bucket_ + size > kBuckets || values_.bytes() < 4) return false;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < size && count <= count_; ++i)
        count = saturating_sum(count, values_[i]);
    return count == count_;
}

template <class Use>
void Distribution::for_each_exact(const Use& use) const {
    if (form_ == Form::exact) {
        for (std::size_t i = 0; i < values_.size(); ++i)
            use(values_[i]);
        return;
    }
    if (count_ > 0) use(form_ == Form::turned ? max_ : least_.min());
    if (count_ > 1) use(form_ == Form::turned ? least_.min() : max_);
}

template <class Use>
void Distribution::for_each_bucket(const Use& use) const {
    if (form_ == Form::dense) {
        for (std::size_t i = 0; i < values_.size(); ++i)
            if (const std::uint64_t times = values_[i]; times > 0) use(first_bucket_ + i, times);
        return;
    }
    const auto use_runs = [&](const std::uint16_t* at, const std::uint16_t* end) {
        for (const std::uint16_t* run = at; run != end; run = at) {
            at = std::find_if(run, end, [&](std::uint16_t each) { return each != *run; });
            use(std::size_t{*run}, static_cast<std::uint64_t>(at - run));
        }
    };
    if (form_ == Form::sorted) return use_runs(values_.begin(), values_.end());
    std::array<std::uint16_t, kMaxInLog> sorted;
    const auto end = std::ranges::copy(values_, sorted.begin()).out;
    std::sort(sorted.begin(), end);
    use_runs(sorted.data(), sorted.data() + values_.size());
}

void Distribution::keep(std::uint64_t value, std::uint64_t times) {
    if (form_ == Form::dense) return count_in_bucket(bucket_of(value), times);
    if (!counts_in_buckets()) {
        if (count_ + times <= kExact) return keep_exact(value, times);
        spill();
    }
    keep_in_bucket(bucket_of(value), times);
}

void Distribution::keep_exact(std::uint64_t value, std::uint64_t times) {
    if (form_ != Form::exact && count_ + times <= 2) {
        form_ = count_ > 0 && value < max_ ? Form::turned : Form::few;
        return;
    }
    if (form_ != Form::exact) spell_out(std::max(value, max_));
    if (value > UINT32_MAX && values_.bytes() == 4) values_.widen(8);
    for (; times > 0; --times)
        values_.push_back(value);
}

/// Of one or two values, which are not in values_ yet, or of none.
void Distribution::spell_out(std::uint64_t largest) {
    values_.reset(largest > UINT32_MAX ? 8 : 4, kExact / 4);
    for_each_exact([&](std::uint64_t each) { values_.push_back(each); });
    form_ = Form::exact;
}

void Distribution::spill() {
    PackedValues buckets;
    buckets.reset(2, 2 * kExact);
    for_each_exact([&](std::uint64_t value) { buckets.push_back(bucket_of(value)); });
    values_ = std::move(buckets);
    form_ = Form::log;
}

inline void Distribution::keep_in_bucket(std::size_t bucket, std::uint64_t times) {
    if (form_ != Form::dense && times > values_.capacity() - values_.size()) make_room(times);
    if (form_ == Form::dense) return count_in_bucket(bucket, times);
    form_ = Form::log;
    for (; times > 0; --times)
        values_.push_back(bucket);
}

/// The log is full.
void Distribution::make_room(std::uint64_t times) {
    const auto [low, high] = std::minmax_element(values_.begin(), values_.end());
    const std::size_t buckets = values_.size() > 0 ? *high - *low + std::size_t{1} : 0;
    const bool dense_is_smaller =
        2 * sizeof(std::uint16_t) * values_.capacity() >= sizeof(std::uint32_t) * buckets;
    if (dense_is_smaller || times > kMaxInLog - values_.size()) make_dense();
}

void Distribution::make_dense() {
    const PackedValues buckets = std::exchange(values_, {});
    const auto [low, high] = std::minmax_element(buckets.begin(), buckets.end());
    first_bucket_ = buckets.size() > 0 ? *low : std::uint16_t{0};
    values_.reset(4, 1);
    if (buckets.size() > 0) values_.resize(*high - *low + std::size_t{1});
    form_ = Form::dense;
    for (const std::uint16_t bucket : buckets)
        count_in_bucket(bucket, 1);
}

inline void Distribution::count_in_bucket(std::size_t bucket, std::uint64_t times) {
    if (values_.size() == 0) first_bucket_ = static_cast<std::uint16_t>(bucket);
    if (bucket < first_bucket_) {
        values_.grow_front(first_bucket_ - bucket);
        first_bucket_ = static_cast<std::uint16_t>(bucket);
    } else if (bucket - first_bucket_ >= values_.size()) {
        values_.resize(bucket - first_bucket_ + 1);
    }
    const std::size_t at = bucket - first_bucket_;
    const std::uint64_t sum = values_[at] + times;
    if (sum > UINT32_MAX && values_.bytes() == 4) values_.widen(8);
    values_.set(at, sum);
}

/// In buckets. No value is less than `least`, or more than `largest`.
void Distribution::count_all(std::span<const std::uint64_t> values, std::uint64_t least,
                             std::uint64_t largest) {
    count_in_bucket(bucket_of(least), 0);
    count_in_bucket(bucket_of(largest), 0);
    if (values_.bytes() == 4 && count_ + values.size() <= UINT32_MAX) {
        std::uint32_t* const counts = values_.words() - first_bucket_;
        for (const std::uint64_t value : values)
            ++counts[bucket_of(value)];
        return;
    }
    for (const std::uint64_t value : values)
        count_in_bucket(bucket_of(value), 1);
}

/// To an empty one, more than two, and so few that they are kept as they are.
void Distribution::add_first(std::span<const std::uint64_t> values) {
    max_ = std::ranges::max(values);
    values_.reset(max_ > UINT32_MAX ? 8 : 4, values.size());
    form_ = Form::exact;
    for (const std::uint64_t value : values) {
        values_.push_back(value);
        sum_ = saturating_sum(sum_, value);
        least_.add(value);
    }
    count_ = values.size();
}

void Distribution::add_all(std::span<const std::uint64_t> values) {
    if (count_ == 0 && values.size() > 2 && values.size() <= kExact) return add_first(values);
    std::size_t done = 0;
    for (; done < values.size() && form_ != Form::dense; ++done)
        add(values[done]);
    values = values.subspan(done);
    if (values.empty()) return;
    std::uint64_t least = UINT64_MAX, largest = 0, sum = 0;
    for (const std::uint64_t value : values) {
        least = std::min(least, value);
        largest = std::max(largest, value);
        sum += value;
    }
    count_all(values, least, largest);
    count_ += values.size();
    // Where the sum may have overflowed, it is that of each by itself.
    if (largest > UINT64_MAX / values.size())
        for (const std::uint64_t value : values)
            sum_ = saturating_sum(sum_, value);
    else
        sum_ = saturating_sum(sum_, sum);
    least_.add_all(values, least);
    max_ = std::max(max_, largest);
}

void Distribution::seal() {
    if (form_ != Form::log) return;
    std::sort(values_.begin(), values_.end());
    form_ = Form::sorted;
}

void Distribution::clear() {
    count_ = sum_ = max_ = 0;
    least_ = {};
    values_.clear();
    first_bucket_ = 0;
    form_ = Form::few;
}

void Distribution::merge(const Distribution& other) {
    if (!other.counts_in_buckets()) {
        Least least = least_;
        least.merge(other.least_);
        if (other.form_ == Form::exact && form_ != Form::exact && !counts_in_buckets()) spell_out(max_);
        other.for_each_exact([this](std::uint64_t value) { add(value); });
        least_ = least;  // that of merge_unsure()
        return;
    }
    if (!counts_in_buckets()) spill();
    count_ += other.count_;
    sum_ = saturating_sum(sum_, other.sum_);
    least_.merge(other.least_);
    max_ = std::max(max_, other.max_);
    other.for_each_bucket([this](std::size_t bucket, std::uint64_t times) { keep_in_bucket(bucket, times); });
}

void Distribution::merge_unsure(const Distribution& other, const Least& bounds, std::uint64_t floor) {
    const bool first = count_ == 0;
    if (!first) {
        if (form_ != Form::exact && !counts_in_buckets()) spell_out(max_);
        least_.merge(bounds);
        floor = std::max(floor, min());
    }
    if (first && floor <= other.min()) return merge(other);
    std::uint64_t sum = other.sum_;
    other.for_each([&](std::uint64_t value, std::uint64_t times) {
        const std::uint64_t raised = std::max(value, floor);
        sum = saturating_sum(sum, saturating_product(raised - value, times));
        keep(raised, times);
        count_ += times;
        if (first) least_.add(raised, times);
        max_ = std::max(max_, raised);
    });
    sum_ = saturating_sum(sum_, sum);
    if (other.count_ > 0) max_ = std::max(max_, other.max_);
}

template <class Use>
void Distribution::for_each(const Use& use) const {
    if (!counts_in_buckets())
        return for_each_exact([&](std::uint64_t value) { use(value, std::uint64_t{1}); });
    for_each_bucket([&](std::size_t bucket, std::uint64_t times) {
        use(std::clamp(middle_of(bucket), min(), max_), times);
    });
}

double Distribution::lost_from(std::uint64_t sum, std::uint64_t count, double base) {
    // Exact for an integer base. With others, a loss no larger than rounding errors is 0.
    constexpr double kRounding = 1e-13;
    constexpr double kBeyondAll = 0x1p64;
    const double whole = std::floor(base);
    if (whole >= kBeyondAll) return 0;
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
        std::array<std::uint64_t, kExact> sorted;
        std::size_t size = 0;
        for_each_exact([&](std::uint64_t value) { sorted[size++] = value; });
        std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(rank - 1),
                         sorted.begin() + static_cast<std::ptrdiff_t>(size));
        return sorted[rank - 1];
    }
    std::uint64_t seen = 0;
    std::uint64_t found = max_;
    for_each_bucket([&](std::size_t bucket, std::uint64_t times) {
        if (seen < rank && seen + times >= rank) found = std::clamp(middle_of(bucket), min(), max_);
        seen += times;
    });
    return found;
}

}  // namespace rdam::score
