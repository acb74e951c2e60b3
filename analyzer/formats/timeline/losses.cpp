#include "analyzer/formats/timeline/losses.h"

#include <algorithm>
#include <bit>

namespace rdam::formats {
namespace {

bool is_larger(const LargeLoss& a, const LargeLoss& b) {
    if (a.lost != b.lost) return a.lost > b.lost;
    return a.span.begin != b.span.begin ? a.span.begin < b.span.begin : a.span.end < b.span.end;
}

double own_loss(const views::Closed& call) {
    return call.timed ? call.lost : 0;
}

}  // namespace

std::size_t SizeCounts::class_of(double value) {
    if (!(value > 0)) return 0;
    // The exponent and the first four bits after the point: steps of 3 to 6 %.
    constexpr unsigned kMantissa = 52, kShown = 4;
    constexpr std::uint64_t kOne = (std::uint64_t{1023} << kShown) - 1;  // 1.0 is the first one
    const std::uint64_t steps = std::bit_cast<std::uint64_t>(value) >> (kMantissa - kShown);
    return static_cast<std::size_t>(std::clamp<std::uint64_t>(steps, kOne + 1, kOne + kClasses - 1) - kOne);
}

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

void LargestLosses::add(const LargeLoss& loss) {
    if (heap_.size() == kMost) {
        if (!is_larger(loss, heap_.front())) return;
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

std::vector<Span> LargestLosses::joined(std::size_t most) const {
    std::vector<LargeLoss> losses = heap_;
    std::sort(losses.begin(), losses.end(), is_larger);
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

void NestedCounts::opened(std::uint32_t depth) {
    if (inner_.size() < depth + std::size_t{2}) inner_.resize(depth + std::size_t{2});
    inner_[depth + std::size_t{1}] = 0;
}

void NestedCounts::closed(std::uint32_t depth, double lost) {
    const double most = std::max(lost, inner_[depth + std::size_t{1}]);
    counts_.add(most);
    inner_[depth] = std::max(inner_[depth], most);
}

void LossCounts::add(const LossCounts& other) {
    counts.add(other.counts);
    largest.add(other.largest);
    calls += other.calls;
}

void Losses::closed(const views::Closed& call) {
    const double lost = own_loss(call);
    nested_.closed(call.depth, lost);
    if (lost > 0) largest_.add({lost, {call.begin, call.tsc}});
    ++calls_;
}

class EarlyLosses::OfThread final : public views::CallVisitor {
  public:
    void opened(const views::Opened& call) override { most_.opened(call.depth); }
    void closed(const views::Closed& call) override {
        const double lost = own_loss(call);
        least_.add(lost);
        most_.closed(call.depth, lost + call.baseline * kPart);
        if (lost > 0) largest_.add({lost, {call.begin, call.tsc}});
        ++calls_;
    }
    LossCounts most() const { return {most_.counts(), largest_, calls_}; }
    const SizeCounts& least() const { return least_; }

  private:
    NestedCounts most_;
    SizeCounts least_;
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
