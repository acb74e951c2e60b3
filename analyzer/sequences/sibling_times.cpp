#include "analyzer/sequences/sibling_times.h"

#include <algorithm>

namespace rdam::mining {

void SiblingTimes::reserve(std::size_t count) {
    cells_.reserve(count);
    bases_.reserve(count / kBlock + 1);
}

void SiblingTimes::push_back(const SiblingTime& time, const SiblingPauses& pauses) {
    if (pauses.before) pauses_.push_back(before(size()));
    if (pauses.inside) pauses_.push_back(inside(size()));
    if (cells_.size() % kBlock == 0) bases_.push_back(kNoBase);
    if (!time.known()) {
        cells_.push_back({0, kUnknownDuration});
        return;
    }
    std::uint64_t& base = bases_.back();
    if (base == kNoBase) base = time.begin;
    // Also when it begins before the base: the difference is then a large one.
    const std::uint64_t begin = time.begin - base;
    const std::uint64_t duration = time.end - time.begin;
    if (begin <= UINT32_MAX && duration < kFarDuration) {
        cells_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(duration)});
        return;
    }
    far_.push_back({cells_.size(), time});
    cells_.push_back({0, kFarDuration});
}

void SiblingTimes::shrink(std::size_t size) {
    cells_.resize(size);
    bases_.resize((size + kBlock - 1) / kBlock);
    while (!far_.empty() && far_.back().at >= size)
        far_.pop_back();
    while (!pauses_.empty() && pauses_.back() >= before(size))
        pauses_.pop_back();
}

void SiblingTimes::replace_back(const SiblingTime& time, const SiblingPauses& pauses) {
    shrink(size() - 1);
    push_back(time, pauses);
}

SiblingPauses SiblingTimes::pauses(std::size_t at) const {
    return {.before = std::ranges::binary_search(pauses_, before(at)),
            .inside = std::ranges::binary_search(pauses_, inside(at))};
}

bool SiblingTimes::paused_between(std::size_t first, std::size_t last) const {
    const auto pause = std::ranges::lower_bound(pauses_, inside(first));
    return pause != pauses_.end() && *pause <= inside(last);
}

bool SiblingTimes::known(std::size_t first, std::size_t count) const {
    const auto from = cells_.begin() + static_cast<std::ptrdiff_t>(first);
    return std::none_of(from, from + static_cast<std::ptrdiff_t>(count),
                        [](const Cell& cell) { return cell.duration == kUnknownDuration; });
}

SiblingTime SiblingTimes::beyond_cells(std::size_t at) const {
    if (!known(at)) return {};
    return std::ranges::lower_bound(far_, at, {}, &Far::at)->time;
}

}  // namespace rdam::mining
