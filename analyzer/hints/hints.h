// From scores to answers: possible causes of a high score, and what to do about it. docs/hints.md lists them.
//
// Each kind is a Finder, in a file of its own; finders.h lists them. They look at one function's sample of
// calls (score::Sample) and never at the events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/settings/settings.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"

namespace rdam::hints {

/// docs/hints.md has what each says. The table of hints.cpp, in the same order, has the rest.
enum class HintKind : std::uint8_t {
    parameter,
    parameter_or_time,
    early_return,
    first_touch,
    processor,
    migration,
    trend,
    warm_up,
    phase,
    more_work,
    busy_wait,
    slower_work,
    waited,
    blocked,
    preempted,
    owner,
    last_to_come,
    notifier,
    joined,
    concurrent,
    two_times,
    waits,
    inside,
    no_parameter,
    with_threads,
    varies_alone,
    count,  ///< none: how many there are
};

/// As in JSON: `parameter_or_time`.
std::string_view name_of(HintKind kind);

/// One sentence: what to try where a loss has this cause.
std::string_view advice_on(HintKind kind);

/// Whether such a loss may be what calls have to do, and no interference.
bool may_be_work(HintKind kind);

/// Whether it names another thread: for whom calls wait, or what it does meanwhile.
bool names_partner(HintKind kind);

/// What may have caused a loss.
struct Hint {
    HintKind kind = HintKind::parameter;
    std::string text;
    double share = 0;                          ///< of the lost time that it is about, 0…1
    std::string parameter = {};                ///< of `parameter`: its name
    std::optional<double> explains = {};       ///< the share of the variation that it explains, 0…1
    std::optional<double> rdam_with_key = {};  ///< the score that would be left with it as a key
    std::string concurrent_function = {};      ///< of `concurrent`, `owner`, `last_to_come`, `notifier`,
                                               ///< `joined`
    /// tid of the thread inside it, or that was waited for, if nearly always the same.
    std::optional<std::uint32_t> concurrent_thread = {};
    /// tid of the thread that lost nearly all, if there is one.
    std::optional<std::uint32_t> thread = {};
};

using Hints = std::vector<Hint>;

/// The parts of a function's loss during which its threads were on no processor, 0…1.
struct OffShare {
    double blocked = 0;
    double preempted = 0;
};

/// What a call has that may go with its time.
struct Variable {
    enum class Of : std::uint8_t {
        parameter,     ///< `number` is an index into FunctionInfo::parameters
        caller,        ///< SampledCall::caller
        result,        ///< SampledCall::result
        repeats,       ///< `number` is an index into Sample::repeated
        calls_inside,  ///< SampledCall::inside
        keys_inside    ///< SampledCall::inside_keys
    };
    Of of = Of::parameter;
    std::size_t number = 0;
};

/// What a parameter, or something else that a call has, explains of a function's loss.
struct Explained {
    std::string name;          ///< as Hint::parameter
    double explains = 0;       ///< 0…1
    double rdam_with_key = 0;  ///< the score that would be left with it as a key
    Variable variable = {};
};

/// Of a row with a sample; of others all is empty.
struct FunctionHints {
    Hints hints = {};                        ///< the one about the largest share of the lost time first
    std::optional<OffShare> off_share = {};  ///< nothing: not known
    std::vector<Explained> explained = {};   ///< by what was asked about, however little it explains
    /// By sequence: where a function has several, of those with a score from the threshold on.
    std::vector<Hints> sequences = {};

    std::span<const Hint> of_sequence(std::size_t number) const {
        return number < sequences.size() ? sequences[number] : std::span<const Hint>{};
    }
};

/// What is worth a word: this share of a time.
inline constexpr double kWorthSaying = 0.1;

/// The name of the variable at an address of the process; empty: none is known. Several threads may ask at once.
using VariableAt = std::function<std::string(std::uint64_t address)>;

/// The function of the program's own that a call returns to: `flush_cache at srv.c:12`; empty: it is another one's, or that is
/// not known. Several threads may ask at once.
using CallerAt = std::function<std::string(std::uint64_t return_address)>;

/// What is at addresses of the process, for what is said of waits. Empty: nothing has a name.
struct AddressNames {
    VariableAt variable_at = {};
    CallerAt caller_at = {};
};

/// One for each of report.functions.
std::vector<FunctionHints> find_hints(const trace::TraceInfo& info, const score::Report& report,
                                      const AddressNames& names = {});

// Who waits for whom. Known of mutexes that name their owners and of joins (trace::owner_words), of barriers, and of
// functions whose partners are recorded (CatalogueFunction::given_back_by, woken_by), in the windows of time that are
// kept of all threads.

/// What ends the waits for an object of this kind (WaitEdge::kind), in words: `they post`, `it posts`, `has posted` it.
struct EndingWords {
    const char* plural;
    const char* does;
    const char* done;
};
EndingWords words_of_ending(std::string_view kind);

/// Threads with one name that wait for threads with one name: for a lock which these have, at a barrier to
/// which these come last, or until these notify them, or end.
struct WaitEdge {
    enum class For : std::uint8_t { owner, last_to_come, notifier, end };

    std::string waiters, owners;  ///< for people: `thread 7 (reader)`, `3 threads (worker)`
    std::vector<std::uint32_t> waiter_tids, owner_tids;
    For reason = For::owner;
    std::string kind;          ///< of object: `mutex`, `barrier`, `condition variable`
    std::uint64_t object = 0;  ///< its address; 0: not known
    std::string variable;      ///< its name; empty: none is known
    std::string
        object_name;         ///< for people: `the mutex cache_lock`, `the semaphore 0x5000`; of a barrier the
                             ///< function that waits
    double share = 0;        ///< of the lives of the waiters
    double waited_ns = 0;    ///< all of it, which is what the waiters would gain at most without this wait
    bool by_design = false;  ///< to wait is what the function is for
    bool owners_seen = true;  ///< it is known of a part of these waits, if not of all, what the owners did:
    std::string inside;       ///< the function that the owner is inside; empty: none is known
    double inside_share = 0;  ///< of these waits
    std::string
        inside_from;  ///< where that is a wait: who calls it then (CallerAt); empty: several, or not known
    std::string
        ended_from;  ///< where owners end most of these waits (CallerAt): they give the object back, come to the
                     ///< barrier or notify; empty: in several places, or it is not known
    double ended_from_share = 0;  ///< of these waits
    double owner_waiting = 0;     ///< … in which the owner is off the processors by its own doing
    double owner_preempted = 0;   ///< … because others are to run
    std::string
        meanwhile;  ///< the same for people, `; the owner is inside …`; may be empty, and is so beyond
                    ///< the first WaitGraph::kInWords edges, of which variables have no names, either
};

/// Threads of one name at the end of chains of waits: others wait for them, directly or through threads that wait
/// themselves, and of them it is not known that they wait for anybody.
struct WaitEnd {
    std::string threads;  ///< as WaitEdge::owners
    std::vector<std::uint32_t> tids;
    double share = 0;    ///< of the waits of which it is known for whom
    double through = 0;  ///< … the part of it that others wait for a thread which waits itself
    double waiting = 0, preempted = 0;  ///< of `share`: as WaitEdge::owner_waiting, owner_preempted
    std::string inside;                 ///< as in WaitEdge
    double inside_share = 0;
    std::string meanwhile;  ///< as in WaitEdge, of the first WaitGraph::kInWords

    /// There is a chain, and it is not told by an edge.
    bool is_worth_saying() const {
        constexpr double kMinShare = 0.1;
        return through >= kMinShare;
    }
};

/// For whom a thread waits longest.
struct ThreadWait {
    std::string owners;  ///< as WaitEdge::owners; empty: for nobody, or it is not known
    double share = 0;    ///< of its life

    bool is_worth_saying() const {
        constexpr double kMinShare = 0.001;
        return share >= kMinShare;
    }
};

/// All such waits but joins, of which it is always known for whom: known + woken + what is not known = 1.
struct WaitGraph {
    static constexpr std::size_t kInWords = 5;
    static constexpr double kWorthALine = 0.05;  ///< WaitEdge::share

    bool recorded = false;     ///< there are such waits, or joins
    bool joins_alone = false;  ///< … and no others
    /// The largest: those worth a line first, of these those that are no waits by design first, then the largest first.
    std::vector<WaitEdge> edges = {};
    std::vector<ThreadWait> of_threads = {};  ///< by index into Report::threads; empty: none is recorded
    std::vector<WaitEnd> ends = {};           ///< the largest first: with `circular` all of what is known
    double of_lives = 0;   ///< all such waits, joins left out, as a share of the lives of all threads
    double circular = 0;   ///< share of what is known: of threads that wait for one another in a circle
    double preempted = 0;  ///< … in which the thread at the end has no processor because others are to run
    double known = 0;      ///< in this share of them it is known for which thread
    double woken = 0;      ///< … the thread that was woken has not come to run yet (Held::kWoken)
    std::optional<double> of_blocked = {};  ///< share of all time off the processors by threads' own doing

    /// So much of the waits is not known that the shares of edges are lower bounds.
    bool at_least() const { return known + woken <= 1 - kWorthSaying; }
};

// The findings: the few losses that a reader should know of first.

/// Of a loss: where nearly all of it is.
struct Concentration {
    double lost = 0;   ///< share of the loss
    double calls = 0;  ///< … of the calls

    /// Much is lost in few calls. Of what has nearly all calls, nothing else could be expected.
    bool stands_out() const { return calls < 0.5; }
};

struct Finding {
    std::size_t row = 0;     ///< index into Report::functions: the figures
    std::size_t called = 0;  ///< … of the function that the program calls: `row`, or whose slow path that is
    std::string losers;      ///< the threads that lost: `thread 7 (worker)`, `3 threads (worker)`
    std::vector<std::uint32_t> loser_tids = {};
    std::string object =
        {};  ///< at which nearly all was lost: `mutex cache_lock`, `fd 5`; empty: at several, or not known
    Concentration at_object = {};
    std::uint64_t place = 0;  ///< CallerRow::address of the caller that lost most; 0: none is known
    Concentration at_place = {};
    /// The hint of the row that names others who waited for no-one: an owner, who came last, or who ran meanwhile.
    std::optional<Hint> partner = {};
    std::string partner_name = {};   ///< of its thread: `thread 8 (keeper)`; empty: several, or not known
    std::optional<Hint> cause = {};  ///< the row's first hint
    /// The first of its hints that may_be_work(), if it is about much of the loss.
    std::optional<Hint> work = {};
};

struct Findings {
    static constexpr std::size_t kMost = 3;

    std::vector<Finding> all = {};  ///< the largest loss first
    std::string verdict = {};  ///< a sentence or several; empty: there are findings, or nothing was asked for
};

/// A report, and what may explain its scores.
struct Analysis {
    score::Report report;
    std::vector<FunctionHints> functions = {};  ///< find_hints(); empty: it was not asked for
    WaitGraph waits = {};                       ///< likewise
    Findings findings = {};                     ///< likewise

    /// `row`: one of report.functions.
    const FunctionHints& of(const score::FunctionRow& row) const {
        static const FunctionHints kNone;
        const auto number = static_cast<std::size_t>(&row - report.functions.data());
        return number < functions.size() ? functions[number] : kNone;
    }
};

/// What explains a report whose rows have samples; found by `jobs` threads.
Analysis explain(const trace::TraceInfo& info, score::Report report, const AddressNames& names = {},
                 unsigned jobs = 1);

struct Options {
    std::size_t max_sequences = 1000;  ///< listed for each function
    score::ReadProgress progress;
    AddressNames names = {};
};

/// A trace in, scores and the hints that explain them out. Errors: those of score::score_trace().
Result<Analysis> analyze(const trace::TraceReader& reader, const score::Settings& settings,
                         const Options& options);

// Compares two recordings of a program, one with fewer threads: what varies in both varies by itself.

/// The hints of `analysis`; to each function with a score from its threshold on, another comes first:
/// `varies_alone` or `with_threads`. Compared is what a call loses as a share of what is not lost, so that calls
/// may have other amounts of work in the two, without what they were preempted for (FunctionHints::off_share).
/// `alone` is about the same program, where the function is called by fewer threads; functions that are not,
/// or fewer than score::kMinCalls times, have no such hint. Nothing: all functions with such a score are so.
std::optional<std::vector<FunctionHints>> compare_alone(const Analysis& alone, const Analysis& analysis);

}  // namespace rdam::hints
