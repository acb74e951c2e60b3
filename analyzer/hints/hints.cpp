#include "analyzer/hints/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>

#include "analyzer/hints/finders/finders.h"

namespace rdam::hints {
namespace {

using Finder = void (*)(const LossPart&, Hints&);

constexpr std::array<Finder, 7> kFinders{find_parameters, find_pairs, find_first_touch, find_processors,
                                         find_trend,      find_times, find_instructions};

/// With so little lost on the processor, nothing said of it is worth telling.
constexpr double kMinOnProcessor = 0.1;

/// What is the same for all functions.
struct Run {
    const trace::TraceInfo& info;
    const score::Report& report;
    Activities activities;
};

/// If the same hint is about the whole loss and about the loss on the processor, keeps the one about more.
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

Hints find_all(const LossPart& loss) {
    Hints hints;
    if (loss.lost_ns > 0)
        for (const Finder find : kFinders)
            find(loss, hints);
    return hints;
}

/// Hints about the loss on the processor explain less of the whole loss. (The score that a key would leave
/// refers to the whole already.)
Hints scaled(Hints hints, double share) {
    for (score::Hint& hint : hints) {
        hint.share *= share;
        hint.text = fmt::format("of the time lost on-CPU ({:.0f} % of the loss): {}", 100 * share, hint.text);
        if (hint.explains) *hint.explains *= share;
    }
    return hints;
}

/// The return value of a call may be the reason why it was slow, or a consequence.
bool is_about_result(const score::Hint& hint) {
    return hint.parameter == kReturnValue;
}

bool is_off_processor(const score::Hint& hint) {
    return hint.kind == "blocked" || hint.kind == "preempted";
}

/// Whether the hint says that the call waited, which its return value may reflect. A preempted thread does
/// not know that it was preempted.
bool is_about_others(const score::Hint& hint) {
    return hint.kind == "concurrent" || hint.kind == "blocked" || hint.kind == "waited" ||
           hint.kind == "busy_wait";
}

/// What a parameter explains in one part of the loss, the trend of the other part explains as well.
void drop_trend_beside_parameter(Hints& hints) {
    const bool told = std::ranges::any_of(hints, [](const score::Hint& hint) {
        return hint.kind == kParameter || hint.kind == kParameterOrTime;
    });
    if (told) std::erase_if(hints, [](const score::Hint& hint) { return hint.kind == kTrend; });
}

bool is_explained_by_work(const Hints& hints) {
    const bool others = std::ranges::any_of(hints, is_about_others);
    return std::ranges::any_of(hints, [&](const score::Hint& hint) {
        if (is_about_result(hint)) return !others;
        return hint.kind == kParameter || hint.kind == kParameterOrTime || hint.kind == "first_touch" ||
               hint.kind == "more_work";
    });
}

/// Time off the processors that is not known is not known to be on them.
bool mostly_known(const LossPart& loss) {
    constexpr double kMaxUnknown = 0.1;
    const auto& calls = loss.row.sample.calls;
    double unknown = 0;
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (!switches_known(loss.report, calls[i].end)) unknown += calls[i].weight * loss.lost[i];
    return unknown <= kMaxUnknown * loss.lost_ns;
}

/// What kind of loss it is: less than where, when, why or with whom.
bool is_general(const score::Hint& hint) {
    return hint.kind == "more_work" || hint.kind == "slower_work" || hint.kind == "busy_wait";
}

Hints hints_of(const Run& run, const score::FunctionRow& row, std::vector<score::Explained>& explained) {
    LossPart whole = loss_part(run.info, run.report, run.activities, row, false);
    whole.explained = &explained;
    if (!(whole.lost_ns > 0)) return {};
    Hints hints = find_all(whole);
    find_waits(whole, hints);
    find_off_processor(whole, hints);
    find_concurrent_functions(whole, hints);
    LossPart on = loss_part(run.info, run.report, run.activities, row, true);
    on.share = on_processor_share(whole, on);
    const bool on_is_known =
        on.share == 1 || (on.lost_ns > 0 && on.share >= kMinOnProcessor && mostly_known(whole));
    if (on.share < 1 && on_is_known) add(hints, scaled(find_all(on), on.share));
    drop_trend_beside_parameter(hints);
    std::ranges::stable_sort(hints, std::ranges::greater{}, &score::Hint::share);
    if (std::ranges::any_of(hints, is_about_others))
        std::stable_partition(hints.begin(), hints.end(), std::not_fn(is_about_result));
    std::stable_partition(hints.begin(), hints.end(), std::not_fn(is_general));
    if (std::ranges::all_of(hints, is_off_processor) && on_is_known) {
        Hints times;
        find_two_times(on, times);
        add(hints, on.share < 1 ? scaled(std::move(times), on.share) : std::move(times));
    }
    if (!is_explained_by_work(hints)) hints.push_back(unexplained(whole, hints));
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
        std::vector<score::Explained> explained;
        if (part.sample.calls.size() >= kMinCalls) sequence.hints = hints_of(run, part, explained);
    }
}

}  // namespace

void add_hints(const trace::TraceInfo& info, score::Report& report) {
    const Run run{info, report, Activities{report}};
    for (score::FunctionRow& row : report.functions) {
        if (row.sample.calls.size() < kMinCalls) continue;
        row.off_share = off_share(loss_part(info, report, run.activities, row, false));
        row.explained.clear();
        row.hints = hints_of(run, row, row.explained);
        add_sequence_hints(run, row);
    }
}

}  // namespace rdam::hints
