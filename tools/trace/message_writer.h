// A structure to a protobuf message, by its list of fields (schema.h).
#pragma once

#include <concepts>
#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "tools/trace/schema.h"

namespace rdam::trace {

class MessageWriter {
  public:
    explicit MessageWriter(std::string& out) : to_(out) {}

    void message_name(const char*) {}
    void index(std::uint64_t value) { to_.add_uint64(kIndexField, value); }

    void number(std::uint32_t tag, const char*, std::unsigned_integral auto value, When when = When::always) {
        if (value != 0 || when == When::always) to_.add_uint64(tag, value);
    }
    void fixed(std::uint32_t tag, const char*, std::uint64_t value, When when = When::always) {
        if (value != 0 || when == When::always) to_.add_fixed64(tag, value);
    }
    void real(std::uint32_t tag, const char*, double value, When when = When::always) {
        if (value != 0 || when == When::always) to_.add_double(tag, value);
    }
    void truth(std::uint32_t tag, const char*, bool value, When when = When::always) {
        if (value || when == When::always) to_.add_bool(tag, value);
    }
    template <class State>
    void state(std::uint32_t tag, const char*, State value, State) {
        to_.add_uint32(tag, static_cast<std::uint32_t>(value));
    }
    void text(std::uint32_t tag, const char*, const std::string& value, When when = When::always) {
        if (!value.empty() || when == When::always) to_.add_bytes(tag, value);
    }
    void texts(std::uint32_t tag, const char*, const std::vector<std::string>& values) {
        for (const std::string& value : values)
            to_.add_bytes(tag, value);
    }
    void numbers(std::uint32_t tag, const char*, const std::vector<std::uint32_t>& values) {
        to_.add_packed_uint32(tag, values.begin(), values.end());
    }
    void addresses(std::uint32_t tag, const char*, const std::vector<std::uint64_t>& values) {
        to_.add_packed_fixed64(tag, values.begin(), values.end());
    }
    template <class Item>
    void messages(std::uint32_t tag, const char*, const std::vector<Item>& items) {
        for (const Item& item : items) {
            std::string bytes;
            MessageWriter inner(bytes);
            fields(inner, item);
            to_.add_message(tag, bytes);
        }
    }

  private:
    protozero::pbf_writer to_;
};

}  // namespace rdam::trace
