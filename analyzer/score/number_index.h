// Finds the number of a thing by what it is; the things themselves are kept elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rdam::score {

/// Numbers are added in their order, from 0 on. Memory: 8 to 16 bytes for each. Not thread-safe.
class NumberIndex {
  public:
    static constexpr std::uint32_t kNone = UINT32_MAX;

    /// `same(number)`: whether it is the one. kNone: there is none.
    template <class Same>
    std::uint32_t find(std::uint64_t hash, const Same& same) const {
        if (slots_.empty()) return kNone;
        for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
            if (slots_[i] == kNone || same(slots_[i])) return slots_[i];
        }
    }

    /// The next number, of a thing that was not found. `hash_of(number)`, of those before it too.
    template <class HashOf>
    void add(const HashOf& hash_of) {
        constexpr std::size_t kLeast = 64;
        const std::uint32_t number = size_++;
        if (std::size_t{2} * size_ <= slots_.size()) return place(hash_of(number), number);
        slots_.assign(slots_.empty() ? kLeast : slots_.size() * 2, kNone);
        for (std::uint32_t each = 0; each <= number; ++each)
            place(hash_of(each), each);
    }

    void clear() {
        slots_.clear();
        size_ = 0;
    }

  private:
    void place(std::uint64_t hash, std::uint32_t number) {
        std::size_t i = hash & (slots_.size() - 1);
        while (slots_[i] != kNone)
            i = (i + 1) & (slots_.size() - 1);
        slots_[i] = number;
    }

    std::vector<std::uint32_t> slots_;  // a power of two, half of them empty at least
    std::uint32_t size_ = 0;
};

/// Of three numbers.
constexpr std::uint64_t number_hash(std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
    std::uint64_t hash = (std::uint64_t{a} << 32 | b) * 0x9e3779b97f4a7c15;
    hash = (hash ^ (hash >> 32) ^ c) * 0xff51afd7ed558ccd;
    return hash ^ (hash >> 32);
}

}  // namespace rdam::score
