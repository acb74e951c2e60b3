#include "analyzer/inputs/probes/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "analyzer/inputs/build/text.h"
#include "analyzer/inputs/probes/event_line.h"
#include "analyzer/inputs/probes/graph_line.h"
#include "tools/base/name_text.h"
#include "tools/base/units.h"

namespace rdam::inputs::probes {

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
    const bool is_step = graph_step(line).has_value(), is_mark = mark(line).has_value();
    if (is_step || is_mark) {
        // Durations of the graph have three digits behind the microsecond, whatever its times have.
        constexpr unsigned kNanoseconds = 9;
        if (is_step) survey.decimals = kNanoseconds;
        ++(is_step ? survey.steps : survey.marks);
        survey.threads.insert(line.tid);
        return;
    }
    const auto hit = probe_hit(line.rest);
    if (!hit) {
        constexpr std::size_t kMaxNames = 1000;
        ++survey.other_events;
        if (survey.other_names.size() < kMaxNames) survey.other_names.emplace(line.event);
        return;
    }
    constexpr std::size_t kMaxEvents =
        200'000;  // a program compiled with -finstrument-functions has two a function
    auto event = survey.events.find(line.event);
    if (event == survey.events.end()) {
        if (survey.events.size() == kMaxEvents) {
            ++survey.beyond_names;
            return;
        }
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
    if (calls + returns == 0 && survey.without_columns > 0)
        return fail(
            "{}: its calls have no time, or no process: `echo 1` into options/funcgraph-abstime and "
            "options/funcgraph-proc of /sys/kernel/tracing before they are recorded, or use `trace-cmd "
            "record -p "
            "function_graph` and `trace-cmd report -t`",
            path);
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

Result<Survey> survey(const std::string& path, const std::string& name, const Dialect& dialect,
                      const Progress& progress) {
    auto lines = LineReader::open(path);
    if (!lines) return tl::unexpected{lines.error()};
    Survey survey;
    const LineParser parse = dialect.parser();
    constexpr std::uint64_t kBetween = 100'000;
    while (const auto line = lines->next()) {
        if (progress && lines->number() % kBetween == 0) progress(lines->consumed() / 2, lines->size());
        if (line->starts_with('#'))
            learn_header(*line, survey);
        else if (const auto event = parse(*line))
            learn_event(*event, survey);
        else if (lacks_columns(*line))
            ++survey.without_columns;
        else if (!is_beside_events(*line) && !lost_events(*line) && survey.unreadable++ == 0)
            survey.first_unreadable = lines->number();
    }
    if (lines->error()) return tl::unexpected{*lines->error()};
    pair_events(survey);
    if (survey.pairs() + survey.steps + survey.marks > 0) return survey;
    if (!dialect.no_pairs.empty()) return fail("{}: {}", name, dialect.no_pairs);
    return no_pairs(name, survey);
}

}  // namespace rdam::inputs::probes
