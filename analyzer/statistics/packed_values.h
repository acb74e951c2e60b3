// A vector of unsigned numbers of 2, 4 or 8 bytes each, for use in hundreds of thousands of objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace rdam::score {

/// 12 bytes beside its memory, which grows by doubling. Not thread-safe.
class PackedValues {
  public:
    static constexpr std::size_t kMax = UINT16_MAX;

    PackedValues() = default;
    ~PackedValues() = default;
    PackedValues(const PackedValues& other);
    PackedValues& operator=(const PackedValues& other);
    PackedValues(PackedValues&& other) noexcept;
    PackedValues& operator=(PackedValues&& other) noexcept;

    std::size_t size() const { return size_; }
    std::size_t capacity() const { return (std::size_t{1} << capacity_) >> width_; }
    /// Numbers below 2^(8 · bytes) fit.
    std::size_t bytes() const { return std::size_t{1} << width_; }

    /// Forgets all. `bytes`: 2, 4 or 8.
    void reset(std::size_t bytes, std::size_t capacity);
    /// Forgets all, and keeps the memory.
    void clear() {
        size_ = 0;
        width_ = 1;
    }
    /// For an archive (tools/base/byte_archive.h).
    template <class Archive>
    void fields(Archive& archive) {
        std::uint16_t size = size_;
        std::uint8_t width = width_;
        archive(width, size);
        if constexpr (Archive::kReads) {
            archive.expect(width >= 1 && width <= 3);
            if (!archive.good()) return;
            width_ = width;
            if (size == 0) return;
            reset(bytes(), size);
            resize(size);
        }
        archive.raw(block_.get(), size_ * bytes());
    }
    /// Keeps the numbers; `bytes` is not less than before.
    void widen(std::size_t bytes);
    /// New numbers are 0, in front those that come before the first. At most kMax.
    void grow_front(std::size_t more);
    void resize(std::size_t size);
    void push_back(std::uint64_t value) {
        if (size_ == capacity()) reserve(size_ + std::size_t{1});
        set(size_++, value);
    }

    std::uint64_t operator[](std::size_t at) const {
        switch (width_) {
            case 1:
                return data<std::uint16_t>()[at];
            case 2:
                return data<std::uint32_t>()[at];
            default:
                return data<std::uint64_t>()[at];
        }
    }
    /// A number that fits.
    void set(std::size_t at, std::uint64_t value) {
        switch (width_) {
            case 1:
                data<std::uint16_t>()[at] = static_cast<std::uint16_t>(value);
                return;
            case 2:
                data<std::uint32_t>()[at] = static_cast<std::uint32_t>(value);
                return;
            default:
                data<std::uint64_t>()[at] = value;
        }
    }
    /// Values of 4 bytes each.
    std::uint32_t* words() { return data<std::uint32_t>(); }
    /// Values of 2 bytes each.
    std::uint16_t* begin() { return data<std::uint16_t>(); }
    std::uint16_t* end() { return data<std::uint16_t>() + size_; }
    const std::uint16_t* begin() const { return data<std::uint16_t>(); }
    const std::uint16_t* end() const { return data<std::uint16_t>() + size_; }

    /// What is not there, and not the next one either, is left alone.
    [[gnu::always_inline]] void prefetch(std::size_t at) const {
        if (at <= size_) __builtin_prefetch(block_.get() + (at << width_), 1);
    }
    /// The first of them: what comes behind follows by itself.
    [[gnu::always_inline]] void prefetch_all() const {
        constexpr std::uint8_t kLogOfLine = 6;
        __builtin_prefetch(block_.get());
        if (capacity_ > kLogOfLine) {
            __builtin_prefetch(block_.get() + (std::size_t{1} << kLogOfLine));
        }
    }

  private:
    struct Free {
        void operator()(std::byte* block) const { ::operator delete(block); }
    };
    using Block = std::unique_ptr<std::byte, Free>;

    void reserve(std::size_t capacity);
    template <class T>
    T* data() const {
        return reinterpret_cast<T*>(block_.get());
    }

    Block block_;
    std::uint16_t size_ = 0;
    std::uint8_t capacity_ = 0;  ///< log2 of bytes; 0: no block
    std::uint8_t width_ = 1;     ///< log2 of bytes
};

}  // namespace rdam::score
