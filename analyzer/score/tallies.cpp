#include "analyzer/score/tallies.h"

#include <algorithm>
#include <utility>

namespace rdam::score {

PathTally::PathTally(std::size_t functions, std::size_t max_paths, std::size_t max_pairs)
    : max_paths_(max_paths), max_pairs_(max_pairs), functions_(functions) {
    make_child(kRoot, {UINT32_MAX, false});
    make_child(kRoot, {UINT32_MAX, true});
    paths_[kRoot].last_child = 0;
    paths_[kRoot].depth = 0;
}

std::uint64_t PathTally::Step::hash(std::uint32_t parent) const {
    const std::uint64_t flags = (outermost ? 2U : 0U) | (in_window ? 1U : 0U);
    const std::uint64_t more = caller << 2U | flags;
    return number_hash(parent, function, static_cast<std::uint32_t>(more ^ more >> 32U));
}

bool PathTally::is_sound() const {
    if (paths_.size() <= kElsewhere) return false;
    for (std::uint32_t i = 0; i < paths_.size(); ++i) {
        const Path& path = paths_[i];
        if (i > kElsewhere ? path.parent >= i || path.function >= functions_ : path.parent != kRoot)
            return false;
    }
    return std::ranges::all_of(calls_.all(),
                               [&](const PathCalls& each) { return each.path < paths_.size(); });
}

std::uint64_t PathTally::path_hash(std::uint32_t path) const {
    const Path& of = paths_[path];
    return Step{of.function, of.outermost, of.in_window, of.caller}.hash(of.parent);
}

std::uint64_t PathTally::pair_hash(std::uint32_t pair) const {
    return number_hash(pairs_[pair].group, pairs_[pair].path);
}

/// The root is its own parent; no function has the number that it is found under.
std::uint32_t PathTally::make_child(std::uint32_t parent, const Step& step) {
    const auto number = static_cast<std::uint32_t>(paths_.size());
    paths_.push_back({.parent = parent,
                      .function = step.function,
                      .depth = paths_.empty() ? 0 : paths_[parent].depth + 1,
                      .outermost = step.outermost,
                      .in_window = step.in_window,
                      .caller = step.caller});
    path_index_.add([this](std::uint32_t path) { return path_hash(path); });
    return number;
}

std::uint32_t PathTally::find_child(std::uint32_t parent, Step step) {
    if (paths_[parent].depth == kMaxDepth) {
        parent = paths_[parent].parent;
        ++left_out_;
    }
    const auto find = [&] {
        return path_index_.find(step.hash(parent), [&](std::uint32_t number) {
            return paths_[number].parent == parent && step.leads_to(paths_[number]);
        });
    };
    std::uint32_t path = find();
    if (path == NumberIndex::kNone && paths_.size() >= max_paths_) {
        ++left_out_;
        parent = kElsewhere;
        step.caller = 0;
        path = find();
    }
    if (path == NumberIndex::kNone) path = make_child(parent, step);
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
        if (pairs_.size() >= max_pairs_) return kNone;
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

namespace {
__extension__ using Wide = unsigned __int128;
}  // namespace

TimeBins::TimeBins(const trace::TickRange& range, std::uint32_t bins) : range_(range), bins_(bins) {
    find(range.begin);
}

std::uint64_t TimeBins::begin_of(std::uint32_t bin) const {
    if (bin == 0) return 0;
    const auto length = static_cast<Wide>(range_.end - range_.begin);
    return range_.begin + static_cast<std::uint64_t>(length * bin / bins_);
}

void TimeBins::find(std::uint64_t t) {
    const std::uint64_t inside = std::clamp(t, range_.begin, range_.end - 1) - range_.begin;
    const auto length = static_cast<Wide>(range_.end - range_.begin);
    bin_ = static_cast<std::uint32_t>(static_cast<Wide>(inside) * bins_ / length);
    while (bin_ + 1 < bins_ && begin_of(bin_ + 1) <= t)
        ++bin_;
    low_ = begin_of(bin_);
    width_ = (bin_ + 1 < bins_ ? begin_of(bin_ + 1) : UINT64_MAX) - low_;
}

bool BinLog::append(std::uint32_t group, std::uint32_t bin, double calls, double time) {
    if (entries_.size() >= most_) return false;
    if (group >= last_.size()) last_.resize(group + std::size_t{1}, kNone);
    last_[group] = static_cast<std::uint32_t>(entries_.size());
    entries_.push_back({group, bin, calls, time});
    return true;
}

void BinLog::add_anyway(std::uint32_t group, std::uint32_t bin, double calls, double time) {
    if (add(group, bin, calls, time)) return;
    if (group < last_.size() && last_[group] != kNone) {
        add(group, entries_[last_[group]].bin, calls, time);
        return;
    }
    ++most_;
    append(group, bin, calls, time);
}

void BinLog::renumber(const std::vector<std::uint32_t>& numbers) {
    std::ranges::fill(last_, kNone);
    last_.resize(numbers.size(), kNone);
    for (std::uint32_t i = 0; i < entries_.size(); ++i) {
        entries_[i].group = numbers[entries_[i].group];
        last_[entries_[i].group] = i;
    }
}

std::vector<CourseCalls> BinLog::take() {
    last_ = {};
    return std::exchange(entries_, {});
}

void CourseTally::add_part(std::uint32_t group, std::uint32_t function, std::uint32_t bin, bool in_window,
                           double calls, double time) {
    const std::uint32_t place = in_window ? bin + bins_.count() : bin;
    if (groups_log_.add(group, place, calls, time)) return;
    ++approximate_;
    rest_log_.add_anyway(in_window ? static_cast<std::uint32_t>(functions_ + function) : function, bin, calls,
                         time);
}

/// The last part is what is left, so that they add up to the whole.
void CourseTally::spread(std::uint32_t group, std::uint32_t function, std::uint32_t first, std::uint32_t last,
                         const Time& call) {
    const auto length = static_cast<double>(call.end - call.begin);
    const auto add = [&](std::uint32_t bin, double part) {
        const double calls = call.weight * part;
        add_part(group, function, bin, call.in_window, calls, calls * call.duration);
    };
    double left = 1;
    for (std::uint32_t bin = first; bin < last; ++bin) {
        const std::uint64_t begin = std::max(call.begin, bins_.begin_of(bin));
        const std::uint64_t end = std::max(begin, bins_.begin_of(bin + 1));
        const double part = static_cast<double>(end - begin) / length;
        if (part > 0) add(bin, part);
        left -= part;
    }
    if (call.end > bins_.begin_of(last)) add(last, std::max(left, 0.0));
}

void CourseTally::finish() {
    calls_ = ByGroup<CourseCalls>{groups_log_.take()};
    rest_ = ByGroup<CourseCalls>{rest_log_.take()};
}

}  // namespace rdam::score
