// A line of `perf script`, of `trace-cmd report`, or of ftrace's file "trace".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace rdam::inputs::probes {

/// All views are parts of the line.
struct EventLine {
    std::string_view thread;  ///< its name; "": not known ("<...>")
    std::uint32_t pid = 0;    ///< 0: the line does not tell
    std::uint32_t tid = 0;
    std::uint16_t cpu = 0xffff;  ///< trace::kNoCpu: the line does not tell
    std::uint64_t time = 0;      ///< nanoseconds
    unsigned decimals = 0;       ///< of the time as printed, at most 9
    bool is_perf = false;        ///< "NAME TID", as perf prints it, not "NAME-TID"
    std::string_view event;      ///< "outer", "probe_app:outer"
    std::string_view rest;       ///< what comes behind the event's colon
};

/// Nothing: it is no event (a comment, a frame of a call chain, …).
std::optional<EventLine> event_line(std::string_view line);

/// What a probe prints: `(ADDRESS) a=1`, or for a return `(ONE <- OTHER) arg1=0x0`. perf and trace-cmd print
/// the function's address first, ftrace last.
struct ProbeHit {
    std::string_view address;
    std::string_view other;  ///< "": not a return
    std::string_view values;

    bool is_return() const { return !other.empty(); }
};
std::optional<ProbeHit> probe_hit(std::string_view rest);

enum class ValueForm : std::uint8_t { decimal, hex, text, unreadable };

struct ProbeValue {
    std::string_view name;
    ValueForm form = ValueForm::unreadable;
    std::uint64_t bits = 0;    ///< of a number; a decimal one is signed
    bool is_unsigned = false;  ///< a decimal one beyond what is signed
    std::string_view text;     ///< of a text, without quotes
};
/// Calls `take` for each `name=value`.
void each_value(std::string_view values, const std::function<void(const ProbeValue&)>& take);

/// sched_switch: one thread goes, another one comes.
struct SwitchHit {
    std::uint32_t out = 0;  ///< tid
    std::uint32_t in = 0;
    bool preempted = false;
};
bool is_switch(std::string_view event);
std::optional<SwitchHit> switch_hit(std::string_view rest);

/// Whether a line that is no event stands beside them where nothing is wrong: empty, a comment, a frame of a
/// call chain, what a tool tells about itself.
bool is_beside_events(std::string_view line);

/// The events that this line says are missing at its place, 0: an unknown number. Nothing: it says no such
/// thing.
std::optional<std::uint64_t> lost_events(std::string_view line);

}  // namespace rdam::inputs::probes
