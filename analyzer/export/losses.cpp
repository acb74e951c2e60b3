#include "analyzer/export/losses.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rdam::formats {
namespace {

double own_loss(const views::Closed& call) {
    return call.timed ? call.lost : 0;
}

}  // namespace

void SizeCounts::add(const SizeCounts& other) {
    for (std::size_t i = 0; i < kClasses; ++i)
        counts_[i] += other.counts_[i];
}

std::uint64_t SizeCounts::from(std::size_t first) const {
    std::uint64_t sum = 0;
    for (std::size_t i = first; i < kClasses; ++i)
        sum += counts_[i];
    return sum;
}

std::size_t SizeCounts::class_with_at_most(std::uint64_t most) const {
    std::uint64_t sum = 0;
    for (std::size_t i = kClasses; i-- > 0;) {
        sum += counts_[i];
        if (sum > most) return i + 1;
    }
    return 0;
}

void LargestLosses::insert(const LargeLoss& loss) {
    if (heap_.size() == kKnown) {
        std::pop_heap(heap_.begin(), heap_.end(), is_larger);
        heap_.pop_back();
    }
    heap_.push_back(loss);
    std::push_heap(heap_.begin(), heap_.end(), is_larger);
}

void LargestLosses::add(const LargestLosses& other) {
    for (const LargeLoss& loss : other.heap_)
        add(loss);
}

std::vector<LargeLoss> LargestLosses::sorted() const {
    std::vector<LargeLoss> all = heap_;
    std::sort(all.begin(), all.end(), is_larger);
    std::vector<LargeLoss> losses;
    std::set<std::pair<std::uint64_t, std::uint64_t>> there;
    for (const LargeLoss& each : all)
        if (losses.size() < kMost && there.insert({each.span.begin, each.span.end}).second)
            losses.push_back(each);
    return losses;
}

std::optional<LargeLoss> LargestLosses::least_within(std::uint64_t slices) const {
    std::optional<LargeLoss> least;
    for (const LargeLoss& loss : sorted()) {
        if (loss.slices > slices) return least;
        slices -= loss.slices;
        least = loss;
    }
    return least;
}

std::vector<Span> LargestLosses::joined(std::size_t most) const {
    std::vector<LargeLoss> losses = sorted();
    losses.resize(std::min(losses.size(), most));
    std::sort(losses.begin(), losses.end(),
              [](const LargeLoss& a, const LargeLoss& b) { return a.span.begin < b.span.begin; });
    std::vector<Span> spans;
    for (const LargeLoss& loss : losses) {
        if (!spans.empty() && loss.span.begin <= spans.back().end)
            spans.back().end = std::max(spans.back().end, loss.span.end);
        else
            spans.push_back(loss.span);
    }
    return spans;
}

void LossCounts::add(const LossCounts& other) {
    counts.add(other.counts);
    largest.add(other.largest);
    calls += other.calls;
}

void Losses::closed(const views::Closed& call) {
    const double lost = own_loss(call);
    nested_.closed(call.depth, lost);
    if (lost > 0) largest_.add({lost, {call.begin, call.tsc}, call.depth + std::uint64_t{1}});
    ++calls_;
}

class EarlyLosses::OfThread final : public views::CallVisitor {
  public:
    void opened(const views::Opened& /*call*/) override {}
    void closed(const views::Closed& call) override {
        const double lost = own_loss(call);
        least_.add(lost);
        most_.closed(call.depth, lost + call.baseline * kPart);
        if (lost > 0) largest_.add({lost, {call.begin, call.tsc}, call.depth + std::uint64_t{1}});
        ++calls_;
        if (call.baseline > 0) look_again_later(call);
    }
    LossCounts most() const {
        LossCounts counts{most_.counts(), largest_, calls_};
        for (const Unsettled& each : unsettled_) {
            LargeLoss longest = each.longest;
            longest.lost -= each.base;
            if (longest.lost > 0) counts.largest.add(longest);
        }
        return counts;
    }
    const SizeCounts& least() const { return least_; }

  private:
    /// Of a sequence: what was compared with another baseline than the last one.
    struct Unsettled {
        double base = 0;
        LargeLoss longest;  ///< `lost` is its duration
        LargeLoss since;    ///< … since the baseline changed
    };

    void look_again_later(const views::Closed& call) {
        if (call.sequence >= unsettled_.size()) unsettled_.resize(call.sequence + std::size_t{1});
        Unsettled& own = unsettled_[call.sequence];
        if (own.base != call.baseline) {
            if (is_larger(own.since, own.longest)) own.longest = own.since;
            own.since = {};
            own.base = call.baseline;
        }
        if (call.duration > own.since.lost)
            own.since = {call.duration, {call.begin, call.tsc}, call.depth + std::uint64_t{1}};
    }

    NestedCounts most_;
    SizeCounts least_;
    std::vector<Unsettled> unsettled_;
    LargestLosses largest_;
    std::uint64_t calls_ = 0;
};

std::unique_ptr<views::CallVisitor> EarlyLosses::begin() {
    return std::make_unique<OfThread>();
}

void EarlyLosses::end(const views::CallVisitor& visitor) {
    const auto& thread = static_cast<const OfThread&>(visitor);
    const std::lock_guard guard{mutex_};
    most_.add(thread.most());
    least_.add(thread.least());
}

}  // namespace rdam::formats
