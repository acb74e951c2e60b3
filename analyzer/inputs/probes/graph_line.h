// What ftrace prints of calls by itself: the tracer function_graph, and the marks that programs write to
// "trace_marker".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/inputs/probes/event_line.h"

namespace rdam::inputs::probes {

/// The event of such lines of ftrace's file "trace" as have a call; that of a line with a comment is what the
/// comment tells.
constexpr std::string_view kGraphEvent = "funcgraph";

/// A line of the file "trace" with the tracer function_graph:
/// `  2260.781818 |   1)  u-6253  |   0.512 us  |  f();`. Nothing: it is none, or lacks the time or the process.
std::optional<EventLine> graph_line(std::string_view line);

/// event_line(), or that.
inline std::optional<EventLine> any_line(std::string_view line) {
    auto event = graph_line(line);
    return event ? event : event_line(line);
}

/// Such a line, but without the time or the process, which ftrace leaves out if nobody asks for them.
bool lacks_columns(std::string_view line);

/// A step of function_graph: `0.512 us | f();`, `| f() {`, `12.000 us | }`, `12.000 us | } /* f */`.
struct GraphStep {
    enum class Kind : std::uint8_t { enter, leaf, leave };
    Kind kind = Kind::enter;
    std::string_view function;              ///< "": a leave that does not tell
    std::string_view module;                ///< of the kernel; "": its own
    std::optional<std::uint64_t> duration;  ///< nanoseconds, where it is printed
};
std::optional<GraphStep> graph_step(const EventLine& event);

/// What Android and others write: `B|PID|NAME` where something begins, `E` where the innermost ends.
struct Mark {
    bool begins = false;
    std::uint32_t pid = 0;  ///< 0: the mark does not tell
    std::string_view name;  ///< "" of an end
};
std::optional<Mark> mark(const EventLine& event);

}  // namespace rdam::inputs::probes
