// Calls by the address they return to.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace rdam::score {

/// What is kept of the calls that return to one address.
struct CallerEntry {
    std::uint64_t caller = 0;  ///< 0: not known
    std::uint64_t calls = 0;
    std::uint64_t outermost = 0;  ///< scored ones that were not inside another call of their function
    std::uint64_t sum = 0;        ///< of their durations, in ticks

    void add(std::uint64_t duration, std::uint64_t times, bool is_outermost);
    void add(const CallerEntry& other);  ///< of the same address
};

/// Not thread-safe. Among few addresses a look-up takes no hash and no more memory than the table's own.
class CallerTable {
  public:
    /// Valid until the next look-up.
    CallerEntry& of(std::uint64_t caller) {
        for (std::size_t i = 0; i < few_; ++i) {
            if (entries_[i].caller == caller) return entries_[i];
        }
        return find(caller);
    }

    /// Afterwards as if every call of `other` had been added here.
    void add(const CallerTable& other);

    /// In the order of first use.
    template <class Use>
    void for_each(const Use& use) const {
        for (std::size_t i = 0; i < few_; ++i)
            use(entries_[i]);
        for (const CallerEntry& entry : more_)
            use(entry);
    }

  private:
    static constexpr std::size_t kFew = 4;

    /// The hash table takes the low bits, and addresses have their differences anywhere.
    struct Mixed {
        std::size_t operator()(std::uint64_t address) const { return (address * 0x9e3779b97f4a7c15) >> 32; }
    };

    CallerEntry& find(std::uint64_t caller);

    std::size_t few_ = 0;
    std::array<CallerEntry, kFew> entries_;
    std::vector<CallerEntry> more_;
    std::unique_ptr<tsl::robin_map<std::uint64_t, std::size_t, Mixed>> index_;  // of `more_`
};

}  // namespace rdam::score
