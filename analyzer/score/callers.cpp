#include "analyzer/score/callers.h"

#include "analyzer/score/distribution.h"

namespace rdam::score {

void CallerEntry::add(std::uint64_t duration, std::uint64_t times, bool is_outermost) {
    calls += times;
    if (!is_outermost) return;
    outermost += times;
    sum = Distribution::saturating_sum(sum, Distribution::saturating_product(duration, times));
}

void CallerEntry::add(const CallerEntry& other) {
    calls += other.calls;
    outermost += other.outermost;
    sum = Distribution::saturating_sum(sum, other.sum);
}

void CallerTable::add(const CallerTable& other) {
    other.for_each([this](const CallerEntry& entry) { of(entry.caller).add(entry); });
}

CallerEntry& CallerTable::find(std::uint64_t caller) {
    if (few_ < kFew) {
        entries_[few_].caller = caller;
        return entries_[few_++];
    }
    if (!index_) index_ = std::make_unique<decltype(index_)::element_type>();
    const auto [place, added] = index_->emplace(caller, more_.size());
    if (added) more_.push_back({.caller = caller});
    return more_[place->second];
}

}  // namespace rdam::score
