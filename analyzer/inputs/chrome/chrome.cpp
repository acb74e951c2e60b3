#include "analyzer/inputs/chrome/chrome.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "analyzer/inputs/chrome/collect.h"
#include "analyzer/inputs/chrome/fill.h"
#include "analyzer/inputs/chrome/json_events.h"
#include "wrappers/text/plural.h"
#include "wrappers/text/text_lines.h"

namespace rdam::inputs {
namespace {

bool recognizes(const Beginning& beginning) {
    std::string_view text = beginning.text;
    if (beginning.directory) return false;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    const bool has_events = text.find("\"ph\"") != std::string_view::npos;
    if (text[first] == '[') return has_events;
    return text[first] == '{' && text.find("\"traceEvents\"") != std::string_view::npos;
}

/// What was changed or passed over.
std::vector<std::string> remarks(const chrome::Collected& all, const chrome::ReadEvents& read) {
    std::vector<std::string> remarks;
    const auto remark = [&](std::uint64_t count, std::string_view singular, std::string_view plural) {
        if (count > 0) remarks.push_back(fmt::format("{} {}", count, count == 1 ? singular : plural));
    };
    if (read.cut)
        remarks.emplace_back("the file ends inside an event: what came after it is missing");
    remark(all.merged, "call is not in the file one by one: rdam's export has merged it with others",
           "calls are not in the file one by one: rdam's export has merged them (`rdam export --budget 0` does not)");
    remark(all.stands_for, "call stood for several when rdam exported it, and counts once here",
           "calls stood for several when rdam exported them, and count once here");
    remark(all.overlapping, "event ends later than the one around it: cut there",
           "events end later than the one around them: cut there");
    remark(all.unmatched, "event \"E\" ends nothing: passed over", "events \"E\" end nothing: passed over");
    remark(all.unfinished, "event \"B\" has no \"E\"", "events \"B\" have no \"E\"");
    remark(all.unusable, "event has no name or no possible time: passed over",
           "events have no name or no possible time: passed over");
    remark(all.passed_over, "event is no call of a thread (counter, flow, instant, asynchronous, …): passed over",
           "events are no calls of a thread (counters, flows, instants, asynchronous ones, …): passed over");
    remark(all.values_left_out + read.arguments_left_out, "argument is a list or one too many: passed over",
           "arguments are lists or too many: passed over");
    return remarks;
}

std::string fact(const chrome::Collected& all, const char* name) {
    const auto found = all.facts.find(name);
    return found == all.facts.end() ? std::string{} : found->second;
}

/// The only process that has calls; null: there are several.
const std::string* only_process(const chrome::Collected& all) {
    const std::string* only = nullptr;
    for (const chrome::Thread& thread : all.threads) {
        if (thread.events == 0) continue;
        if (only != nullptr && *only != thread.pid) return nullptr;
        only = &thread.pid;
    }
    return only;
}

void describe(const chrome::Collected& all, trace::ProcessInfo& process) {
    process.recorder = all.from_rdam() ? fact(all, "recorder") : std::string{"a writer of trace events"};
    if (const std::string version = fact(all, "product-version"); !version.empty()) process.recorder = version;
    process.host = fact(all, "host");
    const std::string* const pid = only_process(all);
    if (pid == nullptr) return;
    process.pid = number_in<std::uint32_t>(*pid).value_or(0);
    const auto name = all.processes.find(*pid);
    if (name != all.processes.end()) process.command = {name->second};
    if (const std::string command = fact(all, "command"); !command.empty()) {
        process.command.clear();
        for (const std::string_view word : words_of(command))
            process.command.emplace_back(word);
    }
}

Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    auto source = ByteSource::open(path);
    if (!source) return tl::unexpected{source.error()};
    auto builder = TraceBuilder::create(path);
    if (!builder) return tl::unexpected{builder.error()};
    chrome::Collector collector{*builder};
    const auto events = chrome::read_events(std::move(*source), path, collector, progress);
    if (!events) return tl::unexpected{events.error()};
    chrome::Collected collected = std::move(collector).take();
    chrome::fill(collected, *builder);
    describe(collected, builder->info().process);
    for (std::string& each : remarks(collected, *events))
        builder->info().remarks.push_back(std::move(each));
    return std::move(*builder).finish();
}

}  // namespace

const Input kChrome{.name = "trace events in JSON", .recognizes = recognizes, .read = read};

}  // namespace rdam::inputs
