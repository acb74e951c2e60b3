// The contents of a trace, decoded. Shared by the writer (the agent), the reader and all analyses.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdam::trace {

enum class EventKind : std::uint8_t {
    enter,       ///< a wrapped function was entered
    tail_enter,  ///< entered by a tail call out of a wrapped function: the frame of that one is gone, this
                 ///< function is a child of the one that opened the frame, after the children before it; the
                 ///< frame's leave closes both
    leave,       ///< the frame of `function` was left, by return or by unwinding (`unwound`)
    pause,  ///< from `tsc` to `until` the thread was held by what is no doing of its calls (PauseReason):
            ///< never scored
    stack_switch,  ///< the thread's events are on the stack `until` from here on: 0, its own, where it
                   ///< begins; n, one of its own (a fiber's), the same number in whatever thread of the
                   ///< process it runs; 2^31 + tid, that on which the thread with this tid began
};

enum class PauseReason : std::uint8_t {
    stack_copy,
    new_chunk,
    buffer_full,
    other,
    // Made from OffCpu, never in a file: which other thread had the thread's processor.
    recorder,  ///< the recorder's own threads
    program,   ///< other threads of the program
};

/// One event of one thread. Events are in the order in which their records were reserved. Nesting follows
/// that order, not the timestamps (a signal handler may run between the reservation of a record and the
/// reading of the clock).
struct Event {
    std::uint64_t tsc = 0;           ///< ticks of the trace's clock
    std::uint64_t until = 0;         ///< pause: its end; stack_switch: the number of the stack
    std::uint64_t caller = 0;        ///< enter: the return address (run-time)
    std::uint64_t instructions = 0;  ///< enter, leave: those that the thread has executed so far outside the
                                     ///< kernel, by a hardware counter; 0: not known
    std::uint32_t function = 0;      ///< index into TraceInfo::functions; pause: unused
    std::uint32_t stack = 0;         ///< enter: 1 + index of the call stack sampled at this call, 0 = none
    std::uint16_t cpu = 0;           ///< kNoCpu when the clock does not tell
    std::uint8_t sampling = 0;  ///< enter: 1 + k: a sampled call tree begins here, recorded with probability
                                ///< 2^-k (k up to kMaxSampling); 0: no, the call shares the fate of its tree
    EventKind kind = EventKind::enter;
    PauseReason reason = PauseReason::other;
    bool unwound = false;  ///< leave: by an exception, a cancellation or thread exit, not by return
    std::span<const std::uint64_t>
        words;  ///< enter: parameters; leave: the return value. Valid until the next event.
};

inline constexpr std::uint16_t kNoCpu = 0xffff;
inline constexpr std::uint8_t kMaxSampling = 31;

/// A time in which a thread was off-CPU, in ticks of the trace's clock: it waited for something (blocked), or
/// for a processor that the kernel had given to another thread (`preempted`).
struct OffCpu {
    std::uint64_t out = 0;
    std::uint64_t in = 0;
    std::uint16_t cpu = kNoCpu;  ///< the processor on which it went on; kNoCpu: it was not seen to
    bool preempted = false;
    // If preempted: which thread had the processor. A time to which this applies only in part is split into
    // consecutive ones.
    bool by_recorder = false;  ///< one of the recorder's own threads
    bool by_program = false;   ///< another thread of the program; known by calls::Absences, and where
                               ///< SwitchInfo::marked
};

/// Whether the second is a part of the same time as the first, which comes right before it.
inline bool same_absence(const OffCpu& before, const OffCpu& next) {
    return before.in == next.out && before.preempted && next.preempted &&
           (before.by_recorder != next.by_recorder || before.by_program != next.by_program);
}

struct ParameterInfo {
    std::string name;
    std::uint8_t kind = 1;  ///< rdam::ValueKind
    std::uint8_t size = 8;
    std::uint16_t word = 0;
    bool key = false;
    std::string type;
    bool is_text = false;  ///< its words are numbers of TraceInfo::texts, from 1; 0: none
    bool by_size = false;  ///< as a key, it says how much is to be done: about the same is the same. Of a
                           ///< result that is a pointer, its distance from the first parameter

    friend bool operator==(const ParameterInfo&, const ParameterInfo&) = default;
};

struct FunctionInfo {
    std::string name;  ///< for people
    std::string linkage_name;
    std::string module;  ///< file name of the object
    std::string source;  ///< "file.c:12" or empty
    std::uint32_t object = 0;
    std::uint64_t address = 0;  ///< link-time
    std::uint64_t size = 0;
    std::uint16_t enter_words = 0;
    std::uint16_t leave_words = 0;
    std::uint64_t switched_off = 0;  ///< ticks: its calls after that are not recorded; 0: they are
    std::uint8_t most_rate = 0;      ///< call trees that begin with it were recorded with probability
                                     ///< 2^-most_rate at least; 0: all of them
    std::uint32_t inlined_copies = 0;
    bool waits = false;                ///< known to put the calling thread to sleep where it has to wait
    bool busy_waits = false;           ///< known to wait on the processor, before it sleeps or instead
    bool sampled = false;              ///< its calls are recorded in windows of time only, by the user's list
    bool counted = false;              ///< all of its calls are counted: ThreadInfo::calls
    std::uint64_t windowed_since = 0;  ///< ticks: calls that begin after that are recorded only if they begin
                                       ///< in one of its TraceInfo::windows; 0: never, every call is recorded
    std::uint32_t window_group = 0;    ///< whose windows are its own: 0 to kMaxWindowGroup
    std::uint64_t wait_of = 0;  ///< link-time address of a function of the same object: the part of its calls
                                ///< in which they wait, each of them recorded; 0: it is a function
    bool wakes = false;  ///< `wait_of` a lock: not that, but where another thread, which has just given
                         ///< it back, wakes one that waits
    bool partner =
        false;  ///< nobody has listed it: it ends the waits of a function that is listed. With `wait_of`:
                ///< calls that do not wait, or wake nobody, are recorded as well, each one until
                ///< `windowed_since`
    bool any_name =
        false;  ///< of another tool's trace: whoever recorded it chose the name, so that it is none of
                ///< the well-known functions called so
    std::vector<ParameterInfo> parameters;
    std::vector<ParameterInfo> result;  ///< none or one

    friend bool operator==(const FunctionInfo&, const FunctionInfo&) = default;
};

struct ObjectInfo {
    std::string path;
    std::string build_id;    ///< hex
    std::uint64_t base = 0;  ///< run-time address = base + link-time address
    std::uint64_t end = 0;   ///< run-time address after its last byte

    friend bool operator==(const ObjectInfo&, const ObjectInfo&) = default;
};

struct StackInfo {
    std::uint32_t function = 0;
    std::uint64_t caller = 0;  ///< return address of the call
    std::vector<std::uint64_t>
        frames;  ///< run-time return addresses, the caller's frame first, the recorder's own left out
    bool truncated = false;  ///< the rest of the stack was not copied

    friend bool operator==(const StackInfo&, const StackInfo&) = default;
};

/// How often a thread has called a function, recorded or not.
/// FunctionInfo::module of what a program itself begins and ends (rdam.h).
inline constexpr std::string_view kRegionModule = "region";

/// What the name of a partner ends with of which only calls that found a thread waiting are recorded.
inline constexpr std::string_view kWaking = " (waking)";

struct CallCount {
    std::uint32_t function = 0;
    std::uint64_t calls = 0;

    friend bool operator==(const CallCount&, const CallCount&) = default;
};

struct ThreadInfo {
    std::uint32_t tid = 0;
    std::string name;
    std::uint64_t start = 0;            ///< ticks
    std::uint64_t end = 0;              ///< ticks; 0: not seen (killed): the last event counts
    std::uint64_t dropped = 0;          ///< events lost because the buffer was full or the disk was
    std::uint64_t unwritten = 0;        ///< unwritten event records (the thread was killed inside the probe)
    std::vector<CallCount> calls = {};  ///< of FunctionInfo::counted functions, rising; what is not here was
                                        ///< not called
    std::uint64_t calls_until = 0;      ///< ticks: `calls` goes up to then; 0: they are not known
    std::uint64_t fiber = 0;  ///< no thread, but what ran on a stack of its own, with this number; `tid` is
                              ///< one that no thread has

    friend bool operator==(const ThreadInfo&, const ThreadInfo&) = default;
};

/// An answer given to an entry of the function list when the program started.
struct AnswerInfo {
    std::string entry;
    std::uint8_t verdict = 0;  ///< rdam::ListVerdict
    std::string function;
    std::string reason;

    friend bool operator==(const AnswerInfo&, const AnswerInfo&) = default;
};

struct ClockInfo {
    std::string
        source;  ///< "rdtscp", "unfenced", "rdtsc", "rdpid" or "monotonic" (docs/recorder.md, "The clock")
    double ticks_per_second = 0;
    std::uint64_t start_tsc = 0;  ///< ticks and UNIX time of one same moment
    std::uint64_t start_unix_ns = 0;
    double probe_ticks =
        0;  ///< measured at start: one wrapped call of an empty function, without the function
    double flow_ticks = 0;  ///< the same of a call of about 20 ns, one after the other: with the overlap of
                            ///< neighbours that is lost; 0: not known
    double probe_inner_ticks = 0;  ///< the part of it between the two timestamps
    double floor_ticks = 0;        ///< two clock readings alone
    std::uint64_t step_ticks = 0;  ///< by which the clock moves at a time; 0: not known
    double error_ticks = 0;  ///< by which calls of equal work seem to last longer than the fastest of them,
                             ///< on average; 0: not known

    friend bool operator==(const ClockInfo&, const ClockInfo&) = default;
};

/// A part of the machine's memory and the processors to which it is near.
struct NodeInfo {
    std::uint32_t number = 0;  ///< the kernel's
    std::vector<std::uint32_t> processors;

    friend bool operator==(const NodeInfo&, const NodeInfo&) = default;
};

struct ProcessInfo {
    std::uint32_t pid = 0;
    std::uint64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat: tells a reused pid
    std::string boot_id;
    std::string run;  ///< what `rdam record` calls the run this process belongs to; empty: started without it
    std::vector<std::string> command;
    std::string title = {};  ///< what it calls itself instead of its command line (setproctitle); empty: that
    std::string executable;
    std::string host;
    std::string machine;  ///< processor model, number of processors, kernel
    std::string rdam_version;
    std::string recorder = {};  ///< of another tool's trace: its name and version; empty: rdam
    std::uint32_t processors = 0;
    std::uint32_t stack_period = 0;
    double max_overhead = 0;      ///< the budget, as a share of each thread's own time; 0: none
    bool clean_end = false;       ///< false: left by _exit() or killed, or the agent was
    bool unwound_unseen = false;  ///< of another tool's trace: calls that are left by unwinding ended some
                                  ///< time before that, their ends were not seen
    std::vector<NodeInfo> nodes = {};  ///< those with processors; none: the machine does not tell
    std::string copied_stacks = {};  ///< the library that copies stacks away ("greenlet"): which end belongs
                                     ///< to which call is not known; empty: there is none
    // Of another tool's trace:
    bool simulated = false;         ///< its times are none of a run: recording it cost nothing
    bool shortest_missing = false;  ///< its recorder has left out calls because they were short
    double machine_share = 0;  ///< of a thread's time on a processor, that the machine (interrupts, the host)
                               ///< took (docs/recorder.md, "What the machine takes"), 0…1; 0: not known

    friend bool operator==(const ProcessInfo&, const ProcessInfo&) = default;
};

/// The name and version of what has recorded the trace: "rdam 0.1.0".
std::string recorded_with(const ProcessInfo& process);

/// The number of the node that has the processor; nothing: not known.
std::optional<std::uint32_t> node_of(const ProcessInfo& process, std::uint16_t processor);

/// What is known of the threads' context switches.
struct SwitchInfo {
    enum class State : std::uint8_t {
        not_told,     ///< a trace of format 1.1
        recorded,     ///< from before the first event to the end
        off,          ///< not wanted
        unavailable,  ///< the machine refuses: `reason`
        stopped,      ///< at `until`: so frequent that to record them costs too much
    };
    State state = State::not_told;
    std::string reason;       ///< of unavailable and stopped, a clause; or kOfCalls
    std::uint64_t until = 0;  ///< stopped: ticks; there is nothing later in the trace
    std::uint64_t lost = 0;   ///< records that the kernel, or the recorder, had no room for
    /// Where some are missing: begin and end of each such time, ticks, rising, at most 2 × kMostMissing.
    std::vector<std::uint64_t> missing = {};
    static constexpr std::size_t kMostMissing = 64;
    /// Of recorded: it is known for how long threads were off the processors in calls, but neither when nor why.
    static constexpr std::string_view kOfCalls = "from the processor times of calls";
    bool of_calls() const { return state == State::recorded && reason == kOfCalls; }
    /// How often a thread got its processor from another of the program, with nobody between: to record that costs half.
    std::uint64_t handed_over = 0;
    /// What it takes a processor, in nanoseconds, to record that a thread leaves it, or gets it; both together where it is handed
    /// over (microbench/switches).
    static constexpr std::uint64_t kRecordNs = 1200;
    bool marked = false;  ///< OffCpu::by_program is known: those of threads have been divided among rows

    friend bool operator==(const SwitchInfo&, const SwitchInfo&) = default;
};

/// What is known of the instructions that calls execute (Event::instructions). Threads, and calls, may be
/// without.
struct CounterInfo {
    enum class State : std::uint8_t {
        not_told,     ///< a trace of format 1.2
        counted,      ///< from before the first event to the end
        off,          ///< not wanted
        unavailable,  ///< the machine has no such counter, or refuses: `reason`
    };
    State state = State::not_told;
    std::string reason;      ///< of unavailable, a clause
    double probe = 0;        ///< instructions of one wrapped call, without the function
    double probe_inner = 0;  ///< the part of them between the two readings of the counter

    friend bool operator==(const CounterInfo&, const CounterInfo&) = default;
};

/// The processor time of the recorder's own process, which is not the program's.
struct AgentInfo {
    double cpu_seconds = 0;          ///< in all
    double running_cpu_seconds = 0;  ///< the part of it that was used while the program ran: it may have
                                     ///< disturbed the program for so long
    bool told = false;               ///< false: a trace of format 1.3

    friend bool operator==(const AgentInfo&, const AgentInfo&) = default;
};

inline constexpr std::uint32_t kMaxWindowGroup = 63;

/// A time in which calls of functions that are sampled in windows were recorded: ticks, begin ≤ t < end. Of
/// the functions of one group, so that no probe of another disturbs what is recorded.
struct Window {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint32_t group = 0;  ///< FunctionInfo::window_group

    friend bool operator==(const Window&, const Window&) = default;
};

/// All but the events.
/// An end of a pipe, a socket or an event counter, as a file descriptor of the process. Numbers of channels are the kernel's
/// (inodes, or those of the event counters).
struct ChannelInfo {
    enum class Kind : std::uint8_t { pipe, socket, eventfd };
    std::uint32_t descriptor = 0;
    Kind kind = Kind::pipe;
    std::uint64_t reads =
        0;  ///< the channel that calls on it receive from: of a socket its own number; 0: none
    std::uint64_t writes = 0;  ///< … send to: of a socket that of its peer; 0: none, or it is not known
    std::uint64_t since = 0,
                  until =
                      0;  ///< ticks: it was seen at both times, so that it was very probably the same between

    friend bool operator==(const ChannelInfo&, const ChannelInfo&) = default;
};

struct TraceInfo {
    ProcessInfo process;
    ClockInfo clock;
    SwitchInfo switches;
    CounterInfo counters;
    AgentInfo agent;
    std::vector<ObjectInfo> objects;
    std::vector<FunctionInfo> functions;
    std::vector<ThreadInfo> threads;  ///< by thread index as used in chunks
    std::vector<StackInfo> stacks;
    std::vector<Window> windows;  ///< of the process: in the order of time, none empty, none overlapping
    std::vector<AnswerInfo> answers;
    std::vector<ChannelInfo> channels;
    std::vector<std::string> remarks;  ///< messages of the recorder: losses, refusals
    std::vector<std::string> texts;  ///< the first of those that are values of parameters; there may be more
    std::uint64_t dropped = 0;       ///< events lost over all threads, those of unknown threads included

    friend bool operator==(const TraceInfo&, const TraceInfo&) = default;
    /// Call trees were recorded at random, as rdam did before version 5 of the format.
    bool samples_trees() const {
        return std::ranges::any_of(functions,
                                   [](const FunctionInfo& function) { return function.most_rate != 0; });
    }
};

/// Whether a call with this return address was made by the function.
bool is_caller(const TraceInfo& info, const FunctionInfo& function, std::uint64_t return_address);

inline constexpr std::uint32_t kNoFunction = UINT32_MAX;

/// The first function that has made a call with this return address, of those that `counts`, by index, is true of;
/// kNoFunction: none of them.
template <class Counts>
std::uint32_t caller_at(const TraceInfo& info, std::uint64_t return_address, const Counts& counts) {
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        if (counts(function) && is_caller(info, info.functions[function], return_address)) return function;
    return kNoFunction;
}

// Which function a recorded wait belongs to.

/// By function: the index of the one whose waits it is (FunctionInfo::wait_of); kNoFunction: it is a
/// function, or that one is not there, or it is none of its waits (FunctionInfo::wakes). Empty: there are no
/// waits among them.
std::vector<std::uint32_t> waiters(std::span<const FunctionInfo> functions);

/// Words of the enter event of a wait for a mutex that names its owner, of what wakes one that waits
/// (FunctionInfo::wakes), or of a wait for the end of a thread.
struct OwnerWords {
    std::uint16_t mutex = 0;  ///< its address, or that of the word that is cleared as the thread ends
    std::uint16_t owner = 0;  ///< tid of its owner when the wait began, or of the thread; 0: not known
    bool given_back = false;  ///< there is no such word: the mutex has just been given back
    bool joins = false;       ///< it waits for a thread's end
    bool all = false;         ///< locks and unlocks that do not wait or wake are recorded as well
    std::optional<std::uint16_t> caller =
        {};  ///< to where the call returns that gives it back; else as the event
};
/// Nothing: `function` is something else.
std::optional<OwnerWords> owner_words(const FunctionInfo& function);

// Names an address of the profiled process independently of where its objects were loaded.

struct Place {
    std::string module = {};   ///< file name of the object; empty: the address is in no object
    std::uint64_t offset = 0;  ///< link-time address in it, or the address itself; 0 alone: not known
};

/// The object that holds `address`; null: none.
const ObjectInfo* object_at(const TraceInfo& info, std::uint64_t address);

/// The place of the call that returns to `return_address`, which may be the first byte after its object.
Place place_of(const TraceInfo& info, std::uint64_t return_address);

/// `app+0x1139`, `0x7f00`, `unknown`. Not made safe for a terminal.
std::string place_text(const Place& place);

// How exported files that know one name for a thread call it.

/// `TID NAME #INDEX`: unique in a trace. `index`: into TraceInfo::threads.
inline std::string thread_label(const ThreadInfo& thread, std::uint32_t index) {
    return fmt::format("{} {} #{}", thread.tid, thread.name, index);
}

// What tells the remarks of a trace (TraceInfo::remarks) that somebody else than its process has to print, or
// must not print again.

/// How a remark begins that the process could not print, as it has become another program.
inline constexpr std::string_view kWentOn = "the process went on as ";

/// What those have in them that are printed when the process begins.
inline constexpr std::string_view kReplaced = " was replaced while the program ran: ";
inline constexpr std::string_view kTooMany = " functions were skipped: rdam can wrap ";

/// `killed`: the process has printed nothing at its end.
inline bool is_left_to_say(std::string_view remark, bool killed) {
    constexpr std::array kSaid{kReplaced, kTooMany};
    const auto is_in = [remark](std::string_view words) { return remark.find(words) != remark.npos; };
    return remark.starts_with(kWentOn) || (killed && std::none_of(kSaid.begin(), kSaid.end(), is_in));
}

}  // namespace rdam::trace
