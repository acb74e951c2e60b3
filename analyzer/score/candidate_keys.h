// Groups of calls finer than the current keys: by everything that might be made a key, so that other keys
// can be chosen without reading the trace again (analyzer/report/regroup.h). A variable with too many values
// is given up, and its values are no longer kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/score/resolved_settings.h"
#include "analyzer/sequences/sequence_store.h"
#include "tools/trace/event.h"

namespace rdam::score {

/// By function and position in ResolvedSettings::candidates.
using GivenUp = std::vector<std::vector<bool>>;

/// For one thread. Not thread-safe.
class CandidateKeys {
  public:
    /// `settings` must outlive it.
    explicit CandidateKeys(const ResolvedSettings& settings);

    /// The number of groups guaranteed to each function, whatever the others take.
    static constexpr std::size_t kFewGroups = 64;

    bool wanted() const { return !settings_.candidates.empty(); }

    /// The values that an enter event has; those given up are 0.
    void values(const trace::Event& enter, std::vector<std::uint64_t>& values) const;

    /// Of this function, the candidate of this number.
    bool is_given_up(std::uint32_t function, std::size_t number) const { return given_up_[function][number]; }

    /// A group of this function is new. Time is linear in the function's groups when something is given up,
    /// which happens once for each half of the most groups.
    void added(std::uint32_t function, sequences::GroupId group, const sequences::SequenceStore& store);

    GivenUp take() { return std::move(given_up_); }

  private:
    struct PerFunction {
        std::vector<sequences::GroupId> groups;
        std::size_t room = 0;  ///< so many more groups, then something is given up
    };

    bool give_up_one(std::uint32_t function, const sequences::SequenceStore& store);
    std::size_t different(std::uint32_t function, const sequences::SequenceStore& store) const;
    bool is_key(std::uint32_t function, const sequences::KeyWord& candidate) const;

    const ResolvedSettings& settings_;
    GivenUp given_up_;
    std::vector<PerFunction> functions_;
    std::size_t groups_ = 0;
};

}  // namespace rdam::score
