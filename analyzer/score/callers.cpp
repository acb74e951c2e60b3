#include "analyzer/score/callers.h"

#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace rdam::score {

std::uint32_t CallerNumbers::find(std::uint64_t address) {
    const auto [found, added] = numbers_.emplace(address, static_cast<std::uint32_t>(addresses_.size()));
    if (added) addresses_.push_back(address);
    recent_[mixed(address) % kRecent] = {address, found->second};
    return found->second;
}

std::uint32_t CallerTable::in_slot(std::size_t slot) const {
    if (capacity() <= kFewForBytes) {
        const auto place = reinterpret_cast<const std::uint8_t*>(block_.get())[slot];
        return place == UINT8_MAX ? kEmpty : place;
    }
    return reinterpret_cast<const std::uint32_t*>(block_.get())[slot];
}

void CallerTable::set_slot(std::size_t slot, std::uint32_t place) {
    if (capacity() <= kFewForBytes)
        reinterpret_cast<std::uint8_t*>(block_.get())[slot] = static_cast<std::uint8_t>(place);
    else
        reinterpret_cast<std::uint32_t*>(block_.get())[slot] = place;
}

std::uint32_t CallerTable::place_of(std::uint32_t caller) {
    if (capacity() <= kFew) {
        for (std::uint32_t place = 0; place < size_; ++place)
            if (cells()[place].caller == caller) return place;
    } else {
        const std::size_t mask = 2 * capacity() - 1;
        for (std::size_t slot = first_slot(caller);; slot = (slot + 1) & mask) {
            const std::uint32_t place = in_slot(slot);
            if (place == kEmpty) break;
            if (cells()[place].caller == caller) return place;
        }
    }
    if (size_ == capacity()) grow();
    return add_cell(caller);
}

std::uint32_t CallerTable::add_cell(std::uint32_t caller) {
    cells()[size_] = {caller, 0, 0};
    if (capacity() > kFew) {
        const std::size_t mask = 2 * capacity() - 1;
        std::size_t slot = first_slot(caller);
        while (in_slot(slot) != kEmpty)
            slot = (slot + 1) & mask;
        set_slot(slot, size_);
    }
    return size_++;
}

void CallerTable::grow() {
    const std::size_t larger = block_ ? 2 * capacity() : kFew;
    const auto old = std::exchange(block_, decltype(block_){static_cast<std::byte*>(
                                               ::operator new(index_size(larger) + larger * sizeof(Cell)))});
    const Cell* const from = reinterpret_cast<const Cell*>(old.get() + index_size(old ? larger / 2 : 0));
    const std::uint32_t size = std::exchange(size_, 0);
    capacity_ = static_cast<std::uint8_t>(std::countr_zero(larger));
    std::memset(block_.get(), 0xff, index_size(larger));
    for (std::uint32_t place = 0; place < size; ++place) {
        add_cell(from[place].caller);
        cells()[place] = from[place];
    }
}

void CallerTable::clear() {
    if (block_) std::memset(block_.get(), 0xff, index_size(capacity()));
    size_ = 0;
    rest_.reset();
}

void CallerTable::prefetch(std::uint32_t caller) const {
    if (capacity() <= kFew) return;
    const std::uint32_t place = in_slot(first_slot(caller));
    __builtin_prefetch(cells() + (place == kEmpty ? size_ : place), 1);
}

CallerEntry CallerTable::entry(std::uint32_t place) const {
    const Cell& cell = cells()[place];
    CallerEntry entry{cell.caller, cell.outermost, cell.outermost, cell.sum};
    if (!rest_) return entry;
    const auto rest = rest_->find(place);
    if (rest == rest_->end()) return entry;
    entry.outermost += rest->second.outermost;
    entry.calls = entry.outermost + rest->second.inner;
    return entry;
}

void CallerTable::add_rest(std::uint32_t place, const CallerEntry& more) {
    if (!rest_) rest_ = std::make_unique<decltype(rest_)::element_type>();
    Rest& rest = (*rest_)[place];
    rest.inner += more.calls - more.outermost;
    rest.outermost += more.outermost;
    cells()[place].sum = saturated(cells()[place].sum, more.sum);
}

void CallerTable::add(const CallerTable& other) {
    other.for_each([this](const CallerEntry& entry) { add(entry); });
}

}  // namespace rdam::score
