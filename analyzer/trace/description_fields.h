// The fields of a protobuf message, one after the other, for description.cpp. The bytes are hostile.
#pragma once

#include <cstdint>
#include <exception>
#include <limits>
#include <protozero/pbf_message.hpp>
#include <string>
#include <vector>

namespace rdam::trace {

/// Thrown and caught in description.cpp, as protozero's own exceptions are.
struct Implausible : std::exception {};

/// Keeps a small file from taking much memory: an empty message of two bytes becomes an item of hundreds.
class Budget {
  public:
    explicit Budget(std::uint64_t& items) : items_(items) {}
    void spend() {
        if (items_ == 0) throw Implausible{};
        --items_;
    }

    /// The place of item `index`, which may come before or instead of items that were lost.
    template <class Item>
    Item& place(std::vector<Item>& items, std::uint64_t index) {
        while (items.size() <= index) {
            spend();
            items.emplace_back();
        }
        return items[index];
    }

  private:
    std::uint64_t& items_;
};

/// The value of the field at hand if it has the type that the schema gives it. A field of another type is
/// unknown: it is skipped.
template <class Schema>
class Fields {
  public:
    explicit Fields(protozero::data_view bytes) : message_(bytes) {}
    Fields(const std::uint8_t* data, std::size_t size)
        : message_(reinterpret_cast<const char*>(data), size) {}

    bool next() { return message_.next(); }
    Schema field() const { return message_.tag(); }
    void skip() { message_.skip(); }

    template <class Number>
    void number(Number& to) {
        if (!has(protozero::pbf_wire_type::varint)) return;
        const std::uint64_t value = message_.get_uint64();
        if (value > std::numeric_limits<Number>::max()) throw Implausible{};
        to = static_cast<Number>(value);
    }
    void truth(bool& to) {
        if (has(protozero::pbf_wire_type::varint)) to = message_.get_uint64() != 0;
    }
    void fixed(std::uint64_t& to) {
        if (has(protozero::pbf_wire_type::fixed64)) to = message_.get_fixed64();
    }
    void real(double& to) {
        if (has(protozero::pbf_wire_type::fixed64)) to = message_.get_double();
    }
    void text(std::string& to) {
        if (!has(protozero::pbf_wire_type::length_delimited)) return;
        const protozero::data_view view = message_.get_view();
        to.assign(view.data(), view.size());
    }
    void numbers(std::vector<std::uint64_t>& to) {
        if (!has(protozero::pbf_wire_type::length_delimited)) return;
        const auto range = message_.get_packed_fixed64();
        to.assign(range.begin(), range.end());
    }
    void small_numbers(std::vector<std::uint32_t>& to) {
        if (!has(protozero::pbf_wire_type::length_delimited)) return;
        const auto range = message_.get_packed_uint32();
        to.assign(range.begin(), range.end());
    }
    template <class Use>
    void message(const Use& use) {
        if (has(protozero::pbf_wire_type::length_delimited)) use(message_.get_view());
    }

  private:
    bool has(protozero::pbf_wire_type wanted) {
        if (message_.wire_type() == wanted) return true;
        message_.skip();
        return false;
    }

    protozero::pbf_message<Schema> message_;
};

}  // namespace rdam::trace
