#include "analyzer/score/thread_analysis.h"

#include <algorithm>

#include "analyzer/calls/matcher_impl.h"

namespace rdam::score {

void SelfTimes::add(std::uint64_t value, std::uint64_t times) {
    count += times;
    sum = Distribution::saturating_sum(sum, Distribution::saturating_product(value, times));
    min = std::min(min, value);
    if (all) all->add(value, times);
}

double SelfTimes::lost(const Baseline& baseline, std::uint64_t process_min) const {
    if (count == 0) return 0;
    if (all) return all->lost_above(all->percentile(baseline.fraction));
    const std::uint64_t base = baseline.kind == Baseline::Kind::process ? std::min(process_min, min) : min;
    return static_cast<double>(sum - std::min(sum, Distribution::saturating_product(count, base)));
}

void CallerCounts::add(std::uint64_t caller, std::uint64_t times) {
    constexpr std::size_t kFew = 8;
    if (last_ < entries_.size() && entries_[last_].caller == caller) {
        entries_[last_].calls += times;
        return;
    }
    if (entries_.size() <= kFew) {
        const auto found = std::ranges::find(entries_, caller, &Entry::caller);
        last_ = static_cast<std::size_t>(found - entries_.begin());
    } else {
        const auto found = index_->find(caller);
        last_ = found != index_->end() ? found->second : entries_.size();
    }
    if (last_ == entries_.size()) {
        entries_.push_back({caller, 0});
        if (entries_.size() == kFew + 1) {
            index_ = std::make_unique<tsl::robin_map<std::uint64_t, std::size_t>>();
            for (std::size_t i = 0; i < kFew; ++i)
                index_->emplace(entries_[i].caller, i);
        }
        if (entries_.size() > kFew) index_->emplace(caller, last_);
    }
    entries_[last_].calls += times;
}

ThreadAnalysis::ThreadAnalysis(const trace::TraceInfo& info, const ResolvedSettings& settings)
    : settings_(settings),
      store_(info.functions.size()),
      builder_(store_, settings.sequences),
      matcher_(info.functions.size(), settings.cost, settings.ignored, *this),
      callers_(info.functions.size()),
      sampling_(info.functions.size()) {
    if (settings.patterns) patterns_ = std::make_unique<PatternTimes>(store_, settings.sequences.fold_loops);
}

void ThreadAnalysis::gap() {
    matcher_.gap();
    if (patterns_) patterns_->miner().gap();
}

void ThreadAnalysis::finish() {
    matcher_.finish();
    if (patterns_) patterns_->miner().finish();
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
        key_values_.push_back(key.word < enter.words.size() ? enter.words[key.word] & key.mask : 0);
    }
    builder_.open(enter.function, key_values_);
    if (enter.caller != 0) callers_[enter.function].add(enter.caller, weight);
    if (enter.stack != 0) ++stacks_[enter.stack - 1];
    if (weight > 1) sampling_.count(enter.function);
    if (patterns_) patterns_->miner().open();
}

void ThreadAnalysis::closed(const calls::Call& call) {
    const mining::GroupId group = builder_.close();
    if (patterns_)
        patterns_->miner().close(store_.group(group).shape, matcher_.net_end(), call.duration, call.timed);
    if (group >= groups_.size()) {
        groups_.resize(group + 1);
        if (settings_.baseline.kind == Baseline::Kind::percentile)
            groups_.back().self.all = std::make_unique<Distribution>();
    }
    GroupTimes& times = groups_[group];
    if (call.self_timed) times.self.add(call.self, call.weight);
    if (!call.timed) return;
    if (call.weight > 1) sampling_.time(call.function, group, call.duration, call.outermost);
    if (call.outermost) {
        times.outermost.add(call.duration, call.weight);
        return;
    }
    if (!times.inner) times.inner = std::make_unique<Distribution>();
    times.inner->add(call.duration, call.weight);
}

void ThreadAnalysis::tree_ended(std::uint64_t weight) {
    sampling_.end(weight);
}

void ThreadAnalysis::abandoned(std::size_t count) {
    if (patterns_) patterns_->miner().abandon(builder_.abandoned_shapes(count));
    builder_.abandon(count);
}

}  // namespace rdam::score
