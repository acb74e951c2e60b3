// Converts structures to bytes and back. A structure describes itself once, for both directions: by a function
// fields(archive, structure) beside it or, where its members are private, a member fields(archive).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libprobe/format/varint.h"

namespace rdam {

template <class T>
concept PlainNumber = (std::integral<T> || std::floating_point<T>)&&!std::same_as<T, bool>;

/// Whole numbers of several bytes are written as LEB128: most are small.
template <class T>
inline constexpr bool kIsVaried = std::integral<T> && sizeof(T) > 1;

/// Maps with unique keys, of which the values may be changed through iterators by value().
template <class T>
concept ArchivedMap = requires(T& map) {
    typename T::mapped_type;
    map.begin().value();
};

template <class Structure, class Archive>
void archive_fields(Archive& archive, Structure& structure) {
    if constexpr (requires { structure.fields(archive); })
        structure.fields(archive);
    else
        fields(archive, structure);
}

class ByteWriter {
  public:
    static constexpr bool kReads = false;

    template <class... T>
    void operator()(T&... values) {
        (put(values), ...);
    }
    /// So many bytes as they lie in memory.
    void raw(const void* data, std::size_t size) { append(data, size); }
    /// What a reader is to check of what it has read.
    void expect(bool /*fulfilled*/) {}
    std::span<const std::uint8_t> bytes() const { return {bytes_.data(), size_}; }
    std::vector<std::uint8_t> take() {
        bytes_.resize(size_);
        return std::move(bytes_);
    }

  private:
    template <PlainNumber T>
    void put(T value) {
        if constexpr (kIsVaried<T>) {
            make_room(varint::kSlack);
            std::uint8_t* const at = bytes_.data() + size_;
            size_ +=
                static_cast<std::size_t>(varint::put(at, static_cast<std::make_unsigned_t<T>>(value)) - at);
        } else {
            append(&value, sizeof value);
        }
    }
    void put(bool value) { put(std::uint8_t{value}); }
    template <class T>
    requires std::is_enum_v<T>
    void put(T value) { put(static_cast<std::underlying_type_t<T>>(value)); }
    void put(std::string& text) {
        put(std::uint64_t{text.size()});
        append(text.data(), text.size());
    }
    template <class T>
    void put(std::vector<T>& items) {
        put(std::uint64_t{items.size()});
        if constexpr (PlainNumber<T> && !kIsVaried<T>)
            append(items.data(), items.size() * sizeof(T));
        else if constexpr (std::same_as<T, bool>)
            for (const bool item : items)
                put(item);
        else
            for (T& item : items)
                put(item);
    }
    template <class T, std::size_t kSize>
    void put(std::array<T, kSize>& items) {
        for (T& item : items)
            put(item);
    }
    template <class T>
    void put(std::optional<T>& item) {
        put(item.has_value());
        if (item) put(*item);
    }
    template <class T>
    void put(std::unique_ptr<T>& item) {
        put(item != nullptr);
        if (item) put(*item);
    }
    template <ArchivedMap T>
    void put(T& map) {
        put(std::uint64_t{map.size()});
        for (auto each = map.begin(); each != map.end(); ++each) {
            typename T::key_type key = each->first;
            put(key);
            put(each.value());
        }
    }
    template <class T>
    requires(std::is_class_v<T> && !ArchivedMap<T>) void put(T& structure) {
        archive_fields(*this, structure);
    }

    void append(const void* data, std::size_t size) {
        make_room(size);
        if (size > 0) std::memcpy(bytes_.data() + size_, data, size);
        size_ += size;
    }
    void make_room(std::size_t size) {
        constexpr std::size_t kLeast = 256;
        if (bytes_.size() - size_ < size) bytes_.resize(std::max(2 * bytes_.size(), size_ + size + kLeast));
    }

    std::size_t size_ = 0;
    std::vector<std::uint8_t> bytes_;
};

/// Reads any bytes: once something is missing or impossible, good() is false, and the values read are
/// meaningless. Floating-point numbers are such that squares of them can be added up. Enumerations are checked against `last_of`, their last enumerator. What was there in a vector or
/// a map before is replaced.
class ByteReader {
  public:
    static constexpr bool kReads = true;

    /// `most`: the items of all vectors, maps and pointers take so many bytes of memory at most, without what they refer to;
    /// those of numbers and texts, which take what they have in the file, apart.
    explicit ByteReader(std::span<const std::uint8_t> bytes, std::size_t most = SIZE_MAX)
        : bytes_{bytes}, memory_left_{most} {}

    template <class... T>
    void operator()(T&... values) {
        (get(values), ...);
    }
    void raw(void* data, std::size_t size) {
        if (!has(size) || size == 0) return;
        std::memcpy(data, bytes_.data(), size);
        bytes_ = bytes_.subspan(size);
    }
    /// Checks what was read: where it is not fulfilled, nothing is good any more.
    void expect(bool fulfilled) { good_ = good_ && fulfilled; }
    bool good() const { return good_; }
    bool at_end() const { return bytes_.empty(); }

  private:
    template <PlainNumber T>
    void get(T& value) {
        if constexpr (kIsVaried<T>) {
            const std::uint64_t number = next_number();
            const auto fitting = static_cast<std::make_unsigned_t<T>>(number);
            expect(fitting == number);
            value = static_cast<T>(fitting);
        } else {
            raw(&value, sizeof value);
            if constexpr (std::floating_point<T>) expect(is_usual(value));
        }
    }
    /// Each in its shortest form, so that equal bytes mean equal structures.
    std::uint64_t next_number() {
        std::uint8_t last[varint::kSlack] = {};
        const std::uint8_t* at = bytes_.data();
        if (bytes_.size() < varint::kSlack) {
            if (!bytes_.empty()) std::memcpy(last, at, bytes_.size());
            at = last;
        }
        const varint::Read read = varint::get(at);
        const bool shortest = read.length == 1 || (read.length > 1 && at[read.length - 1] != 0);
        if (!has(read.length) || !shortest) {
            good_ = false;
            return 0;
        }
        bytes_ = bytes_.subspan(read.length);
        return read.value;
    }
    void get(bool& value) {
        std::uint8_t byte = 0;
        get(byte);
        good_ = good_ && byte <= 1;
        value = byte == 1;
    }
    template <class T>
    requires std::is_enum_v<T>
    void get(T& value) {
        std::underlying_type_t<T> number = 0;
        get(number);
        good_ = good_ && number <= static_cast<std::underlying_type_t<T>>(last_of(T{}));
        if (good_) value = static_cast<T>(number);
    }
    void get(std::string& text) {
        std::uint64_t size = 0;
        get(size);
        if (!has(size)) return;
        text.assign(reinterpret_cast<const char*>(bytes_.data()), size);
        bytes_ = bytes_.subspan(size);
    }
    template <class T>
    void get(std::vector<T>& items) {
        items.clear();
        std::uint64_t count = 0;
        get(count);
        // No item is shorter than a byte. Nothing is reserved: the count may be anything.
        if (!has(count)) return;
        if constexpr (PlainNumber<T> && !kIsVaried<T>) {
            if (count > bytes_.size() / sizeof(T)) return expect(false);
            items.resize(count);
            raw(items.data(), count * sizeof(T));
            if constexpr (std::floating_point<T>)
                for (const T item : items)
                    expect(is_usual(item));
        } else if constexpr (std::same_as<T, bool>) {
            for (std::uint64_t i = 0; i < count && good_; ++i) {
                bool item = false;
                get(item);
                items.push_back(item);
            }
        } else {
            for (std::uint64_t i = 0; i < count && takes(sizeof(T)); ++i)
                get(items.emplace_back());
        }
    }
    template <class T, std::size_t kSize>
    void get(std::array<T, kSize>& items) {
        for (T& item : items)
            get(item);
    }
    template <class T>
    void get(std::optional<T>& item) {
        bool present = false;
        get(present);
        if (present && good_) get(item.emplace());
    }
    template <class T>
    void get(std::unique_ptr<T>& item) {
        bool present = false;
        get(present);
        if (!present || !good_) return;
        // A structure of ours holds others a few levels deep.
        constexpr unsigned kMaxDepth = 16;
        expect(++depth_ < kMaxDepth);
        if (takes(sizeof(T))) {
            item = std::make_unique<T>();
            get(*item);
        }
        --depth_;
    }
    template <ArchivedMap T>
    void get(T& map) {
        map.clear();
        std::uint64_t count = 0;
        get(count);
        if (!has(count)) return;
        for (std::uint64_t i = 0; i < count && takes(sizeof(typename T::value_type)); ++i) {
            typename T::key_type key = {};
            get(key);
            const auto [place, added] = map.try_emplace(key);
            expect(added);
            get(place.value());
        }
    }
    template <class T>
    requires(std::is_class_v<T> && !ArchivedMap<T>) void get(T& structure) {
        archive_fields(*this, structure);
    }

    static bool is_usual(double value) {
        constexpr double kLargest = 1e100;
        return std::abs(value) < kLargest;  // no NaN is
    }
    bool takes(std::size_t memory) {
        expect(memory <= memory_left_);
        if (good_) memory_left_ -= memory;
        return good_;
    }
    bool has(std::uint64_t size) {
        good_ = good_ && size <= bytes_.size();
        return good_;
    }

    std::span<const std::uint8_t> bytes_;
    bool good_ = true;
    std::size_t memory_left_;
    unsigned depth_ = 0;
};

}  // namespace rdam
