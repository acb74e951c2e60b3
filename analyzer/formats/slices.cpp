#include "analyzer/formats/slices.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <optional>

#include "analyzer/formats/budget.h"
#include "analyzer/formats/in_order.h"
#include "analyzer/score/in_parallel.h"

namespace rdam::formats {
namespace {

/// Time in equal parts.
class Bins {
  public:
    Bins(const score::TickRange& span, std::size_t count)
        : span_(span),
          count_(count),
          length_(static_cast<double>(span.end - span.begin) / static_cast<double>(count)),
          per_tick_(1 / length_) {}

    std::size_t count() const { return count_; }
    double length() const { return length_; }
    std::size_t of(std::uint64_t tsc) const {
        const double at = static_cast<double>(tsc - std::min(tsc, span_.begin)) * per_tick_;
        return std::min(static_cast<std::size_t>(at), count_ - 1);
    }
    std::uint64_t begin(std::size_t bin) const {
        return span_.begin + static_cast<std::uint64_t>(length() * static_cast<double>(bin));
    }

  private:
    score::TickRange span_;
    std::size_t count_;
    double length_, per_tick_;
};

/// Where the value changes, by bin.
std::vector<CounterPoint> points_of(const std::vector<double>& values, const Bins& bins,
                                    const trace::TimeScale& clock) {
    const std::int64_t begin = clock.since_origin(bins.begin(0));
    const double length = bins.length() * clock.ns_per_tick;
    std::vector<CounterPoint> points;
    for (std::size_t bin = 0; bin < values.size(); ++bin)
        if (points.empty() || values[bin] != points.back().value)
            points.push_back(
                {begin + static_cast<std::int64_t>(length * static_cast<double>(bin)), values[bin]});
    return points;
}

struct MergedBin {
    std::uint64_t calls = 0, weight = 0;
    double lost = 0, time = 0, self = 0, lost_self = 0;
    std::map<std::uint32_t, double> times;  ///< by function
};

/// The calls of one thread.
class SliceCalls final : public views::CallVisitor {
  public:
    SliceCalls(const views::Visit& visit, const Kept& kept, const Bins& bins, ThreadSlices& slices,
               const Buffer& out)
        : visit_(visit),
          kept_(kept),
          bins_(bins),
          slices_(slices),
          out_(out),
          lost_(bins.count()),
          inside_(bins.count()),
          merged_(kept.all() ? 0 : bins.count()) {}

    void opened(const views::Opened& call) override {
        words_.resize(open_.empty() ? 0 : open_.back().words_end);
        words_.insert(words_.end(), call.words.begin(), call.words.end());
        const std::int64_t tsc = visit_.clock().since_origin(call.tsc);
        // A viewer that sorts by time alone must find the call around it first.
        const std::int64_t begin = open_.empty() ? tsc : std::max(tsc, open_.back().begin + 1);
        open_.push_back({.begin = begin, .words_end = words_.size()});
    }

    void closed(const views::Closed& call) override {
        const Open open = open_.back();
        open_.pop_back();
        const std::size_t bin = bins_.of(call.tsc);
        const double ns = visit_.clock().ns_per_tick;
        const double lost = call.lost * ns * static_cast<double>(call.weight);
        lost_[bin] += lost;
        if (call.depth == 0) note_inside(call);
        if (!kept_.keeps(call, open.inner)) return merge(call, bin, lost);
        if (!open_.empty()) open_.back().inner = true;
        const std::size_t first_word = open_.empty() ? 0 : open_.back().words_end;
        const std::int64_t end = std::max(visit_.clock().since_origin(call.tsc), open.begin);
        slices_.slice({.function = call.function,
                       .depth = call.depth,
                       .begin = open.begin,
                       .end = end,
                       .lost = call.lost * ns,
                       .baseline = call.baseline * ns,
                       .self = std::isnan(call.self) ? 0 : call.self * ns,
                       .lost_self = call.lost_self * ns,
                       .scored = call.timed && call.outermost,
                       .weight = call.weight,
                       .how = call.end,
                       .words = std::span{words_}.subspan(first_word, open.words_end - first_word),
                       .result = call.result});
        ++written_.calls;
    }
    bool goes_on() override { return out_.good(); }

    const Written& written() const { return written_; }
    /// Ticks in outermost calls, by bin.
    const std::vector<std::uint64_t>& inside() const { return inside_; }

    void finish() {
        for (std::size_t bin = 0; bin < merged_.size(); ++bin)
            if (merged_[bin].calls > 0) write(bin);
        if (std::ranges::any_of(lost_, [](double lost) { return lost != 0; }))
            slices_.lost(points_of(lost_, bins_, visit_.clock()));
    }

  private:
    struct Open {
        std::int64_t begin = 0;
        std::size_t words_end = 0;  ///< in words_
        bool inner = false;         ///< a call inside it is kept
    };

    void note_inside(const views::Closed& call) {
        const std::size_t last = bins_.of(call.tsc);
        for (std::size_t bin = bins_.of(call.begin); bin <= last; ++bin) {
            const std::uint64_t begin = std::max(call.begin, bins_.begin(bin));
            const std::uint64_t end = bin == last ? call.tsc : std::min(call.tsc, bins_.begin(bin + 1));
            if (end > begin) inside_[bin] += end - begin;
        }
    }

    void merge(const views::Closed& call, std::size_t bin, double lost) {
        MergedBin& merged = merged_[bin];
        ++merged.calls;
        merged.weight += call.weight;
        merged.lost += lost;
        const double ns = visit_.clock().ns_per_tick * static_cast<double>(call.weight);
        if (!std::isnan(call.self)) merged.self += call.self * ns;
        merged.lost_self += call.lost_self * ns;
        const double time = call.timed ? call.duration * visit_.clock().ns_per_tick : 0;
        if (call.depth == 0) merged.time += time;
        merged.times[call.function] += time;
        ++written_.merged;
    }

    void write(std::size_t bin) {
        const MergedBin& merged = merged_[bin];
        const auto most = std::max_element(merged.times.begin(), merged.times.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        slices_.merged({.begin = visit_.clock().since_origin(bins_.begin(bin)),
                        .end = visit_.clock().since_origin(bins_.begin(bin + 1)),
                        .calls = merged.calls,
                        .weight = merged.weight,
                        .lost = merged.lost,
                        .time = merged.time,
                        .self = merged.self,
                        .lost_self = merged.lost_self,
                        .function = most->first});
    }

    const views::Visit& visit_;
    const Kept& kept_;
    const Bins& bins_;
    ThreadSlices& slices_;
    const Buffer& out_;
    Written written_;
    std::vector<Open> open_;
    std::vector<std::uint64_t> words_;  // parameters of the open calls
    std::vector<double> lost_;
    std::vector<std::uint64_t> inside_;
    std::vector<MergedBin> merged_;
};

/// At most a quarter of the budget for merged slices and counters.
std::size_t bins_for(const views::Visit& visit, const Options& options) {
    const auto threads = static_cast<std::size_t>(std::ranges::count_if(
        visit.threads(), [&](std::uint32_t thread) { return visit.has_events(thread); }));
    constexpr std::size_t kUsual = 2000;
    if (options.budget == 0) return kUsual;
    const std::size_t each = options.budget / 8 / std::max<std::size_t>(threads, 1);
    return std::clamp<std::size_t>(each, 1, kUsual);
}

/// All threads, several at a time.
class AllThreads {
  public:
    AllThreads(const views::Visit& visit, const Kept& kept, const Bins& bins, SliceWriter& writer, Sink& sink)
        : visit_(visit),
          kept_(kept),
          bins_(bins),
          writer_(writer),
          in_order_(sink, kHeld),
          inside_(bins.count()) {}

    Result<Written> write(unsigned jobs) {
        const auto& threads = visit_.threads();
        score::in_parallel(threads.size(), jobs, [&](std::size_t i) {
            InOrder::Part part{in_order_, i};
            if (failed()) return;
            if (auto one = write_one(threads[i], part); !one) fail_with(one.error());
        });
        if (error_) return tl::unexpected{*error_};
        return written_;
    }
    /// By bin, on average.
    std::vector<double> inside() const {
        std::vector<double> threads;
        for (const std::uint64_t ticks : inside_)
            threads.push_back(static_cast<double>(ticks) / bins_.length());
        return threads;
    }

  private:
    static constexpr std::size_t kHeld = std::size_t{256} << 20;

    Result<void> write_one(std::uint32_t thread, Sink& sink) {
        Buffer out{sink};
        const std::unique_ptr<ThreadSlices> slices = writer_.thread(thread, out);
        SliceCalls calls{visit_, kept_, bins_, *slices, out};
        if (auto read = visit_.thread(thread, calls); !read && out.good()) return read;
        const auto off_cpu = visit_.off_cpu(thread);
        if (!off_cpu) return tl::unexpected{off_cpu.error()};
        for (const trace::OffCpu& each : *off_cpu)
            if (kept_.keeps(each))
                slices->off_cpu(visit_.clock().since_origin(each.out), visit_.clock().since_origin(each.in),
                                each.preempted);
        calls.finish();
        slices->end();
        if (auto done = out.finish({}); !done) return tl::unexpected{done.error()};
        const std::lock_guard guard{mutex_};
        written_.calls += calls.written().calls;
        written_.merged += calls.written().merged;
        for (std::size_t bin = 0; bin < inside_.size(); ++bin)
            inside_[bin] += calls.inside()[bin];
        return {};
    }
    bool failed() {
        const std::lock_guard guard{mutex_};
        return error_.has_value();
    }
    void fail_with(const Error& error) {
        const std::lock_guard guard{mutex_};
        if (!error_) error_ = error;
    }

    const views::Visit& visit_;
    const Kept& kept_;
    const Bins& bins_;
    SliceWriter& writer_;
    InOrder in_order_;
    std::mutex mutex_;
    Written written_;
    std::vector<std::uint64_t> inside_;  // ticks: their sum does not depend on the order
    std::optional<Error> error_;
};

}  // namespace

Result<Written> write_slices(const views::Visit& visit, const Options& options, SliceWriter& writer,
                             Sink& sink) {
    Kept kept;
    if (options.budget > 0) {
        auto chosen = Kept::choose(visit, options.budget, options.jobs, options.early);
        if (!chosen) return tl::unexpected{chosen.error()};
        kept = std::move(*chosen);
    }
    const Bins bins{visit.span(), bins_for(visit, options)};
    Buffer out{sink};
    writer.begin(out);
    if (auto begun = out.finish({}); !begun) return begun;
    AllThreads threads{visit, kept, bins, writer, sink};
    auto written = threads.write(writer.one_by_one() ? 1 : score::threads_for(options.jobs));
    if (!written) return written;
    writer.inside(points_of(threads.inside(), bins, visit.clock()), out);
    writer.end(out);
    return out.finish(*written);
}

}  // namespace rdam::formats
