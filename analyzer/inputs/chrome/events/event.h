// A trace event as it stands in the file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/inputs/chrome/events/decimal.h"

namespace rdam::inputs::chrome {

enum class ValueType : std::uint8_t {
    integer,   ///< `bits`: signed
    large,     ///< `bits`: beyond what is signed
    floating,  ///< `bits` of a double
    boolean,   ///< `bits`: 0 or 1
    text,
};

struct Argument {
    std::string name;  ///< of one inside an object: "outer.inner"
    ValueType type = ValueType::integer;
    std::uint64_t bits = 0;
    std::string text = {};  ///< of a text
};

struct Event {
    char phase = '\0';  ///< "ph"; \0: none, or no single character
    std::string name;
    std::string category;  ///< "cat"
    std::string pid;       ///< as it stands; "": none
    std::string tid;
    std::optional<Decimal> begin;     ///< "ts", microseconds
    std::optional<Decimal> duration;  ///< "dur"
    std::span<const Argument> arguments;

    const Argument* argument(std::string_view wanted) const {
        for (const Argument& each : arguments)
            if (each.name == wanted) return &each;
        return nullptr;
    }
};

}  // namespace rdam::inputs::chrome
