#include "analyzer/export/slices.h"

#include <atomic>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/export/losses.h"
#include "tools/base/in_parallel.h"

namespace rdam::exports {

namespace {

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
    std::uint32_t function = 0;  ///< the one with most time
};

/// The waits that arrows lead to, and what they come from, by thread.
class ArrowEnds {
  public:
    ArrowEnds(std::span<const Arrow> arrows, const views::Visit& visit) {
        const std::set<std::uint32_t> shown{visit.threads().begin(), visit.threads().end()};
        std::map<std::tuple<std::uint32_t, std::int64_t, std::string>, Waited> releases;
        std::uint64_t id = 0;
        for (const Arrow& arrow : arrows) {
            if (!shown.contains(arrow.from.thread) || !shown.contains(arrow.to.thread)) continue;
            const trace::TimeScale& clock = visit.clock();
            const std::int64_t end = clock.since_origin(arrow.to.at);
            ++id;
            waits_[arrow.to.thread].push_back({.name = arrow.to.name,
                                               .begin = std::min(clock.since_origin(arrow.begin), end),
                                               .end = end,
                                               .waits = true,
                                               .waited_ns = arrow.waited_ns,
                                               .arrows = {id}});
            // Who wakes many does so once.
            Waited& from = releases[{arrow.from.thread, clock.since_origin(arrow.from.at), arrow.from.name}];
            from.name = arrow.from.name;
            from.begin = from.end = clock.since_origin(arrow.from.at);
            from.arrows.push_back(id);
        }
        for (const auto& [place, from] : releases)
            waits_[std::get<0>(place)].push_back(from);
        for (auto& [thread, all] : waits_)
            std::ranges::sort(all, {}, [](const Waited& each) { return std::pair{each.begin, -each.end}; });
    }
    std::span<const Waited> of(std::uint32_t thread) const {
        const auto found = waits_.find(thread);
        return found == waits_.end() ? std::span<const Waited>{} : std::span{found->second};
    }

  private:
    std::map<std::uint32_t, std::vector<Waited>> waits_;
};

/// What is the same for all threads.
struct Scene {
    const views::Visit& visit;
    Kept kept;
    Bins bins;
    ArrowEnds arrows;
    std::size_t most_on_processors = 0;
};

/// The calls of one thread.
class SliceCalls final : public views::CallVisitor {
  public:
    SliceCalls(const Scene& scene, std::uint32_t thread, std::span<const trace::OffCpu> off,
               ThreadSlices& slices, const Buffer& out)
        : visit_(scene.visit),
          kept_(scene.kept),
          bins_(scene.bins),
          thread_(thread),
          off_(off),
          slices_(slices),
          out_(out),
          draws_processors_(scene.most_on_processors > 0),
          processors_(scene.most_on_processors),
          lost_(bins_.count()),
          inside_(bins_.count()),
          merged_(kept_.all() ? 0 : bins_.count()),
          times_(kept_.all() ? 0 : visit_.info().functions.size()) {}

    void opened(const views::Opened& call) override {
        words_.resize(open_.empty() ? 0 : open_.back().words_end);
        for (const std::uint64_t word : call.words)  // one or two: an insertion takes longer
            words_.push_back(word);
        open_.push_back({.tsc = call.tsc,
                         .before = open_.empty() ? outermost_end_ : open_.back().inner_end,
                         .words_end = words_.size(),
                         .cpu = call.cpu});
    }

    void closed(const views::Closed& call) override {
        const std::size_t bin = bins_.of(call.tsc);
        const double lost = call.lost * visit_.clock().ns_per_tick * static_cast<double>(call.weight);
        lost_[bin] += lost;
        if (call.depth == 0) note_inside(call, bin);
        if (kept_.keeps(call, open_.back().inner, begun_))
            write(call);
        else
            merge(call, bin, lost);
        open_.pop_back();
    }
    bool goes_on() const override { return out_.good(); }

    const Written& written() const { return written_; }
    /// Ticks in outermost calls, by bin.
    const std::vector<std::uint64_t>& inside() const { return inside_; }
    const Processors& processors() const { return processors_; }

    void finish() {
        end_bin();
        for (std::size_t bin = 0; bin < merged_.size(); ++bin)
            if (merged_[bin].calls > 0) write(bin);
        if (std::ranges::any_of(lost_, [](double lost) { return lost != 0; }))
            slices_.lost(points_of(lost_, bins_, visit_.clock()));
    }

  private:
    static constexpr std::int64_t kNotAsked = INT64_MIN;

    struct Open {
        std::uint64_t tsc = 0;
        std::int64_t begin = kNotAsked;      ///< begin_of_innermost()
        std::int64_t before = INT64_MIN;     ///< the end of the last kept call next to it
        std::size_t words_end = 0;           ///< in words_
        bool inner = false;                  ///< a call inside it is kept
        std::int64_t inner_end = INT64_MIN;  ///< of the last of these
        std::uint16_t cpu = trace::kNoCpu;
    };

    /// Most are merged, and never asked.
    std::int64_t begin_of_innermost() {
        std::size_t next = open_.size();
        while (next > 0 && open_[next - 1].begin == kNotAsked)
            --next;
        for (; next < open_.size(); ++next) {
            Open& open = open_[next];
            open.begin = visit_.clock().since_origin(open.tsc);
            // A viewer that sorts by time alone must find the call around it first.
            open.begin = std::max(open.begin, open.before);
            if (next > 0) open.begin = std::max(open.begin, open_[next - 1].begin + 1);
        }
        return open_.back().begin;
    }

    /// The innermost open call.
    void write(const views::Closed& call) {
        const std::int64_t begin = begin_of_innermost();
        const Open& open = open_.back();
        if (call.depth == 0 && draws_processors_)
            processors_.add({open.cpu, thread_, call.function, call.begin, call.tsc}, call.cpu, off_);
        const std::int64_t end = std::max({visit_.clock().since_origin(call.tsc), begin, open.inner_end});
        std::size_t first_word = 0;
        if (open_.size() > 1) {
            Open& around = open_[open_.size() - 2];
            around.inner = true;
            around.inner_end = end;
            first_word = around.words_end;
        } else {
            outermost_end_ = end;
        }
        const double ns = visit_.clock().ns_per_tick;
        slices_.slice({.function = call.function,
                       .depth = call.depth,
                       .begin = begin,
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

    /// `last`: the bin in which it ends.
    void note_inside(const views::Closed& call, std::size_t last) {
        for (std::size_t bin = bins_.of(call.begin); bin <= last; ++bin) {
            const std::uint64_t begin = std::max(call.begin, bins_.begin(bin));
            const std::uint64_t end = bin == last ? call.tsc : std::min(call.tsc, bins_.begin(bin + 1));
            if (end > begin) inside_[bin] += end - begin;
        }
    }

    void merge(const views::Closed& call, std::size_t bin, double lost) {
        if (bin != bin_) end_bin();
        bin_ = bin;
        MergedBin& merged = merged_[bin];
        ++merged.calls;
        merged.weight += call.weight;
        merged.lost += lost;
        const double ns = visit_.clock().ns_per_tick * static_cast<double>(call.weight);
        if (!std::isnan(call.self)) merged.self += call.self * ns;
        merged.lost_self += call.lost_self * ns;
        const double time = call.timed ? call.duration * visit_.clock().ns_per_tick : 0;
        if (call.depth == 0) merged.time += time;
        times_.add(call.function, time);
        ++written_.merged;
    }

    /// Calls end in the order of time: no more are merged in the bin.
    void end_bin() {
        if (bin_ < merged_.size() && merged_[bin_].calls > 0) merged_[bin_].function = times_.take_most();
    }

    void write(std::size_t bin) {
        const MergedBin& merged = merged_[bin];
        slices_.merged({.begin = visit_.clock().since_origin(bins_.begin(bin)),
                        .end = visit_.clock().since_origin(bins_.begin(bin + 1)),
                        .calls = merged.calls,
                        .weight = merged.weight,
                        .lost = merged.lost,
                        .time = merged.time,
                        .self = merged.self,
                        .lost_self = merged.lost_self,
                        .function = merged.function});
    }

    const views::Visit& visit_;
    const Kept& kept_;
    const Bins& bins_;
    std::uint32_t thread_;
    std::span<const trace::OffCpu> off_;
    ThreadSlices& slices_;
    const Buffer& out_;
    bool draws_processors_;
    Processors processors_;
    Written written_;
    std::vector<Open> open_;
    std::int64_t outermost_end_ = INT64_MIN;  // of the last kept call with none around it
    std::vector<std::uint64_t> words_;        // parameters of the open calls
    std::vector<double> lost_;
    std::vector<std::uint64_t> inside_;
    std::vector<MergedBin> merged_;
    std::size_t bin_ = 0;    // the last in which calls were merged
    FunctionTimes times_;    // … of those
    std::size_t begun_ = 0;  // Kept::keeps
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
    AllThreads(const Scene& scene, SliceWriter& writer, Sink& sink)
        : scene_(scene),
          writer_(writer),
          in_order_(sink, kHeld),
          processors_(scene.most_on_processors),
          inside_(scene.bins.count()) {}

    Result<Written> write(unsigned jobs) {
        const auto& threads = scene_.visit.threads();
        std::atomic<bool> failed = false;
        const auto write_part = [&](std::size_t i) -> Result<void> {
            InOrder::Part part{in_order_, i};
            if (failed) return {};
            auto one = write_one(threads[i], part);
            if (!one) failed = true;
            return one;
        };
        if (auto all = score::try_in_parallel(threads.size(), jobs, write_part); !all)
            return tl::unexpected{all.error()};
        return written_;
    }
    /// By bin, on average.
    std::vector<double> inside() const {
        std::vector<double> threads;
        for (const std::uint64_t ticks : inside_)
            threads.push_back(static_cast<double>(ticks) / scene_.bins.length());
        return threads;
    }

    const Processors& processors() const { return processors_; }

  private:
    static constexpr std::size_t kHeld = std::size_t{256} << 20;

    Result<void> write_one(std::uint32_t thread, Sink& sink) {
        Buffer out{sink};
        const std::unique_ptr<ThreadSlices> slices = writer_.thread(thread, out);
        const views::Visit& visit = scene_.visit;
        const auto off_cpu = visit.off_cpu(thread);
        if (!off_cpu) return tl::unexpected{off_cpu.error()};
        SliceCalls calls{scene_, thread, *off_cpu, *slices, out};
        if (auto read = visit.thread(thread, calls); !read && out.good()) return read;
        for (const trace::OffCpu& each : *off_cpu)
            if (scene_.kept.keeps(each))
                slices->off_cpu(visit.clock().since_origin(each.out), visit.clock().since_origin(each.in),
                                each.preempted);
        for (const Waited& each : scene_.arrows.of(thread))
            slices->waited(each);
        calls.finish();
        slices->end();
        if (auto done = out.finish({}); !done) return tl::unexpected{done.error()};
        const std::lock_guard guard{mutex_};
        written_.calls += calls.written().calls;
        written_.merged += calls.written().merged;
        processors_.add(calls.processors());
        for (std::size_t bin = 0; bin < inside_.size(); ++bin)
            inside_[bin] += calls.inside()[bin];
        return {};
    }

    const Scene& scene_;
    SliceWriter& writer_;
    InOrder in_order_;
    std::mutex mutex_;
    Written written_;
    Processors processors_;
    std::vector<std::uint64_t> inside_;  // ticks: their sum does not depend on the order
};

void write_processors(const Processors& processors, SliceWriter& writer, Buffer& out) {
    const std::vector<OnProcessor> all = processors.by_processor();
    for (auto begin = all.begin(); begin != all.end();) {
        const auto end =
            std::find_if(begin, all.end(), [&](const OnProcessor& each) { return each.cpu != begin->cpu; });
        writer.processor({begin, end}, out);
        begin = end;
    }
}

}  // namespace

Result<Written> write_slices(const views::Visit& visit, const Options& options, SliceWriter& writer,
                             Sink& sink) {
    Kept kept;
    if (options.budget > 0) {
        auto chosen = Kept::choose(visit, options.budget, options.jobs, options.early);
        if (!chosen) return tl::unexpected{chosen.error()};
        kept = std::move(*chosen);
    }
    constexpr std::uint64_t kPartOfProcessors = 16;
    const std::uint64_t budget = options.budget > 0 ? options.budget : kUsualSlices;
    const Scene scene{.visit = visit,
                      .kept = std::move(kept),
                      .bins = Bins{visit.span(), bins_for(visit, options)},
                      .arrows = ArrowEnds{options.arrows, visit},
                      .most_on_processors = writer.draws_processors() ? budget / kPartOfProcessors : 0};
    Buffer out{sink};
    writer.begin(out);
    if (auto begun = out.finish({}); !begun) return begun;
    AllThreads threads{scene, writer, sink};
    auto written = threads.write(writer.one_by_one() ? 1 : score::threads_for(options.jobs));
    if (!written) return written;
    writer.inside(points_of(threads.inside(), scene.bins, visit.clock()), out);
    write_processors(threads.processors(), writer, out);
    writer.end(out);
    return out.finish(*written);
}

void InOrder::pass_on(std::string_view bytes) {
    if (error_ || bytes.empty()) return;
    if (auto written = sink_.write(bytes); !written) error_ = written.error();
}

Result<void> InOrder::write(std::size_t part, std::string_view bytes) {
    std::unique_lock lock{mutex_};
    moved_.wait(lock, [&] { return error_ || part == turn_ || bytes_ + bytes.size() <= most_; });
    if (!error_ && part == turn_) {
        pass_on(bytes);
        if (error_) moved_.notify_all();
    } else if (!error_) {
        held_[part].bytes += bytes;
        bytes_ += bytes.size();
    }
    if (error_) return tl::unexpected{*error_};
    return {};
}

void InOrder::end(std::size_t part) {
    const std::lock_guard lock{mutex_};
    held_[part].over = true;
    // The next part has what it has written so far passed on, and continues by itself.
    while (!held_.empty() && held_.begin()->first == turn_ && held_.begin()->second.over) {
        held_.erase(held_.begin());
        ++turn_;
        const auto next = held_.find(turn_);
        if (next == held_.end()) break;
        const std::string bytes = std::exchange(next->second.bytes, {});
        bytes_ -= bytes.size();
        pass_on(bytes);
    }
    moved_.notify_all();
}

}  // namespace rdam::exports
