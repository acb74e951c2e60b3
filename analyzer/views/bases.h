// What the calls of a thread are compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/score/settings/settings.h"
#include "analyzer/score/statistics/distribution.h"
#include "analyzer/score/statistics/least.h"
#include "analyzer/views/visit.h"

namespace rdam::views {

/// Times of each sequence of a thread.
class SequenceTimes {
  public:
    explicit SequenceTimes(bool all) : all_(all) {}

    /// A call that stands for `weight` of them.
    void add(std::uint32_t sequence, std::uint64_t ticks, std::uint64_t weight) {
        if (sequence >= least_.size()) least_.resize(sequence + std::size_t{1});
        least_[sequence].add(ticks, weight);
        if (!all_) return;
        if (sequence >= calls_.size()) calls_.resize(sequence + std::size_t{1});
        calls_[sequence].add(ticks, weight);
    }
    const std::vector<score::Least>& least() const { return least_; }

    double base(const score::Baseline& baseline, std::size_t sequence, const score::Least& process) const {
        static const score::Distribution kNone;
        return score::base_of(baseline, all_ ? calls_[sequence] : kNone, least_[sequence], process).ticks;
    }
    std::vector<double> bases(const score::Baseline& baseline) const {
        std::vector<double> all;
        for (std::size_t s = 0; s < least_.size(); ++s)
            all.push_back(base(baseline, s, {}));
        return all;
    }

  private:
    bool all_;
    std::vector<score::Least> least_;
    std::vector<score::Distribution> calls_;
};

class Durations {
  public:
    Durations(bool all, bool self_times) : whole(all), self(all), self_times_(self_times) {}

    /// A call that is timed.
    void timed(std::uint32_t sequence, const calls::Call& call) {
        if (call.outermost) whole.add(sequence, call.duration, call.weight);
        if (self_times_ && call.self_timed) self.add(sequence, call.self, call.weight);
    }

    SequenceTimes whole, self;

  private:
    bool self_times_;
};

/// Ticks; nothing: the call has none.
struct Base {
    std::optional<double> whole;  ///< of an outermost call
    std::optional<double> self;   ///< of its self time
};

/// Those of the second pass.
class KnownBases {
  public:
    KnownBases(const std::vector<double>& whole, const std::vector<double>& self)
        : whole_(whole), self_(self) {}

    Base of(std::uint32_t sequence, const calls::Call& call) const {
        return {.whole = call.outermost ? in(whole_, sequence) : std::nullopt,
                .self = call.self_timed ? in(self_, sequence) : std::nullopt};
    }

  private:
    static std::optional<double> in(const std::vector<double>& bases, std::uint32_t sequence) {
        return sequence < bases.size() ? std::optional{bases[sequence]} : std::nullopt;
    }

    const std::vector<double>& whole_;  // by sequence
    const std::vector<double>& self_;   // … but none may be known
};

/// Those of an EarlyLook.
class SettlingBases {
  public:
    explicit SettlingBases(Durations& durations) : durations_(durations) {}

    Base of(std::uint32_t sequence, const calls::Call& call) {
        durations_.timed(sequence, call);
        if (!call.outermost) return {};
        if (sequence >= settling_.size()) settling_.resize(sequence + std::size_t{1});
        Settling& own = settling_[sequence];
        const auto ticks = static_cast<double>(call.duration);
        if (own.calls++ == 0 || ticks < own.base * (1 - EarlyLook::kPart)) {
            own.base = ticks;
            own.unsettled = own.calls - 1;
        }
        return {.whole = own.base, .self = {}};
    }
    std::uint64_t unsettled() const {
        std::uint64_t sum = 0;
        for (const Settling& each : settling_)
            sum += each.unsettled;
        return sum;
    }

  private:
    struct Settling {
        double base = 0;
        std::uint64_t calls = 0;
        std::uint64_t unsettled = 0;  ///< calls before that
    };

    Durations& durations_;
    std::vector<Settling> settling_;
};

}  // namespace rdam::views
