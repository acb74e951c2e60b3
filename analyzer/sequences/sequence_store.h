// Every distinct sequence once, under a small number (hash-consing). docs/analyzer.md, point 2.
//
// A *shape* is what a call looks like to the call around it: its function and the shapes of its children,
// equal neighbours counted (`g ×3`). With deep keys, the values of its key parameters as well. A *group* is a
// shape together with the values of the key parameters: the calls that are compared with one another.
//
// Equality is exact: hashes only find candidates, which are then compared in full.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tools/base/unmovable.h"

namespace rdam::sequences {

// Finds groups by their hash: open addressing with linear probing. The hashes are adjacent in memory, so a
// lookup does not touch the groups.

/// 21 to 43 bytes a group, and half as much again while it grows. Not thread-safe.
class GroupIndex {
  public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// What this hash and this shape belong to, if `same`, asked about a group, says so; kNone: nothing.
    template <class Same>
    std::uint32_t find(std::uint64_t hash, std::uint32_t shape, const Same& same) const {
        return part_of(hash).find(hash, shape, same);
    }
    /// A group that is not in it.
    void add(std::uint64_t hash, std::uint32_t shape, std::uint32_t group) {
        parts_[number_of(hash)].add({hash, shape, group});
    }
    /// find() is about to be called, and its memory is rather in no cache.
    void prefetch(std::uint64_t hash) const {
        const Part& part = part_of(hash);
        if (!part.slots.empty()) __builtin_prefetch(&part.slots[hash & part.mask()]);
    }

    /// From now on, groups that differ in the highest `bits` (0 to 16) of their hash have separate memory.
    void split(unsigned bits) {
        const std::vector<Part> old = std::exchange(parts_, std::vector<Part>(std::size_t{1} << bits));
        bits_ = bits;
        for (const Part& part : old)
            for (const Slot& slot : part.slots)
                if (slot.group != kNone) parts_[number_of(slot.hash)].add(slot);
    }
    /// Group `id` is numbers[id] from now on.
    void renumber(std::span<const std::uint32_t> numbers) {
        for (Part& part : parts_)
            for (Slot& slot : part.slots)
                if (slot.group != kNone) slot.group = numbers[slot.group];
    }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t shape = 0;
        std::uint32_t group = kNone;
    };
    struct Part {
        std::vector<Slot> slots;  // a power of two
        std::size_t size = 0;

        std::size_t mask() const { return slots.size() - 1; }
        template <class Same>
        std::uint32_t find(std::uint64_t hash, std::uint32_t shape, const Same& same) const {
            if (slots.empty()) return kNone;
            for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
                const Slot& slot = slots[at];
                if (slot.group == kNone) return kNone;
                if (slot.hash == hash && slot.shape == shape && same(slot.group)) return slot.group;
            }
        }
        void add(const Slot& slot) {
            if (4 * (size + 1) > 3 * slots.size()) grow();
            put(slot);
            ++size;
        }
        void put(const Slot& slot) {
            std::size_t at = slot.hash & mask();
            while (slots[at].group != kNone)
                at = (at + 1) & mask();
            slots[at] = slot;
        }
        void grow() {
            constexpr std::size_t kFirst = 16;
            std::vector<Slot> old(slots.empty() ? kFirst : 2 * slots.size());
            old.swap(slots);
            for (const Slot& slot : old)
                if (slot.group != kNone) put(slot);
        }
    };

    std::size_t number_of(std::uint64_t hash) const { return hash >> 1 >> (63 - bits_); }
    const Part& part_of(std::uint64_t hash) const { return parts_[number_of(hash)]; }

    std::vector<Part> parts_ = std::vector<Part>(1);
    unsigned bits_ = 0;
};

using ShapeId = std::uint32_t;
using GroupId = std::uint32_t;

/// `count` children of the same shape, one after the other.
struct Run {
    ShapeId child = 0;
    std::uint32_t count = 1;

    template <class Archive>
    void fields(Archive& archive) {
        archive(child, count);
    }
    friend bool operator==(const Run&, const Run&) = default;
};

/// Incremental: mix one word after the other, starting with kHashSeed.
inline constexpr std::uint64_t kHashSeed = 0x9e3779b97f4a7c15;
constexpr std::uint64_t hash_mix(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccd;
    return hash ^ (hash >> 32);
}
constexpr std::uint64_t hash_mix(std::uint64_t hash, Run run) {
    return hash_mix(hash, std::uint64_t{run.count} << 32 | run.child);
}

enum class ShapeKind : std::uint8_t {
    complete,   ///< function, keys and runs say all
    abandoned,  ///< a call that was never seen to end; what it contained follows it among its parent's
                ///< children
    unique,     ///< too long to be kept: equal to nothing
};
constexpr ShapeKind last_of(ShapeKind /*any*/) {
    return ShapeKind::unique;
}

struct Shape {
    std::uint64_t hash = 0;
    std::uint64_t first_run = 0;
    std::uint64_t first_key = 0;
    std::uint32_t runs = 0;
    std::uint32_t function = 0;
    GroupId plain_group = UINT32_MAX;  ///< its group without keys, if there is one
    std::uint16_t keys = 0;
    ShapeKind kind = ShapeKind::complete;

    template <class Archive>
    void fields(Archive& archive) {
        archive(hash, first_run, first_key, runs, function, plain_group, keys, kind);
    }
};

struct Group {
    std::uint64_t key = 0;  ///< the only key, or where the keys begin
    ShapeId shape = 0;
    std::uint16_t keys = 0;  ///< beside those of a deep-keyed shape

    template <class Archive>
    void fields(Archive& archive) {
        archive(key, shape, keys);
    }
};

/// Not thread-safe. Ids are given in the order of first use, children before their parents.
class SequenceStore : private Unmovable {
  public:
    explicit SequenceStore(std::size_t functions);
    ~SequenceStore() = default;

    /// `runs_hash` is kHashSeed with every run mixed in, in order.
    ShapeId intern(std::uint32_t function, std::span<const std::uint64_t> keys, std::span<const Run> runs,
                   std::uint64_t runs_hash);
    /// No keys, no children.
    ShapeId leaf(std::uint32_t function) {
        const ShapeId id = leaves_[function];
        return id != kNone ? id : add_leaf(function);
    }
    ShapeId abandoned(std::uint32_t function);
    ShapeId unique(std::uint32_t function);  ///< a new one each time

    /// All groups of a shape have equally many keys.
    GroupId group(ShapeId shape, std::span<const std::uint64_t> keys) {
        if (keys.empty() && shapes_[shape].plain_group != kNone) return shapes_[shape].plain_group;
        return group(shape, keys, group_hash(shape, keys));
    }
    /// The same in two steps, for callers that have other work while memory is fetched.
    static std::uint64_t group_hash(ShapeId shape, std::span<const std::uint64_t> keys) {
        std::uint64_t hash = hash_mix(kHashSeed, shape);
        for (const std::uint64_t key : keys)
            hash = hash_mix(hash, key);
        return hash;
    }
    void prefetch_group(std::uint64_t hash) const { group_index_.prefetch(hash); }
    void prefetch_group(ShapeId shape, std::span<const std::uint64_t> keys) const {
        if (keys.empty())
            __builtin_prefetch(&shapes_[shape]);
        else
            prefetch_group(group_hash(shape, keys));
    }
    GroupId group(ShapeId shape, std::span<const std::uint64_t> keys, std::uint64_t hash);

    /// Nothing will be added any more: gives back the memory of what only finds things.
    void end();
    /// GroupIndex::split.
    void split_group_index(unsigned bits) { group_index_.split(bits); }
    /// Group `id` is numbers[id] from now on; `numbers` has each number below groups() once.
    void renumber_groups(std::span<const GroupId> numbers);

    std::size_t shapes() const { return shapes_.size(); }
    std::size_t groups() const { return groups_.size(); }
    const Shape& shape(ShapeId id) const { return shapes_[id]; }
    const Group& group(GroupId id) const { return groups_[id]; }
    std::span<const Run> runs(const Shape& shape) const {
        return {runs_.data() + shape.first_run, shape.runs};
    }
    std::span<const std::uint64_t> keys(const Shape& shape) const {
        return {keys_.data() + shape.first_key, shape.keys};
    }
    /// Valid until the next call that adds something.
    std::span<const std::uint64_t> keys(const Group& group) const {
        return {group.keys == 1 ? &group.key : keys_.data() + group.key, group.keys};
    }

    /// For an archive (tools/base/byte_archive.h). To what was read nothing can be added: it has no index.
    template <class Archive>
    void fields(Archive& archive) {
        archive(shapes_, groups_, runs_, keys_);
        if constexpr (Archive::kReads) archive.expect(archive.good() && is_sound());
    }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// Of what comes from a file: nothing in it is out of range, and children come before their parents.
    bool is_sound() const;
    ShapeId add_leaf(std::uint32_t function);

    struct ShapeProbe {
        std::uint64_t hash;
        std::uint32_t function;
        std::span<const std::uint64_t> keys;
        std::span<const Run> runs;
    };
    struct Hash {
        const SequenceStore* store;
        std::size_t operator()(ShapeId id) const { return store->shapes_[id].hash; }
        std::size_t operator()(const ShapeProbe& probe) const { return probe.hash; }
    };
    struct Equal {
        using is_transparent = void;
        const SequenceStore* store;
        bool operator()(ShapeId a, ShapeId b) const { return a == b; }
        bool operator()(ShapeId id, const ShapeProbe& probe) const;
        bool operator()(const ShapeProbe& probe, ShapeId id) const { return (*this)(id, probe); }
    };
    ShapeId add_shape(Shape shape, std::span<const std::uint64_t> keys, std::span<const Run> runs);
    GroupId add_group(Group group, std::span<const std::uint64_t> keys);

    std::vector<Shape> shapes_;
    std::vector<Group> groups_;
    std::vector<Run> runs_;
    std::vector<std::uint64_t> keys_;
    std::vector<ShapeId> leaves_;     // by function; UINT32_MAX: not seen yet
    std::vector<ShapeId> abandoned_;  // by function; UINT32_MAX: not seen yet
    tsl::robin_set<ShapeId, Hash, Equal, std::allocator<ShapeId>, true> shape_index_;
    GroupIndex group_index_;
};

}  // namespace rdam::sequences
