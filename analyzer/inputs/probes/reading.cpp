#include "analyzer/inputs/probes/reading.h"

#include <algorithm>
#include <optional>

#include "analyzer/inputs/text/line_reader.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/text/demangle.h"

namespace rdam::inputs::probes {
namespace {

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
        constexpr std::size_t kMostPids = 1000;
        if (event.pid != 0 && readings_.pids.size() < kMostPids) readings_.pids.insert(event.pid);
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

}  // namespace

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

}  // namespace rdam::inputs::probes
