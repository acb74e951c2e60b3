#include "analyzer/inputs/probes/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyzer/inputs/build/text.h"
#include "analyzer/inputs/probes/event_line.h"
#include "analyzer/inputs/probes/graph_line.h"
#include "analyzer/inputs/probes/survey.h"
#include "tools/base/demangle.h"
#include "tools/base/name_text.h"
#include "tools/base/text_lines.h"
#include "tools/base/units.h"
#include "tools/trace/event.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::inputs::probes {

namespace {

struct Readings {
    std::uint64_t lost = 0;            ///< events that the file says are missing, where it says how many
    bool has_lost = false;             ///< events are missing
    std::uint64_t unpaired = 0;        ///< hits of probes without a partner
    std::uint64_t absences = 0;        ///< times off the processors, as far as they were seen to end
    std::uint64_t without_end = 0;     ///< … that were not
    std::uint64_t several_values = 0;  ///< returns with more values than one
    std::uint64_t begun_before =
        0;                         ///< ends of calls and marks of which the text does not have the beginning
    std::uint64_t left_out = 0;    ///< marks, because there were too many names before
    std::set<std::uint32_t> pids;  ///< as far as the lines tell, some at most
    std::string command;           ///< the name of the first thread of the first process

    /// Whether the context switches are there on the whole: perf without -a sees threads go, but not come.
    bool has_both_sides() const { return without_end <= absences / 10; }
};

/// What a hit of an event does.
struct Action {
    bool returns = false;
    std::uint32_t function = 0;
    const ProbeEvent* event = nullptr;
};

/// A call of function_graph that is open.
struct OpenStep {
    std::uint32_t function = 0;
    std::uint64_t begin = 0;
};

struct ThreadState {
    ThreadBuilder* builder = nullptr;
    std::uint64_t last = 0;            // time of what was given to it
    std::vector<OpenStep> steps;       // the outermost first
    std::vector<std::uint32_t> marks;  // that are open, by function; kNoFunction: left out
    std::uint32_t index = 0;
    std::optional<trace::OffCpu> pending;  // it is off the processors
    std::vector<trace::OffCpu> absences;
};

ValueKind kind_of(const Field& field) {
    if (field.is_decimal)
        return field.is_large && !field.is_negative ? ValueKind::unsigned_integer : ValueKind::signed_integer;
    return field.is_address ? ValueKind::pointer : ValueKind::unsigned_integer;
}

trace::ParameterInfo described(const Field& field) {
    return field.is_text ? text_parameter(field.name) : parameter(field.name, kind_of(field), "");
}

/// The result is what `perf probe` and ftrace call it if nobody has chosen a name.
std::size_t result_field(const std::vector<Field>& fields) {
    for (const std::string_view usual : {"ret", "retval", "result", "arg1"}) {
        const auto found = std::ranges::find(fields, usual, &Field::name);
        if (found != fields.end()) return static_cast<std::size_t>(found - fields.begin());
    }
    return 0;
}

/// What the call and the return of a pair are in the trace.
trace::FunctionInfo describe_pair(const std::string& call, const ProbeEvent& at_call,
                                  const ProbeEvent& at_return) {
    trace::FunctionInfo info;
    const std::size_t colon = call.find(':');
    info.linkage_name = colon == std::string::npos ? call : call.substr(colon + 1);
    info.name = display_name(info.linkage_name);
    constexpr std::string_view kPerfs = "probe_";
    if (colon != std::string::npos && call.starts_with(kPerfs))
        info.module = call.substr(kPerfs.size(), colon - kPerfs.size());
    constexpr std::string_view kSpans = "span_";
    if (colon != std::string::npos && call.starts_with(kSpans)) {
        info.module = call.substr(kSpans.size(), colon - kSpans.size());
        info.any_name = true;
    }
    for (const Field& field : at_call.fields)
        info.parameters.push_back(described(field));
    if (!at_return.fields.empty())
        info.result.push_back(described(at_return.fields[result_field(at_return.fields)]));
    return info;
}

/// The second look at the text, which fills the trace.
class Reading {
  public:
    Reading(const Survey& survey, LineParser parse, TraceBuilder& builder)
        : survey_(survey), parse_(std::move(parse)), builder_(builder) {
        for (const auto& [name, event] : survey.events) {
            if (event.returns || event.partner.empty()) continue;
            const ProbeEvent& back = survey.events.at(event.partner);
            const std::uint32_t function = builder.add_function(describe_pair(name, event, back));
            actions_.emplace(name, Action{.returns = false, .function = function, .event = &event});
            actions_.emplace(event.partner, Action{.returns = true, .function = function, .event = &back});
        }
    }

    void line(std::string_view line) {
        if (const auto event = parse_(line)) {
            take(*event);
            return;
        }
        const auto lost = lost_events(line);
        if (!lost) return;
        // A thread may have been on any processor.
        for (auto& [tid, thread] : threads_)
            if (thread.builder != nullptr) {
                thread.builder->gap();
                thread.steps.clear();
                thread.marks.clear();
            }
        readings_.has_lost = true;
        readings_.lost += *lost;
    }
    Readings finish() {
        if (readings_.has_both_sides())
            for (auto& [tid, thread] : threads_)
                if (thread.builder != nullptr) give_absences(thread);
        name_command();
        builder_.info().dropped += readings_.lost;
        return readings_;
    }

  private:
    static constexpr std::uint32_t kNoFunction = UINT32_MAX;

    void take(const EventLine& event) {
        if (is_switch(event.event)) {
            if (const auto hit = switch_hit(event.rest)) take_switch(event, *hit);
            return;
        }
        if (const auto step = graph_step(event)) return take_step(event, *step);
        if (const auto mark = probes::mark(event)) return take_mark(event, *mark);
        const auto hit = probe_hit(event.rest);
        if (!hit) return;
        const auto action = actions_.find(event.event);
        if (action == actions_.end() || action->second.returns != hit->is_return()) {
            ++readings_.unpaired;
            return;
        }
        ThreadState& thread = thread_of(event);
        drop_pending(thread);
        const std::uint64_t time = time_in(thread, event.time);
        if (hit->is_return())
            thread.builder->leave_function(time, action->second.function,
                                           result_words(*hit, *action->second.event), event.cpu);
        else
            thread.builder->enter(time, action->second.function, words(*hit, *action->second.event),
                                  event.cpu);
    }

    /// `time`, or that of the event before: durations of function_graph are nanoseconds where its times may be
    /// microseconds, so that a call may seem to begin before the last one has ended.
    static std::uint64_t time_in(ThreadState& thread, std::uint64_t time) {
        constexpr std::uint64_t kRounded = 1000;
        if (time < thread.last && thread.last - time <= kRounded) time = thread.last;
        thread.last = time;
        return time;
    }

    void take_step(const EventLine& event, const GraphStep& step) {
        ThreadState& thread = thread_of(event);
        drop_pending(thread);
        const std::string_view module = step.module.empty() ? "kernel" : step.module;
        if (step.kind == GraphStep::Kind::leave) {
            const auto function = functions_.find(name_of(step.function, module));
            const auto is_its = [&](const OpenStep& open) {
                return step.function.empty() ||
                       (function != functions_.end() && open.function == function->second);
            };
            // The kernel follows some 100 calls inside each other at most.
            constexpr std::size_t kDeepest = 256;
            const auto outermost =
                thread.steps.rbegin() + static_cast<std::ptrdiff_t>(std::min(thread.steps.size(), kDeepest));
            const auto found = std::find_if(thread.steps.rbegin(), outermost, is_its);
            if (found == outermost) {
                ++readings_.begun_before;
                return;
            }
            const OpenStep open = *found;
            thread.steps.erase(found.base() - 1, thread.steps.end());
            thread.builder->leave_function(time_in(thread, end_of(open.begin, event.time, step.duration)),
                                           open.function, {}, event.cpu);
            return;
        }
        const std::uint64_t begin = time_in(thread, event.time);
        const std::uint32_t function = named(step.function, module);
        thread.builder->enter(begin, function, {}, event.cpu);
        if (step.kind == GraphStep::Kind::leaf)
            thread.builder->leave(time_in(thread, begin + step.duration.value_or(0)), {}, event.cpu);
        else
            thread.steps.push_back({.function = function, .begin = begin});
    }
    /// The duration is more precise than the times that ftrace prints; but not if it is of another call.
    static std::uint64_t end_of(std::uint64_t begin, std::uint64_t printed,
                                const std::optional<std::uint64_t>& duration) {
        constexpr std::uint64_t kRounded = 2000;
        if (!duration) return printed;
        const std::uint64_t end = begin + *duration;
        return std::max(end, printed) - std::min(end, printed) <= kRounded ? end : printed;
    }

    void take_mark(const EventLine& event, const Mark& mark) {
        constexpr std::size_t kMostNames = 100'000;
        ThreadState& thread = thread_of(event);
        drop_pending(thread);
        const std::uint64_t time = time_in(thread, event.time);
        if (mark.begins) {
            const bool is_known =
                functions_.contains(name_of(mark.name, "")) || functions_.size() < kMostNames;
            thread.marks.push_back(is_known ? named(mark.name, "") : kNoFunction);
            if (is_known)
                thread.builder->enter(time, thread.marks.back(), {}, event.cpu);
            else
                ++readings_.left_out;
            note_pid(mark.pid);
            return;
        }
        if (thread.marks.empty()) {
            ++readings_.begun_before;
            return;
        }
        if (thread.marks.back() != kNoFunction)
            thread.builder->leave_function(time, thread.marks.back(), {}, event.cpu);
        thread.marks.pop_back();
    }

    /// What names more than 4 KiB long begin with; the trace keeps no more.
    static std::string_view cut(std::string_view name) {
        constexpr std::size_t kLongest = 4096;
        return name.substr(0, kLongest);
    }
    static std::string name_of(std::string_view name, std::string_view module) {
        return fmt::format("{}\n{}", cut(module), cut(name));
    }
    /// The function that something is called whose name nobody has to know.
    std::uint32_t named(std::string_view name, std::string_view module) {
        const auto [found, is_new] = functions_.try_emplace(name_of(name, module));
        if (is_new) {
            trace::FunctionInfo info;
            info.name = cut(name);
            info.linkage_name = info.name;
            info.module = cut(module);
            info.any_name = true;
            found->second = builder_.add_function(std::move(info));
        }
        return found->second;
    }

    void note_pid(std::uint32_t pid) {
        constexpr std::size_t kMaxPids = 1000;
        if (pid != 0 && readings_.pids.size() < kMaxPids) readings_.pids.insert(pid);
    }

    ThreadState& thread_of(const EventLine& event) {
        // Every processor has a thread 0, which is idle.
        constexpr unsigned kBehindTid = 32;
        const std::uint64_t idle = event.tid == 0 ? (std::uint64_t{event.cpu} + 1) << kBehindTid : 0;
        ThreadState& thread = threads_[event.tid | idle];
        if (thread.builder == nullptr) {
            thread.index = static_cast<std::uint32_t>(builder_.threads());
            thread.builder = &builder_.add_thread({}, event.tid);
        }
        // The last name counts: a thread has its parent's until it takes one of its own.
        std::string& name = builder_.info().threads[thread.index].name;
        if (!event.thread.empty() && name != event.thread) name = event.thread;
        note_pid(event.pid);
        return thread;
    }

    std::span<const std::uint64_t> words(const ProbeHit& hit, const ProbeEvent& event) {
        words_.assign(event.fields.size(), 0);
        each_value(hit.values, [&](const ProbeValue& value) {
            const auto field = std::ranges::find(event.fields, value.name, &Field::name);
            if (field == event.fields.end() || value.form == ValueForm::unreadable) return;
            const auto at = static_cast<std::size_t>(field - event.fields.begin());
            words_[at] = field->is_text ? builder_.text(value.text) : value.bits;
        });
        return words_;
    }
    std::span<const std::uint64_t> result_words(const ProbeHit& hit, const ProbeEvent& event) {
        if (event.fields.empty()) return {};
        if (event.fields.size() > 1) ++readings_.several_values;
        return words(hit, event).subspan(result_field(event.fields), 1);
    }

    void take_switch(const EventLine& event, const SwitchHit& hit) {
        if (hit.out != 0 && survey_.threads.contains(hit.out)) {
            ThreadState& thread = threads_[hit.out];
            drop_pending(thread);
            thread.pending = trace::OffCpu{.out = event.time, .preempted = hit.preempted};
        }
        const auto back = threads_.find(hit.in);
        if (back == threads_.end() || !back->second.pending) return;
        trace::OffCpu absence = *back->second.pending;
        back->second.pending.reset();
        absence.in = event.time;
        absence.cpu = event.cpu;
        if (absence.in <= absence.out) return;
        back->second.absences.push_back(absence);
        ++readings_.absences;
    }
    /// A thread that does something is not off the processors, though it was not seen to come back.
    void drop_pending(ThreadState& thread) {
        if (thread.pending) ++readings_.without_end;
        thread.pending.reset();
    }
    static void give_absences(ThreadState& thread) {
        std::ranges::sort(thread.absences, {}, &trace::OffCpu::out);
        std::uint64_t last = 0;
        for (const trace::OffCpu& each : thread.absences) {
            if (each.out < last) continue;
            last = each.in;
            thread.builder->off_cpu(each);
        }
    }

    /// The first thread of a process has the lowest number, and the name of the program.
    void name_command() {
        const trace::ThreadInfo* first = nullptr;
        for (const trace::ThreadInfo& thread : builder_.info().threads)
            if (first == nullptr || thread.tid < first->tid) first = &thread;
        if (first != nullptr) readings_.command = first->name;
    }

    const Survey& survey_;
    const LineParser parse_;
    TraceBuilder& builder_;
    std::map<std::string, Action, std::less<>> actions_;
    std::unordered_map<std::uint64_t, ThreadState> threads_;  // by tid; the idle ones by processor, too
    std::unordered_map<std::string, std::uint32_t>
        functions_;  // of function_graph and marks, by module and name
    std::vector<std::uint64_t> words_;
    Readings readings_;
};

/// Reads the file once more, into `builder`. Errors: those of the file.
Result<Readings> read_probes(const std::string& path, const Survey& survey, const Dialect& dialect,
                             TraceBuilder& builder, const Progress& progress) {
    auto lines = LineReader::open(path);
    if (!lines) return tl::unexpected{lines.error()};
    Reading reading{survey, dialect.parser(), builder};
    constexpr std::uint64_t kBetween = 100'000;
    while (const auto line = lines->next()) {
        if (progress && lines->number() % kBetween == 0)
            progress((lines->size() + lines->consumed()) / 2, lines->size());
        reading.line(*line);
    }
    if (lines->error()) return tl::unexpected{*lines->error()};
    return reading.finish();
}

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
            fmt::format("Probes that are not one of a pair were passed over: {}.", some_names(alone)));
    if (order == Order::any)
        remarks.emplace_back("The events were not in the order of time, and were sorted.");
    if (readings.has_lost)
        remarks.emplace_back("The recorder has lost events: calls that were open then were left out.");
    if (readings.several_values > 0)
        remarks.emplace_back("Some returns have several values: one of them was taken as the result.");
    add_remark(remarks, readings.begun_before, "call began before the text does, and was passed over",
               "calls began before the text does, and were passed over");
    add_remark(remarks, readings.left_out, "mark was passed over: there are 100,000 other names before it",
               "marks were passed over: there are 100,000 other names before them");
    add_remark(remarks, survey.beyond_names, "event was passed over: there are 200,000 other names before it",
               "events were passed over: there are 200,000 other names before them");
    add_remark(remarks, survey.without_columns, "line has no time or no process, and was passed over",
               "lines have no time or no process, and were passed over");
    if (survey.other_events > 0)
        remarks.push_back(fmt::format("Events that belong to no probe were passed over: {}.",
                                      grouped(survey.other_events)));
    if (survey.unreadable > 0)
        remarks.push_back(
            fmt::format("{} as events, and passed over; the first is line {}.",
                        counted(survey.unreadable, "line could not be read", "lines could not be read"),
                        survey.first_unreadable));
}

/// Nothing: the events are not in the order of time, and `order` demands it.
Result<std::optional<trace::TraceReader>> read_in(Order order, const std::string& path,
                                                  const std::string& name, const Dialect& dialect,
                                                  const Survey& survey, const Progress& progress) {
    auto builder = TraceBuilder::create(name, order);
    if (!builder) return tl::unexpected{builder.error()};
    std::uint64_t step = 1;  // nanoseconds
    constexpr unsigned kDecimals = 9, kTen = 10;
    for (unsigned decimals = survey.decimals; decimals < kDecimals; ++decimals)
        step *= kTen;
    builder->set_clock("probes", 1e9, step);
    const auto readings = read_probes(path, survey, dialect, *builder, progress);
    if (!readings) return tl::unexpected{readings.error()};
    for (std::uint32_t thread = 0; thread < builder->threads(); ++thread)
        if (builder->thread(thread).disordered()) return std::nullopt;
    describe(survey, *readings, builder->info().process);
    if (!dialect.recorder.empty()) builder->info().process.recorder = dialect.recorder;
    builder->info().remarks = dialect.remarks;
    if (!readings->has_both_sides())
        builder->info().switches.reason = fmt::format(
            "the file does not say when {} of {} times off the processors ended; `perf record -a` records it",
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
    constexpr std::size_t kMaxLines = 1000;
    bool is_header = false, has_more = false;
    while (lines.number() < kMaxLines && lines.next(line)) {
        const auto event = any_line(line);
        if (event && (is_switch(event->event) || probe_hit(event->rest) || event->is_perf ||
                      graph_step(*event) || mark(*event)))
            return true;
        if (lacks_columns(line)) return true;
        is_header = is_header || is_header_of_tool(line);
        has_more = has_more || !is_beside_events(line);
    }
    return is_header && !has_more;
}

Result<trace::TraceReader> read(const std::string& path, const Progress& progress) {
    return read_dialect(path, path, {.parser = [] { return any_line; }, .recorder = {}, .no_pairs = {}},
                        progress);
}

Result<trace::TraceReader> read_dialect(const std::string& path, const std::string& name,
                                        const Dialect& dialect, const Progress& progress) {
    const auto found = survey(path, name, dialect, progress);
    if (!found) return tl::unexpected{found.error()};
    for (const Order order : {Order::of_time, Order::any}) {
        auto reader = read_in(order, path, name, dialect, *found, progress);
        if (!reader) return tl::unexpected{reader.error()};
        if (*reader) return std::move(**reader);
    }
    return fail("{}: its events cannot be sorted", name);
}

}  // namespace rdam::inputs::probes
