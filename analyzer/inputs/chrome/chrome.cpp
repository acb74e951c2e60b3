#include "analyzer/inputs/chrome/chrome.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/remarks.h"
#include "analyzer/inputs/chrome/collect.h"
#include "analyzer/inputs/chrome/fill.h"
#include "analyzer/inputs/chrome/json_events.h"
#include "analyzer/inputs/text/byte_source.h"
#include "analyzer/trace/event.h"
#include "wrappers/text/text_lines.h"

namespace rdam::inputs::chrome {
namespace {

/// What was changed or passed over.
void add_remarks(const Collected& all, const ReadEvents& read, std::vector<std::string>& remarks) {
    if (read.cut) remarks.emplace_back("The file ends inside an event: what came after it is missing.");
    if (all.first_row) remarks.emplace_back(kExportedRemark);
    add_remark(
        remarks, all.merged, "call is not in the file by itself: rdam's export has merged it with others",
        "calls are not in the file one by one: rdam's export has merged them (`--budget all` keeps them)");
    add_remark(remarks, all.rounded,
               "event ends later than the one around it by what times are rounded, and was cut there",
               "events end later than those around them by what times are rounded, and were cut there");
    add_remark(remarks, all.overlapping, "event ends later than the one around it: counted, not scored",
               "events end later than those around them: counted, not scored");
    add_remark(remarks, all.unmatched, "event E ends nothing, and was passed over",
               "events E end nothing, and were passed over");
    add_remark(remarks, all.unfinished, "event B has no E: when it ended is not known",
               "events B have no E: when they ended is not known");
    add_remark(remarks, all.unusable, "event has no name or no possible time, and was passed over",
               "events have no name or no possible time, and were passed over");
    add_remark(
        remarks, all.passed_over,
        "event is no call of a thread (a counter, a flow, an instant, asynchronous), and was passed over",
        "events are no calls of a thread (counters, flows, instants, asynchronous), and were passed over");
    add_remark(remarks, all.values_left_out + read.arguments_left_out,
               "argument is a list, or one too many for a function, and was passed over",
               "arguments are lists, or too many for a function, and were passed over");
}

std::string fact(const Collected& all, const char* name) {
    const auto found = all.facts.find(name);
    return found == all.facts.end() ? std::string{} : found->second;
}

/// `pid`: of the only process; nothing: there are several.
void describe(const Collected& all, const std::optional<std::string>& pid, trace::ProcessInfo& process) {
    process.recorder = "a writer of trace events";
    // Chrome has the first; others hardly anything.
    for (const char* name : {"product-version", "recorder"})
        if (std::string known = fact(all, name); !known.empty()) process.recorder = std::move(known);
    process.host = fact(all, "host");
    if (!pid) return;
    process.pid = number_in<std::uint32_t>(*pid).value_or(0);
    const auto name = all.processes.find(*pid);
    if (name != all.processes.end()) process.command = {name->second};
    if (const std::string command = fact(all, "command"); !command.empty()) {
        process.command.clear();
        for (const std::string_view word : words_of(command))
            process.command.emplace_back(word);
    }
}

}  // namespace

bool recognizes(std::string_view text) {
    text = without_byte_order_mark(text);
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return false;
    if (text[first] != '[' && text[first] != '{') return false;
    const std::size_t second = text.find_first_not_of(kBlanks, first + 1);
    if (second == std::string_view::npos) return false;
    // What it has is said by reading it: the list of events may come behind much else.
    if (text[first] == '[') return text[second] == '{' || text[second] == ']';
    return text[second] == '"' || text[second] == '}';
}

Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    auto source = ByteSource::open(path);
    if (!source) return tl::unexpected{source.error()};
    auto builder = TraceBuilder::create(path);
    if (!builder) return tl::unexpected{builder.error()};
    Collector collector{*builder};
    const auto events = read_events(std::move(*source), path, collector, progress);
    if (!events) return tl::unexpected{events.error()};
    if (events->events == 0)
        return fail(
            "{} has no call: its list of trace events is empty; record again, with the categories of events "
            "that are wanted",
            path);
    Collected collected = std::move(collector).take();
    const std::optional<std::string> only = fill(collected, *builder);
    describe(collected, only, builder->info().process);
    add_remarks(collected, *events, builder->info().remarks);
    return std::move(*builder).finish();
}

}  // namespace rdam::inputs::chrome
