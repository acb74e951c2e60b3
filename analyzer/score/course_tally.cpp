#include "analyzer/score/course_tally.h"

#include <utility>

namespace rdam::score {

namespace {
__extension__ using Wide = unsigned __int128;
}  // namespace

TimeBins::TimeBins(const trace::TickRange& range, std::uint32_t bins) : range_(range), bins_(bins) {
    find(range.begin);
}

std::uint64_t TimeBins::begin_of(std::uint32_t bin) const {
    if (bin == 0) return 0;
    const auto length = static_cast<Wide>(range_.end - range_.begin);
    return range_.begin + static_cast<std::uint64_t>(length * bin / bins_);
}

void TimeBins::find(std::uint64_t t) {
    const std::uint64_t inside = std::clamp(t, range_.begin, range_.end - 1) - range_.begin;
    const auto length = static_cast<Wide>(range_.end - range_.begin);
    bin_ = static_cast<std::uint32_t>(static_cast<Wide>(inside) * bins_ / length);
    while (bin_ + 1 < bins_ && begin_of(bin_ + 1) <= t)
        ++bin_;
    low_ = begin_of(bin_);
    width_ = (bin_ + 1 < bins_ ? begin_of(bin_ + 1) : UINT64_MAX) - low_;
}

bool BinLog::append(std::uint32_t group, std::uint32_t bin, double calls, double time) {
    if (entries_.size() >= most_) return false;
    if (group >= last_.size()) last_.resize(group + std::size_t{1}, kNone);
    last_[group] = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({group, bin, calls, time});
    return true;
}

void BinLog::add_anyway(std::uint32_t group, std::uint32_t bin, double calls, double time) {
    if (add(group, bin, calls, time)) return;
    if (group < last_.size() && last_[group] != kNone) {
        add(group, entries_[last_[group]].bin, calls, time);
        return;
    }
    ++most_;
    append(group, bin, calls, time);
}

void BinLog::renumber(const std::vector<std::uint32_t>& numbers) {
    std::ranges::fill(last_, kNone);
    last_.resize(numbers.size(), kNone);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        entries_[i].group = numbers[entries_[i].group];
        last_[entries_[i].group] = i;
    }
}

std::vector<CourseCalls> BinLog::take() {
    last_ = {};
    return std::exchange(entries_, {});
}

void CourseTally::add_part(std::uint32_t group, std::uint32_t function, std::uint32_t bin, double part,
                           const Time& call) {
    const double calls = call.weight * part;
    const double time = calls * call.duration;
    const std::uint32_t place = call.in_window ? bin + bins_.count() : bin;
    if (groups_log_.add(group, place, calls, time)) return;
    ++approximate_;
    rest_log_.add_anyway(call.in_window ? static_cast<std::uint32_t>(functions_ + function) : function, bin,
                         calls, time);
}

/// The last part is what is left, so that they add up to the whole.
void CourseTally::spread(std::uint32_t group, std::uint32_t function, std::uint32_t first, std::uint32_t last,
                         const Time& call) {
    const auto length = static_cast<double>(call.end - call.begin);
    double left = 1;
    for (std::uint32_t bin = first; bin < last; ++bin) {
        const std::uint64_t begin = std::max(call.begin, bins_.begin_of(bin));
        const std::uint64_t end = std::max(begin, bins_.begin_of(bin + 1));
        const double part = static_cast<double>(end - begin) / length;
        if (part > 0) add_part(group, function, bin, part, call);
        left -= part;
    }
    if (call.end > bins_.begin_of(last)) add_part(group, function, last, std::max(left, 0.0), call);
}

void CourseTally::finish() {
    calls_ = ByGroup<CourseCalls>{groups_log_.take()};
    rest_ = ByGroup<CourseCalls>{rest_log_.take()};
}

}  // namespace rdam::score
