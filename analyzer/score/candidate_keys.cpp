#include "analyzer/score/candidate_keys.h"

#include <algorithm>
#include <set>
#include <span>

namespace rdam::score {

CandidateKeys::CandidateKeys(const ResolvedSettings& settings)
    : settings_(settings), functions_(settings.candidates.size()) {
    for (const auto& candidates : settings.candidates)
        given_up_.emplace_back(candidates.size());
}

void CandidateKeys::values(const trace::Event& enter, std::vector<std::uint64_t>& values) const {
    values.clear();
    const auto& candidates = settings_.candidates[enter.function];
    const std::vector<bool>& given_up = given_up_[enter.function];
    for (std::size_t i = 0; i < candidates.size(); ++i)
        values.push_back(given_up[i] ? 0 : candidates[i].value(enter));
}

void CandidateKeys::added(std::uint32_t function, sequences::GroupId group,
                          const sequences::SequenceStore& store) {
    PerFunction& mine = functions_[function];
    mine.groups.push_back(group);
    ++groups_;
    if (mine.room > 0) {
        --mine.room;
        return;
    }
    const std::size_t most =
        groups_ < settings_.candidate_groups_of_thread ? settings_.max_candidate_groups : kFewGroups;
    if (mine.groups.size() < most) {
        mine.room = std::min(kFewGroups, most - mine.groups.size());
        return;
    }
    std::size_t left = mine.groups.size();
    while (left > most / 2 && give_up_one(function, store))
        left = different(function, store);
    mine.room = most - std::min(most / 2, left);
}

bool CandidateKeys::is_key(std::uint32_t function, const sequences::KeyWord& candidate) const {
    return std::ranges::any_of(settings_.keys[function], [&](const sequences::KeyWord& key) {
        return key.parameter == candidate.parameter;
    });
}

bool CandidateKeys::give_up_one(std::uint32_t function, const sequences::SequenceStore& store) {
    std::vector<bool>& given_up = given_up_[function];
    std::size_t worst = given_up.size();
    std::size_t max_values = 0;
    for (std::size_t i = 0; i < given_up.size(); ++i) {
        if (given_up[i] || is_key(function, settings_.candidates[function][i])) continue;
        std::set<std::uint64_t> values;
        for (const sequences::GroupId group : functions_[function].groups)
            values.insert(store.keys(store.group(group))[i]);
        if (values.size() <= max_values) continue;
        max_values = values.size();
        worst = i;
    }
    if (worst == given_up.size()) return false;
    given_up[worst] = true;
    return true;
}

std::size_t CandidateKeys::different(std::uint32_t function, const sequences::SequenceStore& store) const {
    const std::vector<bool>& given_up = given_up_[function];
    std::set<std::vector<std::uint64_t>> all;
    std::vector<std::uint64_t> kept;
    for (const sequences::GroupId id : functions_[function].groups) {
        const sequences::Group& group = store.group(id);
        const std::span<const std::uint64_t> values = store.keys(group);
        kept.assign(1, group.shape);
        for (std::size_t i = 0; i < given_up.size(); ++i)
            if (!given_up[i]) kept.push_back(values[i]);
        all.insert(kept);
    }
    return all.size();
}

}  // namespace rdam::score
