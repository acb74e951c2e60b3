#include "analyzer/formats/slices.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzer/formats/budget.h"

namespace rdam::formats {
namespace {

/// Time in equal parts.
class Bins {
  public:
    Bins(const score::TickRange& span, std::size_t count) : span_(span), count_(count) {}

    std::size_t count() const { return count_; }
    double length() const {
        return static_cast<double>(span_.end - span_.begin) / static_cast<double>(count_);
    }
    std::size_t of(std::uint64_t tsc) const {
        const double at = static_cast<double>(tsc - std::min(tsc, span_.begin)) / length();
        return std::min(static_cast<std::size_t>(at), count_ - 1);
    }
    std::uint64_t begin(std::size_t bin) const {
        return span_.begin + static_cast<std::uint64_t>(length() * static_cast<double>(bin));
    }

  private:
    score::TickRange span_;
    std::size_t count_;
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
    SliceCalls(const views::Visit& visit, const Kept& kept, const Bins& bins, SliceWriter& writer,
               Written& written)
        : visit_(visit),
          kept_(kept),
          bins_(bins),
          writer_(writer),
          written_(written),
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
        writer_.slice({.function = call.function,
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
    bool goes_on() override { return writer_.good(); }

    void finish(std::vector<double>& inside) {
        for (std::size_t bin = 0; bin < merged_.size(); ++bin)
            if (merged_[bin].calls > 0) write(bin);
        if (std::ranges::any_of(lost_, [](double lost) { return lost != 0; }))
            writer_.lost(points_of(lost_, bins_, visit_.clock()));
        for (std::size_t bin = 0; bin < inside_.size(); ++bin)
            inside[bin] += inside_[bin] / bins_.length();
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
            if (end > begin) inside_[bin] += static_cast<double>(end - begin);
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
        writer_.merged({.begin = visit_.clock().since_origin(bins_.begin(bin)),
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
    SliceWriter& writer_;
    Written& written_;
    std::vector<Open> open_;
    std::vector<std::uint64_t> words_;  // parameters of the open calls
    std::vector<double> lost_, inside_;
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

}  // namespace

Result<Written> write_slices(const views::Visit& visit, const Options& options, SliceWriter& writer) {
    Kept kept;
    if (options.budget > 0) {
        auto chosen = Kept::choose(visit, options.budget, options.jobs);
        if (!chosen) return tl::unexpected{chosen.error()};
        kept = std::move(*chosen);
    }
    const Bins bins{visit.span(), bins_for(visit, options)};
    Written written;
    std::vector<double> inside(bins.count());
    writer.begin();
    for (const std::uint32_t thread : visit.threads()) {
        writer.thread(thread);
        SliceCalls calls{visit, kept, bins, writer, written};
        if (auto read = visit.thread(thread, calls); !read && writer.good())
            return tl::unexpected{read.error()};
        const auto off_cpu = visit.off_cpu(thread);
        if (!off_cpu) return tl::unexpected{off_cpu.error()};
        for (const trace::OffCpu& each : *off_cpu)
            if (kept.keeps(each))
                writer.off_cpu(visit.clock().since_origin(each.out), visit.clock().since_origin(each.in),
                               each.preempted);
        calls.finish(inside);
    }
    writer.inside(points_of(inside, bins, visit.clock()));
    writer.end();
    return written;
}

}  // namespace rdam::formats
