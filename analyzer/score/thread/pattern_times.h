// How long the patterns of one thread took, each time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/mining/patterns/pattern_miner.h"
#include "analyzer/score/statistics/distribution.h"

namespace rdam::score {

struct PatternCalls {
    std::uint64_t occurrences = 0;
    Distribution times;  ///< of those whose calls all begin and end at possible times; ticks
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
    void occurred(mining::PatternId pattern, std::uint64_t duration, bool timed) override {
        if (pattern >= calls_.size()) calls_.resize(pattern + std::size_t{1});
        PatternCalls& calls = calls_[pattern];
        ++calls.occurrences;
        if (timed) calls.times.add(duration);
    }

    mining::PatternMiner miner_;
    std::vector<PatternCalls> calls_;
};

}  // namespace rdam::score
