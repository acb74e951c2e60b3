#include "analyzer/export/losses.h"

#include <set>
#include <utility>

#include "tools/base/in_parallel.h"

namespace rdam::exports {

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

namespace {

/// The calls around the largest losses that are shown lasted for such a part of them.
constexpr std::uint64_t kPartOfShown = 100;

/// So many calls, with those around them.
std::uint64_t max_calls(std::uint64_t budget) {
    return budget * 3 / 8;
}

/// The number of the largest losses around which all threads are shown: calls there, of which a thread has
/// kPartOfShown at each depth, take an eighth of the budget.
std::size_t shown_losses(std::uint64_t budget, std::size_t threads) {
    return budget / 8 / (kPartOfShown * std::max<std::size_t>(threads, 1));
}

/// Whether the calls that are chosen by what is known early are nearly those that would be chosen later: of
/// few it is not known what they lost, and most of those that may be above the threshold are.
bool tells_enough(const views::Visit& visit, const EarlyLosses& early, std::uint64_t budget) {
    if (!visit.unsettled() || *visit.unsettled() > max_calls(budget) / 2) return false;
    // By the least of the largest there may be more than those.
    if (const auto least = early.most().largest.least_within(max_calls(budget) / 2);
        least && early.most().counts.from(SizeCounts::class_of(least->lost)) > max_calls(budget))
        return false;
    const std::uint64_t wanted = std::min(early.most().calls, max_calls(budget));
    return early.least().from(early.most().counts.class_with_at_most(max_calls(budget))) >= wanted / 2;
}

Result<LossCounts> count_losses(const views::Visit& visit, unsigned jobs) {
    const auto& threads = visit.threads();
    std::mutex mutex;
    LossCounts all;
    const auto count = [&](std::size_t i) -> Result<void> {
        Losses losses;
        if (auto read = visit.thread(threads[i], losses); !read) return read;
        const std::lock_guard guard{mutex};
        all.add(losses.counts());
        return {};
    };
    if (auto counted = score::try_in_parallel(threads.size(), score::threads_for(jobs), count); !counted)
        return tl::unexpected{counted.error()};
    return all;
}

Result<SizeCounts> count_off_cpu(const views::Visit& visit) {
    SizeCounts counts;
    for (const std::uint32_t thread : visit.threads()) {
        const auto intervals = visit.off_cpu(thread);
        if (!intervals) return tl::unexpected{intervals.error()};
        for (const trace::OffCpu& each : *intervals)
            counts.add(static_cast<double>(each.in - each.out));
    }
    return counts;
}

}  // namespace

Result<Kept> Kept::choose(const views::Visit& visit, std::uint64_t budget, unsigned jobs,
                          const EarlyLosses* early) {
    const auto off = count_off_cpu(visit);
    if (!off) return tl::unexpected{off.error()};
    const bool early_enough = early != nullptr && tells_enough(visit, *early, budget);
    const auto losses = early_enough ? Result<LossCounts>{early->most()} : count_losses(visit, jobs);
    if (!losses) return tl::unexpected{losses.error()};
    Kept kept;
    kept.all_ = false;
    kept.lost_ = SizeCounts::least_of(losses->counts.class_with_at_most(max_calls(budget)));
    if (const auto least = losses->largest.least_within(max_calls(budget) / 2)) {
        kept.least_ = *least;
        // All that may have lost as much.
        if (early_enough) kept.least_.span = {UINT64_MAX, UINT64_MAX};
    }
    kept.off_ = off->class_with_at_most(budget / 4);
    kept.around_ = losses->largest.joined(shown_losses(budget, visit.threads().size()));
    return kept;
}

bool Kept::lasted_for_a_part(const views::Closed& call, std::size_t begun) const {
    for (; begun > 0 && around_[begun - 1].end >= call.begin; --begun) {
        const Span& span = around_[begun - 1];
        const std::uint64_t shared = std::min(call.tsc, span.end) - std::max(call.begin, span.begin);
        if (shared >= (span.end - span.begin) / kPartOfShown + 1) return true;
    }
    return false;
}

}  // namespace rdam::exports
