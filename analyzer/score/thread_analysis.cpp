#include "analyzer/score/thread_analysis.h"

#include <algorithm>
#include <utility>

#include "analyzer/calls/matcher_impl.h"

namespace rdam::score {
namespace {

/// The memory of a sample is bounded, also for calls with more words than functions have parameters.
std::size_t max_sampled(const ResolvedSettings& settings, const trace::FunctionInfo& function) {
    constexpr std::size_t kUsualWords = 16;
    return settings.max_sampled * kUsualWords / std::max<std::size_t>(function.enter_words, kUsualWords);
}

}  // namespace

std::unique_ptr<ThreadTimes> empty_times(const trace::TraceInfo& info, const ResolvedSettings& settings) {
    auto times = std::make_unique<ThreadTimes>(info.functions.size());
    times->groups = GroupList{settings.all_self_times()};
    times->windows = {settings.max_in_windows, settings.window_shift, settings.about_waits};
    times->owned_waits = times->mutex_changes =
        samples::WaitSample{settings.max_in_windows, settings.window_shift};
    if (settings.max_sampled > 0) {
        for (const trace::FunctionInfo& function : info.functions)
            times->samples.emplace_back(max_sampled(settings, function), function.enter_words,
                                        times->samples.size());
    }
    if (settings.max_paths > 0)
        times->paths =
            std::make_unique<PathTally>(info.functions.size(), settings.max_paths, settings.max_path_groups);
    return times;
}

std::unique_ptr<CourseTally> empty_course(const trace::TraceInfo& info, const ResolvedSettings& settings,
                                          const trace::TickRange& range) {
    if (settings.max_course == 0 || range.begin >= range.end) return nullptr;
    return std::make_unique<CourseTally>(range, kCourseBins, info.functions.size(), settings.max_course);
}

ThreadAnalysis::ThreadAnalysis(const trace::TraceInfo& info, const ResolvedSettings& settings)
    : info_(info),
      settings_(settings),
      out_(empty_times(info, settings)),
      results_(settings.keys),
      result_candidates_(settings.candidates),
      builder_(out_->sequences, settings.sequences),
      matcher_(info.functions.size(), settings.cost, settings.ignored, *this),
      candidates_(settings),
      batches_wanted_(!candidates_.wanted() && !settings.windows) {
    matcher_.set_known_ends(settings.ends);
    matcher_.set_transparent(settings.windowed);
    matcher_.set_sampled(settings.windowed);
    matcher_.set_waits(settings.waits);
    builder_.set_transparent(settings.windowed);
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        plain_.push_back(matcher_.is_plain(function) && !settings.loop_rests.tells(function) &&
                         !results_.any(function) && !settings.tells_success(function) &&
                         (!settings.sequences.deep_keys || settings.keys[function].empty()));
    if (settings.patterns)
        out_->patterns = std::make_unique<PatternTimes>(out_->sequences, settings.sequences.fold_loops);
}

void ThreadAnalysis::set_course(const trace::TickRange& range) {
    out_->course = empty_course(info_, settings_, range);
}

void ThreadAnalysis::gap() {
    matcher_.gap();
    if (out_->patterns) out_->patterns->miner().gap();
}

std::unique_ptr<ThreadTimes> ThreadAnalysis::finish() {
    matcher_.finish();
    flush();
    end_batches();
    out_->groups.seal();
    if (out_->patterns) out_->patterns->miner().finish();
    for (samples::CallSample& sample : out_->samples)
        sample.finish();
    if (out_->paths) out_->paths->finish();
    if (out_->course) out_->course->finish();
    out_->counts = matcher_.counts();
    out_->per_function = matcher_.per_function();
    out_->too_long = builder_.too_long();
    out_->given_up = candidates_.take();
    out_->sequences.end();
    return std::move(out_);
}

void ThreadAnalysis::consume(std::span<const trace::Event> events) {
    // A pause is the recorder's doing, not an event of the program.
    if (settings_.windows) note_overhead(events);
    const std::uint64_t pauses = matcher_.counts().pauses;
    matcher_.consume(events);
    out_->events += events.size() - (matcher_.counts().pauses - pauses);
}

/// A program is slower in windows, by the overhead noted here.
void ThreadAnalysis::note_overhead(std::span<const trace::Event> events) {
    for (const trace::Event& event : events) {
        if (event.kind == trace::EventKind::pause)
            out_->sampling_windows.note_pause(event.tsc, event.until);
        else if (event.kind < trace::EventKind::leave)
            out_->sampling_windows.note_probe(event.tsc, settings_.cost.total);
    }
}

void ThreadAnalysis::opened(const trace::Event& enter, std::uint64_t weight) {
    find_keys(enter);
    if (candidates_.wanted()) {
        candidates_.values(enter, group_values_);
        builder_.open(enter.function, group_values_);
    } else {
        builder_.open(enter.function, key_values_);
    }
    builder_.set_repeats(settings_.loop_rests.repeats(enter));
    const std::uint32_t cluster = cluster_of(enter, weight);
    if (out_->paths) open_path(enter, weight, cluster);
    if (samples_wanted()) {
        // What a call returns is not known yet.
        if (results_.any(enter.function)) key_values_[results_.place(enter.function)] = 0;
        note_inside(enter.function);
    }
    // Constructed in place: a copy would have to wait for the data just written.
    OpenCall& call = open_.emplace_back();
    call.caller = enter.caller;
    call.weight = weight;
    call.function = enter.function;
    call.first_word = static_cast<std::uint32_t>(open_words_.size());
    call.cpu = enter.cpu;
    call.instructions = enter.instructions;
    call.cluster = cluster;
    const bool sampled = cluster != ThreadWindows::kOutside && is_windowed(enter.function);
    if (sampled && matcher_.opens_outermost())
        open_in_windows_.push_back(
            {.place = open_.size() - 1, .complete = complete_calls_ + (cluster == kComplete ? 1U : 0U)});
    if (cluster == kComplete) ++complete_calls_;
    if (samples_wanted()) open_words_.insert(open_words_.end(), enter.words.begin(), enter.words.end());
    if (enter.stack != 0) ++out_->stack_samples[enter.stack - 1];
    if (weight > 1 && cluster == kComplete) out_->sampling.count(enter.function);
    if (out_->patterns && !is_windowed(enter.function)) out_->patterns->miner().open();
}

void ThreadAnalysis::open_path(const trace::Event& enter, std::uint64_t weight, std::uint32_t cluster) {
    PathTally::Kind kind = PathTally::Kind::usual;
    if (is_windowed(enter.function)) {
        kind = cluster == kComplete                 ? PathTally::Kind::windowed
               : cluster == ThreadWindows::kOutside ? PathTally::Kind::outside
                                                    : PathTally::Kind::in_window;
    }
    out_->paths->open(enter.function, matcher_.opens_outermost(), weight, kind,
                      settings_.path_callers ? enter.caller : 0);
}

/// Counts the call, if its function is sampled in windows.
std::uint32_t ThreadAnalysis::cluster_of(const trace::Event& enter, std::uint64_t weight) {
    if (!is_windowed(enter.function)) return kComplete;
    WindowedCalls& calls = out_->windowed[enter.function];
    const trace::FunctionInfo& function = info_.functions[enter.function];
    if (enter.tsc < function.windowed_since) {
        calls.before += weight;
        return kComplete;
    }
    const std::uint32_t cluster =
        out_->sampling_windows.cluster_at(enter.tsc, function.window_group, function.windowed_since);
    if (cluster == ThreadWindows::kOutside) return cluster;
    calls.inside += weight;
    calls.clusters.add(cluster, static_cast<double>(weight), 0);
    return cluster;
}

/// Where the times of the call belong, of a function that is sampled in windows.
GroupTimes& ThreadAnalysis::windowed_times(const QueuedCall& queued) {
    const calls::Call& call = queued.call;
    GroupTimes& times = out_->groups.times(queued.group);
    WindowedTimes& windowed = times.make_windowed();
    if (queued.cluster == kComplete) return windowed.before;
    if (call.timed && call.outermost)
        windowed.clusters.add(queued.cluster, static_cast<double>(call.weight),
                              static_cast<double>(call.weight) * static_cast<double>(call.duration));
    return times;
}

/// A call of `function` begins inside the open calls. A call that is sampled in windows does not exist for
/// the calls around it: they count as the callers of its children.
void ThreadAnalysis::note_inside(std::uint32_t function) {
    if (is_windowed(function)) return;
    for (std::size_t i = open_.size(); i-- > 0;) {
        note_inside(open_[i]);
        if (!is_windowed(open_[i].function)) return;
    }
}

void ThreadAnalysis::note_inside(OpenCall& parent) const {
    ++parent.inside;
    if (key_values_.empty()) return;
    const std::uint64_t keys = hash_of_keys();
    // The number of calls in a loop is not a key, and deep keys would not show it.
    if (settings_.sequences.fold_loops && keys == parent.last_keys) return;
    parent.last_keys = keys;
    parent.inside_keys = sequences::hash_mix(parent.inside_keys, keys);
}

void ThreadAnalysis::closed(const calls::Call& call) {
    const bool counts = open_.back().cluster != ThreadWindows::kOutside;
    const bool sampled = counts && call.timed && call.outermost && samples_wanted() &&
                         out_->samples[call.function].wants(call.duration);
    if (sampled && (settings_.sequences.fold_loops || candidates_.wanted())) note_repeats();
    set_result(call);
    const sequences::SequenceBuilder::Closed closed = builder_.close_shape();
    const OpenCall& open = open_.back();
    if (out_->patterns && !is_windowed(call.function)) close_in_patterns(call, closed.shape);
    const WaitSum others = close_in_windows();
    if (open.cluster == kComplete && settings_.windows) note_call_made(call, open.caller);
    if (counts && open.cluster != kComplete) note_off_cpu(call, open, others);
    enqueue(call, open, sampled ? 1 + sample(call, open) : 0, out_->paths ? out_->paths->close() : 0, closed);
    if (counts && !call.timed)
        out_->untimed_callers[call.function].add(
            {.caller = out_->callers.of(open.caller), .calls = call.weight});
    open_words_.resize(open.first_word);
    open_.pop_back();
}

void ThreadAnalysis::close_in_patterns(const calls::Call& call, sequences::ShapeId shape) {
    const std::uint64_t end = matcher_.net_end();
    sequences::SiblingTime time;
    if (call.timed) time = {.begin = end - std::min(end, call.duration), .end = end};
    out_->patterns->miner().close(shape, time,
                                  {.begin = matcher_.paused_at_begin(), .end = matcher_.paused_at_end()});
}

/// The innermost open call is about to be none. What is known by itself of the time inside it, if it is in a window.
WaitSum ThreadAnalysis::close_in_windows() {
    if (open_.back().cluster == kComplete) --complete_calls_;
    if (open_in_windows_.empty() || open_in_windows_.back().place + 1 != open_.size()) return {};
    const WaitSum others = open_in_windows_.back().others;
    open_in_windows_.pop_back();
    return others;
}

/// kNoFunction: none that is sampled in windows, or one whose waits are recorded.
std::uint32_t ThreadAnalysis::sampled_caller(std::uint32_t caller) {
    constexpr std::uint32_t kNotLooked = trace::kNoFunction - 1;
    if (caller >= callers_.size()) callers_.resize(caller + std::size_t{1}, kNotLooked);
    std::uint32_t& known = callers_[caller];
    if (known != kNotLooked) return known;
    known = trace::kNoFunction;
    for (std::uint32_t function = 0; function < info_.functions.size(); ++function)
        if (is_windowed(function) && !settings_.has_waits(function) &&
            trace::is_caller(info_, info_.functions[function], out_->callers.address(caller)))
            known = function;
    return known;
}

/// If a function that is sampled in windows has made the call, so much of what that one's calls took is known.
void ThreadAnalysis::note_call_made(const calls::Call& call, std::uint64_t caller) {
    if (!call.timed || !call.outermost || call.weight != 1) return;
    const std::uint32_t maker = sampled_caller(out_->callers.of(caller));
    if (maker == trace::kNoFunction || maker == call.function ||
        call.begin < info_.functions[maker].windowed_since)
        return;
    const auto around = std::ranges::find_if(
        open_in_windows_, [&](const OpenInWindow& each) { return open_[each.place].function == maker; });
    // All of a call that began before it was sampled is known.
    if (around != open_in_windows_.end() && open_[around->place].cluster == kComplete) return;
    const WaitSum sum = measured(call);
    out_->calls_made[maker].add(call.function, sum);
    if (around == open_in_windows_.end()) return;
    KnownInside& inside = add_known_inside(*around, sum);
    ++inside.calls_made;
    inside.in_calls += sum.time;
}

KnownInside& ThreadAnalysis::add_known_inside(OpenInWindow& around, const WaitSum& known) {
    const OpenCall& open = open_[around.place];
    around.others.add(known);
    KnownInside& inside = out_->known_inside[open.function];
    inside.times.add(open.cluster, 1, known.time);
    inside.squares += known.squares;
    return inside;
}

/// Of a call in a window.
void ThreadAnalysis::note_off_cpu(const calls::Call& call, const OpenCall& open, const WaitSum& others) {
    if (off_ == nullptr || !call.timed || !call.outermost) return;
    const OffTimes::Sum before = off_->until(call.begin), behind = off_->until(call.last->tsc);
    const auto preempted = static_cast<double>(behind.preempted - before.preempted);
    const auto blocked = static_cast<double>(behind.blocked - before.blocked);
    const auto duration = static_cast<double>(call.duration);
    OffInWindows& times = out_->off_in_windows[call.function];
    times.on.add(open.cluster, 1, std::max(duration - preempted - blocked, 0.0));
    const auto add = [&](double besides, const WaitSum& without, OffInWindows::Inside& inside) {
        const auto part = [&](double off, ClusterSums& sums, double& squares, double& least) {
            const double time = std::min(off, besides);
            if (time <= 0) return;
            besides -= time;
            sums.add(open.cluster, 1, time);
            squares += time * time;
            least = std::min(least, time);
        };
        part(preempted - without.preempted, inside.preempted, inside.preempted_squares,
             inside.least_preempted);
        part(blocked - without.blocked, inside.blocked, inside.blocked_squares, inside.least_blocked);
    };
    const double besides = std::max(duration - static_cast<double>(open.waited), 0.0);
    add(besides, {}, times.inside);
    add(besides - others.time, others, times.besides_others);
}

/// The return address of the call that gave a mutex back. A recorded function that jumps there in place of its last call has left the
/// recorder's return address: behind its first byte stands for it.
std::uint64_t ThreadAnalysis::given_back_from(const trace::Event& enter,
                                              const trace::OwnerWords& words) const {
    const std::uint64_t caller = words.caller ? enter.words[*words.caller] : enter.caller;
    if (caller < settings_.recorder_begin || caller >= settings_.recorder_end || open_.empty()) return caller;
    const trace::FunctionInfo& function = info_.functions[open_.back().function];
    return function.object < info_.objects.size() ? info_.objects[function.object].base + function.address + 1
                                                  : 0;
}

void ThreadAnalysis::wait_opened(const trace::Event& enter) {
    const auto& words = settings_.owner_words[enter.function];
    if (!words) return;
    const std::uint64_t mutex = enter.words[words->mutex];
    if (!words->given_back)
        open_wait_ = {.begin = enter.tsc,
                      .mutex = mutex,
                      .owner = static_cast<std::uint32_t>(enter.words[words->owner]),
                      .function = settings_.wait_of[enter.function],
                      .joins = words->joins,
                      .all = words->all};
    else
        (words->all ? out_->mutex_changes : out_->owned_waits)
            .offer({.begin = enter.tsc,
                    .end = enter.tsc,
                    .mutex = mutex,
                    .given_back = true,
                    .caller = given_back_from(enter, *words),
                    .all = words->all});
}

WaitSum ThreadAnalysis::measured(const calls::Call& call) const {
    const auto time = static_cast<double>(call.duration);
    WaitSum sum{.calls = 1, .time = time, .squares = time * time, .least = time};
    if (off_ == nullptr) return sum;
    const OffTimes::Sum before = off_->until(call.begin), behind = off_->until(call.last->tsc);
    sum.blocked = static_cast<double>(behind.blocked - before.blocked);
    sum.preempted = static_cast<double>(behind.preempted - before.preempted);
    return sum;
}

/// Of a function that is sampled in windows: since when, and in which calls of others, if these are in windows.
/// What is inside a call of which all is known is part of that one.
void ThreadAnalysis::note_wait_inside(std::uint32_t function, std::uint64_t begin, const WaitSum& wait) {
    const auto since = std::ranges::upper_bound(settings_.sampled_since, begin);
    if (since == settings_.sampled_since.begin()) return;
    const auto place = static_cast<std::size_t>(since - settings_.sampled_since.begin()) - 1;
    auto& sums = out_->waits_since[function];
    if (sums.empty() || sums.back().since != place) sums.push_back({.since = place, .waits = {}});
    sums.back().waits.add(wait);
    for (OpenInWindow& each : open_in_windows_) {
        const std::uint32_t around = open_[each.place].function;
        if (around == function || each.complete != complete_calls_) continue;
        const bool from_before = open_[each.place].cluster == kComplete;
        if (from_before && begin < info_.functions[around].windowed_since) continue;
        // All of a call that began before it was sampled is known: what waits besides it is not kept.
        std::vector<std::uint32_t>& waiters =
            (from_before ? out_->known_inside[around] : add_known_inside(each, wait)).waiters;
        if (from_before) waiters.push_back(trace::kNoFunction);
        if (std::ranges::find(waiters, function) == waiters.end()) waiters.push_back(function);
    }
}

/// What a call waited that was recorded, or would have been if all were, is in its duration.
void ThreadAnalysis::waited(const calls::Call& wait) {
    const std::uint32_t function = settings_.wait_of[wait.function];
    if (open_wait_.begin == wait.begin && function == open_wait_.function && function != trace::kNoFunction &&
        !settings_.ignored[function]) {
        open_wait_.end = wait.last->tsc;
        const bool nobody_had_it = open_wait_.all && open_wait_.owner == 0;
        (nobody_had_it ? out_->mutex_changes : out_->owned_waits).offer(open_wait_);
        if (nobody_had_it) return;
    }
    if (function == trace::kNoFunction || !is_windowed(function) || settings_.ignored[function]) return;
    const bool seen = !open_.empty() && open_.back().function == function;
    const WaitSum sum = measured(wait);
    WaitTimes& waits = out_->waits[function];
    if (wait.begin < info_.functions[function].windowed_since ||
        (seen && open_.back().cluster == kComplete)) {
        ++waits.complete;
        waits.complete_time += sum.time;
        return;
    }
    note_wait_inside(function, wait.begin, sum);
    waits.add(sum);
    if (!seen || open_.back().cluster == ThreadWindows::kOutside) return;
    open_.back().waited += wait.duration;
    waits.inside.add(open_.back().cluster, 1, sum.time);
    waits.squares_inside += sum.squares;
}

/// The result of the innermost open call becomes a key, if it is to be one.
void ThreadAnalysis::set_result(const calls::Call& call) {
    const sequences::ResultKeys& results = candidates_.wanted() ? result_candidates_ : results_;
    if (!results.any(call.function)) return;
    const std::size_t place = results.place(call.function);
    const auto& keys = candidates_.wanted() ? settings_.candidates : settings_.keys;
    if (candidates_.wanted() && candidates_.is_given_up(call.function, place)) return;
    std::uint64_t& value = builder_.key(place);
    value = keys[call.function][place].with_result(value, call.own_leave ? call.last : nullptr);
}

void ThreadAnalysis::enqueue(const calls::Call& call, const OpenCall& open, std::uint32_t sampled,
                             std::uint32_t path, const sequences::SequenceBuilder::Closed& closed) {
    start_batches();
    if (call.weight > 1) end_batches();
    const std::uint32_t caller = out_->callers.of(open.caller);
    if (learning_) learn(call, caller, closed.shape);
    if (batched_ != nullptr) return batched_->add(call, caller, sampled, path, closed);
    QueuedCall& queued = queue_.push();
    queued.call = call;
    queued.end = call.last->tsc;
    queued.group_hash = sequences::SequenceStore::group_hash(closed.shape, closed.keys);
    queued.shape = closed.shape;
    queued.caller = caller;
    queued.cluster = open.cluster;
    queued.path = path;
    queued.sampled = sampled;
    queued.returned = settings_.returned(call);
    queued.keys.assign(closed.keys.begin(), closed.keys.end());
    if (out_->groups.size() <= settings_.few_groups) {
        queue_.pop();
        find_group(queued);
        return add(queued);
    }
    if (!queued.keys.empty()) out_->sequences.prefetch_group(queued.group_hash);
    queue_.advance([this](std::size_t number, QueuedCall& each) { step(number, each); });
}

void ThreadAnalysis::start_batches() {
    if (batched_ == nullptr && batches_wanted_ && out_->groups.size() > settings_.few_groups)
        batched_ = std::make_unique<BatchedGroups>(*out_, settings_);
}

/// From now on calls are added in their order.
void ThreadAnalysis::end_batches() {
    batches_wanted_ = false;
    if (batched_ == nullptr) return;
    batched_->finish();
    batched_.reset();
}

void ThreadAnalysis::flush() {
    queue_.flush([this](std::size_t number, QueuedCall& each) { step(number, each); });
}

void ThreadAnalysis::step(std::size_t number, QueuedCall& queued) {
    if (number == 0) {
        find_group(queued);
        if (out_->paths) out_->paths->prefetch(queued.group);
        if (out_->course) out_->course->prefetch(queued.group);
        return out_->groups.prefetch(queued.group);
    }
    if (number == 1) {
        if (out_->paths) out_->paths->prefetch_pair(queued.group);
        if (out_->course) out_->course->prefetch_entry(queued.group);
        return out_->groups.prefetch_calls(queued.group);
    }
    if (number == 2) return out_->groups.prefetch_tables(queued.group, queued.call.duration);
    if (number == 3) return out_->groups.prefetch_caller(queued.group, queued.caller);
    add(queued);
}

void ThreadAnalysis::find_group(QueuedCall& queued) {
    queued.group = out_->sequences.group(queued.shape, queued.keys, queued.group_hash);
    if (out_->make_group(queued.group) && candidates_.wanted())
        candidates_.added(queued.call.function, queued.group, out_->sequences);
    if (queued.sampled > 0) out_->samples[queued.call.function].set_group(queued.sampled - 1, queued.group);
}

void ThreadAnalysis::add(const QueuedCall& queued) {
    if (queued.cluster == ThreadWindows::kOutside) return;
    const calls::Call& call = queued.call;
    if (is_windowed(call.function)) {
        GroupTimes& times = windowed_times(queued);
        if (call.timed) times.add(call, queued.caller);
    } else if (call.timed) {
        out_->groups.add(queued.group, call, queued.caller);
    }
    if (!call.timed) return;
    add_place(queued);
    out_->windows.offer({.begin = call.begin,
                         .end = queued.end,
                         .duration = call.duration,
                         .function = call.function,
                         .group = queued.group,
                         .caller = queued.caller,
                         .outermost = call.outermost,
                         .returned = queued.returned});
    if (call.weight > 1 && queued.cluster == kComplete)
        out_->sampling.time(call.function, queued.group, call.duration, call.outermost);
}

void ThreadAnalysis::add_place(const QueuedCall& queued) {
    const calls::Call& call = queued.call;
    if (out_->paths) out_->paths->add(queued.group, queued.path, call);
    if (!out_->course || !call.outermost) return;
    out_->course->add(queued.group, call.function,
                      {.begin = call.begin,
                       .end = queued.end,
                       .duration = static_cast<double>(call.duration),
                       .weight = static_cast<double>(call.weight),
                       .in_window = is_windowed(call.function) && queued.cluster != kComplete});
}

void ThreadAnalysis::note_repeats() {
    repeats_.clear();
    for (const sequences::Run& run : builder_.children()) {
        if (run.count == 1) continue;
        const std::uint32_t function = out_->sequences.shape(run.child).function;
        const auto known = std::ranges::find(repeats_, function, &samples::Repeats::function);
        if (known != repeats_.end())
            known->count += run.count - 1;
        else if (repeats_.size() < samples::kMaxRepeated)
            repeats_.push_back({function, run.count - 1});
    }
}

/// Its place in the sample.
std::uint32_t ThreadAnalysis::sample(const calls::Call& call, const OpenCall& open) {
    const bool returned = call.own_leave && !call.last->words.empty() && !call.last->unwound;
    return out_->samples[call.function].take(
        {.begin = call.begin,
         .end = call.last->tsc,
         .duration = call.duration,
         .caller = open.caller,
         .result = returned ? call.last->words.front() : 0,
         .weight = static_cast<double>(call.weight),
         .inside_keys = open.inside_keys,
         .inside = open.inside,
         .enter_cpu = open.cpu,
         .leave_cpu = call.last->cpu,
         .returned = returned,
         .instructions = calls::net_instructions(settings_.probe_instructions, open.instructions,
                                                 call.last->instructions, call.nested)},
        std::span{open_words_}.subspan(open.first_word), repeats_);
}

void ThreadAnalysis::tree_ended(std::uint64_t weight) {
    flush();
    out_->sampling.end(weight);
}

void ThreadAnalysis::abandoned(std::size_t count) {
    if (out_->patterns) {
        if (const auto shapes = builder_.abandoned_shapes(count); !shapes.empty())
            out_->patterns->miner().abandon(shapes);
    }
    builder_.abandon(count);
    if (out_->paths) out_->paths->abandon(count);
    for (; count > 0; --count) {
        close_in_windows();
        const OpenCall& call = open_.back();
        if (call.cluster != ThreadWindows::kOutside)
            out_->untimed_callers[call.function].add(
                {.caller = out_->callers.of(call.caller), .calls = call.weight});
        open_words_.resize(call.first_word);
        open_.pop_back();
    }
}

}  // namespace rdam::score
