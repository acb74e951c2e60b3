// Finds groups by their hash: open addressing with linear probing. The hashes are adjacent in memory, so a
// lookup does not touch the groups.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rdam::mining {

/// 32 to 64 bytes a group. Not thread-safe.
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
            if (2 * (size + 1) > slots.size()) grow();
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

}  // namespace rdam::mining
