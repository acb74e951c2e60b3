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
    const bool says_for_whom = settings_.says_for_whom(call.function, queued.keys);
    out_->windows.offer({.begin = call.begin,
                         .end = queued.end,
                         .duration = call.duration,
                         .function = call.function,
                         .group = queued.group,
                         .caller = queued.caller,
                         .outermost = call.outermost,
                         .returned = queued.returned},
                        says_for_whom);
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
