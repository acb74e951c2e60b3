#include "analyzer/score/thread_analysis.h"

#include <algorithm>
#include <utility>

#include "analyzer/calls/matcher_impl.h"

namespace rdam::score {

ThreadAnalysis::ThreadAnalysis(const trace::TraceInfo& info, const ResolvedSettings& settings)
    : info_(info),
      settings_(settings),
      out_(std::make_unique<ThreadTimes>(info.functions.size())),
      builder_(out_->sequences, settings.sequences),
      matcher_(info.functions.size(), settings.cost, settings.ignored, *this),
      candidates_(settings) {
    matcher_.set_latest(calls::latest_possible(info));
    matcher_.set_transparent(settings.windowed);
    builder_.set_transparent(settings.windowed);
    out_->windows = samples::WindowSample{settings.most_in_windows, settings.window_shift};
    if (samples_wanted()) {
        for (const trace::FunctionInfo& function : info.functions)
            out_->samples.emplace_back(settings.most_sampled, function.enter_words, out_->samples.size());
    }
    if (settings.patterns)
        out_->patterns = std::make_unique<PatternTimes>(out_->sequences, settings.sequences.fold_loops);
}

void ThreadAnalysis::gap() {
    matcher_.gap();
    if (out_->patterns) out_->patterns->miner().gap();
}

std::unique_ptr<ThreadTimes> ThreadAnalysis::finish() {
    matcher_.finish();
    if (out_->patterns) out_->patterns->miner().finish();
    for (samples::CallSample& sample : out_->samples)
        sample.finish();
    out_->counts = matcher_.counts();
    out_->per_function = matcher_.per_function();
    out_->too_long = builder_.too_long();
    out_->given_up = candidates_.take();
    return std::move(out_);
}

void ThreadAnalysis::consume(std::span<const trace::Event> events) {
    // A pause is the recorder's doing, not an event of the program.
    if (settings_.windows) note_overhead(events);
    const std::uint64_t pauses = matcher_.counts().pauses;
    matcher_.consume(events);
    out_->events += events.size() - (matcher_.counts().pauses - pauses);
}

/// A program is slower in windows, by what is told here.
void ThreadAnalysis::note_overhead(std::span<const trace::Event> events) {
    for (const trace::Event& event : events) {
        if (event.kind == trace::EventKind::pause)
            out_->sampling_windows.note_pause(event.tsc, event.until);
        else if (event.kind != trace::EventKind::leave)
            out_->sampling_windows.note_probe(event.tsc, settings_.cost.total);
    }
}

void ThreadAnalysis::opened(const trace::Event& enter, std::uint64_t weight) {
    key_values_.clear();
    for (const mining::KeyWord& key : settings_.keys[enter.function])
        key_values_.push_back(key.value(enter));
    if (candidates_.wanted()) {
        candidates_.values(enter, group_values_);
        builder_.open(enter.function, group_values_);
    } else {
        builder_.open(enter.function, key_values_);
    }
    const std::uint32_t cluster = cluster_of(enter, weight);
    if (samples_wanted()) note_inside(enter.function);
    open_.push_back({.caller = enter.caller,
                     .weight = weight,
                     .function = enter.function,
                     .first_word = static_cast<std::uint32_t>(open_words_.size()),
                     .cpu = enter.cpu,
                     .instructions = enter.instructions,
                     .cluster = cluster});
    if (samples_wanted()) open_words_.insert(open_words_.end(), enter.words.begin(), enter.words.end());
    if (enter.stack != 0) ++out_->stack_samples[enter.stack - 1];
    if (weight > 1 && cluster == kComplete) out_->sampling.count(enter.function);
    if (out_->patterns && !is_windowed(enter.function)) out_->patterns->miner().open();
}

/// Counts the call, if its function is sampled in windows.
std::uint32_t ThreadAnalysis::cluster_of(const trace::Event& enter, std::uint64_t weight) {
    if (!is_windowed(enter.function)) return kComplete;
    WindowedCalls& calls = out_->windowed[enter.function];
    const std::uint64_t since = info_.functions[enter.function].windowed_since;
    if (enter.tsc < since) {
        calls.before += weight;
        return kComplete;
    }
    const std::uint32_t cluster = out_->sampling_windows.cluster_at(enter.tsc, since);
    if (cluster == ThreadWindows::kOutside) return cluster;
    calls.inside += weight;
    calls.clusters.add(cluster, static_cast<double>(weight), 0);
    return cluster;
}

GroupTimes& ThreadAnalysis::times_of(mining::GroupId group, std::uint32_t function) {
    if (group >= out_->groups.size()) {
        out_->groups.resize(group + std::size_t{1});
        keep_for_other_baselines(out_->groups.back());
        if (candidates_.wanted()) candidates_.added(function, group, out_->sequences);
    }
    return out_->groups[group];
}

void ThreadAnalysis::keep_for_other_baselines(GroupTimes& times) const {
    if (settings_.baseline.kind == Baseline::Kind::percentile || settings_.any_baseline)
        times.self.all = std::make_unique<Distribution>();
}

/// Where the times of the call belong.
GroupTimes& ThreadAnalysis::windowed_times(GroupTimes& times, const calls::Call& call,
                                           std::uint32_t cluster) const {
    if (!is_windowed(call.function)) return times;
    if (!times.windowed) {
        times.windowed = std::make_unique<WindowedTimes>();
        keep_for_other_baselines(times.windowed->before);
    }
    if (cluster == kComplete) return times.windowed->before;
    if (call.timed && call.outermost)
        times.windowed->clusters.add(cluster, static_cast<double>(call.weight),
                                     static_cast<double>(call.weight) * static_cast<double>(call.duration));
    return times;
}

/// A call of `function` begins inside those that are open. One that is sampled in windows is not there for
/// the calls around it, and what it calls is called by them.
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
    std::uint64_t keys = mining::kHashSeed;
    for (const std::uint64_t value : key_values_)
        keys = mining::hash_mix(keys, value);
    // How often a loop calls is not a matter of keys, and deep ones would not tell it.
    if (settings_.sequences.fold_loops && keys == parent.last_keys) return;
    parent.last_keys = keys;
    parent.inside_keys = mining::hash_mix(parent.inside_keys, keys);
}

void ThreadAnalysis::closed(const calls::Call& call) {
    const bool counts = open_.back().cluster != ThreadWindows::kOutside;
    const bool sampled = counts && call.timed && call.outermost && samples_wanted() &&
                         out_->samples[call.function].wants(call.duration);
    if (sampled && (settings_.sequences.fold_loops || candidates_.wanted())) note_repeats();
    const mining::GroupId group = builder_.close();
    const OpenCall open = open_.back();
    const std::uint64_t caller = open.caller;
    open_.pop_back();
    if (out_->patterns && !is_windowed(call.function))
        out_->patterns->miner().close(out_->sequences.group(group).shape, matcher_.net_end(), call.duration,
                                      call.timed);
    GroupTimes& of_group = times_of(group, call.function);
    if (!counts) {
        open_words_.resize(open.first_word);
        return;
    }
    GroupTimes& times = windowed_times(of_group, call, open.cluster);
    if (call.self_timed) times.self.add(call.self, call.weight);
    if (!call.timed) {
        out_->untimed_callers[call.function].of(caller).calls += call.weight;
        open_words_.resize(open.first_word);
        return;
    }
    times.add_caller(caller, call);
    if (sampled) sample(call, open, group);
    out_->windows.offer({.begin = call.begin,
                         .end = call.last->tsc,
                         .duration = call.duration,
                         .function = call.function,
                         .group = group,
                         .outermost = call.outermost});
    open_words_.resize(open.first_word);
    if (call.weight > 1 && open.cluster == kComplete)
        out_->sampling.time(call.function, group, call.duration, call.outermost);
    if (call.outermost) {
        times.outermost.add(call.duration, call.weight);
        return;
    }
    if (!times.inner) times.inner = std::make_unique<Distribution>();
    times.inner->add(call.duration, call.weight);
}

void ThreadAnalysis::note_repeats() {
    repeats_.clear();
    for (const mining::Run& run : builder_.children()) {
        if (run.count == 1) continue;
        const std::uint32_t function = out_->sequences.shape(run.child).function;
        const auto known = std::ranges::find(repeats_, function, &samples::Repeats::function);
        if (known != repeats_.end())
            known->count += run.count - 1;
        else if (repeats_.size() < samples::kMostRepeated)
            repeats_.push_back({function, run.count - 1});
    }
}

void ThreadAnalysis::sample(const calls::Call& call, const OpenCall& open, mining::GroupId group) {
    const bool returned = call.own_leave && !call.last->words.empty() && !call.last->unwound;
    out_->samples[call.function].take(
        {.begin = call.begin,
         .end = call.last->tsc,
         .duration = call.duration,
         .caller = open.caller,
         .result = returned ? call.last->words.front() : 0,
         .weight = static_cast<double>(call.weight),
         .inside_keys = open.inside_keys,
         .inside = open.inside,
         .group = group,
         .enter_cpu = open.cpu,
         .leave_cpu = call.last->cpu,
         .returned = returned,
         .instructions = calls::net_instructions(settings_.probe_instructions, open.instructions,
                                                 call.last->instructions, call.nested)},
        std::span{open_words_}.subspan(open.first_word), repeats_);
}

void ThreadAnalysis::tree_ended(std::uint64_t weight) {
    out_->sampling.end(weight);
}

void ThreadAnalysis::abandoned(std::size_t count) {
    if (out_->patterns) {
        if (const auto shapes = builder_.abandoned_shapes(count); !shapes.empty())
            out_->patterns->miner().abandon(shapes);
    }
    builder_.abandon(count);
    for (; count > 0; --count) {
        const OpenCall& call = open_.back();
        if (call.cluster != ThreadWindows::kOutside)
            out_->untimed_callers[call.function].of(call.caller).calls += call.weight;
        open_words_.resize(call.first_word);
        open_.pop_back();
    }
}

}  // namespace rdam::score
