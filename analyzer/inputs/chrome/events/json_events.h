// Reads the JSON of a trace event by event; no more than one event is in memory.
#pragma once

#include <cstdint>
#include <string_view>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/chrome/events/event.h"
#include "analyzer/inputs/text/byte_source.h"
#include "wrappers/support/result.h"

namespace rdam::inputs::chrome {

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
