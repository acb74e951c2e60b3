// How long the patterns of one thread took, each time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "analyzer/sequences/pattern_miner.h"
#include "analyzer/statistics/distribution.h"

namespace rdam::score {

struct PatternCalls {
    std::uint64_t occurrences = 0;
    // Of those whose calls all begin and end at possible times; ticks.
    Distribution times;                  ///< of those that set a baseline
    std::unique_ptr<Distribution> held;  ///< of those with pauses, which do not; null: there are none

    /// Of both. Those with pauses have taken no less than the fastest of the others, as well as a clock can
    /// tell that moves `step` ticks at a time.
    Distribution all(std::uint64_t step) const {
        Distribution all = times;
        if (held) all.merge_unsure(*held, {}, times.least().floor(step));
        return all;
    }
};

/// Not thread-safe.
class PatternTimes : private mining::PatternTimesSink {
  public:
    PatternTimes(const mining::SequenceStore& sequences, bool fold_loops)
        : miner_{sequences, fold_loops, *this} {}
    ~PatternTimes() override = default;
    PatternTimes(const PatternTimes&) = delete;
    PatternTimes& operator=(const PatternTimes&) = delete;
    PatternTimes(PatternTimes&&) = delete;
    PatternTimes& operator=(PatternTimes&&) = delete;

    mining::PatternMiner& miner() { return miner_; }
    const mining::PatternStore& patterns() const { return miner_.patterns(); }
    /// By mining::PatternId.
    std::span<const PatternCalls> calls() const { return calls_; }

  private:
    void occurred(const Occurrence& occurrence) override {
        if (occurrence.pattern >= calls_.size()) calls_.resize(occurrence.pattern + std::size_t{1});
        PatternCalls& calls = calls_[occurrence.pattern];
        ++calls.occurrences;
        if (!occurrence.timed) return;
        if (!occurrence.held) return calls.times.add(occurrence.duration);
        if (!calls.held) calls.held = std::make_unique<Distribution>();
        calls.held->add(occurrence.duration);
    }

    mining::PatternMiner miner_;
    std::vector<PatternCalls> calls_;
};

}  // namespace rdam::score
