#include "analyzer/formats/budget.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "analyzer/score/in_parallel.h"

namespace rdam::formats {
namespace {

/// So many largest losses show what other threads did meanwhile.
constexpr std::size_t kShown = 100;
/// … as far as that lasted for a part of the loss.
constexpr std::uint64_t kPartOfShown = 100;

struct LargeLoss {
    double lost = 0;
    Span span;
};
bool is_larger(const LargeLoss& a, const LargeLoss& b) {
    return a.lost > b.lost || (a.lost == b.lost && a.span.begin < b.span.begin);
}

/// What the calls of a thread lost, each at least as much as any call inside it: from a threshold on, these
/// are the calls above it with all calls around them.
class Losses final : public views::CallVisitor {
  public:
    void opened(const views::Opened& call) override {
        inner_.resize(call.depth + std::size_t{2});
        inner_[call.depth + std::size_t{1}] = 0;
    }
    void closed(const views::Closed& call) override {
        const double own = call.timed ? call.lost : 0;
        const double most = std::max(own, inner_[call.depth + std::size_t{1}]);
        counts_.add(most);
        inner_[call.depth] = std::max(inner_[call.depth], most);
        if (own > 0 && (largest_.size() < kShown || own > largest_.front().lost))
            keep({own, {call.begin, call.tsc}});
    }
    const SizeCounts& counts() const { return counts_; }
    const std::vector<LargeLoss>& largest() const { return largest_; }

  private:
    void keep(const LargeLoss& loss) {
        if (largest_.size() == kShown) {
            std::pop_heap(largest_.begin(), largest_.end(), is_larger);
            largest_.pop_back();
        }
        largest_.push_back(loss);
        std::push_heap(largest_.begin(), largest_.end(), is_larger);
    }

    SizeCounts counts_;
    std::vector<double> inner_{0};    // by depth: the most of calls there, since the call around them began
    std::vector<LargeLoss> largest_;  // a heap, the least first
};

std::vector<Span> joined(std::vector<LargeLoss> losses) {
    std::sort(losses.begin(), losses.end(), is_larger);
    losses.resize(std::min(losses.size(), kShown));
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

std::size_t SizeCounts::class_with_at_most(std::uint64_t most) const {
    std::uint64_t sum = 0;
    for (std::size_t i = kClasses; i-- > 0;) {
        sum += counts_[i];
        if (sum > most) return i + 1;
    }
    return 0;
}

Result<Kept> Kept::choose(const views::Visit& visit, std::uint64_t budget, unsigned jobs) {
    const auto& threads = visit.threads();
    std::vector<Losses> losses(threads.size());
    std::vector<SizeCounts> off(threads.size());
    std::vector<std::optional<Error>> errors(threads.size());
    score::in_parallel(threads.size(), score::threads_for(jobs), [&](std::size_t i) {
        if (auto read = visit.thread(threads[i], losses[i]); !read) errors[i] = read.error();
        const auto intervals = visit.off_cpu(threads[i]);
        if (!intervals) errors[i] = intervals.error();
        if (errors[i]) return;
        for (const trace::OffCpu& each : *intervals)
            off[i].add(static_cast<double>(each.in - each.out));
    });
    SizeCounts all_losses, all_off;
    std::vector<LargeLoss> largest;
    for (std::size_t i = 0; i < threads.size(); ++i) {
        if (errors[i]) return tl::unexpected{*errors[i]};
        all_losses.add(losses[i].counts());
        all_off.add(off[i]);
        largest.insert(largest.end(), losses[i].largest().begin(), losses[i].largest().end());
    }
    Kept kept;
    kept.all_ = false;
    kept.lost_ = all_losses.class_with_at_most(budget / 2);
    kept.off_ = all_off.class_with_at_most(budget / 4);
    kept.around_ = joined(std::move(largest));
    return kept;
}

/// Whether it lasted for a part of one of the largest losses.
bool Kept::is_around(const views::Closed& call) const {
    auto next = std::partition_point(around_.begin(), around_.end(),
                                     [&](const Span& span) { return span.end < call.begin; });
    for (; next != around_.end() && next->begin <= call.tsc; ++next) {
        const std::uint64_t shared = std::min(call.tsc, next->end) - std::max(call.begin, next->begin);
        if (shared >= (next->end - next->begin) / kPartOfShown + 1) return true;
    }
    return false;
}

}  // namespace rdam::formats
