// Converts structures to bytes and back. fields(archive, structure) describes each once, for both directions.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace rdam {

template <class T>
concept PlainNumber = std::integral<T> && !std::same_as<T, bool>;

class ByteWriter {
  public:
    template <class... T>
    void operator()(T&... values) {
        (put(values), ...);
    }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

  private:
    template <PlainNumber T>
    void put(T value) {
        append(&value, sizeof value);
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
        for (T& item : items)
            put(item);
    }
    template <class T>
    void put(std::optional<T>& item) {
        put(item.has_value());
        if (item) put(*item);
    }
    template <class T>
    requires std::is_class_v<T>
    void put(T& structure) { fields(*this, structure); }

    void append(const void* data, std::size_t size) {
        const auto* begin = static_cast<const std::uint8_t*>(data);
        bytes_.insert(bytes_.end(), begin, begin + size);
    }

    std::vector<std::uint8_t> bytes_;
};

/// Reads any bytes: once something is missing or impossible, good() is false, and the values read are
/// meaningless. Enumerations are checked against `last_of`, their last enumerator.
class ByteReader {
  public:
    explicit ByteReader(std::span<const std::uint8_t> bytes) : bytes_{bytes} {}

    template <class... T>
    void operator()(T&... values) {
        (get(values), ...);
    }
    bool good() const { return good_; }
    bool at_end() const { return bytes_.empty(); }

  private:
    template <PlainNumber T>
    void get(T& value) {
        if (!has(sizeof value)) return;
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_ = bytes_.subspan(sizeof value);
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
        std::uint64_t count = 0;
        get(count);
        // No item is shorter than a byte. Nothing is reserved: the count may be anything.
        if (!has(count)) return;
        for (std::uint64_t i = 0; i < count && good_; ++i)
            get(items.emplace_back());
    }
    template <class T>
    void get(std::optional<T>& item) {
        bool present = false;
        get(present);
        if (present && good_) get(item.emplace());
    }
    template <class T>
    requires std::is_class_v<T>
    void get(T& structure) { fields(*this, structure); }

    bool has(std::uint64_t size) {
        good_ = good_ && size <= bytes_.size();
        return good_;
    }

    std::span<const std::uint8_t> bytes_;
    bool good_ = true;
};

}  // namespace rdam
