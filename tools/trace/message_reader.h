// A protobuf message to a structure, by its list of fields (schema.h). The bytes are untrusted.
#pragma once

#include <cstdint>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tools/trace/description_limits.h"
#include "tools/trace/schema.h"

namespace rdam::trace {

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

/// Reads what the fields say into a structure that has its defaults. A field of an unknown number, or of
/// another type than the schema's, is skipped.
class MessageReader {
  public:
    MessageReader(protozero::data_view bytes, Budget& budget) : message_(bytes), budget_(budget) {}

    /// Throws Implausible, and protozero's exceptions.
    template <class Structure>
    void read(Structure& to) {
        while (message_.next()) {
            taken_ = false;
            if (indexed_) number(kIndexField, "index", index_);
            fields(*this, to);
            if (!taken_) message_.skip();
        }
    }
    /// Reads a message of items(); returns its index.
    template <class Structure>
    std::uint64_t read_item(Structure& to) {
        indexed_ = true;
        read(to);
        return index_;
    }

    void message_name(const char*) {}

    template <class Number>
    void number(std::uint32_t tag, const char*, Number& to, When = When::always) {
        if (!take(tag, protozero::pbf_wire_type::varint)) return;
        const std::uint64_t value = message_.get_uint64();
        if (value > std::numeric_limits<Number>::max()) throw Implausible{};
        to = static_cast<Number>(value);
    }
    void fixed(std::uint32_t tag, const char*, std::uint64_t& to, When = When::always) {
        if (take(tag, protozero::pbf_wire_type::fixed64)) to = message_.get_fixed64();
    }
    void real(std::uint32_t tag, const char*, double& to, When = When::always) {
        if (take(tag, protozero::pbf_wire_type::fixed64)) to = message_.get_double();
    }
    void truth(std::uint32_t tag, const char*, bool& to, When = When::always) {
        if (take(tag, protozero::pbf_wire_type::varint)) to = message_.get_uint64() != 0;
    }
    template <class State>
    void state(std::uint32_t tag, const char*, State& to, State last) {
        if (!take(tag, protozero::pbf_wire_type::varint)) return;
        const std::uint64_t value = message_.get_uint64();
        if (value > static_cast<std::uint64_t>(last)) throw Implausible{};
        to = static_cast<State>(value);
    }
    void text(std::uint32_t tag, const char*, std::string& to, When = When::always) {
        if (take(tag, protozero::pbf_wire_type::length_delimited)) to = view();
    }
    void texts(std::uint32_t tag, const char*, std::vector<std::string>& to) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        budget_.spend();
        to.emplace_back(view());
    }
    void numbers(std::uint32_t tag, const char*, std::vector<std::uint32_t>& to) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        const auto range = message_.get_packed_uint32();
        to.assign(range.begin(), range.end());
    }
    void addresses(std::uint32_t tag, const char*, std::vector<std::uint64_t>& to) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        const auto range = message_.get_packed_fixed64();
        to.assign(range.begin(), range.end());
    }
    /// A later message replaces an earlier one as a whole; one that is broken replaces nothing.
    template <class Structure>
    void message(std::uint32_t tag, const char*, Structure& to) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        Structure whole;
        MessageReader(message_.get_view(), budget_).read(whole);
        check(whole);
        to = std::move(whole);
    }
    template <class Item>
    void messages(std::uint32_t tag, const char*, std::vector<Item>& items) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        budget_.spend();
        Item item;
        MessageReader(message_.get_view(), budget_).read(item);
        items.push_back(std::move(item));
    }
    /// A later item of the same index replaces the earlier one.
    template <class Item>
    void items(std::uint32_t tag, const char*, std::vector<Item>& items) {
        if (!take(tag, protozero::pbf_wire_type::length_delimited)) return;
        Item item;
        const std::uint64_t index = MessageReader(message_.get_view(), budget_).read_item(item);
        check(item);
        budget_.place(items, index) = std::move(item);
    }

  private:
    bool take(std::uint32_t tag, protozero::pbf_wire_type type) {
        if (taken_ || message_.tag() != tag || message_.wire_type() != type) return false;
        taken_ = true;
        return true;
    }
    std::string view() {
        const protozero::data_view bytes = message_.get_view();
        return {bytes.data(), bytes.size()};
    }

    protozero::pbf_reader message_;
    Budget& budget_;
    std::uint64_t index_ = 0;
    bool indexed_ = false;
    bool taken_ = false;
};

}  // namespace rdam::trace
