#include "analyzer/report/score_trace.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <optional>
#include <set>
#include <utility>

#include "analyzer/calls/call_stream.h"
#include "analyzer/calls/crowding.h"
#include "analyzer/report/function_row.h"
#include "analyzer/report/places.h"
#include "analyzer/report/summary.h"
#include "analyzer/score/thread_analysis.h"
#include "analyzer/score/thread_times.h"
#include "analyzer/sequences/known_functions.h"
#include "tools/base/files.h"
#include "tools/base/in_parallel.h"
#include "tools/trace/event.h"
#include "tools/trace/expansion_lock.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::score {
namespace {

/// Threads with more open calls than stacks of the usual size hold are read one at a time.
constexpr std::size_t kDeep = std::size_t{1} << 14;

/// What is no pause (calls/off_cpu_pauses.h) of the thread's times off the processors.
void sum_off_in_windows(std::span<const trace::OffCpu> intervals, const trace::TickRange& life,
                        std::uint64_t since, OffInWindows& times) {
    for (const trace::OffCpu& each : intervals) {
        if (each.by_recorder || each.by_program) continue;
        const std::uint64_t begin = std::max({each.out, life.begin, since}),
                            end = std::min(each.in, life.end);
        if (begin >= end) continue;
        const auto time = static_cast<double>(end - begin);
        (each.preempted ? times.preempted : times.blocked) += time;
        (each.preempted ? times.preempted_squares : times.blocked_squares) += time * time;
    }
}

/// The selected threads of the trace, several at a time, longest first.
class Threads {
  public:
    Threads(const trace::TraceReader& reader, const calls::Absences& off_cpu,
            const ResolvedSettings& settings, const ResolvedSelection& selection)
        : reader_(reader),
          off_cpu_(off_cpu),
          settings_(settings),
          window_(selection.window),
          order_(selection.threads) {
        std::ranges::stable_sort(order_, std::ranges::greater{},
                                 [&](std::uint32_t t) { return reader.events_of(t); });
        const std::size_t threads = reader.info().threads.size();
        out_.times.resize(threads);
        out_.windows.resize(threads);
        if (settings.max_course > 0)
            course_ = course_span(reader.info(), window_, [&](std::uint32_t t) { return reader.end_of(t); });
    }

    Result<SelectedThreads> read(unsigned jobs, const ReadProgress& progress) {
        std::future<Result<void>> done = std::async(std::launch::async, [this, jobs] {
            return try_in_parallel(order_.size(), jobs, [&](std::size_t i) -> Result<void> {
                if (stopped_) return {};
                try {
                    // Workers that have nothing left to do can decode for the others.
                    return analyze_thread(order_[i], order_.size() - i < jobs);
                } catch (const std::exception& error) {
                    return fail("thread {} of the trace: {}", order_[i], error.what());
                }
            });
        });
        try {
            while (done.wait_for(std::chrono::milliseconds{200}) != std::future_status::ready)
                if (progress) progress(events_.load(std::memory_order_relaxed));
        } catch (...) {
            stopped_ = true;
            throw;
        }
        if (auto all = done.get(); !all) return tl::unexpected{all.error()};
        return std::move(out_);
    }

  private:
    Result<void> analyze_thread(std::uint32_t thread, bool ahead) {
        const auto off_cpu = off_cpu_.thread(thread);
        if (!off_cpu) return tl::unexpected{off_cpu.error()};
        if (auto read = read_thread(thread, *off_cpu, {}, ahead); !read) return read;
        if (!out_.times[thread]->counts.hides_calls) return {};
        // Hardly ever: which calls never end is known now, and what was made without is worth nothing.
        out_.times[thread].reset();
        const auto goes_on = [&](std::size_t /*events*/) { return !is_stopped(); };
        const auto unended = calls::unended_calls(
            reader_, thread, *off_cpu,
            {.window = window_, .ignored = settings_.ignored, .ends = settings_.ends}, goes_on);
        if (!unended) return tl::unexpected{unended.error()};
        return read_thread(thread, *off_cpu, *unended, ahead);
    }

    Result<void> read_thread(std::uint32_t thread, std::span<const trace::OffCpu> off_cpu,
                             std::span<const std::uint64_t> unended, bool ahead) {
        trace::ExpansionLock turn;
        const trace::TickRange life =
            calls::life_in(reader_.info().threads[thread], window_.value_or(trace::TickRange{}));
        ThreadAnalysis analysis{reader_.info(), settings_};
        analysis.expect(reader_.events_of(thread));
        analysis.set_course(course_);
        analysis.set_life(life);
        analysis.set_unended(unended);
        const OffTimes off{off_cpu};
        if (reader_.info().switches.state == trace::SwitchInfo::State::recorded) analysis.set_off_times(&off);
        calls::CallStream stream{
            reader_,
            thread,
            off_cpu,
            {.window = window_, .ignored = settings_.ignored, .ends = settings_.ends, .sums_off_cpu = true}};
        const auto stops = [this] { return is_stopped(); };
        const auto goes_on = [&](std::size_t events) {
            // What is read once more is no progress.
            if (unended.empty()) events_.fetch_add(events, std::memory_order_relaxed);
            if (analysis.open_calls() > kDeep) turn.take(stops);
            return !is_stopped();
        };
        if (auto read = stream.read(analysis, goes_on, ahead, &turn); !read) return read;
        out_.windows[thread] = stream.take_window();
        out_.times[thread] = analysis.finish();
        note_off_cpu(off_cpu, off, stream.off_cpu_in_pauses(), *out_.times[thread]);
        auto& all = out_.times[thread]->off_in_windows;
        for (auto each = all.begin(); each != all.end(); ++each)
            sum_off_in_windows(off_cpu, life, reader_.info().functions[each->first].windowed_since,
                               each.value());
        return {};
    }

    bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }

    void note_off_cpu(std::span<const trace::OffCpu> intervals, const OffTimes& off, std::uint64_t in_pauses,
                      ThreadTimes& times) const {
        using State = trace::SwitchInfo::State;
        const State state = reader_.info().switches.state;
        if (state != State::recorded && state != State::stopped) return;
        if (state == State::recorded) times.sampling_windows.note_off_cpu(intervals);
        times.off_cpu = sum_off_cpu(intervals, window_.value_or(trace::TickRange{}));
        times.off_cpu->in_pauses = in_pauses;
        if (settings_.off_in_timeline) {
            times.off_in_timeline = samples::OffSample{settings_.max_in_windows, settings_.window_shift};
            for (const trace::OffCpu& each : intervals)
                times.off_in_timeline.offer({each.out, each.in, each.preempted});
        }
        if (settings_.max_sampled == 0) return;
        for (samples::CallSample& sample : times.samples)
            sample.set_off_times([&](std::uint64_t tsc) { return off.until(tsc); });
    }

    const trace::TraceReader& reader_;
    const calls::Absences& off_cpu_;
    const ResolvedSettings& settings_;
    std::optional<trace::TickRange> window_;
    trace::TickRange course_{0, 0};
    std::vector<std::uint32_t> order_;
    SelectedThreads out_;
    std::atomic<std::uint64_t> events_ = 0;
    std::atomic<bool> stopped_ = false;
};

/// Calls of each function and thread that are kept: fewer if there are many of both.
std::size_t max_calls_sampled(const trace::TraceInfo& info) {
    constexpr std::size_t kInAll = std::size_t{1} << 20;
    constexpr std::size_t kOfFunction = std::size_t{1} << 16;
    constexpr std::size_t kMax = 4096;
    constexpr std::size_t kMin = 16;
    const std::size_t functions = std::max<std::size_t>(info.functions.size(), 1);
    const std::size_t threads = std::max<std::size_t>(info.threads.size(), 1);
    return std::clamp(std::min(kInAll / functions, kOfFunction) / threads, kMin, kMax);
}

/// The size of the batch of each thread if so many are analyzed at a time: larger batches are not faster, and
/// their sum stays bounded.
std::size_t batch_bytes(unsigned jobs, std::size_t threads) {
    constexpr std::size_t kInAll = std::size_t{256} << 20;
    constexpr std::size_t kMax = std::size_t{24} << 20;
    return std::min(kMax, kInAll / std::clamp<std::size_t>(jobs, 1, std::max<std::size_t>(threads, 1)));
}

/// What is kept of places takes some hundred megabytes at most, and some kilobytes for each thread.
void want_places(const Settings& settings, std::size_t threads, ResolvedSettings& resolved) {
    constexpr std::size_t kMaxPaths = std::size_t{1} << 16;
    constexpr std::size_t kPathsInAll = std::size_t{1} << 20;
    constexpr std::size_t kInAll = std::size_t{1} << 22;
    constexpr std::size_t kMin = std::size_t{1} << 10;
    threads = std::max<std::size_t>(threads, 1);
    if (settings.paths) {
        resolved.max_paths = std::clamp(kPathsInAll / threads, kMin, kMaxPaths);
        resolved.max_path_groups = std::max(kInAll / threads, kMin);
        resolved.path_callers = settings.path_callers;
    }
    if (settings.course) resolved.max_course = std::max(kInAll / threads, kMin);
}

void note_windows(const trace::TraceInfo& info, ResolvedSettings& settings) {
    for (const trace::FunctionInfo& function : info.functions)
        settings.windowed.push_back(function.windowed_since != 0);
    if (std::ranges::find(settings.windowed, true) == settings.windowed.end()) return;
    settings.windows = std::make_shared<const WindowTable>(info.windows);
    std::set<std::uint64_t> since;
    for (const trace::FunctionInfo& function : info.functions)
        if (function.windowed_since != 0) since.insert(function.windowed_since);
    settings.sampled_since.assign(since.begin(), since.end());
}

/// Of functions that may fail, above all those that try to take a lock.
void note_results(const trace::TraceInfo& info, ResolvedSettings& settings) {
    for (const trace::FunctionInfo& function : info.functions) {
        const CatalogueFunction* const known = sequences::known_function(function);
        const bool may_fail = known != nullptr && (known->zero_fails || known->other_fails);
        const bool told = may_fail && function.leave_words == 1 && function.result.size() == 1 &&
                          !function.result.front().is_text;
        settings.result_bytes.push_back(
            told ? std::clamp(function.result.front().size, std::uint8_t{1}, std::uint8_t{8})
                 : std::uint8_t{0});
    }
}

void note_waits(const trace::TraceInfo& info, ResolvedSettings& settings) {
    settings.wait_of = trace::waiters(info.functions);
    if (settings.wait_of.empty()) return;
    for (const trace::FunctionInfo& function : info.functions) {
        settings.waits.push_back(function.wait_of != 0);
        settings.owner_words.push_back(trace::owner_words(function));
    }
    for (const trace::ObjectInfo& object : info.objects)
        if (file_name(object.path).starts_with("librdam.so")) {
            settings.recorder_begin = object.base;
            settings.recorder_end = object.end;
        }
}

}  // namespace

Result<ResolvedSettings> resolve(const trace::TraceInfo& info, const Settings& settings) {
    ResolvedSettings resolved{
        .sequences = settings.sequences,
        .keys = {},
        .ignored = std::vector<bool>(info.functions.size()),
        .loop_rests = sequences::LoopRests{info},
        .cost = {.total = info.clock.probe_ticks, .inner = info.clock.probe_inner_ticks},
        .ends = calls::KnownEnds::of(info),
        .probe_instructions = calls::probe_instructions(info.counters),
        .baseline = settings.baseline,
        .patterns = settings.patterns,
        .bars = settings.bars,
        .batch_bytes = batch_bytes(threads_for(settings.jobs), info.threads.size()),
        .threshold = settings.threshold,
        .largest_sampled = settings.largest_sampled};
    if (settings.patterns && info.samples_trees())
        return fail(
            "only a sample of the call trees was recorded, which has no patterns; analyze without "
            "--patterns");
    if (settings.patterns && !info.process.copied_stacks.empty())
        return fail(
            "stacks of this program are copied away ({}), so which calls follow one another is not known; "
            "analyze "
            "without --patterns",
            info.process.copied_stacks);
    resolved.baseline.step = info.clock.step_ticks;
    // Others' traces may say anything.
    constexpr double kMaxError = 0xffff;
    const double error = info.clock.error_ticks;
    resolved.baseline.error = error >= 0 && error <= kMaxError ? error : 0;
    want_places(settings, info.threads.size(), resolved);
    note_windows(info, resolved);
    note_waits(info, resolved);
    note_results(info, resolved);
    const NamedRules rules = known_rules(info, settings.rules);
    auto keys = sequences::make_keys(
        info, {{rules.keys, rules.no_keys, rules.split_by_context},
               {settings.given.keys, settings.given.no_keys, settings.given.split_by_context}});
    if (!keys) return tl::unexpected{keys.error()};
    resolved.keys = std::move(*keys);
    resolved.comparison = comparison(settings, rules);
    for (const auto list : {&NamedRules::given_back_by, &NamedRules::woken_by})
        for (const std::string& text : settings.given.*list)
            if (const auto partners = find_partners(info, text); !partners)
                return tl::unexpected{partners.error()};
    std::vector<std::string> ignore = rules.ignore;
    ignore.insert(ignore.end(), settings.given.ignore.begin(), settings.given.ignore.end());
    for (const std::string& name : ignore) {
        const auto functions = sequences::find_functions(info, name);
        if (!functions) return tl::unexpected{functions.error()};
        for (const std::uint32_t function : *functions)
            resolved.ignored[function] = true;
    }
    return resolved;
}

ResolvedSettings with_samples(const trace::TraceInfo& info, ResolvedSettings settings) {
    constexpr std::size_t kInAll = std::size_t{1} << 20;
    constexpr std::size_t kMax = std::size_t{1} << 16;
    constexpr std::size_t kMin = 64;
    settings.max_sampled = max_calls_sampled(info);
    settings.off_in_timeline = settings.comparison.rules.have_partners() || any_says_for_whom(info) ||
                               std::ranges::any_of(info.functions, [](const trace::FunctionInfo& function) {
                                   return trace::owner_words(function).has_value();
                               });
    settings.about_waits = about_waits(info, settings.comparison.rules);
    settings.channel_descriptors = channel_descriptors(info);
    // A single thread has no concurrent ones.
    if (info.threads.size() > 1)
        settings.max_in_windows = std::clamp(kInAll / info.threads.size(), kMin, kMax);
    std::uint64_t begin = UINT64_MAX, end = 0;
    for (const trace::ThreadInfo& thread : info.threads) {
        if (thread.start != 0) begin = std::min(begin, thread.start);
        end = std::max(end, thread.end);
    }
    settings.window_shift = samples::window_shift(info.clock.ticks_per_second, end > begin ? end - begin : 0);
    return settings;
}

Result<AnalyzedTrace> read_trace(const trace::TraceReader& reader, const ResolvedSettings& resolved,
                                 const Settings& settings, const ReadProgress& progress) {
    const Selection& asked = settings.selection;
    const auto selection = resolve_selection(reader.info(), asked);
    if (!selection) return tl::unexpected{selection.error()};
    const unsigned jobs = threads_for(settings.jobs);
    const bool whole = !asked.has_window() && asked.threads.empty() && !resolved.patterns;
    const auto analyzed = [&](SelectedThreads threads) {
        return analyzed_trace({reader.info(), reader.damage()}, asked, *selection, std::move(threads));
    };
    if (settings.keeps_summary && whole) {
        if (auto kept = kept_summary(reader, resolved, jobs)) {
            SelectedThreads all;
            all.times = std::move(*kept);
            all.windows.resize(all.times.size());
            return analyzed(std::move(all));
        }
    }
    const auto off_cpu = calls::Absences::of(reader);
    if (!off_cpu) return tl::unexpected{off_cpu.error()};
    auto read = Threads{reader, *off_cpu, resolved, *selection}.read(jobs, progress);
    if (!read) return tl::unexpected{read.error()};
    // What was freed lies between what is kept, in arenas of threads that have ended: those that come have others.
    malloc_trim(0);
    if (settings.keeps_summary && whole) keep_summary(reader, resolved, read->times, jobs);
    return analyzed(std::move(*read));
}

Result<Report> score_trace(const trace::TraceReader& reader, const Settings& settings,
                           const ScoreOptions& options) {
    auto resolved = resolve(reader.info(), settings);
    if (!resolved) return tl::unexpected{resolved.error()};
    if (options.samples) *resolved = with_samples(reader.info(), std::move(*resolved));
    const unsigned jobs = threads_for(settings.jobs);
    auto trace = read_trace(reader, *resolved, settings, options.progress);
    if (!trace) return tl::unexpected{trace.error()};
    resolved->asked_for = trace->shown;
    Report report = leave_out(*trace, make_report(trace->facts(), *resolved, trace->threads,
                                                  options.max_sequences, options.max_patterns, jobs));
    // Hundreds of thousands of groups take a while to be given back.
    in_parallel(trace->threads.size(), jobs, [&](std::size_t t) { trace->threads[t].reset(); });
    return report;
}

}  // namespace rdam::score
