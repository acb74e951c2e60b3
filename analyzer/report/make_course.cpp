#include "analyzer/report/make_course.h"

#include <algorithm>
#include <tuple>

namespace rdam::score {
namespace {

static_assert(Course::kBins == kCourseBins);

/// Where a group comes back to a bin it has several entries.
void merge_bins(std::vector<CourseCalls>& calls) {
    std::ranges::stable_sort(calls, {}, &CourseCalls::bin);
    std::size_t kept = 0;
    for (std::size_t i = 1; i < calls.size(); ++i) {
        if (calls[i].bin != calls[kept].bin) {
            calls[++kept] = calls[i];
            continue;
        }
        calls[kept].calls += calls[i].calls;
        calls[kept].time += calls[i].time;
    }
    if (!calls.empty()) calls.resize(kept + 1);
}

/// The parts of usual calls, or those in windows.
std::vector<CourseCalls> of_kind(std::span<const CourseCalls> calls, bool in_windows) {
    std::vector<CourseCalls> found;
    for (CourseCalls part : calls) {
        if ((part.bin >= kCourseBins) != in_windows) continue;
        part.bin %= kCourseBins;
        found.push_back(part);
    }
    if (found.size() > 1) merge_bins(found);
    return found;
}

std::vector<LossPart> parts_of(const std::vector<CourseCalls>& calls) {
    std::vector<LossPart> parts;
    for (const CourseCalls& part : calls)
        parts.push_back({part.calls, part.time});
    return parts;
}

void add_bins(const std::vector<CourseCalls>& calls, const std::vector<LossPart>& parts, double stands_for,
              double said, std::vector<LossPart>& bins) {
    bins.resize(kCourseBins);
    for (std::size_t i = 0; i < calls.size(); ++i) {
        LossPart& bin = bins[calls[i].bin];
        bin.calls += stands_for * parts[i].calls;
        bin.time += stands_for * parts[i].time;
        bin.lost += said * parts[i].lost;
    }
}

}  // namespace

trace::TickRange course_span(const trace::TraceInfo& info, const std::optional<trace::TickRange>& window,
                             const std::function<std::uint64_t(std::uint32_t)>& end_of) {
    trace::TickRange span{UINT64_MAX, 0};
    for (std::uint32_t t = 0; t < info.threads.size(); ++t) {
        if (info.threads[t].start != 0) span.begin = std::min(span.begin, info.threads[t].start);
        span.end = std::max(span.end, end_of(t));
    }
    if (span.begin == UINT64_MAX) span.begin = info.clock.start_tsc;
    if (window) span = {std::max(span.begin, window->begin), std::min(span.end, window->end)};
    return span.begin < span.end ? span : trace::TickRange{0, 0};
}

void CourseMaker::add_part(const GroupLoss& loss, const GroupPart& part, bool in_windows, Rests& rests,
                           Bins& bins) const {
    const CourseTally& tally = *context_.threads[loss.thread]->course;
    const std::vector<CourseCalls> calls = of_kind(tally.calls().of(loss.group), in_windows);
    std::vector<LossPart> parts = parts_of(calls);
    const RecordedLoss& whole = part.outermost;
    if (tally.approximate() > 0)
        rests[loss.thread].divide_group({.calls = whole.calls, .time = whole.time, .lost = whole.lost},
                                        whole.base, part.said, parts);
    else
        divide_loss(whole.lost, whole.base, parts);
    add_bins(calls, parts, part.stands_for, part.said, bins);
}

void CourseMaker::add_rest(std::uint32_t function, std::size_t thread, bool in_windows, const LossRest& rest,
                           Bins& bins) const {
    const CourseTally& tally = *context_.threads[thread]->course;
    const auto slot = static_cast<std::uint32_t>(in_windows ? tally.functions() + function : function);
    const std::vector<CourseCalls> calls = of_kind(tally.rest().of(slot), false);
    std::vector<LossPart> parts = parts_of(calls);
    rest.divide(parts);
    add_bins(calls, parts, in_windows ? context_.estimate(function, thread)->expansion() : 1, 1, bins);
}

std::vector<CourseCell> CourseMaker::cells(const FunctionRow& row) const {
    std::vector<Bins> bins(context_.threads.size());
    Rests usual, in_windows;
    for (const GroupLoss& loss : group_losses(context_, row)) {
        if (!context_.threads[loss.thread]->course) continue;
        add_part(loss, loss.usual, false, usual, bins[loss.thread]);
        if (loss.in_windows.outermost.calls > 0)
            add_part(loss, loss.in_windows, true, in_windows, bins[loss.thread]);
    }
    for (const auto& [thread, rest] : usual)
        add_rest(row.function, thread, false, rest, bins[thread]);
    for (const auto& [thread, rest] : in_windows)
        add_rest(row.function, thread, true, rest, bins[thread]);
    std::vector<CourseCell> cells;
    for (std::uint32_t t = 0; t < bins.size(); ++t) {
        for (std::uint32_t b = 0; b < bins[t].size(); ++b) {
            const LossPart& bin = bins[t][b];
            if (bin.calls > 0)
                cells.push_back({t, row.function, b, bin.calls, bin.time * context_.ns_per_tick,
                                 bin.lost * context_.ns_per_tick});
        }
    }
    return cells;
}

Course CourseMaker::course(std::vector<CourseCell> cells) const {
    Course course;
    for (const auto& thread : context_.threads) {
        if (!thread->course) continue;
        const trace::TickRange& range = thread->course->bins().range();
        const auto ticks = [&](std::uint64_t from, std::uint64_t to) {
            return to >= from ? static_cast<double>(to - from) : -static_cast<double>(from - to);
        };
        course.begin_ns = ticks(context_.run_begin, range.begin) * context_.ns_per_tick;
        course.bin_ns = ticks(range.begin, range.end) / Course::kBins * context_.ns_per_tick;
        course.approximate += thread->course->approximate();
    }
    std::ranges::sort(cells, [](const CourseCell& a, const CourseCell& b) {
        return std::tie(a.thread, a.function, a.bin) < std::tie(b.thread, b.function, b.bin);
    });
    course.cells = std::move(cells);
    return course;
}

}  // namespace rdam::score
