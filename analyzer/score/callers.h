// Calls by return address.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/base/seeded_hash.h"

namespace rdam::score {

/// The addresses to which calls of one thread return, by small numbers in the order of first use. Not
/// thread-safe.
class CallerNumbers {
  public:
    std::uint32_t of(std::uint64_t address) {
        const Known& known = recent_[mixed(address) % kRecent];
        return known.address == address && known.number != kNone ? known.number : find(address);
    }
    std::uint64_t address(std::uint32_t number) const { return addresses_[number]; }
    std::size_t size() const { return addresses_.size(); }

    /// For an archive (tools/base/byte_archive.h).
    template <class Archive>
    void fields(Archive& archive) {
        std::vector<std::uint64_t> addresses = addresses_;
        archive(addresses);
        if constexpr (Archive::kReads)
            for (std::uint32_t number = 0; number < addresses.size(); ++number)
                archive.expect(of(addresses[number]) == number);
    }

  private:
    static constexpr std::size_t kRecent = 256;
    static constexpr std::uint32_t kNone = UINT32_MAX;

    struct Known {
        std::uint64_t address = 0;
        std::uint32_t number = kNone;
    };
    static std::size_t mixed(std::uint64_t address) { return (address * 0x9e3779b97f4a7c15) >> 32; }

    std::uint32_t find(std::uint64_t address);

    std::array<Known, kRecent> recent_;
    std::vector<std::uint64_t> addresses_;
    tsl::robin_map<std::uint64_t, std::uint32_t, SeededHash> numbers_;
};

/// What is kept of the calls that return to one address.
struct CallerEntry {
    std::uint32_t caller = 0;  ///< its CallerNumbers::of; that of 0: not known
    std::uint64_t calls = 0;
    std::uint64_t outermost = 0;  ///< scored ones that were not inside another call of their function
    std::uint64_t sum = 0;        ///< of their durations, in ticks

    template <class Archive>
    void fields(Archive& archive) {
        archive(caller, calls, outermost, sum);
    }
};

/// 16 bytes for each address, and of an index nothing up to 4 addresses, 2 bytes up to 128, then 8; room for
/// up to twice as many. Not thread-safe; const methods may be called by several threads at once.
class CallerTable {
  public:
    CallerTable() = default;
    ~CallerTable() = default;
    CallerTable(CallerTable&&) noexcept = default;
    CallerTable& operator=(CallerTable&&) noexcept = default;
    CallerTable(const CallerTable&) = delete;
    CallerTable& operator=(const CallerTable&) = delete;

    bool empty() const { return size_ == 0; }
    /// Keeps the memory.
    void clear();

    /// Adds the entry to what is already known of the same address.
    void add(const CallerEntry& more) {
        const std::uint32_t place = place_of(more.caller);
        Cell& cell = cells()[place];
        if (more.calls != more.outermost || more.outermost > UINT32_MAX - cell.outermost) [[unlikely]]
            return add_rest(place, more);
        cell.outermost += static_cast<std::uint32_t>(more.outermost);
        cell.sum = saturated(cell.sum, more.sum);
    }
    /// Afterwards as if every call of `other` had been added here; its numbers mean the same addresses.
    void add(const CallerTable& other);

    // add() is about to be called, and the table's memory is rather in no cache: first this …
    [[gnu::always_inline]] void prefetch() const { __builtin_prefetch(block_.get(), 1); }
    /// … and when that has come this.
    void prefetch(std::uint32_t caller) const;
    /// for_each() is about to be called.
    [[gnu::always_inline]] void prefetch_all() const {
        constexpr std::size_t kLine = 64;
        for (std::size_t at = 0; at < size_ * sizeof(Cell); at += kLine)
            __builtin_prefetch(reinterpret_cast<const std::byte*>(cells()) + at);
    }

    /// In the order of first use.
    template <class Use>
    void for_each(const Use& use) const {
        const Cell* const all = cells();
        for (std::uint32_t i = 0; i < size_; ++i)
            use(rest_ ? entry(i)
                      : CallerEntry{all[i].caller, all[i].outermost, all[i].outermost, all[i].sum});
    }

    /// For an archive (tools/base/byte_archive.h).
    template <class Archive>
    void fields(Archive& archive) {
        std::uint32_t size = size_;
        archive(size);
        if constexpr (Archive::kReads) {
            for (; size > 0 && archive.good(); --size) {
                CallerEntry entry;
                archive(entry);
                archive.expect(entry.outermost <= entry.calls);
                if (archive.good()) add(entry);
            }
        } else {
            for_each([&](CallerEntry entry) { archive(entry); });
        }
    }

  private:
    static constexpr std::size_t kFew = 4;
    static constexpr std::size_t kFewForBytes = 128;
    static constexpr std::uint32_t kEmpty = UINT32_MAX;

    struct Cell {
        std::uint32_t caller;
        std::uint32_t outermost;
        std::uint64_t sum;
    };
    /// What does not fit into a cell.
    struct Rest {
        std::uint64_t inner = 0;
        std::uint64_t outermost = 0;
    };
    struct Free {
        void operator()(std::byte* block) const { ::operator delete(block); }
    };

    static std::uint64_t saturated(std::uint64_t a, std::uint64_t b) {
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
    }

    /// The size in bytes of the index for so many cells.
    static std::size_t index_size(std::size_t cells) {
        return cells <= kFew ? 0 : 2 * cells * (cells <= kFewForBytes ? 1 : sizeof(std::uint32_t));
    }
    std::size_t capacity() const { return block_ ? std::size_t{1} << capacity_ : 0; }
    Cell* cells() const { return reinterpret_cast<Cell*>(block_.get() + index_size(capacity())); }
    std::size_t first_slot(std::uint32_t caller) const {
        return caller * 0x9e3779b9U >> (31U - capacity_);  // of twice as many slots as cells
    }
    std::uint32_t in_slot(std::size_t slot) const;
    void set_slot(std::size_t slot, std::uint32_t place);
    std::uint32_t add_cell(std::uint32_t caller);
    CallerEntry entry(std::uint32_t place) const;
    std::uint32_t place_of(std::uint32_t caller);
    void add_rest(std::uint32_t place, const CallerEntry& more);
    void grow();

    // An index, if there are more than a few, and then the cells in the order of first use.
    std::unique_ptr<std::byte, Free> block_;
    std::unique_ptr<tsl::robin_map<std::uint32_t, Rest>> rest_;  // by place; of most tables there is none
    std::uint32_t size_ = 0;
    std::uint8_t capacity_ = 0;  // log2 of cells
};

}  // namespace rdam::score
