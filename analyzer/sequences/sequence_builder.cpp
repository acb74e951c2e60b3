#include "analyzer/sequences/sequence_builder.h"

#include <utility>

namespace rdam::sequences {

SequenceBuilder::SequenceBuilder(SequenceStore& store, SequenceOptions options, std::size_t max_runs)
    : store_(store), options_(options), max_runs_(max_runs) {}

// Inline, for it is a part of close_shape(), which is called for every call.
inline ShapeId SequenceBuilder::finish_shape(const Open& call, std::span<const std::uint64_t> keys) {
    if (call.too_long) {
        ++too_long_;
        return store_.unique(call.function);
    }
    const std::span<Run> runs = std::span{runs_}.subspan(call.first_run);
    if (runs.empty() && (keys.empty() || !options_.deep_keys)) return store_.leaf(call.function);
    if (options_.fold_loops)
        for (Run& run : runs)
            run = identity(run);
    const std::uint64_t hash = runs.empty() ? kHashSeed : hash_mix(call.hash, runs.back());
    return store_.intern(call.function, options_.deep_keys ? keys : std::span<const std::uint64_t>{}, runs,
                         hash);
}

void SequenceBuilder::append(Run run) {
    Open& parent = open_.back();
    if (runs_.size() > parent.first_run && runs_.back().child == run.child) {
        std::uint32_t& count = runs_.back().count;
        const std::uint32_t more = std::min(run.count, UINT32_MAX - count);
        count += more;
        run.count -= more;
        if (run.count == 0 || options_.fold_loops) return;
    }
    if (runs_.size() - parent.first_run >= max_runs_) {
        parent.too_long = true;
        return;
    }
    if (runs_.size() > parent.first_run) parent.hash = hash_mix(parent.hash, identity(runs_.back()));
    runs_.push_back(run);
}

SequenceBuilder::Closed SequenceBuilder::close_shape() {
    if (lost_ > 0) [[unlikely]]
        take_lost();
    const Open& call = open_.back();
    const std::size_t first_run = call.first_run;
    const std::size_t first_key = call.first_key;
    const bool too_long = call.too_long;
    const std::uint32_t repeats = call.repeats;
    const std::span<const std::uint64_t> keys{keys_.data() + call.first_key, keys_.size() - call.first_key};
    const bool transparent = is_transparent(call);
    if (transparent)
        abandoned_runs_.assign(runs_.begin() + static_cast<std::ptrdiff_t>(call.first_run), runs_.end());
    const ShapeId shape = finish_shape(call, keys);
    const Closed closed{shape, options_.deep_keys ? std::span<const std::uint64_t>{} : keys};
    runs_.resize(first_run);
    keys_.resize(first_key);
    open_.pop_back();
    if (open_.empty()) return closed;
    if (!transparent) {
        append({shape, repeats});
        return closed;
    }
    for (const Run& run : abandoned_runs_)
        append(run);
    open_.back().too_long = open_.back().too_long || too_long;
    return closed;
}

std::vector<ShapeId> SequenceBuilder::abandoned_shapes(std::size_t count) {
    std::vector<ShapeId> shapes;
    const std::size_t end = open_.size() - lost_;
    for (std::size_t i = end - count; i < end; ++i)
        if (!is_transparent(open_[i])) shapes.push_back(store_.abandoned(open_[i].function));
    return shapes;
}

void SequenceBuilder::take_lost() {
    const std::size_t first = open_.size() - std::exchange(lost_, 0);
    if (first == 0) {
        // None is left that they are to be told of; a copy of half a million would be most of what a thread takes.
        keys_.clear();
        runs_.clear();
        open_.clear();
        return;
    }

    const std::size_t base = open_[first].first_run;
    const std::vector<Open> lost(open_.begin() + static_cast<std::ptrdiff_t>(first), open_.end());
    abandoned_runs_.assign(runs_.begin() + static_cast<std::ptrdiff_t>(base), runs_.end());
    keys_.resize(lost.front().first_key);
    runs_.resize(base);
    open_.resize(first);

    for (std::size_t i = 0; i < lost.size(); ++i) {
        if (!is_transparent(lost[i])) append({store_.abandoned(lost[i].function), 1});
        const std::size_t end = i + 1 < lost.size() ? lost[i + 1].first_run - base : abandoned_runs_.size();
        for (std::size_t j = lost[i].first_run - base; j < end; ++j)
            append(abandoned_runs_[j]);
        if (lost[i].too_long) open_.back().too_long = true;
    }
}

}  // namespace rdam::sequences
