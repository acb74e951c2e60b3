#include "analyzer/inputs/chrome/chrome.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/inputs/build/text.h"
#include "analyzer/inputs/chrome/json_events.h"
#include "tools/base/text_lines.h"
#include "tools/base/units.h"
#include "tools/trace/event.h"

namespace rdam::inputs::chrome {
namespace {

/// Takes the events of a file and keeps what is a call.
class Collector final : public EventSink {
  public:
    /// `builder`: gives texts their numbers.
    explicit Collector(TraceBuilder& builder) : builder_(builder) {}

    void event(const Event& event) override;
    void fact(const Argument& fact) override;

    Collected take() && { return std::move(collected_); }

  private:
    void name_something(const Event& event);
    void span(const Event& event, std::int64_t begin);
    void mark(const Event& event, std::int64_t at, Thread& thread);
    bool is_beside_threads(const Event& event);
    std::optional<std::int64_t> time_of(const Event& event);
    std::uint32_t function_of(const Event& event);
    Thread& thread_of(std::string_view pid, std::string_view tid);
    Thread& category_of(const Event& event);
    std::uint32_t values_of(const Event& event);
    void keep(const Argument& argument);

    TraceBuilder& builder_;
    Collected collected_;
    bool has_origin_ = false;
    std::unordered_map<std::uint64_t, std::uint32_t> functions_;  // by name and category
    std::set<std::string> categories_;  // of asynchronous events, with pids, that have rows
    std::unordered_map<std::string, std::uint32_t> threads_;  // by pid and tid
    std::string thread_key_;
};

void Collector::event(const Event& event) {
    if (event.phase == 'M') {
        name_something(event);
        return;
    }
    // S and F are what asynchronous events were before they could be nested.
    constexpr std::string_view kMarks = "BEbeSF", kEnds = "EeF", kAsynchronous = "beSF";
    if (event.phase != 'X' && kMarks.find(event.phase) == std::string_view::npos) {
        ++collected_.passed_over;
        return;
    }
    const bool asynchronous = kAsynchronous.find(event.phase) != std::string_view::npos;
    const bool ends = kEnds.find(event.phase) != std::string_view::npos;
    const auto at = time_of(event);
    if (!at || (event.name.empty() && !ends) || (asynchronous && event.id.empty())) {
        ++collected_.unusable;
        return;
    }
    if (event.phase == 'X')
        span(event, *at);
    else
        mark(event, *at, asynchronous ? category_of(event) : thread_of(event.pid, event.tid));
}

void Collector::fact(const Argument& fact) {
    // A file that means no good may have as many as it likes.
    constexpr std::size_t kMaxFacts = 10'000;
    if (collected_.facts.size() >= kMaxFacts) return;
    std::string& text = collected_.facts[fact.name];
    if (fact.type == ValueType::text) text = fact.text;
    if (fact.type == ValueType::integer) text = fmt::format("{}", static_cast<std::int64_t>(fact.bits));
    if (fact.type == ValueType::floating) text = fmt::format("{}", std::bit_cast<double>(fact.bits));
    if (fact.name == "rows_from_tid") collected_.first_row = number_in<std::uint64_t>(text);
}

/// clang and lld write how much time each name took in all as events of threads that there are not.
bool is_sum(const Event& event) {
    return event.name.starts_with("Total ") && event.argument("count") != nullptr &&
           event.argument("avg ms") != nullptr;
}

void Collector::name_something(const Event& event) {
    const Argument* const labels = event.argument("labels");
    if (event.name == "process_labels" && labels != nullptr && labels->type == ValueType::text)
        collected_.processes[event.pid].labels = labels->text;
    const Argument* const name = event.argument("name");
    if (name == nullptr || name->type != ValueType::text) return;
    if (event.name == "process_name") collected_.processes[event.pid].name = name->text;
    if (event.name != "thread_name") return;
    thread_of(event.pid, event.tid).name = name->text;
}

/// Picoseconds since the origin. Nothing: there is no time, or it is too far from the origin.
std::optional<std::int64_t> Collector::time_of(const Event& event) {
    constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max() / 4 / Microseconds::kParts;
    if (!event.begin) return std::nullopt;
    if (!has_origin_) collected_.origin.whole = event.begin->whole;
    has_origin_ = true;
    const std::int64_t whole = event.begin->whole - collected_.origin.whole;
    if (whole < -kFarthest || whole > kFarthest) return std::nullopt;
    if (event.duration && (event.duration->whole < 0 || event.duration->whole > kFarthest))
        return std::nullopt;
    return whole * Microseconds::kParts + event.begin->millionths;
}

/// Of a duration, or of a clock that no other is compared with. Nothing that is out of range is told.
std::int64_t picoseconds(const Microseconds& time) {
    constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max() / 4 / Microseconds::kParts;
    if (time.whole < 0 || time.whole > kFarthest) return kNoTime;
    return time.whole * Microseconds::kParts + time.millionths;
}

void Collector::span(const Event& event, std::int64_t begin) {
    if (is_beside_threads(event)) return;
    if (is_sum(event)) {
        ++collected_.sums;
        return;
    }
    Call call{
        .begin = begin, .end = begin, .function = function_of(event), .ends = event.duration.has_value()};
    if (event.duration) call.end += event.duration->whole * Microseconds::kParts + event.duration->millionths;
    if (event.thread_duration) call.on_cpu = picoseconds(*event.thread_duration);
    call.values = values_of(event);
    const Argument* const end = event.argument("end");
    if (collected_.first_row && end != nullptr && end->text == "not seen") call.ends = false;
    Thread& thread = thread_of(event.pid, event.tid);
    call.order = thread.events++;
    thread.calls.push_back(call);
}

/// Whether rdam's export draws it in a row beside those of the threads.
bool Collector::is_beside_threads(const Event& event) {
    const auto tid = collected_.first_row ? number_in<std::uint64_t>(event.tid) : std::nullopt;
    if (!tid || *tid < *collected_.first_row) return false;
    if (const Argument* const calls = event.argument("calls")) collected_.merged += calls->bits;
    return true;
}

void Collector::mark(const Event& event, std::int64_t at, Thread& thread) {
    constexpr std::string_view kBegins = "BbS";
    Mark mark{.at = at, .begins = kBegins.find(event.phase) != std::string_view::npos};
    if (thread.asynchronous)
        mark.track = collected_.tracks.number(event.scope.empty() ? event.id : event.scope + " " + event.id);
    else if (event.thread_begin)
        mark.on_cpu = picoseconds(*event.thread_begin);
    if (mark.begins) mark.function = function_of(event);
    mark.name = event.name.empty() ? Mark::kNoName : collected_.names.number(event.name);
    mark.values = values_of(event);
    mark.order = thread.events++;
    thread.marks.push_back(mark);
}

std::uint32_t Collector::function_of(const Event& event) {
    constexpr unsigned kHalf = 32;
    const std::uint32_t name = collected_.names.number(event.name);
    const std::uint32_t category = collected_.names.number(event.category);
    const auto [found, is_new] = functions_.try_emplace(
        std::uint64_t{name} << kHalf | category, static_cast<std::uint32_t>(collected_.functions.size()));
    if (is_new) collected_.functions.push_back({.name = name, .category = category, .parameters = {}});
    return found->second;
}

Thread& Collector::thread_of(std::string_view pid, std::string_view tid) {
    thread_key_.assign(pid).append("\n").append(tid);
    const auto [found, is_new] =
        threads_.try_emplace(thread_key_, static_cast<std::uint32_t>(collected_.threads.size()));
    if (is_new) {
        collected_.threads.emplace_back();
        collected_.threads.back().pid = pid;
        collected_.threads.back().tid = tid;
    }
    return collected_.threads[found->second];
}

/// Where the asynchronous events of its category are.
Thread& Collector::category_of(const Event& event) {
    // No thread's number has a line break in it. Each row takes memory for every function, so that many are one.
    constexpr std::size_t kMostCategories = 256;
    const std::string pid = event.id_is_global ? "" : event.pid, name = "\n" + event.category;
    const bool many = categories_.size() >= kMostCategories && !categories_.contains(pid + name);
    if (!many) categories_.insert(pid + name);
    Thread& category = many ? thread_of("", "\n\n") : thread_of(pid, name);
    if (!category.asynchronous) {
        category.asynchronous = true;
        category.pid = event.pid;
        category.tid.clear();
        category.name = many ? "other categories" : event.category.empty() ? "asynchronous" : event.category;
    }
    return category;
}

std::uint32_t Collector::values_of(const Event& event) {
    const std::size_t first = collected_.values.size();
    // The others in rdam's export are no parameters, but what rdam has found about the call.
    for (const Argument& each : event.arguments)
        if (!collected_.first_row || each.name == "parameters" || each.name == "result") keep(each);
    if (collected_.values.size() == first) return kNoValues;
    collected_.values.back().last = true;
    return static_cast<std::uint32_t>(first);
}

void Collector::keep(const Argument& argument) {
    if (collected_.values.size() >= kNoValues) {
        ++collected_.values_left_out;
        return;
    }
    const bool is_text = argument.type == ValueType::text;
    collected_.values.push_back({.bits = is_text ? builder_.text(argument.text) : argument.bits,
                                 .name = collected_.names.number(argument.name),
                                 .type = argument.type});
}

/// What was changed or passed over.
void add_remarks(const Collected& all, const ReadEvents& read, std::vector<std::string>& remarks) {
    if (read.cut) remarks.emplace_back("The file ends inside an event: what came after it is missing.");
    if (read.cut_behind)
        remarks.emplace_back("The file ends behind its list of events: what else it had to say is missing.");
    add_remark(
        remarks, all.merged, "call is not in the file by itself: rdam's export has merged it with others",
        "calls are not in the file one by one: rdam's export has merged them (`--budget all` keeps them)");
    add_remark(
        remarks, all.rounded,
        "event ends later than the one around it by no more than times are rounded, and was cut there",
        "events end later than those around them by no more than times are rounded, and were cut there");
    add_remark(remarks, all.overlapping, "event ends later than the one around it: counted, not scored",
               "events end later than those around them: counted, not scored");
    add_remark(remarks, all.unmatched, "event E ends nothing, and was passed over",
               "events E end nothing, and were passed over");
    add_renamed_remark(remarks, all.renamed);
    add_remark(remarks, all.unfinished, "event B has no E: when it ended is not known",
               "events B have no E: when they ended is not known");
    add_remark(
        remarks, all.on_other_rows,
        "event overlaps another of its thread, neither inside the other: it is on a row of its own",
        "events overlap others of their thread, neither inside the other: they are on rows of their own");
    if (all.with_cpu_time > 0)
        remarks.push_back(
            fmt::format("{} of {} calls tell their processor time (tdur, tts): how long they were off the "
                        "processor is known, "
                        "but not when inside the call, nor whether they waited or were preempted.",
                        grouped(all.with_cpu_time), grouped(all.calls)));
    add_remark(remarks, all.sums, "event is a sum of others (Total …), and was passed over",
               "events are sums of others (Total …), and were passed over");
    add_remark(remarks, all.unusable, "event has no name, no id or no possible time, and was passed over",
               "events have no name, no id or no possible time, and were passed over");
    add_remark(remarks, all.passed_over,
               "event is no call of a thread (a counter, a flow, an instant), and was passed over",
               "events are no calls of a thread (counters, flows, instants), and were passed over");
    add_remark(remarks, all.values_left_out + read.arguments_left_out,
               "argument is a list of more than 4 KiB, or one too many for a function, and was passed over",
               "arguments are lists of more than 4 KiB, or too many for a function, and were passed over");
}

std::string fact(const Collected& all, const char* name) {
    const auto found = all.facts.find(name);
    return found == all.facts.end() ? std::string{} : found->second;
}

/// What the processes with calls are called; "": nothing is told.
std::string program_of(const Collected& all, const std::optional<std::string>& pid) {
    constexpr std::size_t kMostNames = 3;
    std::set<std::string_view> names;
    std::string text;
    for (const Thread& thread : all.threads) {
        if (pid ? thread.pid != *pid : !thread.has_calls) continue;
        const auto process = all.processes.find(thread.pid);
        if (process == all.processes.end() || process->second.name.empty()) continue;
        if (!names.insert(process->second.name).second) continue;
        if (names.size() > kMostNames) return text + ", …";
        text += (text.empty() ? "" : ", ") + process->second.name;
    }
    return text;
}

/// `pid`: of the only process; nothing: there are several.
void describe(const Collected& all, const std::optional<std::string>& pid, trace::ProcessInfo& process) {
    process.recorder = "a writer of trace events";
    // Chrome has the first; others hardly anything.
    for (const char* name : {"product-version", "recorder"})
        if (std::string known = fact(all, name); !known.empty()) process.recorder = std::move(known);
    process.host = fact(all, "host");
    if (const std::string version = fact(all, "viztracer.version"); !version.empty())
        process.recorder = "VizTracer " + version;
    const std::string program = program_of(all, pid);
    if (!program.empty()) process.command = {program};
    if (!pid) return;
    process.pid = number_in<std::uint32_t>(*pid).value_or(0);
    if (const std::string command = fact(all, "command"); !command.empty()) {
        process.command.clear();
        for (const std::string_view word : words_of(command))
            process.command.emplace_back(word);
    }
}

/// Whoever takes samples, or leaves out what is short, does not have the fastest calls.
void note_missing(const Collected& all, trace::TraceInfo& info) {
    const auto note = [&](std::string what) {
        info.process.shortest_missing = true;
        info.remarks.push_back(std::move(what));
    };
    const bool samples = std::ranges::any_of(all.functions, [&](const Function& function) {
        return all.names.text(function.category) == "py-spy";
    });
    if (samples) {
        info.process.recorder = "py-spy";
        note(
            "py-spy takes samples: its calls are what it saw several times in a row, as long as it saw them. "
            "Short "
            "calls are missing, and neighbouring ones may be one.");
    }
    if (fact(all, "recorder") == "pyinstrument")
        note(
            "pyinstrument takes samples: its calls are what it saw several times in a row. Short calls are "
            "missing, "
            "and neighbouring ones are one.");
    const bool tsc =
        std::ranges::any_of(all.processes, [](const auto& each) { return each.second.name == "tsc"; });
    if (tsc) {
        info.process.recorder = "tsc";
        note(
            "tsc writes most short calls (events X) only if a tick of 10 ms falls into them: most are "
            "missing.");
    }
    // VizTracer does not say so. Without --min_duration some call of Python's own functions is always shorter.
    constexpr std::uint64_t kMany = 100;
    constexpr std::int64_t kNeverTheShortest = Microseconds::kParts;
    if (all.facts.contains("viztracer.version") && all.calls >= kMany && all.shortest > kNeverTheShortest)
        note(
            fmt::format("No call takes less than {}: VizTracer seems to have left out shorter ones "
                        "(--min_duration).",
                        output::human_time(static_cast<double>(all.shortest) / 1000)));
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

Result<trace::TraceReader> read_through(const std::string& path, const GiveEvents& give) {
    auto builder = TraceBuilder::create(path);
    if (!builder) return tl::unexpected{builder.error()};
    Collector collector{*builder};
    const auto events = give(collector);
    if (!events) return tl::unexpected{events.error()};
    Collected collected = std::move(collector).take();
    const std::optional<std::string> only = fill(collected, *builder);
    describe(collected, only, builder->info().process);
    if (collected.first_row) note_export(builder->info());
    note_missing(collected, builder->info());
    add_remarks(collected, *events, builder->info().remarks);
    if (collected.with_cpu_time > 0) builder->info().switches.reason = trace::SwitchInfo::kOfCalls;
    return std::move(*builder).finish();
}

Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    return read_through(path, [&](EventSink& sink) -> Result<ReadEvents> {
        auto source = ByteSource::open(path);
        if (!source) return tl::unexpected{source.error()};
        auto events = read_events(std::move(*source), path, sink, progress);
        if (events && events->events == 0)
            return fail(
                "{} has no call: its list of trace events is empty; record again, with the categories of "
                "events "
                "that are wanted",
                path);
        return events;
    });
}

}  // namespace rdam::inputs::chrome
