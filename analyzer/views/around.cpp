#include "analyzer/views/around.h"

#include <algorithm>
#include <utility>

#include "analyzer/report/ranking.h"
#include "analyzer/views/lane_reader.h"
#include "tools/base/in_parallel.h"

namespace rdam::around {
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
        if (score::standing(report.functions[row]) != score::Standing::ranked) continue;
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

/// The lanes of one thread, by window.
Result<std::vector<Lane>> lanes_of(const trace::TraceReader& reader, const score::Report& report,
                                   const calls::KnownEnds& ends, std::size_t thread, const Limits& limits,
                                   const std::vector<Surroundings>& windows) {
    const std::uint32_t number = report.threads[thread].number;
    const auto off = reader.off_cpu(number);
    if (!off) return tl::unexpected{off.error()};
    std::vector<Lane> lanes;
    for (const Surroundings& window : windows) {
        auto lane = read_lane(reader, ends, number, {window.begin, window.end}, limits.columns);
        if (!lane) return tl::unexpected{lane.error()};
        lane->thread = thread;
        lane->off = within(*off, {window.begin, window.end}, limits.columns);
        if (thread == window.thread) mark(window, report.functions[window.row].function, *lane);
        lanes.push_back(std::move(*lane));
    }
    return lanes;
}

void add_lanes(std::vector<Lane> lanes, const Limits& limits, std::vector<Surroundings>& windows) {
    for (std::size_t w = 0; w < windows.size(); ++w) {
        Surroundings& window = windows[w];
        if (lanes[w].thread == window.thread || !lanes[w].slices.empty())
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
    // Several threads at a time, and no more than those, as all their lanes are kept meanwhile.
    const unsigned jobs = score::threads_for(limits.jobs);
    for (std::size_t first = 0; first < report.threads.size(); first += jobs) {
        const std::size_t count = std::min<std::size_t>(jobs, report.threads.size() - first);
        std::vector<Result<std::vector<Lane>>> lanes(count);
        score::in_parallel(count, jobs, [&](std::size_t i) {
            lanes[i] = lanes_of(reader, report, ends, first + i, limits, windows);
        });
        for (auto& each : lanes) {
            if (!each) return tl::unexpected{each.error()};
            add_lanes(std::move(*each), limits, windows);
        }
    }
    for (Surroundings& window : windows) {
        keep_most(limits.lanes, window);
        sort_lanes(window);
    }
    return windows;
}

}  // namespace rdam::around
