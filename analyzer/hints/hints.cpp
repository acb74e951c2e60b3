#include "analyzer/hints/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "analyzer/hints/finders.h"
#include "analyzer/hints/findings.h"
#include "analyzer/hints/owners.h"
#include "tools/base/in_parallel.h"
#include "tools/base/units.h"
#include "tools/trace/clock.h"

namespace rdam::hints {
namespace {

using Finder = void (*)(const LossPart&, Hints&);

// What follows from a hint for others.
constexpr unsigned kWork = 1;          ///< the loss is explained by what calls have to do
constexpr unsigned kOthers = 2;        ///< the call waited for others, which its return value may reflect
constexpr unsigned kOffProcessor = 4;  ///< the loss is time off the processor
constexpr unsigned kNames = 16;        ///< it names the thread that was waited for
constexpr unsigned kMeanwhile = 32;    ///< it names what another thread does meanwhile
constexpr unsigned kGeneral = 8;       ///< what kind of loss it is: less than where, when, why or with whom

/// A kind of hint. A finder that finds several stands beside the first of them.
struct Kind {
    HintKind kind;
    std::string_view name;
    std::string_view advice;
    Finder find =
        nullptr;  ///< of a whole loss and of the part on processors; null: found otherwise, see below
    unsigned traits = 0;
};

/// In the order of HintKind, in which finders see what others have found. A preempted thread does not know that
/// it was preempted: that says nothing of its return value.
constexpr Kind kKinds[] = {
    {HintKind::parameter, "parameter",
     "If the value says how much there is to do, this is work, not interference: make it a key (--key) and "
     "look at what is left. If it is an object, see who else uses it.",
     find_parameters, kWork},
    {HintKind::parameter_or_time, "parameter_or_time",
     "Let the value vary in another order and record again: then it can be told from the time.", nullptr,
     kWork},
    {HintKind::early_return, "early_return",
     "Record the slow path by itself, or make what tells the paths apart a key (--key)."},
    {HintKind::first_touch, "first_touch", "Touch the memory beforehand, or reuse it.", find_first_touch,
     kWork},
    {HintKind::processor, "processor",
     "Look at what else these processors do, at their frequency, and at which node the memory is.",
     find_processors},
    {HintKind::migration, "migration", "Bind the threads to processors."},
    {HintKind::trend, "trend", "Look for what grows during the run: a list, a table, a file.", find_trend},
    {HintKind::warm_up, "warm_up", "Prepare earlier what the first calls need, or leave them out (--since).",
     find_times},
    {HintKind::phase, "phase",
     "Look at what else the program or the machine did in that interval (rdam report shows it)."},
    {HintKind::more_work, "more_work", "See whether these calls have more to do, or iterate while they wait.",
     find_instructions, kWork | kGeneral},
    {HintKind::busy_wait, "busy_wait", "Find out whom it spins for, and let it sleep or ask less often.",
     nullptr, kOthers | kGeneral},
    {HintKind::slower_work, "slower_work",
     "Look at shared cache lines, at memory on another node, and at what runs beside it.", nullptr, kGeneral},
    {HintKind::waited, "waited", "Shorten what is done under the lock, or split the lock.", nullptr, kOthers},
    {HintKind::blocked, "blocked",
     "Find out what it waits for: list the functions that it calls, or look at its call stack.", nullptr,
     kOthers | kOffProcessor},
    {HintKind::preempted, "preempted", "Use fewer threads than processors, or move what else runs there.",
     nullptr, kOffProcessor},
    {HintKind::owner, "owner",
     "Let the owner do less while it has the lock, above all no waiting, or split what the lock protects.",
     nullptr, kOthers | kNames},
    {HintKind::last_to_come, "last_to_come",
     "Give the thread that comes last less to do, or divide the work in smaller parts.", nullptr,
     kOthers | kNames},
    {HintKind::notifier, "notifier",
     "Let the thread that is waited for signal earlier, or give it less to do before it does.", nullptr,
     kOthers | kNames},
    {HintKind::joined, "joined",
     "Give the thread that is waited for less to do, or let others take a part of it.", nullptr,
     kOthers | kNames},
    {HintKind::concurrent, "concurrent", "See what the two functions share: a lock, a cache line, a disk.",
     nullptr, kOthers | kMeanwhile},
    {HintKind::two_times, "two_times", "Look for two paths through the function."},
    {HintKind::waits, "waits",
     "Find out who makes it wait: list the functions of the threads that it may wait for."},
    {HintKind::inside, "inside", "Look at the calls inside it, and list those that are not recorded yet."},
    {HintKind::no_parameter, "no_parameter",
     "Record with one thread and compare (--alone): what then varies as much is work."},
    {HintKind::with_threads, "with_threads", "Look for what the threads share."},
    {HintKind::varies_alone, "varies_alone",
     "Nothing needs to be done about other threads: the calls vary without them."},
};

constexpr bool in_order() {
    for (std::size_t i = 0; i < std::size(kKinds); ++i)
        if (kKinds[i].kind != static_cast<HintKind>(i)) return false;
    return std::size(kKinds) == static_cast<std::size_t>(HintKind::count);
}
static_assert(in_order());

const Kind& kind_of(HintKind kind) {
    return kKinds[static_cast<std::size_t>(kind)];
}

bool has(const Hint& hint, unsigned trait) {
    return (kind_of(hint.kind).traits & trait) != 0;
}
auto having(unsigned trait) {
    return [trait](const Hint& hint) { return has(hint, trait); };
}

/// If less than this part of the loss was on the processor, a hint about it would say little.
constexpr double kMinOnProcessor = 0.1;

/// What is the same for all functions.
struct Run {
    const trace::TraceInfo& info;
    const score::Report& report;
    Activities activities;
    const AddressNames& names;
};

/// If the same hint is about the whole loss and about the loss on the processor, keeps the one about more.
void add(Hints& hints, Hints&& more) {
    for (Hint& hint : more) {
        const auto same = std::ranges::find_if(hints, [&](const Hint& other) {
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
        for (const Kind& kind : kKinds)
            if (kind.find != nullptr) kind.find(loss, hints);
    return hints;
}

/// Hints about the loss on the processor explain less of the whole loss. (The score that a key would leave
/// refers to the whole already.)
Hints scaled(Hints hints, double share) {
    for (Hint& hint : hints) {
        hint.share *= share;
        hint.text = fmt::format("of the time lost on-CPU ({:.0f} % of the loss): {}", 100 * share, hint.text);
        if (hint.explains) *hint.explains *= share;
    }
    return hints;
}

/// The return value of a call may be the reason why it was slow, or a consequence.
bool is_about_result(const Hint& hint) {
    return hint.parameter == kReturnValue;
}

bool is_about_waiting(const Hint& hint) {
    return hint.kind == HintKind::waited || has(hint, kOffProcessor);
}

/// What a parameter explains in one part of the loss, the trend of the other part explains as well.
void drop_trend_beside_parameter(Hints& hints) {
    const auto is = [](HintKind kind) { return [kind](const Hint& hint) { return hint.kind == kind; }; };
    if (std::ranges::any_of(hints, is(HintKind::parameter)) ||
        std::ranges::any_of(hints, is(HintKind::parameter_or_time)))
        std::erase_if(hints, is(HintKind::trend));
}

bool is_explained_by_work(const Hints& hints) {
    const bool others = std::ranges::any_of(hints, having(kOthers));
    return std::ranges::any_of(
        hints, [&](const Hint& hint) { return is_about_result(hint) ? !others : has(hint, kWork); });
}

/// Time off the processors that is not known is not known to be on them.
bool mostly_known(const LossPart& loss) {
    constexpr double kMaxUnknown = 0.1;
    const auto& calls = loss.row.sample.calls;
    double unknown = 0;
    for (std::size_t i = 0; i < calls.size(); ++i)
        if (!switches_known(loss.report, calls[i])) unknown += calls[i].weight * loss.lost[i];
    return unknown <= kMaxUnknown * loss.lost_ns;
}

Hints hints_of(const Run& run, const score::FunctionRow& row, std::vector<Explained>& explained) {
    LossPart whole = loss_part(run.info, run.report, run.activities, row, false);
    whole.explained = &explained;
    whole.names = run.names;
    if (!(whole.lost_ns > 0)) return {};
    Hints hints = find_all(whole);
    find_waits(whole, hints);
    find_off_processor(whole, hints);
    // Where it is known who was waited for, nobody needs to be suspected.
    const std::size_t others = hints.size();
    find_owners(whole, hints);
    if (hints.size() == others) find_concurrent_functions(whole, hints);
    LossPart on = loss_part(run.info, run.report, run.activities, row, true);
    on.share = on_processor_share(whole, on);
    const bool on_is_known =
        on.share == 1 || (on.lost_ns > 0 && on.share >= kMinOnProcessor && mostly_known(whole));
    if (on.share < 1 && on_is_known) add(hints, scaled(find_all(on), on.share));
    drop_trend_beside_parameter(hints);
    std::ranges::stable_sort(hints, std::ranges::greater{}, &Hint::share);
    if (std::ranges::any_of(hints, having(kOthers)))
        std::stable_partition(hints.begin(), hints.end(), std::not_fn(is_about_result));
    std::stable_partition(hints.begin(), hints.end(), std::not_fn(having(kGeneral)));
    // Who was waited for says more than that somebody was.
    if (std::ranges::any_of(hints, having(kNames)))
        std::stable_partition(hints.begin(), hints.end(), std::not_fn(is_about_waiting));
    if (std::ranges::all_of(hints, having(kOffProcessor)) && on_is_known) {
        Hints times;
        find_two_times(on, times);
        add(hints, on.share < 1 ? scaled(std::move(times), on.share) : std::move(times));
    }
    // That it is off the processors is what such a wait is.
    if (!row.by_design.empty()) std::erase_if(hints, is_about_waiting);
    if (is_explained_by_work(hints)) return hints;
    const bool named = std::ranges::any_of(hints, having(kNames));
    if (auto rest = unexplained(whole, hints, named)) hints.push_back(std::move(*rest));
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

/// One for each sequence, or none: the function's are those of its only one.
std::vector<Hints> sequence_hints(const Run& run, const score::FunctionRow& row) {
    if (row.scored_sequences + row.single_sequences < 2) return {};
    std::vector<Hints> all;
    for (const score::SequenceRow& sequence : row.sequences) {
        Hints& hints = all.emplace_back();
        if (sequence.rdam < run.report.threshold) continue;
        const score::FunctionRow part = alone(row, sequence);
        std::vector<Explained> explained;
        if (part.sample.calls.size() >= kMinCalls) hints = hints_of(run, part, explained);
    }
    return all;
}

std::vector<FunctionHints> hints_of_all(const Run& run, unsigned jobs) {
    std::vector<FunctionHints> all(run.report.functions.size());
    score::in_parallel(all.size(), jobs, [&](std::size_t i) {
        const score::FunctionRow& row = run.report.functions[i];
        if (row.sample.calls.size() < kMinCalls) return;
        all[i].off_share = off_share(loss_part(run.info, run.report, run.activities, row, false));
        all[i].hints = hints_of(run, row, all[i].explained);
        all[i].sequences = sequence_hints(run, row);
    });
    return all;
}

}  // namespace

std::string_view name_of(HintKind kind) {
    return kind_of(kind).name;
}

std::string_view advice_on(HintKind kind) {
    return kind_of(kind).advice;
}

bool may_be_work(HintKind kind) {
    return (kind_of(kind).traits & kWork) != 0;
}

bool names_partner(HintKind kind) {
    return (kind_of(kind).traits & (kNames | kMeanwhile)) != 0;
}

std::vector<FunctionHints> find_hints(const trace::TraceInfo& info, const score::Report& report,
                                      const AddressNames& names) {
    return hints_of_all(Run{info, report, Activities{info, report}, names}, 1);
}

namespace {

/// A wait that always takes as long loses nothing to longer ones.
std::string waits_besides(const WaitEdge& edge) {
    const bool one = edge.waiter_tids.size() == 1;
    const std::string inside = edge.inside.empty()
                                   ? std::string{}
                                   : fmt::format(", which {} inside {}() for {} of that time",
                                                 edge.owner_tids.size() == 1 ? "is" : "are", edge.inside,
                                                 output::percent(edge.inside_share));
    return fmt::format("But for {} of {}, {} {} for {}{}: see who waits for whom.",
                       output::percent(edge.share), one ? "its life" : "their lives", edge.waiters,
                       one ? "waits" : "wait", edge.owners, inside);
}

}  // namespace

Analysis explain(const trace::TraceInfo& info, score::Report report, const AddressNames& names,
                 unsigned jobs) {
    const Run run{info, report, Activities{info, report, jobs}, names};
    auto functions = hints_of_all(run, jobs);
    WaitGraph waits = wait_graph(run.info, run.report, run.activities, run.names);
    Findings findings = find_findings(run.info, run.report, functions, run.names.variable_at);
    if (!findings.verdict.empty() && !waits.edges.empty() && waits.edges.front().share >= report.threshold)
        findings.verdict += " " + waits_besides(waits.edges.front());
    return {std::move(report), std::move(functions), std::move(waits), std::move(findings)};
}

Result<Analysis> analyze(const trace::TraceReader& reader, const score::Settings& settings,
                         const Options& options) {
    auto report = score::score_trace(
        reader, settings,
        {.max_sequences = options.max_sequences, .samples = true, .progress = options.progress});
    if (!report) return tl::unexpected{report.error()};
    return explain(reader.info(), std::move(*report), options.names, score::threads_for(settings.jobs));
}

namespace {

double off_ns(const score::ScoredCall& call) {
    return std::min(call.blocked_ns + call.preempted_ns, call.lost_ns);
}

}  // namespace

LossPart loss_part(const trace::TraceInfo& info, const score::Report& report, const Activities& activities,
                   const score::FunctionRow& row, bool on_processor) {
    LossPart loss{.info = info,
                  .report = report,
                  .activities = activities,
                  .function = info.functions[row.function],
                  .row = row,
                  .ns_per_tick = trace::nanoseconds_per_tick(info.clock),
                  .lost = {}};
    for (const score::ScoredCall& call : row.sample.calls) {
        loss.lost.push_back(call.lost_ns - (on_processor ? off_ns(call) : 0));
        loss.lost_ns += loss.lost.back() * call.weight;
        loss.calls += call.weight;
    }
    return loss;
}

// What a call loses is at most what it loses by itself and what the calls inside it lose.
double lost_inside(const LossPart& loss) {
    const score::FunctionRow& row = loss.row;
    const bool calls =
        std::ranges::any_of(row.sample.calls, [](const auto& call) { return call.inside > 0; });
    if (row.sampled || !calls || !(row.lost_ns > 0)) return 0;
    return std::clamp(1 - row.rdam_self * loss.report.threads_ns / row.lost_ns, 0.0, 1.0);
}

bool switches_known(const score::Report& report, const samples::SampledCall& call) {
    using State = trace::SwitchInfo::State;
    const trace::SwitchInfo& switches = report.switches;
    for (std::size_t i = 0; i + 1 < switches.missing.size(); i += 2)
        if (call.begin < switches.missing[i + 1] && switches.missing[i] < call.end) return false;
    return switches.state == State::recorded ||
           (switches.state == State::stopped && call.end <= switches.until);
}

}  // namespace rdam::hints
