// Events of one thread in, calls out.
//
// Abandoned calls. A frame left by longjmp, a crash or lost events has no leave event; that is known only
// when a frame around it is left (or the thread ends, or events are missing). Such a call is counted and has
// no times. What that means for the others:
//  - calls that ended inside it are as good as any other;
//  - the call that contains it has a duration, for its own two timestamps are good, but no self time, for
//    nobody knows when the abandoned child ended;
//  - calls around that one are not touched, in neither;
//  - whether a call that came after the jump ran inside the abandoned one cannot be known. It counts as
//    inside, but for one thing: a call of the same function is outermost, or one lost end would take all calls
//    of its function behind it out of the score. Who reads events as they come cannot know that a call will
//    never end, so this takes a second look (MatchCounts::hides_calls, set_unended()).
//
// Tail calls. tail_enter closes the function that was tail-entered in the same frame before, at its own
// timestamp, and opens its function as a child of the one that opened the frame; the frame's leave closes
// both.
//
// Sampled call trees (a budget for overhead). A call has the weight of its tree. A tree may begin while calls
// are open: a signal handler's on a stack of its own, or behind a jump out of all of them; its end is then
// that of its frame, and of the tree that was interrupted two parts are reported.
//
// Time per event is constant (amortized), whatever the nesting; memory grows with the nesting alone, up to
// kMaxOpen calls: then all that are open are abandoned.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/calls/call.h"
#include "tools/trace/event.h"

namespace rdam::calls {

// What a trace says of the ends of its calls.

/// Which ends of calls are known.
struct KnownEnds {
    /// No timestamp of the run can be later: a second behind the end of the last thread, for what destructors
    /// and signal handlers do there. UINT64_MAX if a thread's end is not known.
    std::uint64_t latest = UINT64_MAX;
    bool unwound_unseen = false;  ///< trace::ProcessInfo: a call that is left by unwinding is abandoned

    /// Goes through all threads: once for a trace is enough.
    static KnownEnds of(const trace::TraceInfo& info);
};

// Programs whose stacks are copied away while calls are open on them (greenlet, gevent).

/// Whether a call of the function may seem to end when another one does. Inside what only waits in libc,
/// nothing is called that could copy its stack away.
bool ends_are_mixed_up(const trace::TraceInfo& info, std::uint32_t function);

/// By function, whether it ends when it seems to; empty: all do.
std::vector<bool> with_known_ends(const trace::TraceInfo& info);

/// No stack holds as many calls that are recorded, unless it is larger than 64 MB.
inline constexpr std::size_t kMaxOpen = std::size_t{1} << 19;

struct FunctionCounts {
    std::uint64_t calls = 0;      ///< entered, however they ended
    std::uint64_t estimated = 0;  ///< Σ of their weights
    std::uint64_t abandoned = 0;  ///< never seen to end
    std::uint64_t bad_clock = 0;  ///< ended at an impossible time
    std::uint64_t open_since =
        0;  ///< ticks: when the outermost call began that was still open at the end; 0: none
};

/// What could not be matched, and what was seen at all, in one thread.
struct MatchCounts {
    std::uint64_t calls = 0;
    std::uint64_t probes = 0;              ///< … and those of ignored functions: each had its probe
    std::uint64_t abandoned_by_jump = 0;   ///< an enclosing frame was left
    std::uint64_t abandoned_at_end = 0;    ///< still open when the thread's events ended
    std::uint64_t abandoned_at_gap = 0;    ///< open where events are missing
    std::uint64_t abandoned_too_deep = 0;  ///< open when there were kMaxOpen
    std::uint64_t unmatched_leaves = 0;    ///< no such call was open: ignored
    std::uint64_t stray_tail_enters = 0;   ///< no frame was open: ignored
    std::uint64_t inside_unended = 0;      ///< calls that are outermost by set_unended()
    std::uint64_t bad_clock = 0;           ///< calls that ended at an impossible time
    std::uint64_t bad_pauses = 0;          ///< ended before they began: ignored
    std::uint64_t pauses = 0;              ///< pause events
    std::uint64_t paused = 0;              ///< their ticks, including:
    std::uint64_t waited = 0;              ///< the buffers were full
    std::uint64_t by_recorder = 0;         ///< the recorder's own threads had the processor
    std::uint64_t crowded = 0;  ///< other threads of the program had it; the rest is the recorder's
    /// Lowest and highest timestamp of an enter or leave; UINT64_MAX and 0: there was none. Without calls
    /// that ended at an impossible time: one wild timestamp would make a life of years.
    std::uint64_t first = UINT64_MAX;
    std::uint64_t last = 0;

    /// A call was abandoned that is inside another one of its function, or around one, so that there may be calls
    /// that are not outermost for that alone: with unended_calls() (call_stream.h) they are.
    bool hides_calls = false;

    std::uint64_t held() const { return paused - crowded; }  ///< by the recorder
};

/// `Sink` has the functions of CallSink, virtual or not.
template <class Sink>
class BasicMatcher {
  public:
    /// Event::function must be below `functions`. Calls of functions whose entry in `ignored` is true (it may
    /// be shorter than `functions`) are as if they had never been wrapped, except that the cost of their
    /// probes is still taken out. `sink` must outlive the matcher.
    BasicMatcher(std::size_t functions, ProbeCost cost, const std::vector<bool>& ignored, Sink& sink);

    /// Calls of functions whose entry is true (it may be shorter) are reported, but the calls around them are
    /// treated as if these functions had never been wrapped, because only some calls of functions that are
    /// sampled in windows are recorded.
    void set_transparent(const std::vector<bool>& transparent);

    /// Calls of these are parts of other functions' calls (trace::FunctionInfo::wait_of): as if they were
    /// ignored, except that `wait_opened` gets those that begin, and `waited` those that end.
    void set_waits(const std::vector<bool>& waits);

    /// These functions are sampled in windows, so it depends on the time whether the calls inside them are
    /// recorded. A call that takes less than a quarter of what the probes inside it cost has Call::held: its
    /// duration is not like that of the calls without them.
    void set_sampled(const std::vector<bool>& sampled);

    /// Calls that will be abandoned, as unended_calls() tells them: a call of the same function inside is
    /// outermost. Must outlive the matcher. Default: none is known beforehand.
    void set_unended(std::span<const std::uint64_t> calls) { unended_ = calls; }

    /// Default: all are.
    void set_known_ends(const KnownEnds& ends) { ends_ = ends; }

    /// Complete call trees of calls that all return, none of them in a sampled tree, one after the other.
    struct Trees {
        std::uint64_t first = 0;      ///< timestamp: no earlier event of the thread has a later one …
        std::uint64_t first_end = 0;  ///< when the first tree ends
        std::uint64_t last = 0;       ///< … and none of these
        std::size_t depth = 0;
        std::uint64_t calls = 0;     ///< in all of them
        std::uint64_t duration = 0;  ///< Σ of the outermost calls' net durations
    };
    /// Whether these can be looked at elsewhere, as nothing that this matcher knows concerns the times inside.
    bool takes(const Trees& trees) const;
    /// As if their events had been consumed, which takes() them. The sink is told nothing. Each function's calls
    /// are counted by count_calls().
    void add(const Trees& trees);
    void count_calls(std::uint32_t function, std::uint64_t calls, bool outermost) {
        per_function_[function].calls += calls;
        per_function_[function].estimated += calls;
        PerOpen& open = open_[function];
        if (open.calls > 0) open.nests = true;
        if (outermost && open.unended > 0) counts_.inside_unended += calls;
    }
    /// Whether its calls are as those of any function.
    bool is_plain(std::uint32_t function) const { return open_[function].flags == 0; }
    bool is_open(std::uint32_t function) const { return open_calls(function) > 0; }
    /// Without those that are known to be never seen to end.
    std::size_t open_calls(std::uint32_t function) const { return open_[function].calls; }
    /// During `opened`: whether no other call of the function is open but such.
    bool opens_outermost() const { return opens_outermost_; }
    /// The probes' part of a call's duration, with so many calls inside.
    std::uint64_t probe_ticks(std::uint64_t nested) const {
        if (nested == 0) return inner_ticks_;
        const double probes = cost_.inner + cost_.total * static_cast<double>(nested);
        return static_cast<std::uint64_t>(std::min(probes + 0.5, 1e18));
    }

    void consume(const trace::Event& event);
    void consume(std::span<const trace::Event> events) {
        for (const trace::Event& event : events)
            consume(event);
    }
    /// Events are missing here: all open calls are abandoned.
    void gap();
    /// The thread's events end here: all open calls are abandoned.
    void finish();

    /// During `closed`: the end of that call, on a clock that stops while the recorder works. On this clock,
    /// the call began one duration earlier.
    std::uint64_t net_end() const;
    /// During `closed`: the ticks of all pauses before the call began, and before it ended.
    std::uint64_t paused_at_begin() const { return stack_.back().paused_before; }
    std::uint64_t paused_at_end() const { return paused_until(closed_at_); }

    const MatchCounts& counts() const { return counts_; }
    const std::vector<FunctionCounts>& per_function() const { return per_function_; }

  private:
    struct Frame {
        std::uint64_t enter = 0;
        std::uint64_t paused_before = 0;  ///< ticks of pause before `enter`
        std::uint64_t nested = 0;         ///< wrapped calls inside, at any depth
        std::uint64_t children = 0;       ///< their net durations, of the direct ones
        std::uint32_t function = 0;
        std::uint8_t halvings = 0;  ///< weight 2^halvings
        std::uint8_t flags = 0;     ///< Flag; bits, for a larger frame costs a tenth of the time

        bool is(std::uint8_t flag) const { return (flags & flag) != 0; }
    };
    enum Flag : std::uint8_t {
        kIgnored = 1U << 0U,
        kTransparent = 1U << 1U,
        kTail = 1U << 2U,
        kOutermost = 1U << 3U,
        kSelfKnown = 1U << 4U,
        kWait = 1U << 5U,
        kSampled = 1U << 6U,
        kUnended = 1U << 7U,
    };
    struct PerOpen {
        std::uint32_t calls = 0;    ///< open calls of the function, but for those of set_unended()
        std::uint32_t unended = 0;  ///< these
        std::uint32_t frames = 0;   ///< the number of both that opened a frame
        std::uint8_t flags = 0;  ///< those of the function's frames: kIgnored, kTransparent, kWait, kSampled
        bool nests = false;      ///< a call has begun inside the outermost that is open
    };
    struct Interval {
        std::uint64_t begin = 0, end = 0;
    };

    void enter(const trace::Event& event, bool tail);
    void tail_enter(const trace::Event& event);
    void leave(const trace::Event& event);
    void pause(const trace::Event& event);
    void close_top(const trace::Event& last, bool own_leave);
    static void add_to_parent(const Frame& frame, Frame& parent, std::uint64_t tsc, std::uint64_t duration,
                              bool timed);
    std::uint64_t abandon_down_to(std::size_t keep);
    std::uint64_t net_duration(const Frame& frame, std::uint64_t tsc, std::uint64_t held) const;
    std::uint64_t doubtful(const Frame& frame, std::uint64_t duration) const;
    std::uint64_t paused_until(std::uint64_t tsc) const;
    void see(std::uint64_t tsc);
    std::uint8_t halvings_of(const trace::Event& event) const;
    void enter_tree(std::uint8_t halvings);
    void mark(const std::vector<bool>& functions, unsigned flags);
    bool begins_unended();

    ProbeCost cost_;
    std::uint64_t inner_ticks_ = 0;  ///< cost_.inner, rounded
    Sink& sink_;
    std::vector<Frame> stack_;
    std::vector<PerOpen> open_;
    std::vector<FunctionCounts> per_function_;
    MatchCounts counts_;
    std::array<Interval, 8> pauses_{};        ///< the latest, that one first
    std::span<const std::uint64_t> unended_;  ///< those that have not begun yet
    std::uint64_t entered_ = 0;               ///< calls of ignored functions included
    std::uint64_t closed_at_ = 0;             ///< the latest leave
    KnownEnds ends_;
    std::uint8_t tree_halvings_ = 0;  ///< of what was not reported to the sink yet
    bool opens_outermost_ = true;
};

/// The one for any sink.
using Matcher = BasicMatcher<CallSink>;
extern template class BasicMatcher<CallSink>;

}  // namespace rdam::calls
