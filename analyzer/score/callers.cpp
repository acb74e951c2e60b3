#include "analyzer/score/callers.h"

#include <algorithm>

#include "analyzer/score/distribution.h"

namespace rdam::score {

void CallerEntry::add(std::uint64_t duration, std::uint64_t times, bool is_outermost) {
    calls += times;
    if (!is_outermost) return;
    outermost += times;
    sum = Distribution::saturating_sum(sum, Distribution::saturating_product(duration, times));
}

CallerEntry& CallerTable::find(std::uint64_t caller) {
    constexpr std::size_t kFew = 8;
    if (entries_.size() <= kFew) {
        const auto found = std::ranges::find(entries_, caller, &CallerEntry::caller);
        last_ = static_cast<std::size_t>(found - entries_.begin());
    } else {
        const auto found = index_->find(caller);
        last_ = found != index_->end() ? found->second : entries_.size();
    }
    if (last_ == entries_.size()) {
        entries_.push_back({.caller = caller});
        if (entries_.size() == kFew + 1) {
            index_ = std::make_unique<tsl::robin_map<std::uint64_t, std::size_t>>();
            for (std::size_t i = 0; i < kFew; ++i)
                index_->emplace(entries_[i].caller, i);
        }
        if (entries_.size() > kFew) index_->emplace(caller, last_);
    }
    return entries_[last_];
}

}  // namespace rdam::score
