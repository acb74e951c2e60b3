#include "analyzer/views/around.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analyzer/report/ranking.h"
#include "tools/base/in_parallel.h"

namespace rdam::views {
namespace {

struct Chosen {
    std::size_t row = 0;
    const score::ScoredCall* call = nullptr;
};

bool overlap(const score::ScoredCall& a, const score::ScoredCall& b) {
    return a.thread == b.thread && a.begin < b.end && b.begin < a.end;
}

/// The calls that lost most, at different times or in different threads.
std::vector<Chosen> largest_losses(const score::Report& report, const Limits& limits) {
    std::vector<Chosen> all;
    for (std::size_t row = 0; row < report.functions.size(); ++row) {
        if (!score::says_something(report.functions[row])) continue;
        for (const score::ScoredCall& call : report.functions[row].sample.calls)
            if (call.lost_ns > 0 && call.end > call.begin) all.push_back({row, &call});
    }
    std::ranges::stable_sort(
        all, [](const Chosen& a, const Chosen& b) { return a.call->lost_ns > b.call->lost_ns; });
    std::vector<Chosen> chosen;
    std::vector<std::size_t> of_row(report.functions.size());
    for (const Chosen& each : all) {
        if (chosen.size() == limits.most) break;
        if (of_row[each.row] == limits.of_function) continue;
        if (std::ranges::any_of(chosen, [&](const Chosen& one) { return overlap(*one.call, *each.call); }))
            continue;
        ++of_row[each.row];
        chosen.push_back(each);
    }
    return chosen;
}

/// Which have to be read, in whole chunks.
std::uint64_t events_in(const trace::TraceReader& reader, const score::Report& report,
                        const Surroundings& window) {
    std::uint64_t events = 0;
    for (const score::ThreadRow& thread : report.threads)
        events += reader.events_of_part(thread.number, {window.begin, window.end});
    return events;
}

/// With some time before and after the call, and narrowed down to its end as long as too much would have to
/// be read.
Surroundings window_of(const trace::TraceReader& reader, const score::Report& report, const Chosen& chosen,
                       const Limits& limits) {
    constexpr std::uint64_t kMargin = 4;  // of the call's time
    const score::ScoredCall& call = *chosen.call;
    Surroundings window{.row = chosen.row,
                        .thread = call.thread,
                        .call_begin = call.begin,
                        .call_end = call.end,
                        .duration_ns = call.duration_ns,
                        .lost_ns = call.lost_ns,
                        .lanes = {}};
    std::uint64_t before = call.end - call.begin;
    for (;;) {
        const std::uint64_t margin = before / kMargin + 1;
        const std::uint64_t reach = before + margin;
        window.begin = call.end > reach ? call.end - reach : 0;
        window.end = call.end + std::min(margin, UINT64_MAX - call.end);
        window.shortened = window.begin > call.begin;
        if (events_in(reader, report, window) <= limits.events || before < limits.columns) return window;
        before /= 2;
    }
}

void mark(const Surroundings& window, std::uint32_t function, Lane& lane) {
    for (Slice& slice : lane.slices)
        slice.marked = slice.function == function && slice.begin == window.call_begin && slice.calls == 1;
}

std::uint64_t time_in_calls(const Lane& lane) {
    std::uint64_t sum = 0;
    for (const Slice& slice : lane.slices)
        if (slice.depth == 0) sum += slice.end - slice.begin;
    return sum;
}

/// The call's thread first, then those that were longest in calls.
void sort_lanes(Surroundings& window) {
    std::ranges::stable_sort(window.lanes, [&](const Lane& a, const Lane& b) {
        const auto order = [&](const Lane& lane) {
            return std::pair{lane.thread == window.thread, time_in_calls(lane)};
        };
        return order(a) > order(b);
    });
}

void keep_most(std::size_t lanes, Surroundings& window) {
    if (window.lanes.size() <= lanes) return;
    sort_lanes(window);
    window.left_out += window.lanes.size() - lanes;
    window.lanes.resize(lanes);
}

/// `off`: of the thread; empty: not recorded.
bool ran_in(const Surroundings& window, const trace::ThreadInfo& thread, std::span<const trace::OffCpu> off) {
    const std::uint64_t begin = std::max(window.begin, thread.start);
    const std::uint64_t end = thread.end == 0 ? window.end : std::min(window.end, thread.end);
    if (off.empty() || begin >= end) return false;
    std::uint64_t away = 0;
    for (const trace::OffCpu& each : off)
        if (each.out < end && each.in > begin) away += std::min(each.in, end) - std::max(each.out, begin);
    return away < end - begin;
}

/// A time that a thread had a processor for.
struct Presence {
    std::uint64_t begin = 0, end = 0;
    std::size_t thread = 0;  ///< index into Report::threads
};
/// By processor.
using Presences = std::map<std::uint16_t, std::vector<Presence>>;

/// The thread's times in a window between two absences, of the end of the first of which the processor is known. Those
/// too short to be drawn are left out: there is room for a few hundred of each processor.
void add_presences(std::span<const trace::OffCpu> off, std::size_t thread, const Surroundings& window,
                   std::size_t columns, Presences& found) {
    const std::uint64_t shortest = (window.end - window.begin) / std::max<std::size_t>(columns, 1);
    auto next = std::partition_point(off.begin(), off.end(),
                                     [&](const trace::OffCpu& each) { return each.in <= window.begin; });
    if (next != off.begin()) --next;
    for (; next != off.end() && next->in < window.end; ++next) {
        const std::uint64_t begin = std::max(next->in, window.begin);
        const std::uint64_t end = next + 1 == off.end() ? begin : std::min(next[1].out, window.end);
        if (next->cpu != trace::kNoCpu && end > begin && end - begin >= shortest)
            found[next->cpu].push_back({begin, end, thread});
    }
}

/// By absence: the processor that the thread had before it.
std::vector<Meanwhile> left_by(std::span<const trace::OffCpu> all, std::span<const trace::OffCpu> shown) {
    std::vector<Meanwhile> out;
    std::uint16_t left = trace::kNoCpu;
    auto each = shown.begin();
    for (std::size_t i = 0; i < all.size() && each != shown.end(); ++i) {
        if (i > 0 && !trace::same_absence(all[i - 1], all[i])) left = all[i - 1].cpu;
        if (all[i].out != each->out) continue;
        out.push_back({.processor = left != trace::kNoCpu ? left : each->cpu});
        ++each;
    }
    return out;
}

/// `presences`: of all threads in the window, in the order of time.
void find_meanwhile(const Presences& presences, Lane& lane) {
    for (std::size_t i = 0; i < lane.off.size(); ++i) {
        const trace::OffCpu& off = lane.off[i];
        Meanwhile& found = lane.meanwhile[i];
        if (!off.preempted || off.by_recorder || found.processor == trace::kNoCpu) continue;
        const auto here = presences.find(found.processor);
        if (here == presences.end()) continue;
        // A processor has one thread at a time.
        auto each = std::ranges::upper_bound(here->second, off.out, {}, &Presence::end);
        std::map<std::size_t, std::uint64_t> had;
        for (; each != here->second.end() && each->begin < off.in; ++each)
            if (each->thread != lane.thread)
                had[each->thread] += std::min(each->end, off.in) - std::max(each->begin, off.out);
        for (const auto& [thread, ticks] : had)
            if (ticks > found.ticks) {
                found.thread = thread;
                found.ticks = ticks;
            }
    }
}

/// The lanes of one thread, by window, and when it had which processor.
struct OfThread {
    std::vector<Lane> lanes;
    std::vector<Presences> presences;
};
Result<OfThread> lanes_of(const trace::TraceReader& reader, const score::Report& report,
                          const calls::KnownEnds& ends, std::size_t thread, const Limits& limits,
                          const std::vector<Surroundings>& windows) {
    const std::uint32_t number = report.threads[thread].number;
    const auto off = reader.off_cpu(number);
    if (!off) return tl::unexpected{off.error()};
    OfThread found;
    for (const Surroundings& window : windows) {
        auto lane = read_lane(reader, ends, number, {window.begin, window.end}, limits.columns);
        if (!lane) return tl::unexpected{lane.error()};
        lane->thread = thread;
        lane->off = within(*off, {window.begin, window.end}, limits.columns);
        lane->meanwhile = left_by(*off, lane->off);
        add_presences(*off, thread, window, limits.columns, found.presences.emplace_back());
        lane->ran = ran_in(window, reader.info().threads[number], *off);
        if (thread == window.thread) mark(window, report.functions[window.row].function, *lane);
        found.lanes.push_back(std::move(*lane));
    }
    return found;
}

void add_lanes(std::vector<Lane> lanes, const Limits& limits, std::vector<Surroundings>& windows) {
    for (std::size_t w = 0; w < windows.size(); ++w) {
        Surroundings& window = windows[w];
        if (lanes[w].thread == window.thread || lanes[w].ran || !lanes[w].slices.empty())
            window.lanes.push_back(std::move(lanes[w]));
        if (window.lanes.size() > 2 * limits.lanes) keep_most(limits.lanes, window);
    }
}

}  // namespace

Result<std::vector<Surroundings>> surroundings(const trace::TraceReader& reader, const score::Report& report,
                                               const Limits& limits) {
    std::vector<Surroundings> windows;
    const std::uint64_t most = std::max(limits.events, reader.events() / 2);
    std::uint64_t events = 0;
    for (const Chosen& chosen : largest_losses(report, limits)) {
        const Surroundings window = window_of(reader, report, chosen, limits);
        events += events_in(reader, report, window);
        if (events > most && !windows.empty()) break;
        windows.push_back(window);
    }
    const calls::KnownEnds ends = calls::KnownEnds::of(reader.info());
    std::vector<Presences> presences(windows.size());
    // Several threads at a time, and no more than those, as all their lanes are kept meanwhile.
    const unsigned jobs = score::threads_for(limits.jobs);
    for (std::size_t first = 0; first < report.threads.size(); first += jobs) {
        const std::size_t count = std::min<std::size_t>(jobs, report.threads.size() - first);
        std::vector<Result<OfThread>> lanes(count);
        score::in_parallel(count, jobs, [&](std::size_t i) {
            lanes[i] = lanes_of(reader, report, ends, first + i, limits, windows);
        });
        for (auto& each : lanes) {
            if (!each) return tl::unexpected{each.error()};
            for (std::size_t w = 0; w < windows.size(); ++w)
                for (const auto& [processor, more] : each->presences[w]) {
                    std::vector<Presence>& all = presences[w][processor];
                    all.insert(all.end(), more.begin(), more.end());
                }
            add_lanes(std::move(each->lanes), limits, windows);
        }
    }
    for (std::size_t w = 0; w < windows.size(); ++w) {
        keep_most(limits.lanes, windows[w]);
        sort_lanes(windows[w]);
        for (auto& [processor, all] : presences[w])
            std::ranges::sort(all, {}, &Presence::begin);
        for (Lane& lane : windows[w].lanes)
            find_meanwhile(presences[w], lane);
    }
    return windows;
}

namespace {

/// Slices of one depth, in the order in which they end. Short neighbours become one.
class Row {
  public:
    void add(const Slice& slice, std::uint64_t shortest) {
        const std::uint64_t length = slice.end - slice.begin;
        if (length < shortest && !slices_.empty() && mergeable_ && slice.begin >= slices_.back().end &&
            slice.end - slices_.back().begin <= shortest) {
            Slice& last = slices_.back();
            if (length > longest_) {
                longest_ = length;
                last.function = slice.function;
            }
            last.end = slice.end;
            ++last.calls;
            return;
        }
        mergeable_ = length < shortest;
        longest_ = length;
        slices_.push_back(slice);
    }
    const std::vector<Slice>& slices() const { return slices_; }

  private:
    std::vector<Slice> slices_;
    bool mergeable_ = false;
    std::uint64_t longest_ = 0;  // of the calls that the last slice holds
};

class Collector final : public calls::CallSink {
  public:
    Collector(const trace::TraceInfo& info, const trace::TimePart& part, std::size_t columns)
        : known_ends_(calls::with_known_ends(info)),
          part_(part),
          shortest_((part.end - part.begin) / std::max<std::size_t>(columns, 1)) {}

    void opened(const trace::Event& enter, std::uint64_t /*weight*/) override {
        const bool shown = known_ends_.empty() || known_ends_[enter.function];
        open_.push_back({enter.tsc, enter.function, shown});
        depth_ += shown ? 1 : 0;
    }
    void closed(const calls::Call& call) override {
        const bool shown = pop();
        if (call.timed && shown)
            add({.begin = call.begin, .end = call.last->tsc, .function = call.function, .depth = depth_});
    }
    void abandoned(std::size_t count) override {
        // At the end of what was read: they go on, or nobody saw them end.
        for (; count > 0; --count) {
            const Open call = open_.back();
            if (pop() && ended_)
                add({.begin = call.begin,
                     .end = std::max(part_.end, call.begin),
                     .function = call.function,
                     .depth = depth_,
                     .open = true});
        }
    }
    void tree_ended(std::uint64_t /*weight*/) override {}

    void end() { ended_ = true; }
    std::vector<Slice> take() const {
        std::vector<Slice> all;
        for (const Row& row : rows_)
            all.insert(all.end(), row.slices().begin(), row.slices().end());
        return all;
    }

  private:
    struct Open {
        std::uint64_t begin = 0;
        std::uint32_t function = 0;
        bool shown = true;
    };

    /// Takes the innermost open call away; whether it is shown.
    bool pop() {
        const bool shown = open_.back().shown;
        open_.pop_back();
        depth_ -= shown ? 1 : 0;
        return shown;
    }

    void add(const Slice& slice) {
        if (slice.end < part_.begin || slice.begin > part_.end || slice.depth >= kMaxDepth) return;
        rows_[slice.depth].add(slice, shortest_);
    }

    std::vector<bool> known_ends_;  // by function; empty: all
    trace::TimePart part_;
    std::uint64_t shortest_;
    std::array<Row, kMaxDepth> rows_;
    std::vector<Open> open_;
    std::uint32_t depth_ = 0;  // of open calls that are shown
    bool ended_ = false;
};

}  // namespace

Result<Lane> read_lane(const trace::TraceReader& reader, const calls::KnownEnds& ends, std::uint32_t thread,
                       const trace::TimePart& part, std::size_t columns) {
    Lane lane;
    if (reader.events_of_part(thread, part) > 0) {
        Collector collector{reader.info(), part, columns};
        calls::Matcher matcher{reader.info().functions.size(), {}, {}, collector};
        matcher.set_known_ends(ends);
        auto read = reader.read_part(
            thread, part, [&](std::span<const trace::Event> events) { matcher.consume(events); },
            [&] { matcher.gap(); });
        if (!read) return tl::unexpected{read.error()};
        collector.end();
        matcher.finish();
        lane.slices = collector.take();
    }
    return lane;
}

std::vector<trace::OffCpu> within(std::span<const trace::OffCpu> intervals, const trace::TimePart& part,
                                  std::size_t columns) {
    const std::uint64_t shortest = (part.end - part.begin) / std::max<std::size_t>(columns, 1);
    std::vector<trace::OffCpu> found;
    auto next = std::partition_point(intervals.begin(), intervals.end(),
                                     [&](const trace::OffCpu& each) { return each.in <= part.begin; });
    for (; next != intervals.end() && next->out < part.end; ++next)
        if (next->in - next->out >= shortest) found.push_back(*next);
    return found;
}

}  // namespace rdam::views
