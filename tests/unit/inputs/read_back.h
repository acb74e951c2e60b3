// What a trace holds, in a form that tests can compare.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "tools/trace/reader.h"

namespace rdam::test {

/// One line an event, times in ticks since the origin of the reader of another tool's trace: `10 f(1,2)`, `20
/// /f 3`, `30 /f unwound`, `gap`.
inline std::vector<std::string> read_back(const trace::TraceReader& reader, std::uint32_t thread) {
    std::vector<std::string> lines;
    const auto add = [&](std::span<const trace::Event> events) {
        for (const trace::Event& event : events) {
            const bool enters = event.kind == trace::EventKind::enter;
            const std::string& name = reader.info().functions[event.function].name;
            const std::string words = fmt::format("{}", fmt::join(event.words, ","));
            lines.push_back(enters
                                ? fmt::format("{} {}({})", event.tsc - 1, name, words)
                                : fmt::format("{} /{}{}{}{}", event.tsc - 1, name, words.empty() ? "" : " ",
                                              words, event.unwound ? " unwound" : ""));
        }
    };
    const auto read = reader.read_thread(thread, add, [&] { lines.emplace_back("gap"); });
    if (!read) lines.push_back(read.error().message);
    return lines;
}

/// Whether a note of the trace has these words.
inline bool has_remark(const trace::TraceReader& reader, std::string_view words) {
    const auto& remarks = reader.info().remarks;
    return std::any_of(remarks.begin(), remarks.end(),
                       [&](const std::string& each) { return each.find(words) != std::string::npos; });
}

}  // namespace rdam::test
