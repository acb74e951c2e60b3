// What is kept of the calls of each group, put together when no more comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rdam::score {

/// Entries with a member `group`, by group; in the order in which they came. Memory: 4 bytes for each group.
template <class Entry>
class ByGroup {
  public:
    ByGroup() = default;
    explicit ByGroup(const std::vector<Entry>& entries) {
        for (const Entry& entry : entries) {
            if (entry.group + std::size_t{2} > first_.size()) first_.resize(entry.group + std::size_t{2});
            ++first_[entry.group + std::size_t{1}];
        }
        for (std::size_t i = 1; i < first_.size(); ++i)
            first_[i] += first_[i - 1];
        entries_.resize(entries.size());
        std::vector<std::uint32_t> next = first_;
        for (const Entry& entry : entries)
            entries_[next[entry.group]++] = entry;
    }

    std::span<const Entry> of(std::uint32_t group) const {
        if (group + std::size_t{1} >= first_.size()) return {};
        return std::span{entries_}.subspan(first_[group], first_[group + std::size_t{1}] - first_[group]);
    }

  private:
    std::vector<Entry> entries_;
    std::vector<std::uint32_t> first_;
};

}  // namespace rdam::score
