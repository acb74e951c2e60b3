#include "analyzer/statistics/packed_values.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

namespace rdam::score {
namespace {

constexpr std::size_t kSmallestBlock = 32;

std::byte* allocate_bytes(std::size_t bytes) {
    return static_cast<std::byte*>(::operator new(bytes));
}

}  // namespace

PackedValues::PackedValues(const PackedValues& other)
    : size_(other.size_), capacity_(other.capacity_), width_(other.width_) {
    if (!other.block_) return;
    block_.reset(allocate_bytes(std::size_t{1} << capacity_));
    std::memcpy(block_.get(), other.block_.get(), other.size_ * bytes());
}

PackedValues& PackedValues::operator=(const PackedValues& other) {
    if (this != &other) *this = PackedValues{other};
    return *this;
}

PackedValues::PackedValues(PackedValues&& other) noexcept
    : block_(std::move(other.block_)),
      size_(std::exchange(other.size_, std::uint16_t{0})),
      capacity_(std::exchange(other.capacity_, std::uint8_t{0})),
      width_(other.width_) {}

PackedValues& PackedValues::operator=(PackedValues&& other) noexcept {
    block_ = std::move(other.block_);
    size_ = std::exchange(other.size_, std::uint16_t{0});
    capacity_ = std::exchange(other.capacity_, std::uint8_t{0});
    width_ = other.width_;
    return *this;
}

void PackedValues::reset(std::size_t bytes, std::size_t capacity) {
    size_ = 0;
    width_ = static_cast<std::uint8_t>(std::countr_zero(bytes));
    reserve(capacity);
}

void PackedValues::reserve(std::size_t capacity) {
    const std::size_t wanted = std::bit_ceil(std::max(capacity * bytes(), kSmallestBlock));
    if (block_ && wanted <= std::size_t{1} << capacity_) return;
    Block larger{allocate_bytes(wanted)};
    if (size_ > 0) std::memcpy(larger.get(), block_.get(), size_ * bytes());
    block_ = std::move(larger);
    capacity_ = static_cast<std::uint8_t>(std::countr_zero(wanted));
}

void PackedValues::widen(std::size_t bytes) {
    PackedValues wide;
    wide.reset(bytes, size_);
    for (std::size_t i = 0; i < size_; ++i)
        wide.push_back((*this)[i]);
    *this = std::move(wide);
}

void PackedValues::resize(std::size_t size) {
    reserve(size);
    if (size > size_) std::memset(block_.get() + size_ * bytes(), 0, (size - size_) * bytes());
    size_ = static_cast<std::uint16_t>(size);
}

void PackedValues::grow_front(std::size_t more) {
    const std::size_t before = size_;
    resize(before + more);
    std::memmove(block_.get() + more * bytes(), block_.get(), before * bytes());
    std::memset(block_.get(), 0, more * bytes());
}

}  // namespace rdam::score
