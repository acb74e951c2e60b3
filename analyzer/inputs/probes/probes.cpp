#include "analyzer/inputs/probes/probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analyzer/inputs/build/text.h"
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
    std::set<std::uint32_t> pids;      ///< as far as the lines tell, some at most
    std::string command;               ///< the name of the first thread of the first process

    /// Whether the context switches are there on the whole: perf without -a sees threads go, but not come.
    bool has_both_sides() const { return without_end <= absences / 10; }
};

/// What a hit of an event does.
struct Action {
    bool returns = false;
    std::uint32_t function = 0;
    const ProbeEvent* event = nullptr;
};

struct ThreadState {
    ThreadBuilder* builder = nullptr;
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
    for (const Field& field : at_call.fields)
        info.parameters.push_back(described(field));
    if (!at_return.fields.empty())
        info.result.push_back(described(at_return.fields[result_field(at_return.fields)]));
    return info;
}

/// The second look at the text, which fills the trace.
class Reading {
  public:
    Reading(const Survey& survey, TraceBuilder& builder) : survey_(survey), builder_(builder) {
        for (const auto& [name, event] : survey.events) {
            if (event.returns || event.partner.empty()) continue;
            const ProbeEvent& back = survey.events.at(event.partner);
            const std::uint32_t function = builder.add_function(describe_pair(name, event, back));
            actions_.emplace(name, Action{.returns = false, .function = function, .event = &event});
            actions_.emplace(event.partner, Action{.returns = true, .function = function, .event = &back});
        }
    }

    void line(std::string_view line) {
        if (const auto event = event_line(line)) {
            take(*event);
            return;
        }
        const auto lost = lost_events(line);
        if (!lost) return;
        // A thread may have been on any processor.
        for (auto& [tid, thread] : threads_)
            if (thread.builder != nullptr) thread.builder->gap();
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
    void take(const EventLine& event) {
        if (is_switch(event.event)) {
            if (const auto hit = switch_hit(event.rest)) take_switch(event, *hit);
            return;
        }
        const auto hit = probe_hit(event.rest);
        if (!hit) return;
        const auto action = actions_.find(event.event);
        if (action == actions_.end() || action->second.returns != hit->is_return()) {
            ++readings_.unpaired;
            return;
        }
        ThreadState& thread = thread_of(event);
        drop_pending(thread);
        if (hit->is_return())
            thread.builder->leave_function(event.time, action->second.function,
                                           result_words(*hit, *action->second.event), event.cpu);
        else
            thread.builder->enter(event.time, action->second.function, words(*hit, *action->second.event),
                                  event.cpu);
    }

    ThreadState& thread_of(const EventLine& event) {
        ThreadState& thread = threads_[event.tid];
        if (thread.builder == nullptr) {
            thread.index = static_cast<std::uint32_t>(builder_.threads());
            thread.builder = &builder_.add_thread({}, event.tid);
        }
        // The last name counts: a thread has its parent's until it takes one of its own.
        std::string& name = builder_.info().threads[thread.index].name;
        if (!event.thread.empty() && name != event.thread) name = event.thread;
        constexpr std::size_t kMaxPids = 1000;
        if (event.pid != 0 && readings_.pids.size() < kMaxPids) readings_.pids.insert(event.pid);
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
        if (survey_.threads.contains(hit.out)) {
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
    TraceBuilder& builder_;
    std::map<std::string, Action, std::less<>> actions_;
    std::unordered_map<std::uint32_t, ThreadState> threads_;
    std::vector<std::uint64_t> words_;
    Readings readings_;
};

/// Reads the file once more, into `builder`. Errors: those of the file.
Result<Readings> read_probes(const std::string& path, const Survey& survey, TraceBuilder& builder,
                             const Progress& progress) {
    auto lines = LineReader::open(path);
    if (!lines) return tl::unexpected{lines.error()};
    Reading reading{survey, builder};
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

namespace {

void learn(const ProbeValue& value, ProbeEvent& event) {
    if (value.form == ValueForm::unreadable) return;
    auto field = std::ranges::find(event.fields, value.name, &Field::name);
    if (field == event.fields.end()) {
        if (event.fields.size() == ProbeEvent::kMaxFields) return;
        field = event.fields.insert(field, Field{.name = std::string{value.name}});
    }
    constexpr std::uint64_t kLowest = std::uint64_t{1} << 32;
    const bool is_hex = value.form == ValueForm::hex, is_decimal = value.form == ValueForm::decimal;
    const bool is_high = (value.bits >> 63U) != 0;
    field->is_text |= value.form == ValueForm::text;
    field->is_decimal |= is_decimal;
    field->is_negative |= is_decimal && is_high && !value.is_unsigned;
    field->is_large |= value.is_unsigned || (is_hex && is_high);
    field->is_address |= is_hex && value.bits >= kLowest;
}

void learn(const ProbeHit& hit, ProbeEvent& event) {
    constexpr std::size_t kMaxAddresses = 64;
    for (const std::string_view address : {hit.address, hit.other})
        if (!address.empty() && event.addresses.size() < kMaxAddresses && !event.addresses.contains(address))
            event.addresses.emplace(address);
    ++event.lines;
    each_value(hit.values, [&](const ProbeValue& value) { learn(value, event); });
}

void learn_header(std::string_view line, Survey& survey) {
    constexpr std::size_t kMaxLines = 100;
    line = trim_blanks(line.substr(1));
    const std::size_t at = line.find(": ");
    if (at == std::string_view::npos || survey.header.size() >= kMaxLines) return;
    survey.header.emplace(trim_blanks(line.substr(0, at)), trim_blanks(line.substr(at + 1)));
}

void learn_event(const EventLine& line, Survey& survey) {
    survey.decimals = std::max(survey.decimals, line.decimals);
    survey.is_perf = survey.is_perf || line.is_perf;
    if (is_switch(line.event)) {
        ++survey.switches;
        return;
    }
    const auto hit = probe_hit(line.rest);
    if (!hit) {
        constexpr std::size_t kMaxNames = 1000;
        ++survey.other_events;
        if (survey.other_names.size() < kMaxNames) survey.other_names.emplace(line.event);
        return;
    }
    constexpr std::size_t kMaxEvents = 10'000;
    auto event = survey.events.find(line.event);
    if (event == survey.events.end()) {
        if (survey.events.size() == kMaxEvents) return;
        event = survey.events.emplace(std::string{line.event}, ProbeEvent{}).first;
        event->second.returns = hit->is_return();
    }
    if (event->second.returns != hit->is_return()) return;
    learn(*hit, event->second);
    survey.threads.insert(line.tid);
}

void make_pair(const std::string& call, const std::string& back, Survey& survey) {
    survey.events.at(call).partner = back;
    survey.events.at(back).partner = call;
}

/// Names tell more than addresses, which differ from process to process and may be equal by chance.
void pair_events(Survey& survey) {
    const auto is_free = [](const ProbeEvent& event, bool returns) {
        return event.returns == returns && event.partner.empty();
    };
    for (const auto& [name, event] : survey.events) {
        if (!is_free(event, true)) continue;
        const auto call = survey.events.find(without_return(name));
        if (call != survey.events.end() && is_free(call->second, false)) make_pair(call->first, name, survey);
    }
    std::map<std::string_view, std::string> by_address;
    for (const auto& [name, event] : survey.events)
        if (is_free(event, false))
            for (const std::string& address : event.addresses)
                by_address.emplace(address, name);
    for (const auto& [name, event] : survey.events) {
        if (!is_free(event, true)) continue;
        for (const std::string& address : event.addresses) {
            const auto call = by_address.find(address);
            if (call == by_address.end() || !is_free(survey.events.at(call->second), false)) continue;
            make_pair(call->second, name, survey);
            break;
        }
    }
}

std::uint64_t count_events(const Survey& survey, bool returns) {
    return static_cast<std::uint64_t>(std::ranges::count_if(
        survey.events, [returns](const auto& each) { return each.second.returns == returns; }));
}

/// "f has", "f and 2 other probes have".
std::string lacking(const std::string& one, std::uint64_t others, std::string_view other,
                    std::string_view several) {
    if (others == 0) return one + " has";
    return fmt::format("{} and {} have", one, counted(others, other, several));
}

/// Whether there are events of probes, but nothing of what they print.
bool lacks_the_field_trace(const Survey& survey) {
    return std::ranges::any_of(survey.other_names, [&](std::string_view name) {
        const std::string_view call = without_return(name);
        return name.starts_with("probe_") || name.starts_with("probe:") ||
               (call != name && survey.other_names.contains(call));
    });
}

tl::unexpected<Error> no_pairs(const std::string& path, const Survey& survey) {
    const std::uint64_t calls = count_events(survey, false), returns = count_events(survey, true);
    constexpr std::string_view kRemedy =
        "record those of `perf probe -x PROGRAM FUNCTION` and `perf probe -x PROGRAM FUNCTION%return`";
    if (calls + returns + survey.other_events == 0)
        return fail("{} has no call: there is no event in it{}; {}", path,
                    survey.switches == 0 ? "" : " but context switches", kRemedy);
    if (calls + returns == 0 && lacks_the_field_trace(survey))
        return fail(
            "{}: no pair of probes: the field `trace` is missing, which tells calls from returns: `perf "
            "script --ns "
            "-F comm,pid,tid,cpu,time,event,trace`",
            path);
    if (calls + returns == 0)
        return fail("{}: no pair of probes: it has {}, and none is a probe's; {}", path,
                    counted(survey.other_events, "event", "events"), kRemedy);
    const bool has_calls = calls > 0;
    const std::string& one = std::ranges::find_if(survey.events, [has_calls](const auto& each) {
                                 return each.second.returns != has_calls;
                             })->first;
    if (has_calls)
        return fail(
            "{}: no pair of probes: {} no probe of the return; add `perf probe -x PROGRAM FUNCTION%return` "
            "and "
            "record both",
            path, lacking(one, calls - 1, "other probe", "other probes"));
    return fail(
        "{}: no pair of probes: {} no probe of the call; add `perf probe -x PROGRAM FUNCTION` and record "
        "both",
        path, lacking(one, returns - 1, "other probe of returns", "other probes of returns"));
}

}  // namespace

std::string_view without_return(std::string_view event) {
    std::string_view name = event;
    // perf numbers the second and later ones of a name.
    const std::size_t digits = name.find_last_not_of("0123456789");
    if (digits != std::string_view::npos && digits + 1 < name.size() && name[digits] == '_')
        name = name.substr(0, digits);
    constexpr std::array<std::string_view, 6> kEndings{"__return", "_return", "__exit",
                                                       "_exit",    "__ret",   "_ret"};
    for (const std::string_view ending : kEndings) {
        if (event.ends_with(ending)) return event.substr(0, event.size() - ending.size());
        if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
    }
    return event;
}

std::size_t Survey::pairs() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        events, [](const auto& each) { return each.second.returns && !each.second.partner.empty(); }));
}

Result<Survey> survey(const std::string& path, const Progress& progress) {
    auto lines = LineReader::open(path);
    if (!lines) return tl::unexpected{lines.error()};
    Survey survey;
    constexpr std::uint64_t kBetween = 100'000;
    while (const auto line = lines->next()) {
        if (progress && lines->number() % kBetween == 0) progress(lines->consumed() / 2, lines->size());
        if (line->starts_with('#'))
            learn_header(*line, survey);
        else if (const auto event = event_line(*line))
            learn_event(*event, survey);
        else if (!is_beside_events(*line) && !lost_events(*line) && survey.unreadable++ == 0)
            survey.first_unreadable = lines->number();
    }
    if (lines->error()) return tl::unexpected{*lines->error()};
    pair_events(survey);
    if (survey.pairs() == 0) return no_pairs(path, survey);
    return survey;
}

}  // namespace rdam::inputs::probes
