#include "analyzer/score/path_tally.h"

#include <algorithm>
#include <utility>

namespace rdam::score {

PathTally::PathTally(std::size_t functions, std::size_t most_paths, std::size_t most_pairs)
    : most_paths_(most_paths), most_pairs_(most_pairs), open_calls_(functions) {
    make_child(kRoot, UINT32_MAX, false, false);
    make_child(kRoot, UINT32_MAX, true, false);
    paths_[kRoot].last_child = 0;
    paths_[kRoot].depth = 0;
}

std::uint64_t PathTally::path_hash(std::uint32_t path) const {
    const Path& of = paths_[path];
    return number_hash(of.parent, of.function, (of.outermost ? 2U : 0U) | (of.in_window ? 1U : 0U));
}

std::uint64_t PathTally::pair_hash(std::uint32_t pair) const {
    return number_hash(pairs_[pair].group, pairs_[pair].path);
}

/// The root is its own parent; no function has the number that it is found under.
std::uint32_t PathTally::make_child(std::uint32_t parent, std::uint32_t function, bool outermost,
                                    bool in_window) {
    const auto number = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back({.parent = parent,
                      .function = function,
                      .depth = paths_.empty() ? 0 : paths_[parent].depth + 1,
                      .outermost = outermost,
                      .in_window = in_window});
    path_index_.add([this](std::uint32_t path) { return path_hash(path); });
    return number;
}

std::uint32_t PathTally::find_child(std::uint32_t parent, std::uint32_t function, bool outermost,
                                    bool in_window) {
    if (paths_[parent].depth == kMaxDepth) {
        parent = paths_[parent].parent;
        ++left_out_;
    }
    const auto find = [&] {
        const std::uint64_t hash =
            number_hash(parent, function, (outermost ? 2U : 0U) | (in_window ? 1U : 0U));
        return path_index_.find(hash, [&](std::uint32_t number) {
            const Path& path = paths_[number];
            return path.parent == parent && path.function == function && path.outermost == outermost &&
                   path.in_window == in_window;
        });
    };
    std::uint32_t path = find();
    if (path == NumberIndex::kNone && paths_.size() >= most_paths_) {
        ++left_out_;
        parent = kElsewhere;
        path = find();
    }
    if (path == NumberIndex::kNone) path = make_child(parent, function, outermost, in_window);
    paths_[parent].last_child = path;
    return path;
}

void PathTally::abandon(std::size_t count) {
    for (; count > 0; --count)
        close();
}

/// kNone: there is no room for another one.
std::uint32_t PathTally::find_pair(std::uint32_t group, std::uint32_t path) {
    const std::uint64_t hash = number_hash(group, path);
    std::uint32_t pair = pair_index_.find(hash, [&](std::uint32_t number) {
        return pairs_[number].group == group && pairs_[number].path == path;
    });
    if (pair == NumberIndex::kNone) {
        if (pairs_.size() >= most_pairs_) return kNone;
        pair = static_cast<std::uint32_t>(pairs_.size());
        pairs_.push_back({{}, group, path});
        pair_index_.add([this](std::uint32_t number) { return pair_hash(number); });
    }
    if (group >= last_.size()) last_.resize(group + std::size_t{1}, kNone);
    last_[group] = pair;
    return pair;
}

void PathTally::renumber(const std::vector<std::uint32_t>& numbers) {
    std::ranges::fill(last_, kNone);
    last_.resize(numbers.size(), kNone);
    pair_index_.clear();
    for (std::uint32_t number = 0; number < pairs_.size(); ++number) {
        PathCalls& pair = pairs_[number];
        pair.group = numbers[pair.group];
        last_[pair.group] = number;
        pair_index_.add([this](std::uint32_t each) { return pair_hash(each); });
    }
}

void PathTally::finish() {
    abandon(open_.size());
    calls_ = ByGroup<PathCalls>{pairs_};
    pairs_ = {};
    last_ = {};
    pair_index_.clear();
}

}  // namespace rdam::score
