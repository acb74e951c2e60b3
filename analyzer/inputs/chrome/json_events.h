// Reads the JSON of a trace event by event; no more than one event is in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analyzer/inputs/build/byte_source.h"
#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"

namespace rdam::inputs::chrome {

/// A time: whole + millionths / 10⁶.
struct Microseconds {
    static constexpr std::uint32_t kParts = 1'000'000;
    static constexpr std::int64_t kMostWhole = std::int64_t{1} << 61;

    std::int64_t whole = 0;        ///< rounded down; within ±kMostWhole
    std::uint32_t millionths = 0;  ///< below kParts

    friend bool operator==(const Microseconds&, const Microseconds&) = default;
};

/// A number of JSON, exponent included, rounded to millionths. Nothing: it is none, or too large.
std::optional<Microseconds> microseconds_in(std::string_view text);

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
    std::optional<Microseconds> begin;     ///< "ts", microseconds
    std::optional<Microseconds> duration;  ///< "dur"
    std::span<const Argument> arguments;

    const Argument* argument(std::string_view wanted) const {
        for (const Argument& each : arguments)
            if (each.name == wanted) return &each;
        return nullptr;
    }
};

class EventSink {
  public:
    virtual ~EventSink() = default;
    /// Valid during the call only.
    virtual void event(const Event& event) = 0;
    /// A text or number of "otherData" or "metadata"; of one inside an object, "outer.inner".
    virtual void fact(const Argument& fact) = 0;
};

struct ReadEvents {
    std::uint64_t events = 0;
    bool unterminated = false;             ///< the file ends before the list of events does, as Chrome allows
    bool cut = false;                      ///< … inside an event, which is left out
    std::uint64_t arguments_left_out = 0;  ///< lists, and beyond the bound of arguments of an event
};

/// Errors: those of `source`; JSON that is none, with its line; no list of events in it.
Result<ReadEvents> read_events(ByteSource source, std::string_view path, EventSink& sink,
                               const Progress& progress);

}  // namespace rdam::inputs::chrome
