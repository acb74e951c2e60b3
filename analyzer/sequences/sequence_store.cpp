#include "analyzer/sequences/sequence_store.h"

#include <algorithm>

namespace rdam::sequences {
namespace {

std::uint64_t mix_all(std::uint64_t hash, std::span<const std::uint64_t> words) {
    for (const std::uint64_t word : words)
        hash = hash_mix(hash, word);
    return hash;
}

}  // namespace

SequenceStore::SequenceStore(std::size_t functions)
    : leaves_(functions, kNone), abandoned_(functions, kNone), shape_index_(0, Hash{this}, Equal{this}) {}

bool SequenceStore::is_sound() const {
    const auto within = [](std::uint64_t first, std::uint64_t count, std::size_t size) {
        return first <= size && count <= size - first;
    };
    for (ShapeId id = 0; id < shapes_.size(); ++id) {
        const Shape& shape = shapes_[id];
        if (shape.function >= leaves_.size() || !within(shape.first_run, shape.runs, runs_.size()) ||
            !within(shape.first_key, shape.keys, keys_.size()) ||
            !std::ranges::all_of(runs(shape), [&](const Run& run) { return run.child < id; }))
            return false;
    }
    return std::ranges::all_of(groups_, [&](const Group& group) {
        return group.shape < shapes_.size() &&
               (group.keys == 1 || within(group.key, group.keys, keys_.size()));
    });
}

bool SequenceStore::Equal::operator()(ShapeId id, const ShapeProbe& probe) const {
    const Shape& shape = store->shapes_[id];
    return shape.hash == probe.hash && shape.function == probe.function &&
           std::ranges::equal(store->runs(shape), probe.runs) &&
           std::ranges::equal(store->keys(shape), probe.keys);
}

ShapeId SequenceStore::add_shape(Shape shape, std::span<const std::uint64_t> keys,
                                 std::span<const Run> runs) {
    shape.first_run = runs_.size();
    shape.runs = static_cast<std::uint32_t>(runs.size());
    shape.first_key = keys_.size();
    shape.keys = static_cast<std::uint16_t>(keys.size());
    runs_.insert(runs_.end(), runs.begin(), runs.end());
    keys_.insert(keys_.end(), keys.begin(), keys.end());
    shapes_.push_back(shape);
    return static_cast<ShapeId>(shapes_.size() - 1);
}

GroupId SequenceStore::add_group(Group group, std::span<const std::uint64_t> keys) {
    group.keys = static_cast<std::uint16_t>(keys.size());
    if (keys.size() == 1) {
        group.key = keys.front();
    } else {
        group.key = keys_.size();
        keys_.insert(keys_.end(), keys.begin(), keys.end());
    }
    groups_.push_back(group);
    return static_cast<GroupId>(groups_.size() - 1);
}

ShapeId SequenceStore::add_leaf(std::uint32_t function) {
    leaves_[function] = add_shape({.hash = hash_mix(kHashSeed, function), .function = function}, {}, {});
    return leaves_[function];
}

ShapeId SequenceStore::abandoned(std::uint32_t function) {
    ShapeId& id = abandoned_[function];
    if (id == kNone) id = add_shape({.function = function, .kind = ShapeKind::abandoned}, {}, {});
    return id;
}

ShapeId SequenceStore::unique(std::uint32_t function) {
    return add_shape({.function = function, .kind = ShapeKind::unique}, {}, {});
}

ShapeId SequenceStore::intern(std::uint32_t function, std::span<const std::uint64_t> keys,
                              std::span<const Run> runs, std::uint64_t runs_hash) {
    if (keys.empty() && runs.empty()) return leaf(function);
    const ShapeProbe probe{mix_all(hash_mix(runs_hash, function), keys), function, keys, runs};
    const auto found = shape_index_.find(probe, probe.hash);
    if (found != shape_index_.end()) return *found;
    const ShapeId id = add_shape({.hash = probe.hash, .function = function}, keys, runs);
    shape_index_.insert(id);
    return id;
}

void SequenceStore::end() {
    group_index_ = {};
    shape_index_ = decltype(shape_index_){0, Hash{this}, Equal{this}};
}

void SequenceStore::renumber_groups(std::span<const GroupId> numbers) {
    std::vector<Group> groups(groups_.size());
    for (GroupId id = 0; id < groups_.size(); ++id)
        groups[numbers[id]] = groups_[id];
    groups_ = std::move(groups);
    for (Shape& shape : shapes_)
        if (shape.plain_group != kNone) shape.plain_group = numbers[shape.plain_group];
    group_index_.renumber(numbers);
}

GroupId SequenceStore::group(ShapeId shape, std::span<const std::uint64_t> keys, std::uint64_t hash) {
    if (keys.empty()) {
        GroupId id = shapes_[shape].plain_group;
        if (id == kNone) {
            id = add_group({.shape = shape}, {});
            shapes_[shape].plain_group = id;
        }
        return id;
    }
    // The hash of a shape with one key is different for each value of the key: mixing is invertible.
    const auto same = [&](GroupId id) {
        const Group& group = groups_[id];
        return group.shape == shape && std::ranges::equal(this->keys(group), keys);
    };
    const auto same_of_one_key = [&](GroupId) { return true; };
    GroupId id = keys.size() == 1 ? group_index_.find(hash, shape, same_of_one_key)
                                  : group_index_.find(hash, shape, same);
    if (id != kNone) return id;
    id = add_group({.shape = shape}, keys);
    group_index_.add(hash, shape, id);
    return id;
}

}  // namespace rdam::sequences
