#include "analyzer/score/kept_times.h"

#include <algorithm>
#include <cmath>

#include "analyzer/score/thread_analysis.h"
#include "tools/base/byte_archive.h"

namespace rdam {

namespace calls {

template <class Archive>
void fields(Archive& archive, FunctionCounts& counts) {
    archive(counts.calls, counts.estimated, counts.abandoned, counts.bad_clock, counts.open_since);
}

template <class Archive>
void fields(Archive& archive, MatchCounts& counts) {
    archive(counts.calls, counts.probes, counts.abandoned_by_jump, counts.abandoned_at_end,
            counts.abandoned_at_gap, counts.abandoned_too_deep, counts.unmatched_leaves,
            counts.stray_tail_enters, counts.inside_unended, counts.hides_calls, counts.bad_clock,
            counts.bad_pauses, counts.pauses, counts.paused, counts.waited, counts.by_recorder,
            counts.crowded, counts.first, counts.last);
}

}  // namespace calls

namespace samples {

constexpr Returned last_of(Returned /*any*/) {
    return Returned::negative;
}

template <class Archive>
void fields(Archive& archive, SampledCall& call) {
    archive(call.begin, call.end, call.duration, call.caller, call.result, call.weight, call.inside_keys,
            call.blocked, call.preempted, call.inside, call.group, call.enter_cpu, call.leave_cpu,
            call.returned, call.instructions);
}

template <class Archive>
void fields(Archive& archive, WindowCall& call) {
    archive(call.begin, call.end, call.duration, call.function, call.group, call.caller, call.outermost,
            call.returned);
}

template <class Archive>
void fields(Archive& archive, OwnedWait& wait) {
    archive(wait.begin, wait.end, wait.mutex, wait.owner, wait.function, wait.given_back, wait.caller,
            wait.joins, wait.all);
}

template <class Archive>
void fields(Archive& archive, OffTime& time) {
    archive(time.begin, time.end, time.preempted);
}

}  // namespace samples

namespace sequences {

template <class Archive>
void fields(Archive& archive, KeyWord& key) {
    archive(key.word, key.parameter, key.mask, key.by_size, key.kind, key.size, key.is_distance, key.of_futex,
            key.result_word);
}

}  // namespace sequences

namespace score {

template <class Archive>
void fields(Archive& archive, OffCpuTimes& times) {
    archive(times.blocked, times.preempted, times.recorder, times.crowded, times.in_pauses, times.switches,
            times.preemptions);
}

template <class Archive>
void fields(Archive& archive, WindowedCalls& calls) {
    archive(calls.before, calls.inside, calls.clusters);
}

/// The least of some times, which is infinite where there are none.
template <class Archive>
void archive_least(Archive& archive, double& least) {
    bool any = std::isfinite(least);
    archive(any);
    if (any)
        archive(least);
    else
        least = HUGE_VAL;
}

template <class Archive>
void fields(Archive& archive, WaitSum& sum) {
    archive(sum.calls, sum.time, sum.blocked, sum.preempted, sum.squares);
    archive_least(archive, sum.least);
}

template <class Archive>
void fields(Archive& archive, WaitTimes& times) {
    fields(archive, static_cast<WaitSum&>(times));
    archive(times.inside, times.squares_inside, times.complete, times.complete_time, times.calls_made,
            times.calls_made_inside, times.in_calls, times.in_calls_inside);
}

template <class Archive>
void fields(Archive& archive, KnownInside& known) {
    archive(known.waiters, known.times, known.squares, known.calls_made, known.in_calls);
}

template <class Archive>
void fields(Archive& archive, CallsMade& made) {
    fields(archive, static_cast<WaitSum&>(made));
    archive(made.functions);
}

template <class Archive>
void fields(Archive& archive, OffInWindows::Inside& inside) {
    archive(inside.preempted, inside.preempted_squares, inside.blocked, inside.blocked_squares);
    archive_least(archive, inside.least_preempted);
    archive_least(archive, inside.least_blocked);
}

template <class Archive>
void fields(Archive& archive, OffInWindows& times) {
    archive(times.preempted, times.preempted_squares, times.blocked, times.blocked_squares, times.inside,
            times.besides_others, times.on);
}

template <class Archive>
void fields(Archive& archive, ThreadTimes::WaitsSince& waits) {
    archive(waits.since, waits.waits);
}

namespace {

/// The times of a thread, and what they are to agree with.
template <class Archive>
void archive_times(Archive& archive, ThreadTimes& times) {
    archive(times.counts, times.per_function, times.sequences, times.callers, times.groups, times.given_up,
            times.untimed_callers, times.stack_samples, times.sampling, times.sampling_windows,
            times.windowed, times.waits, times.off_in_windows, times.known_inside, times.calls_made,
            times.waits_since, times.windows, times.owned_waits, times.mutex_changes, times.off_in_timeline,
            times.off_cpu, times.events, times.too_long);
    for (samples::CallSample& sample : times.samples)
        archive(sample);
    if (times.paths) times.paths->fields(archive, times.groups.size());
    if (times.course) times.course->fields(archive, times.groups.size());
}

/// Whether all numbers in what was read are within what the trace and the other parts have.
class Check {
  public:
    Check(const ThreadTimes& times, const trace::TraceInfo& info, const ResolvedSettings& settings)
        : times_(times), info_(info), settings_(settings), functions_(info.functions.size()) {}

    bool passed() const {
        return sizes_agree() && groups_agree() && places_agree() && windows_agree() && sums_agree() &&
               samples_agree();
    }

  private:
    bool sizes_agree() const {
        return times_.per_function.size() == functions_ && times_.untimed_callers.size() == functions_ &&
               times_.groups.size() <= times_.sequences.groups() && given_up_agrees() &&
               std::ranges::all_of(times_.untimed_callers,
                                   [&](const CallerTable& table) { return known(table); }) &&
               std::ranges::all_of(times_.stack_samples,
                                   [&](const auto& each) { return each.first < info_.stacks.size(); });
    }

    bool given_up_agrees() const {
        if (settings_.candidates.empty()) return true;
        if (times_.given_up.size() != functions_) return false;
        for (std::size_t f = 0; f < functions_; ++f)
            if (times_.given_up[f].size() != settings_.candidates[f].size()) return false;
        return true;
    }

    bool known(const CallerTable& table) const {
        bool all = true;
        table.for_each([&](const CallerEntry& entry) { all = all && is_known(entry); });
        return all;
    }

    bool known(const GroupTimes& group) const {
        bool all = true;
        group.for_each_caller([&](const CallerEntry& entry) { all = all && is_known(entry); });
        return all;
    }

    bool callers_are_known(sequences::GroupId id) const {
        bool all = true;
        times_.groups.for_each_caller(
            id, [&](std::uint32_t caller) { all = all && caller < times_.callers.size(); });
        return all;
    }

    bool is_known(const CallerEntry& entry) const { return entry.caller < times_.callers.size(); }

    /// Of a function that is sampled in windows.
    bool within(const ClusterSums& sums, std::uint32_t function) const {
        const std::size_t clusters = times_.sampling_windows.clusters(info_.functions[function].window_group);
        std::uint64_t next = 0;
        return std::ranges::all_of(sums.sums(), [&](const ClusterSum& sum) {
            const bool rising = sum.cluster >= next;
            next = sum.cluster + std::uint64_t{1};
            return rising && sum.cluster < clusters;
        });
    }

    bool groups_agree() const {
        for (sequences::GroupId id = 0; id < times_.groups.size(); ++id) {
            const std::uint32_t function = times_.sequences.shape(times_.sequences.group(id).shape).function;
            if (!callers_are_known(id) || !has_keys(times_.sequences.group(id), function)) return false;
            const GroupTimes* const group = times_.groups.kept_times(id);
            if (group == nullptr) continue;
            if (!group->keeps_all_self_times(settings_.all_self_times())) return false;
            const WindowedTimes* const windowed = group->windowed();
            if (windowed != nullptr &&
                !(is_windowed(function) && known(windowed->before) && within(windowed->clusters, function)))
                return false;
        }
        return true;
    }

    bool is_windowed(std::uint32_t function) const {
        return function < settings_.windowed.size() && settings_.windowed[function];
    }

    /// Deep keys are the shape's.
    bool has_keys(const sequences::Group& group, std::uint32_t function) const {
        const std::size_t keys = group.keys + times_.sequences.shape(group.shape).keys;
        if (!settings_.candidates.empty()) return group.keys == settings_.candidates[function].size();
        return keys <= settings_.keys[function].size();
    }

    bool is_of(sequences::GroupId group, std::uint32_t function) const {
        return group < times_.groups.size() &&
               times_.sequences.shape(times_.sequences.group(group).shape).function == function;
    }

    /// Only functions that are sampled in windows have calls that stand for more.
    bool places_agree() const {
        const auto of_windowed = [&](std::uint32_t group) {
            return group < times_.groups.size() &&
                   is_windowed(times_.sequences.shape(times_.sequences.group(group).shape).function);
        };
        const auto path_agrees = [&](const Path& path) {
            return !path.in_window || path.function == UINT32_MAX || is_windowed(path.function);
        };
        if (times_.paths) {
            const std::vector<Path>& paths = times_.paths->paths();
            const auto call_agrees = [&](const PathCalls& calls) {
                return is_of(calls.group, paths[calls.path].function) || calls.path <= PathTally::kElsewhere;
            };
            if (!std::ranges::all_of(paths, path_agrees) ||
                !std::ranges::all_of(times_.paths->calls().all(), call_agrees))
                return false;
        }
        return !times_.course ||
               (std::ranges::all_of(times_.course->calls().all(),
                                    [&](const CourseCalls& calls) {
                                        return calls.bin < times_.course->bins().count() ||
                                               of_windowed(calls.group);
                                    }) &&
                std::ranges::all_of(times_.course->rest().all(), [&](const CourseCalls& calls) {
                    return calls.group < functions_ ||
                           is_windowed(static_cast<std::uint32_t>(calls.group - functions_));
                }));
    }

    bool windows_agree() const {
        const auto in_range = [&](const samples::WindowSample& sample) {
            return std::ranges::all_of(sample.calls(), [&](const samples::WindowCall& call) {
                return call.function < functions_ && is_of(call.group, call.function) &&
                       call.caller < times_.callers.size();
            });
        };
        const auto is_known = [&](const samples::OwnedWait& wait) { return wait.function < functions_; };
        return in_range(times_.windows.all()) && in_range(times_.windows.of_waits()) &&
               std::ranges::all_of(times_.owned_waits.calls(), is_known) &&
               std::ranges::all_of(times_.mutex_changes.calls(), is_known);
    }

    template <class Map, class Sound>
    bool all_of(const Map& map, const Sound& sound) const {
        return std::ranges::all_of(
            map, [&](const auto& each) { return each.first < functions_ && sound(each.first, each.second); });
    }

    bool sums_agree() const {
        const auto inside = [&](std::uint32_t f, const OffInWindows::Inside& each) {
            return within(each.preempted, f) && within(each.blocked, f);
        };
        return all_of(times_.windowed,
                      [&](std::uint32_t f, const WindowedCalls& each) { return within(each.clusters, f); }) &&
               all_of(times_.waits,
                      [&](std::uint32_t f, const WaitTimes& each) { return within(each.inside, f); }) &&
               all_of(times_.off_in_windows,
                      [&](std::uint32_t f, const OffInWindows& each) {
                          return inside(f, each.inside) && inside(f, each.besides_others) &&
                                 within(each.on, f);
                      }) &&
               all_of(times_.known_inside,
                      [&](std::uint32_t f, const KnownInside& each) {
                          return within(each.times, f) &&
                                 std::ranges::all_of(each.waiters, [&](std::uint32_t waiter) {
                                     return waiter < functions_ || waiter == trace::kNoFunction;
                                 });
                      }) &&
               all_of(times_.calls_made,
                      [&](std::uint32_t, const CallsMade& each) {
                          return each.functions.size() <= functions_;
                      }) &&
               all_of(times_.waits_since, [&](std::uint32_t, const auto& each) {
                   return std::ranges::all_of(each, [&](const ThreadTimes::WaitsSince& waits) {
                       return waits.since < settings_.sampled_since.size();
                   });
               });
    }

    bool samples_agree() const {
        for (std::uint32_t f = 0; f < times_.samples.size(); ++f) {
            const samples::CallSample& sample = times_.samples[f];
            if (!std::ranges::all_of(
                    sample.taken(), [&](const samples::SampledCall& call) { return is_of(call.group, f); }) ||
                !std::ranges::all_of(sample.repeated(),
                                     [&](std::uint32_t each) { return each < functions_; }))
                return false;
        }
        return true;
    }

    const ThreadTimes& times_;
    const trace::TraceInfo& info_;
    const ResolvedSettings& settings_;
    std::size_t functions_;
};

}  // namespace

std::vector<std::uint8_t> times_key(const ResolvedSettings& settings) {
    ResolvedSettings of = settings;
    bool all_self_times = of.all_self_times();
    std::vector<bool> about_waits = of.about_waits ? *of.about_waits : std::vector<bool>{};
    ByteWriter archive;
    archive(of.sequences.deep_keys, of.sequences.fold_loops, of.keys, of.ignored, of.candidates,
            of.max_candidate_groups, of.candidate_groups_of_thread, all_self_times, of.max_sampled,
            of.max_in_windows, of.window_shift, about_waits, of.off_in_timeline, of.max_paths,
            of.path_callers, of.max_path_groups, of.max_course);
    return archive.take();
}

std::vector<std::uint8_t> kept_times(const ThreadTimes& times) {
    ByteWriter archive;
    trace::TickRange course = times.course ? times.course->bins().range() : trace::TickRange{0, 0};
    archive(course.begin, course.end);
    // The archive only reads it: one description serves both ways.
    archive_times(archive, const_cast<ThreadTimes&>(times));
    return archive.take();
}

std::unique_ptr<ThreadTimes> times_from(std::span<const std::uint8_t> bytes, const trace::TraceInfo& info,
                                        const ResolvedSettings& settings, trace::TickRange life) {
    // Most structures take a few times as much memory as bytes; those of each function and group some more.
    constexpr std::size_t kTimes = 16;
    constexpr std::size_t kOfFunction = 256;
    ByteReader archive{bytes, kTimes * bytes.size() + kOfFunction * info.functions.size()};
    trace::TickRange course;
    archive(course.begin, course.end);
    auto times = empty_times(info, settings);
    times->sampling_windows = {settings.windows, life};
    times->course = empty_course(info, settings, course);
    archive_times(archive, *times);
    if (!archive.good() || !archive.at_end() || !Check{*times, info, settings}.passed()) return nullptr;
    return times;
}

}  // namespace score

}  // namespace rdam
