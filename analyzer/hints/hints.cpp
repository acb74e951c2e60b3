#include "analyzer/hints/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "analyzer/hints/finders.h"
#include "analyzer/trace/clock.h"

namespace rdam::hints {
namespace {

using Finder = void (*)(const Suspicion&, Hints&);

constexpr std::array<Finder, 4> kFinders{find_parameters, find_processors, find_times, find_instructions};

/// With so little lost on the processor, nothing said of it is worth telling.
constexpr double kFewestOnProcessor = 0.1;

double off_ns(const score::SampledCall& call) {
    return std::min(call.blocked_ns + call.preempted_ns, call.lost_ns);
}

/// What is the same for all functions.
struct Run {
    const trace::TraceInfo& info;
    const score::Report& report;
    std::vector<Activity> activities;
};

/// Of the same about the whole loss and about what was lost on the processor, what is about more stays.
void add(Hints& hints, Hints&& more) {
    for (score::Hint& hint : more) {
        const auto same = std::ranges::find_if(hints, [&](const score::Hint& other) {
            return other.kind == hint.kind && other.parameter == hint.parameter;
        });
        if (same == hints.end())
            hints.push_back(std::move(hint));
        else if (same->share < hint.share)
            *same = std::move(hint);
    }
}

Hints find_all(const Suspicion& suspicion) {
    Hints hints;
    if (suspicion.lost_ns > 0)
        for (const Finder find : kFinders)
            find(suspicion, hints);
    return hints;
}

/// What is said of the loss on the processor is about less of the whole.
Hints scaled(Hints hints, double share, double rdam) {
    for (score::Hint& hint : hints) {
        hint.share *= share;
        hint.text = "of what was lost on the processor: " + hint.text;
        if (hint.explains) *hint.explains *= share;
        if (hint.rdam_with_key) *hint.rdam_with_key = rdam * (1 - *hint.explains);
    }
    return hints;
}

bool is_about_work(const score::Hint& hint) {
    return hint.kind == "parameter" || hint.kind == "early_return" || hint.kind == "more_work";
}

/// What kind of loss it is: less than where, when, why or with whom.
bool is_general(const score::Hint& hint) {
    return hint.kind == "more_work" || hint.kind == "slower_work" || hint.kind == "busy_wait";
}

score::Hint unexplained(const trace::FunctionInfo& function, bool nothing_else) {
    if (function.waits || function.busy_waits)
        return {.kind = "waits",
                .text = fmt::format(
                    "no parameter explains it, and waiting is what it does{}: who makes it wait is the cause",
                    function.busy_waits ? " (busily, so that its time on the processor is waiting as well)"
                                        : "")};
    return {.kind = "no_parameter",
            .text = nothing_else
                        ? "no parameter, return value, caller, processor or time of the run explains it: "
                          "interference is "
                          "likely, or the work depends on data that the call reaches in other ways"
                        : "no parameter explains it: it is not that some calls are asked to do more"};
}

Hints hints_of(const Run& run, const score::FunctionRow& row) {
    const Suspicion whole = suspicion_of(run.info, run.report, run.activities, row, false);
    if (!(whole.lost_ns > 0)) return {};
    Hints hints = find_all(whole);
    find_off_processor(whole, hints);
    find_suspects(whole, hints);
    const Suspicion on = suspicion_of(run.info, run.report, run.activities, row, true);
    const double share = on.lost_ns / whole.lost_ns;
    if (share < 1 && share >= kFewestOnProcessor) add(hints, scaled(find_all(on), share, row.rdam));
    std::ranges::stable_sort(hints, std::ranges::greater{}, &score::Hint::share);
    std::ranges::stable_partition(hints, std::not_fn(is_general));
    if (std::ranges::none_of(hints, is_about_work))
        hints.push_back(unexplained(whole.function, hints.empty()));
    return hints;
}

/// The calls of one sequence, as if the function had no other.
score::FunctionRow alone(const score::FunctionRow& row, const score::SequenceRow& sequence) {
    score::FunctionRow part;
    part.function = row.function;
    part.name = row.name;
    part.rdam = sequence.rdam;
    part.sample.words_per_call = row.sample.words_per_call;
    part.sample.repeated = row.sample.repeated;
    for (std::size_t i = 0; i < row.sample.calls.size(); ++i) {
        if (row.sample.calls[i].group != sequence.group) continue;
        part.sample.calls.push_back(row.sample.calls[i]);
        for (std::size_t word = 0; word < row.sample.words_per_call; ++word)
            part.sample.words.push_back(row.sample.word(i, word));
        for (std::size_t g = 0; g < row.sample.repeated.size(); ++g)
            part.sample.repeats.push_back(row.sample.repeats_of(i, g));
    }
    std::ranges::copy_if(row.slow, std::back_inserter(part.slow),
                         [&](const score::SlowCall& call) { return call.group == sequence.group; });
    return part;
}

void add_sequence_hints(const Run& run, score::FunctionRow& row) {
    if (row.scored_sequences + row.single_sequences < 2) return;  // the function's are its own
    for (score::SequenceRow& sequence : row.sequences) {
        if (sequence.rdam < run.report.threshold) continue;
        const score::FunctionRow part = alone(row, sequence);
        if (part.sample.calls.size() >= kFewestCalls) sequence.hints = hints_of(run, part);
    }
}

}  // namespace

Suspicion suspicion_of(const trace::TraceInfo& info, const score::Report& report,
                       const std::vector<Activity>& activities, const score::FunctionRow& row,
                       bool on_processor) {
    Suspicion suspicion{.info = info,
                        .report = report,
                        .activities = activities,
                        .function = info.functions[row.function],
                        .row = row,
                        .ns_per_tick = trace::nanoseconds_per_tick(info.clock),
                        .lost = {}};
    for (const score::SampledCall& call : row.sample.calls) {
        suspicion.lost.push_back(call.lost_ns - (on_processor ? off_ns(call) : 0));
        suspicion.lost_ns += suspicion.lost.back() * call.weight;
        suspicion.calls += call.weight;
    }
    return suspicion;
}

void add_hints(const trace::TraceInfo& info, score::Report& report) {
    const Run run{info, report, activities_of(report)};
    for (score::FunctionRow& row : report.functions) {
        if (row.sample.calls.size() < kFewestCalls) continue;
        row.hints = hints_of(run, row);
        add_sequence_hints(run, row);
    }
}

}  // namespace rdam::hints
