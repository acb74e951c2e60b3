#include "analyzer/score/thread_analysis.h"

#include <algorithm>

#include "analyzer/calls/matcher_impl.h"

namespace rdam::score {

void SelfTimes::add(std::uint64_t value, std::uint64_t times) {
    count += times;
    sum = Distribution::saturating_sum(sum, Distribution::saturating_product(value, times));
    squares += static_cast<double>(value) * static_cast<double>(value) * static_cast<double>(times);
    if (value < second) {
        second = value >= min || times > 1 ? value : min;
        min = std::min(min, value);
    }
    if (all) all->add(value, times);
}

Loss::Group SelfTimes::loss(const Baseline& baseline, std::uint64_t process_min) const {
    if (count == 0) return {};
    const auto n = static_cast<double>(count);
    const double mean = static_cast<double>(sum) / n;
    const std::uint64_t base = baseline.kind == Baseline::Kind::process ? std::min(process_min, min)
                               : baseline.kind == Baseline::Kind::percentile
                                   ? all->percentile(baseline.fraction)
                                   : min;
    const std::uint64_t least = std::min(sum, Distribution::saturating_product(count, base));
    return {.count = n,
            .lost = all ? all->lost_above(base) : static_cast<double>(sum - least),
            .variance = std::max(squares / n - mean * mean, 0.0),
            .base = static_cast<double>(base),
            .gap = count > 1 ? static_cast<double>(second - min) : 0};
}

void GroupTimes::add_caller(std::uint64_t address, const calls::Call& call) {
    if (!callers) {
        if (address == caller) return;
        const std::uint64_t inside = inner ? inner->count() : 0;
        const std::uint64_t before = outermost.count() + inside;
        if (before == 0) {
            caller = address;
            return;
        }
        callers = std::make_unique<CallerTable>();
        CallerEntry& first = callers->of(caller);
        first.calls = before;
        first.outermost = outermost.count();
        first.sum = outermost.sum();
    }
    callers->of(address).add(call.duration, call.weight, call.outermost);
}

ThreadAnalysis::ThreadAnalysis(const trace::TraceInfo& info, const ResolvedSettings& settings)
    : settings_(settings),
      store_(info.functions.size()),
      builder_(store_, settings.sequences),
      matcher_(info.functions.size(), settings.cost, settings.ignored, *this),
      windows_(settings.most_in_windows, settings.window_shift),
      untimed_callers_(info.functions.size()),
      sampling_(info.functions.size()) {
    matcher_.set_latest(calls::latest_possible(info));
    if (settings.most_sampled > 0) {
        for (const trace::FunctionInfo& function : info.functions)
            samples_.emplace_back(settings.most_sampled, function.enter_words, samples_.size());
    }
    if (settings.patterns) patterns_ = std::make_unique<PatternTimes>(store_, settings.sequences.fold_loops);
}

void ThreadAnalysis::gap() {
    matcher_.gap();
    if (patterns_) patterns_->miner().gap();
}

void ThreadAnalysis::finish() {
    matcher_.finish();
    if (patterns_) patterns_->miner().finish();
    for (samples::CallSample& sample : samples_)
        sample.finish();
}

void ThreadAnalysis::consume(std::span<const trace::Event> events) {
    // A pause is the recorder's doing, not an event of the program.
    const std::uint64_t pauses = matcher_.counts().pauses;
    matcher_.consume(events);
    events_ += events.size() - (matcher_.counts().pauses - pauses);
}

void ThreadAnalysis::opened(const trace::Event& enter, std::uint64_t weight) {
    const auto& keys = settings_.keys[enter.function];
    key_values_.clear();
    for (const mining::KeyWord& key : keys) {
        key_values_.push_back(key.value(enter));
    }
    builder_.open(enter.function, key_values_);
    if (!samples_.empty() && !open_.empty()) {
        ++open_.back().inside;
        for (const std::uint64_t value : key_values_)
            open_.back().inside_keys = mining::hash_mix(open_.back().inside_keys, value);
    }
    open_.push_back({.caller = enter.caller,
                     .weight = weight,
                     .function = enter.function,
                     .first_word = static_cast<std::uint32_t>(open_words_.size()),
                     .cpu = enter.cpu,
                     .instructions = enter.instructions});
    if (!samples_.empty()) open_words_.insert(open_words_.end(), enter.words.begin(), enter.words.end());
    if (enter.stack != 0) ++stacks_[enter.stack - 1];
    if (weight > 1) sampling_.count(enter.function);
    if (patterns_) patterns_->miner().open();
}

void ThreadAnalysis::closed(const calls::Call& call) {
    const mining::GroupId group = builder_.close();
    const OpenCall open = open_.back();
    const std::uint64_t caller = open.caller;
    open_.pop_back();
    if (patterns_)
        patterns_->miner().close(store_.group(group).shape, matcher_.net_end(), call.duration, call.timed);
    if (group >= groups_.size()) {
        groups_.resize(group + 1);
        if (settings_.baseline.kind == Baseline::Kind::percentile)
            groups_.back().self.all = std::make_unique<Distribution>();
    }
    GroupTimes& times = groups_[group];
    if (call.self_timed) times.self.add(call.self, call.weight);
    if (!call.timed) {
        untimed_callers_[call.function].of(caller).calls += call.weight;
        open_words_.resize(open.first_word);
        return;
    }
    times.add_caller(caller, call);
    if (call.outermost && !samples_.empty() && samples_[call.function].wants(call.duration))
        sample(call, open, group);
    windows_.offer({.begin = call.begin,
                    .end = call.last->tsc,
                    .duration = call.duration,
                    .function = call.function,
                    .group = group,
                    .outermost = call.outermost});
    open_words_.resize(open.first_word);
    if (call.weight > 1) sampling_.time(call.function, group, call.duration, call.outermost);
    if (call.outermost) {
        times.outermost.add(call.duration, call.weight);
        return;
    }
    if (!times.inner) times.inner = std::make_unique<Distribution>();
    times.inner->add(call.duration, call.weight);
}

void ThreadAnalysis::sample(const calls::Call& call, const OpenCall& open, mining::GroupId group) {
    const bool returned = call.own_leave && !call.last->words.empty() && !call.last->unwound;
    const std::uint64_t instructions = calls::net_instructions(
        settings_.probe_instructions, open.instructions, call.last->instructions, call.nested);
    samples_[call.function].take({.begin = call.begin,
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
                                  .instructions = instructions},
                                 std::span{open_words_}.subspan(open.first_word));
}

void ThreadAnalysis::tree_ended(std::uint64_t weight) {
    sampling_.end(weight);
}

void ThreadAnalysis::abandoned(std::size_t count) {
    if (patterns_) patterns_->miner().abandon(builder_.abandoned_shapes(count));
    builder_.abandon(count);
    for (; count > 0; --count) {
        const OpenCall& call = open_.back();
        untimed_callers_[call.function].of(call.caller).calls += call.weight;
        open_words_.resize(call.first_word);
        open_.pop_back();
    }
}

}  // namespace rdam::score
