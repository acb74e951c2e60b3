// The definitions of docs/analyzer.md followed to the letter, slowly: every call a node of a tree, every
// sequence written out as a string, every number from a sorted list. Shares no code with the analyzer.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/unit/analysis/recording.h"

namespace rdam::test {

/// Of calls in which the recorder held the thread it is not known how fast they could have been, but that
/// they took no longer than with the pauses.
struct Durations {
    std::vector<std::uint64_t> sure, held, with_pauses;

    void add(std::uint64_t duration, std::uint64_t paused) {
        if (paused == 0) return sure.push_back(duration);
        held.push_back(duration);
        with_pauses.push_back(duration + paused);
    }
    void add(const Durations& other) {
        sure.insert(sure.end(), other.sure.begin(), other.sure.end());
        held.insert(held.end(), other.held.begin(), other.held.end());
        with_pauses.insert(with_pauses.end(), other.with_pauses.begin(), other.with_pauses.end());
    }
    /// What a baseline is made of.
    std::vector<std::uint64_t> for_base() const {
        if (sure.empty()) return held;
        std::vector<std::uint64_t> all = sure;
        all.insert(all.end(), with_pauses.begin(), with_pauses.end());
        return all;
    }
    /// What they are taken to have lasted: held ones no less than the baseline's fastest, or the next one
    /// within a step of the clock.
    std::vector<std::uint64_t> taken(std::uint64_t step) const {
        std::uint64_t floor = 0;
        if (!sure.empty()) {
            const std::vector<std::uint64_t> compared = for_base();
            const std::uint64_t least = *std::ranges::min_element(compared);
            std::uint64_t next = UINT64_MAX;
            for (const std::uint64_t duration : compared)
                if (duration > least) next = std::min(next, duration);
            floor = next != UINT64_MAX && next - least <= step ? next : least;
        }
        std::vector<std::uint64_t> all = sure;
        for (const std::uint64_t duration : held)
            all.push_back(std::max(duration, floor));
        return all;
    }
    /// As they are.
    std::vector<std::uint64_t> all() const {
        std::vector<std::uint64_t> durations = sure;
        durations.insert(durations.end(), held.begin(), held.end());
        return durations;
    }
};

struct ReferenceSequence {
    std::uint64_t occurrences = 0;
    std::uint64_t min = 0;
    double lost = 0;
    double rdam = 0;

    friend bool operator<(const ReferenceSequence& a, const ReferenceSequence& b) {
        // Sums that were made in another order differ in their last digits.
        const auto key = [](const ReferenceSequence& of) {
            return std::tuple{std::llround(of.lost * 1000), of.occurrences, of.min};
        };
        return key(a) < key(b);
    }
};

struct ReferenceCaller {
    std::uint64_t calls = 0;
    double lost = 0;
};

struct ReferenceFunction {
    double rdam = 0, rdam_all = 0, rdam_self = 0, rdam_flat = 0;
    std::uint64_t occurrences = 0;
    std::uint64_t unscored = 0;
    std::vector<std::uint64_t> durations;  ///< of the scored outermost calls, sorted
    std::uint64_t min = UINT64_MAX;        ///< they have taken no less, if there are any
    double lost = 0;
    bool lower_bound = false;
    std::vector<ReferenceSequence> sequences;          ///< those with a score, sorted
    std::map<std::uint64_t, ReferenceCaller> callers;  ///< by address, 0 left out
};

/// By name. `keys` says for each function how many of its first words are keys; ignored functions by number.
struct ReferenceSettings {
    std::vector<std::size_t> keys;
    std::vector<bool> by_caller = {};  ///< the return address is a key too; empty: of no function
    std::vector<bool> ignored;
    bool deep_keys = false;
    bool fold_loops = false;
    bool process_baseline = false;
};

struct ReferencePattern {
    std::vector<std::uint32_t> functions;  ///< of its calls
    std::uint64_t occurrences = 0;
    Durations durations;  ///< of those of which all calls are timed
};

/// What such calls are compared with: the mean of those that are the least, or the next one if that is within
/// a step of the clock. 0 if there are none.
double reference_base(const std::vector<std::uint64_t>& durations, std::uint64_t step);

/// For each thread, by the identities of the calls, each followed by a space.
std::vector<std::map<std::string, ReferencePattern>> reference_patterns(const Recording& recording,
                                                                        const ReferenceSettings& settings);

/// A call that was seen to begin.
struct ReferenceCall {
    std::uint32_t function = 0;
    std::string identity;
    std::vector<std::uint32_t> path;  ///< functions, the outermost call's first, its own last
    std::vector<bool>
        outermost_in_path;  ///< of each of them, whether no call of its function that ends is around
    std::uint64_t begin = 0, end = 0, duration = 0, self = 0, caller = 0;
    bool timed = false, self_timed = false, outermost = false, ended = false;
    std::uint64_t held = 0;  ///< by the recorder, ticks
};

/// By thread.
std::vector<std::vector<ReferenceCall>> reference_calls(const Recording& recording,
                                                        const ReferenceSettings& settings);

std::map<std::string, ReferenceFunction> reference_scores(const Recording& recording,
                                                          const ReferenceSettings& settings);

}  // namespace rdam::test
