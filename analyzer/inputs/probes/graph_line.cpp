#include "analyzer/inputs/probes/graph_line.h"

#include <algorithm>
#include <array>

#include "analyzer/inputs/build/text.h"
#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"

namespace rdam::inputs::probes {
namespace {

/// Cuts off what stands before the next bar. Nothing: there is none.
std::optional<std::string_view> take_column(std::string_view& text) {
    const std::size_t bar = text.find('|');
    if (bar == std::string_view::npos) return std::nullopt;
    const std::string_view column = trim_blanks(text.substr(0, bar));
    text.remove_prefix(bar + 1);
    return column;
}

/// `0.512 us`, `! 120.000 us`, `==========>` at an interrupt, or nothing.
bool is_duration(std::string_view column) {
    return column.empty() || column.ends_with("us") || column.starts_with("==") || column.starts_with("<=");
}

std::optional<std::uint64_t> nanoseconds_of(std::string_view column) {
    constexpr std::string_view kUnit = "us";
    constexpr int kDigits = 3;
    if (!column.ends_with(kUnit)) return std::nullopt;
    column.remove_suffix(kUnit.size());
    column.remove_prefix(std::min(column.find_first_of("0123456789"), column.size()));
    const auto decimal = parse_decimal(trim_blanks(column));
    const auto time = decimal ? in_units(*decimal, kDigits) : std::nullopt;
    if (!time || *time > UINT32_MAX * Wide{1'000'000}) return std::nullopt;
    return static_cast<std::uint64_t>(*time);
}

/// `2260.781818`, to nanoseconds.
bool read_time_column(std::string_view column, EventLine& event) {
    constexpr std::size_t kMostDigits = 20, kMostSeconds = 10;
    constexpr int kNanoseconds = 9;
    const std::size_t point = column.find('.');
    if (point == 0 || point > kMostSeconds || column.size() > kMostDigits) return false;
    if (column.find_first_not_of("0123456789.") != std::string_view::npos) return false;
    const auto decimal = parse_decimal(column);
    const auto time = decimal ? in_units(*decimal, kNanoseconds) : std::nullopt;
    if (!time) return false;
    event.time = static_cast<std::uint64_t>(*time);
    event.decimals = static_cast<unsigned>(std::min<std::size_t>(column.size() - point - 1, kNanoseconds));
    return true;
}

/// `u-6253`, with the name in the middle of its column.
bool read_thread_column(std::string_view column, EventLine& event) {
    const std::size_t dash = column.rfind('-');
    if (dash == std::string_view::npos || dash == 0) return false;
    const auto tid = number_in<std::uint32_t>(column.substr(dash + 1));
    if (!tid) return false;
    event.tid = *tid;
    event.thread = column.substr(0, dash);
    if (event.thread == "<...>") event.thread = {};
    return true;
}

struct Columns {
    std::string_view time;  ///< "": there is none
    std::uint16_t cpu = 0;
    std::string_view rest;  ///< behind the processor
};

/// `TIME |  CPU) …`, `CPU) …`.
std::optional<Columns> columns_of(std::string_view line) {
    constexpr std::size_t kWidest = 64;
    const std::size_t bracket = line.substr(0, kWidest).find(')');
    if (bracket == std::string_view::npos) return std::nullopt;
    Columns columns{.time = {}, .rest = line.substr(bracket + 1)};
    std::string_view before = line.substr(0, bracket);
    if (const auto time = take_column(before)) columns.time = *time;
    const auto cpu = number_in<std::uint16_t>(trim_blanks(before));
    if (!cpu || columns.rest.find('|') == std::string_view::npos) return std::nullopt;
    columns.cpu = *cpu;
    return columns;
}

/// What stands in `/* sched_switch: … */`.
bool read_comment(std::string_view call, EventLine& event) {
    constexpr std::string_view kBegin = "/* ", kEnd = " */", kColon = ": ";
    call.remove_prefix(kBegin.size());
    if (call.ends_with(kEnd)) call.remove_suffix(kEnd.size());
    const std::size_t colon = call.find(kColon);
    if (colon == std::string_view::npos) return false;
    event.event = call.substr(0, colon);
    event.rest = call.substr(colon + kColon.size());
    return true;
}

/// `f`, `f [module]`.
void read_function(std::string_view text, GraphStep& step) {
    step.function = text;
    const std::size_t module = text.find(" [");
    if (module == std::string_view::npos || !text.ends_with(']')) return;
    step.module = text.substr(module + 2, text.size() - module - 3);
    step.function = text.substr(0, module);
}

/// Whose end it is, where the option funcgraph-tail is on or the beginning is lost: `} /* f */`,
/// `} /* f [module] ret=0x5 */`, `} /* f = 0x5 */`.
void read_tail(std::string_view call, GraphStep& step) {
    constexpr std::string_view kBegin = "/* ";
    const std::size_t begin = call.find(kBegin);
    if (begin == std::string_view::npos) return;
    call.remove_prefix(begin + kBegin.size());
    for (const std::string_view behind : {" */", " ret=", " = "})
        call = call.substr(0, call.find(behind));
    if (!call.starts_with("ret=") && !call.starts_with("= ") && !call.starts_with("<-"))
        read_function(trim_blanks(call), step);
}

}  // namespace

std::optional<EventLine> graph_line(std::string_view line) {
    const auto columns = columns_of(line);
    EventLine event;
    if (!columns || !read_time_column(columns->time, event)) return std::nullopt;
    event.cpu = columns->cpu;
    std::string_view rest = columns->rest;
    const auto thread = take_column(rest);
    if (!thread || !read_thread_column(*thread, event)) return std::nullopt;
    // The flags of the scheduler may stand between.
    std::string_view behind = rest;
    const auto duration = take_column(behind);
    if (!duration) return std::nullopt;
    if (!is_duration(*duration)) {
        rest = behind;
        if (!take_column(behind)) return std::nullopt;
    }
    event.event = kGraphEvent;
    event.rest = rest;
    const std::string_view call = trim_blanks(behind);
    if (call.starts_with("/* ") && !read_comment(call, event)) event.event = "comment";
    return event;
}

bool lacks_columns(std::string_view line) {
    const auto columns = columns_of(line);
    if (!columns) return false;
    std::string_view rest = columns->rest;
    EventLine event;
    const auto first = take_column(rest);
    return first && (is_duration(*first) || (columns->time.empty() && read_thread_column(*first, event)));
}

std::optional<GraphStep> graph_step(const EventLine& event) {
    constexpr std::array<std::string_view, 5> kEvents{kGraphEvent, "funcgraph_entry", "funcgraph_exit",
                                                      "ftrace:funcgraph_entry", "ftrace:funcgraph_exit"};
    if (std::ranges::find(kEvents, event.event) == kEvents.end()) return std::nullopt;
    std::string_view call = event.rest;
    const auto duration = take_column(call);
    if (!duration) return std::nullopt;
    call = trim_blanks(call);
    GraphStep step{.function = {}, .module = {}, .duration = nanoseconds_of(*duration)};
    if (call.starts_with('}')) {
        step.kind = GraphStep::Kind::leave;
        read_tail(call, step);
        return step;
    }
    call = trim_blanks(call.substr(0, call.find(" /*")));
    const std::size_t bracket = call.find('(');
    if (bracket == 0 || bracket == std::string_view::npos) return std::nullopt;
    step.kind = call.ends_with(';') ? GraphStep::Kind::leaf : GraphStep::Kind::enter;
    read_function(trim_blanks(call.substr(0, bracket)), step);
    return step;
}

std::optional<Mark> mark(const EventLine& event) {
    std::string_view text = event.rest;
    if (event.event == "print" || event.event == "ftrace:print") {
        // Behind what wrote it.
        constexpr std::string_view kColon = ": ";
        const std::size_t colon = text.find(kColon);
        if (colon == std::string_view::npos) return std::nullopt;
        text.remove_prefix(colon + kColon.size());
    } else if (event.event != "tracing_mark_write") {
        return std::nullopt;
    }
    if (text == "E" || text.starts_with("E|")) return Mark{.begins = false, .name = {}};
    constexpr std::string_view kBegin = "B|";
    if (!text.starts_with(kBegin)) return std::nullopt;
    text.remove_prefix(kBegin.size());
    const std::size_t bar = text.find('|');
    if (bar == std::string_view::npos || bar + 1 == text.size()) return std::nullopt;
    const auto pid = number_in<std::uint32_t>(text.substr(0, bar));
    if (!pid) return std::nullopt;
    return Mark{.begins = true, .pid = *pid, .name = text.substr(bar + 1)};
}

}  // namespace rdam::inputs::probes
