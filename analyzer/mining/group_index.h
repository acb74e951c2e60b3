// Finds groups by their hash: open addressing with linear probing, the hashes beside one another, so that a
// group is found or not without a look at any group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdam::mining {

/// 32 to 64 bytes a group. Not thread-safe.
class GroupIndex {
  public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// What this hash and this shape belong to, if `same`, asked about a group, says so; kNone: nothing.
    template <class Same>
    std::uint32_t find(std::uint64_t hash, std::uint32_t shape, const Same& same) const {
        if (slots_.empty()) return kNone;
        for (std::size_t at = hash & mask();; at = (at + 1) & mask()) {
            const Slot& slot = slots_[at];
            if (slot.group == kNone) return kNone;
            if (slot.hash == hash && slot.shape == shape && same(slot.group)) return slot.group;
        }
    }
    /// A group that is not in it.
    void add(std::uint64_t hash, std::uint32_t shape, std::uint32_t group) {
        if (2 * (size_ + 1) > slots_.size()) grow();
        put({hash, shape, group});
        ++size_;
    }
    /// find() is about to be called, and its memory is rather in no cache.
    void prefetch(std::uint64_t hash) const {
        if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask()]);
    }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t shape = 0;
        std::uint32_t group = kNone;
    };

    std::size_t mask() const { return slots_.size() - 1; }
    void put(const Slot& slot) {
        std::size_t at = slot.hash & mask();
        while (slots_[at].group != kNone)
            at = (at + 1) & mask();
        slots_[at] = slot;
    }
    void grow() {
        constexpr std::size_t kFirst = 64;
        std::vector<Slot> old(slots_.empty() ? kFirst : 2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old)
            if (slot.group != kNone) put(slot);
    }

    std::vector<Slot> slots_;  // a power of two
    std::size_t size_ = 0;
};

}  // namespace rdam::mining
