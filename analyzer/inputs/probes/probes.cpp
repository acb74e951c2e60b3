#include "analyzer/inputs/probes/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/remarks.h"
#include "analyzer/inputs/probes/event_line.h"
#include "analyzer/inputs/probes/reading.h"
#include "analyzer/inputs/probes/survey.h"
#include "wrappers/text/plural.h"
#include "wrappers/text/text_lines.h"

namespace rdam::inputs::probes {
namespace {

std::string header(const Survey& survey, std::string_view name) {
    const auto found = survey.header.find(name);
    return found == survey.header.end() ? std::string{} : found->second;
}

std::string recorder(const Survey& survey) {
    if (!survey.is_perf) return survey.header.contains("tracer") ? "ftrace" : "trace-cmd";
    const std::string version = header(survey, "perf version");
    return version.empty() ? "perf" : "perf " + version;
}

void describe(const Survey& survey, const Readings& readings, trace::ProcessInfo& process) {
    process.recorder = recorder(survey);
    process.host = header(survey, "hostname");
    process.processors = number_in<std::uint32_t>(header(survey, "nrcpus online")).value_or(0);
    if (readings.pids.size() == 1) process.pid = *readings.pids.begin();
    if (!readings.command.empty()) process.command = {readings.command};
}

/// What was changed or passed over.
void add_remarks(const Survey& survey, const Readings& readings, Order order,
                 std::vector<std::string>& remarks) {
    std::vector<std::string> alone;
    for (const auto& [name, event] : survey.events)
        if (event.partner.empty()) alone.push_back(name);
    if (!alone.empty())
        remarks.push_back(
            fmt::format("Probes that are no half of a pair were passed over: {}.", some_of(alone)));
    if (order == Order::any)
        remarks.emplace_back("The events were not in the order of time, and were sorted.");
    if (readings.has_lost)
        remarks.emplace_back("The recorder has lost events: calls that were open then were left out.");
    if (readings.several_values > 0)
        remarks.emplace_back("Of returns with several values, one was taken as the result.");
    if (survey.other_events > 0)
        remarks.push_back(
            fmt::format("Events that are of no probe were passed over: {}.", grouped(survey.other_events)));
    if (survey.unreadable > 0)
        remarks.push_back(
            fmt::format("{} as events, and passed over; the first is line {}.",
                        counted(survey.unreadable, "line could not be read", "lines could not be read"),
                        survey.first_unreadable));
}

/// Nothing: the events are not in the order of time, and `order` demands it.
Result<std::optional<trace::TraceReader>> read_in(Order order, const std::string& path, const Survey& survey,
                                                  const Progress& progress) {
    auto builder = TraceBuilder::create(path, order);
    if (!builder) return tl::unexpected{builder.error()};
    std::uint64_t step = 1;  // nanoseconds
    constexpr unsigned kDecimals = 9, kTen = 10;
    for (unsigned decimals = survey.decimals; decimals < kDecimals; ++decimals)
        step *= kTen;
    builder->set_clock("probes", 1e9, step);
    const auto readings = read_probes(path, survey, *builder, progress);
    if (!readings) return tl::unexpected{readings.error()};
    for (std::uint32_t thread = 0; thread < builder->threads(); ++thread)
        if (builder->thread(thread).disordered()) return std::nullopt;
    describe(survey, *readings, builder->info().process);
    if (!readings->has_both_sides())
        builder->info().switches.reason = fmt::format(
            "nothing says when {} of {} times off the processors ended; `perf record -a` sees them",
            grouped(readings->without_end), grouped(readings->without_end + readings->absences));
    add_remarks(survey, *readings, order, builder->info().remarks);
    auto reader = std::move(*builder).finish();
    if (!reader) return tl::unexpected{reader.error()};
    return std::move(*reader);
}

/// Of perf or ftrace, which say so before the first event.
bool is_header_of_tool(std::string_view line) {
    return line.starts_with("# ========") || line.starts_with("# captured on") ||
           line.starts_with("# tracer:");
}

}  // namespace

bool recognizes(std::string_view beginning) {
    TextLines lines{beginning};
    std::string_view line;
    constexpr std::size_t kMostLines = 1000;
    bool is_header = false, has_more = false;
    while (lines.number() < kMostLines && lines.next(line)) {
        const auto event = event_line(line);
        if (event && (is_switch(event->event) || probe_hit(event->rest) || event->is_perf)) return true;
        is_header = is_header || is_header_of_tool(line);
        has_more = has_more || !is_beside_events(line);
    }
    return is_header && !has_more;
}

Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    const auto found = survey(path, progress);
    if (!found) return tl::unexpected{found.error()};
    for (const Order order : {Order::of_time, Order::any}) {
        auto reader = read_in(order, path, *found, progress);
        if (!reader) return tl::unexpected{reader.error()};
        if (*reader) return std::move(**reader);
    }
    return fail("{}: its events cannot be sorted", path);
}

}  // namespace rdam::inputs::probes
