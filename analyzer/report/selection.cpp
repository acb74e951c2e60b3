#include "analyzer/report/selection.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "analyzer/calls/matcher.h"
#include "analyzer/report/places.h"
#include "analyzer/sequences/keys.h"
#include "tools/base/glob.h"
#include "tools/base/name_text.h"
#include "tools/trace/clock.h"

namespace rdam::score {
namespace {

bool matches(const trace::FunctionInfo& function, std::string_view pattern) {
    const auto is_name = [&](std::string_view glob) {
        return glob_match(glob, function.name) || glob_match(glob, function.linkage_name);
    };
    if (is_name(pattern)) return true;
    const std::size_t colon = find_scope_colon(pattern);
    return colon != std::string_view::npos && glob_match(pattern.substr(0, colon), function.module) &&
           is_name(pattern.substr(colon + 1));
}

Result<void> show_functions(const trace::TraceInfo& info, const Selection& selection,
                            std::vector<bool>& shown) {
    for (const std::string& pattern : selection.functions) {
        // The literal name first, here as in a list: `operator*` is one.
        const auto named = sequences::find_functions(info, pattern);
        bool found = named.has_value();
        if (named) {
            for (const std::uint32_t function : *named)
                shown[function] = true;
        } else {
            for (std::size_t f = 0; f < info.functions.size(); ++f) {
                if (!matches(info.functions[f], pattern)) continue;
                shown[f] = true;
                found = true;
            }
        }
        if (!found && !selection.may_miss) return tl::unexpected{named.error()};
    }
    return {};
}

bool matches(const trace::ThreadInfo& thread, std::string_view pattern) {
    return std::to_string(thread.tid) == pattern || glob_match(pattern, thread.name);
}

std::string some_threads(const trace::TraceInfo& info) {
    constexpr std::size_t kShown = 5;
    std::string text;
    for (std::size_t t = 0; t < std::min(kShown, info.threads.size()); ++t)
        text += fmt::format("{}{} ({})", t == 0 ? "" : ", ", info.threads[t].tid, info.threads[t].name);
    if (info.threads.size() > kShown) text += fmt::format(" and {} more", info.threads.size() - kShown);
    return text.empty() ? "none" : text;
}

Result<std::vector<std::uint32_t>> find_threads(const trace::TraceInfo& info, const Selection& selection) {
    std::vector<bool> wanted(info.threads.size(), selection.threads.empty());
    for (const std::string& pattern : selection.threads) {
        bool found = false;
        for (std::size_t t = 0; t < info.threads.size(); ++t) {
            if (!matches(info.threads[t], pattern)) continue;
            wanted[t] = found = true;
        }
        if (!found && !selection.may_miss) {
            return fail("{}: the trace has no thread with this tid or name; it has {}", pattern,
                        some_threads(info));
        }
    }
    std::vector<std::uint32_t> threads;
    for (std::uint32_t t = 0; t < wanted.size(); ++t) {
        if (wanted[t]) threads.push_back(t);
    }
    return threads;
}

std::uint64_t first_begin(const trace::TraceInfo& info) {
    std::uint64_t begin = UINT64_MAX;
    for (const trace::ThreadInfo& thread : info.threads) {
        if (thread.start != 0) begin = std::min(begin, thread.start);
    }
    return begin == UINT64_MAX ? info.clock.start_tsc : begin;
}

/// t + ticks, within what a timestamp can be.
std::uint64_t moved(std::uint64_t t, double ticks) {
    constexpr double kMax = 1.8e19;
    if (ticks < 0) return t - std::min(t, static_cast<std::uint64_t>(std::min(-ticks, kMax)));
    const auto forward = static_cast<std::uint64_t>(std::min(ticks, kMax));
    return forward > UINT64_MAX - t ? UINT64_MAX : t + forward;
}

/// Nanoseconds by which the run is older than the process.
double age_of_run(const trace::TraceInfo& info, const Selection& selection) {
    if (selection.run_start_unix_ns == 0) return 0;
    return static_cast<double>(static_cast<std::int64_t>(start_unix_ns(info) - selection.run_start_unix_ns));
}

trace::TickRange window_of(const trace::TraceInfo& info, const Selection& selection) {
    const double ns_per_tick = trace::nanoseconds_per_tick(info.clock);
    const double age = age_of_run(info, selection);
    const std::uint64_t begin = first_begin(info);
    const auto tick = [&](double ns) { return moved(begin, std::round((ns - age) / ns_per_tick)); };
    trace::TickRange range;
    if (selection.since_ns) range.begin = tick(*selection.since_ns);
    if (selection.until_ns) range.end = tick(*selection.until_ns);
    return range;
}

/// The thread with the part of its life that lies in the window; empty: none does.
std::optional<trace::ThreadInfo> clipped(trace::ThreadInfo thread, const trace::TickRange& range,
                                         const calls::EventWindow& window) {
    const bool over =
        thread.end != 0 ? thread.end <= range.begin : thread.start < range.begin && !window.reaches_begin();
    if (over || thread.start >= range.end) return std::nullopt;
    const trace::TickRange life{thread.start, thread.end};
    if (thread.start < range.begin && (thread.start != 0 || window.begins_before()))
        thread.start = range.begin;
    if (thread.end > range.end || (thread.end == 0 && window.reaches_end())) thread.end = range.end;
    // How many of the calls that it has counted were in a part of its life is not known.
    if (thread.start != life.begin || thread.end != life.end) thread.calls_until = 0;
    return thread;
}

void count_cut_off(const calls::EventWindow& window, const calls::MatchCounts& counts, AnalyzedTrace& trace) {
    trace.left_out.cut_off += window.cut_at_begin();
    if (!window.reaches_end()) return;
    trace.left_out.cut_off += counts.abandoned_at_end;
    trace.cut_at_end += counts.abandoned_at_end;
}

/// By path and by time, of functions for which `shown` is set.
void keep_losses(const std::vector<bool>& shown, Report& report) {
    show_only(shown, report.paths);
    std::erase_if(report.course.cells, [&](const CourseCell& cell) { return !shown[cell.function]; });
}

void keep_functions(const trace::TraceInfo& info, const std::vector<bool>& shown, Report& report) {
    report.left_out.functions = static_cast<std::uint64_t>(
        std::erase_if(report.functions, [&](const FunctionRow& row) { return !shown[row.function]; }));
    keep_losses(shown, report);
    std::set<std::string> names;
    for (std::size_t f = 0; f < shown.size(); ++f) {
        if (shown[f]) names.insert(qualified_name(info.functions[f].module, info.functions[f].name));
    }
    std::erase_if(report.never_called, [&](const std::string& name) { return !names.contains(name); });
}

}  // namespace

std::uint64_t start_unix_ns(const trace::TraceInfo& info) {
    const trace::TimeScale scale{.origin = info.clock.start_tsc,
                                 .ns_per_tick = trace::nanoseconds_per_tick(info.clock)};
    return info.clock.start_unix_ns + static_cast<std::uint64_t>(scale.since_origin(first_begin(info)));
}

Result<ResolvedSelection> resolve_selection(const trace::TraceInfo& info, const Selection& selection) {
    ResolvedSelection resolved;
    if (selection.has_window()) resolved.window = window_of(info, selection);
    auto threads = find_threads(info, selection);
    if (!threads) return tl::unexpected{threads.error()};
    resolved.threads = std::move(*threads);
    resolved.shown.assign(info.functions.size(), selection.functions.empty());
    if (auto found = show_functions(info, selection, resolved.shown); !found)
        return tl::unexpected{found.error()};
    resolved.run_begin = first_begin(info);
    return resolved;
}

Result<std::optional<Presence>> presence(const trace::TraceReader& reader, const Selection& selection) {
    const auto resolved = resolve_selection(reader.info(), selection);
    if (!resolved) return tl::unexpected{resolved.error()};
    const trace::TickRange window = resolved->window.value_or(trace::TickRange{});
    trace::TickRange all{UINT64_MAX, 0};
    bool in_window = false;
    for (const std::uint32_t t : resolved->threads) {
        const std::uint64_t begin = reader.begin_of(t), end = std::max(begin, reader.end_of(t));
        if (end == 0) continue;
        all = {std::min(all.begin, begin), std::max(all.end, end)};
        in_window = in_window || (begin < window.end && (end > window.begin || begin >= window.begin));
    }
    if (all.end == 0) return std::nullopt;
    const double ns_per_tick = trace::nanoseconds_per_tick(reader.info().clock);
    const auto since_start = [&](std::uint64_t tsc) {
        return age_of_run(reader.info(), selection) +
               static_cast<double>(static_cast<std::int64_t>(tsc - resolved->run_begin)) * ns_per_tick;
    };
    return Presence{since_start(all.begin), since_start(all.end), in_window};
}

AnalyzedTrace analyzed_trace(const TraceFacts& facts, const Selection& asked,
                             const ResolvedSelection& selection, SelectedThreads threads) {
    AnalyzedTrace trace{.info = facts.info,
                        .damage = facts.damage,
                        .threads = {},
                        .numbers = {},
                        .left_out = {},
                        .shown = {}};
    if (!asked.asks_for_a_part()) {
        trace.threads = std::move(threads.times);
        return trace;
    }
    trace.info.threads.clear();
    for (const std::uint32_t t : selection.threads) {
        std::optional<trace::ThreadInfo> thread = facts.info.threads[t];
        if (selection.window) thread = clipped(*thread, *selection.window, *threads.windows[t]);
        if (!thread) continue;
        trace.info.threads.push_back(std::move(*thread));
        trace.numbers.push_back(t);
        trace.threads.push_back(std::move(threads.times[t]));
        if (selection.window) count_cut_off(*threads.windows[t], trace.threads.back()->counts, trace);
    }
    trace.run_begin = selection.run_begin;
    trace.left_out.part = true;
    trace.left_out.since_ns = asked.since_ns;
    trace.left_out.until_ns = asked.until_ns;
    trace.left_out.threads = facts.info.threads.size() - trace.info.threads.size();
    trace.shown = selection.shown;
    return trace;
}

Report leave_out(const AnalyzedTrace& trace, Report report) {
    report.left_out = trace.left_out;
    for (std::size_t t = 0; t < trace.numbers.size(); ++t)
        report.threads[t].number = trace.numbers[t];
    // A call that was open when the window began is not known.
    if (report.left_out.since_ns)
        for (ThreadRow& thread : report.threads)
            thread.recorded_high = 1;
    report.counts.abandoned_at_end -= trace.cut_at_end;
    if (!trace.shown.empty()) keep_functions(trace.info, trace.shown, report);
    // Nobody has listed them: of such a function other tools have ends alone.
    if (!report.process.recorder.empty() && !report.left_out.of_the_run()) report.never_called.clear();
    // On which path and when it was lost is not known, either.
    if (const std::vector<bool> known = calls::with_known_ends(trace.info); !known.empty())
        keep_losses(known, report);
    return report;
}

}  // namespace rdam::score
