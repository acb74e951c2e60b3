// The memory that a profiled process and its agent share: a memfd, mapped by both, unknown to others.
//
//   Control | births | gates | request | plan | calls | chunk … chunk
//
// Both ends are built from the same sources; kVersion guards against a librdam.so and an rdam-agent that are
// not. Every field is written by one side only unless it says otherwise. Atomics are lock-free and
// address-free, so they work between processes; 32-bit words named *_futex are slept on.
//
// The program can write to all of it, and may be broken. So each side keeps what it needs to continue in
// memory of its own, and only publishes it here. Whatever determines the trace is published with a check
// (Published), and whatever a thread waits for is published repeatedly. States are numbers that differ in
// several bits.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "libprobe/format/events.h"
#include "libprobe/format/plan.h"
#include "libprobe/format/settings.h"

namespace rdam::shm {

// Values that one side of the shared memory publishes for the other so that overwriting is detected: the
// profiled program can write to that memory, and may be broken. No protection against deliberate
// manipulation. Also used inside the profiled program: no libc.

/// A word that differs when the bytes differ in one word of 8, and almost certainly when they differ in more.
/// `size` is a multiple of 8. `seed` says what the bytes are for. The bytes are read once each.
inline std::uint64_t check_of(const void* data, std::size_t size, std::uint64_t seed) {
    constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
    constexpr std::size_t kLanes = 4;  // independent of one another, for the multiplications' sake
    constexpr int kTurn = 29;
    const auto* bytes = static_cast<const unsigned char*>(data);
    std::uint64_t lanes[kLanes] = {seed ^ size, ~seed, seed + kSpread, kSpread};
    const auto mix = [&](std::uint64_t& lane, std::size_t at) {
        std::uint64_t word = 0;
        __builtin_memcpy(&word, bytes + at, sizeof word);
        lane = std::rotl(lane ^ word, kTurn) * kSpread;
    };
    std::size_t at = 0;
    for (; at + kLanes * sizeof lanes[0] <= size; at += kLanes * sizeof lanes[0]) {
        mix(lanes[0], at);
        mix(lanes[1], at + 8);
        mix(lanes[2], at + 16);
        mix(lanes[3], at + 24);
    }
    for (std::size_t lane = 0; at + sizeof lanes[0] <= size; at += sizeof lanes[0], ++lane)
        mix(lanes[lane], at);
    std::uint64_t all = 0;
    for (const std::uint64_t lane : lanes)
        all = std::rotl(all ^ lane, kTurn) * kSpread;
    return all;
}

/// A number below 2^32, stored twice in one word. Zeroed memory means 0.
class Published {
  public:
    void store(std::uint32_t value, std::memory_order order = std::memory_order_release) {
        word_.store(twice(value), order);
    }
    /// One more, or one less; the old value.
    std::uint32_t count_up() { return static_cast<std::uint32_t>(word_.fetch_add(twice(1))); }
    void count_down() { word_.fetch_sub(twice(1)); }

    struct Loaded {
        std::uint32_t value = 0;
        bool intact = false;      ///< it was not overwritten
        std::uint32_t other = 0;  ///< if not intact: the value is most likely one of the two
    };
    Loaded load() const {
        const std::uint64_t word = word_.load(std::memory_order_acquire);
        const auto value = static_cast<std::uint32_t>(word);
        const auto other = static_cast<std::uint32_t>(word >> 32U);
        return {value, value == other, other};
    }

  private:
    static constexpr std::uint64_t twice(std::uint32_t value) { return value | std::uint64_t{value} << 32U; }

    std::atomic<std::uint64_t> word_;
};

/// A count that many threads add to, stored twice. Zeroed memory means 0.
class PublishedCount {
  public:
    void add(std::uint64_t more) {
        value_.fetch_add(more);
        again_.fetch_add(more);
    }
    void store(std::uint64_t value) {
        value_.store(value);
        again_.store(value);
    }
    struct Loaded {
        std::uint64_t value = 0;
        bool intact = false;
    };
    /// While the value is being written, the two differ for a moment, hence the tries.
    Loaded load() const {
        constexpr int kTries = 100;
        for (int i = 0; i < kTries; ++i)
            if (const std::uint64_t again = again_.load(); again == value_.load()) return {again, true};
        return {};
    }

  private:
    std::atomic<std::uint64_t> value_;
    std::atomic<std::uint64_t> again_;
};

// One page of the shared memory that a process's fork children have, too: by it they reach their parent's
// agent, whatever root directory, network or PID namespace they have been given. A child gives it back as
// soon as it has memory of its own.
//
// A child can spoil nothing here but this: the agent believes no word of it before it has seen the child.

/// What a child is doing, and what becomes of it.
enum class BirthState : std::uint32_t {
    none = 0,
    writing = 0x1e2d3c4b,  ///< a child has the place, and writes what it asks for
    asked = 0x2d4b8796,
    started = 0x4b96e1a5,  ///< by the agent: the child has an agent of its own now
    refused = 0x87e15a3c,  ///< by the agent: no agent could be started for it
};

/// What a child asks for.
struct Birth {
    std::atomic<BirthState> state_futex;
    std::uint32_t pid;    ///< in its own PID namespace
    std::int32_t memory;  ///< its descriptor of its own shared memory
    std::uint32_t reserved;
    std::uint64_t nonce;  ///< Control::nonce of that memory
};

inline constexpr std::uint32_t kBirths = 32;  ///< children that ask at the same time

/// `holder`, by set_robust_list(2): the id of the agent's first thread, in its PID namespace, while it serves
/// the process. The kernel sets kHolderDied when it is killed.
inline constexpr std::uint32_t kHolderDied = 0x40000000;

struct Births {
    std::atomic<std::uint32_t> called_futex;  ///< counts up when somebody begins to wait for the agent, which
                                              ///< is out of the program's way till then
    std::atomic<std::uint32_t> holder;
    Birth children[kBirths];
};

inline constexpr std::uint64_t kMagic = 0x3142454d4144'5200;
/// To be raised with every change of what is shared; that of the number of settings is seen without it (kLayout).
inline constexpr std::uint32_t kVersion = 22;

/// Offsets of the areas. They are larger than any use of them: pages that are not touched cost nothing.
inline constexpr std::uint64_t kRequestOffset = 2 << 20;
/// One byte for each function number, whole pages of their own: the process maps them a second time near its
/// code, to read only. A gated function's calls are recorded while its byte is not 0; an open one has all
/// bits. Written by the process before the agent starts (all open), then by the agent, which opens and closes
/// windows; the process closes that of a function whose calls cost more than the budget has for them.
inline constexpr std::uint64_t kGatesSize = kMaxFunctions;
inline constexpr std::uint64_t kGatesOffset = kRequestOffset - kGatesSize;
inline constexpr std::uint8_t kGateOpen = 0xff;
inline constexpr std::uint64_t kBirthsSize = 4096;  ///< a page of its own (births.h)
inline constexpr std::uint64_t kBirthsOffset = kGatesOffset - kBirthsSize;
inline constexpr std::uint64_t kRequestSize = 3 << 20;
inline constexpr std::uint64_t kPlanOffset = 5 << 20;
inline constexpr std::uint64_t kPlanSize = 27 << 20;
inline constexpr std::uint64_t kCallsOffset = 32 << 20;
inline constexpr std::uint64_t kCallsSize = 64 << 20;
inline constexpr std::uint64_t kChunksOffset = kCallsOffset + kCallsSize;

inline constexpr std::uint32_t kMaxThreads = 4096;             ///< alive at the same time
inline constexpr std::uint32_t kCallCounters = kMaxFunctions;  ///< each gated function has one
/// So many of them are in threads' own storage, the others in memory of their own (call_counts.h).
inline constexpr std::uint32_t kNearCounters = 512;
inline constexpr std::uint32_t kFarCounters = kCallCounters - kNearCounters;
inline constexpr std::uint32_t kCallSites =
    1 << 17;  ///< from which functions are called without a frame on the stack
inline constexpr std::uint32_t kRingSize = 1 << 16;  ///< ≥ chunks + threads: each is in the ring at most once
inline constexpr std::uint32_t kMaxChunks = kRingSize - kMaxThreads;
/// So many ended threads that the agent has not heard of make it hurry: each holds a slot, and a chunk with
/// perhaps little in it.
inline constexpr std::uint32_t kManyEnded = 256;
inline constexpr std::uint32_t kNone = 0xffffffff;

/// Where timestamps come from (docs/recorder.md, "The clock").
enum class Clock : std::uint32_t {
#define RDAM_CLOCK(name) name,
    RDAM_CLOCKS(RDAM_CLOCK)
#undef RDAM_CLOCK
};
/// By Clock: what the trace says.
inline constexpr const char* kClockNames[] = {
#define RDAM_CLOCK(name) #name,
    RDAM_CLOCKS(RDAM_CLOCK)
#undef RDAM_CLOCK
};
inline constexpr std::uint32_t kClocks = sizeof kClockNames / sizeof kClockNames[0];

/// Whether the process counts the instructions of its threads (libprobe/event/counter.h), and why not.
enum class Counters : std::uint32_t {
    off = 0,  ///< not wanted
    counting,
    refused,     ///< perf_event_open: Control::counters_error
    unmappable,  ///< mmap: Control::counters_error
    unreadable,  ///< the kernel does not let programs read counters
    occupied,    ///< the counter is there and does not run: others have it
    unlike,      ///< several kinds of processors, each with its own counter
};

/// What the agent is doing, in this order.
enum class AgentState : std::uint32_t {
    starting = 0,
    ask_ifunc = 0x11111111,  ///< wants Control::ifunc_resolver run; the process sets ifunc_target, then
                             ///< ifunc_answered_futex = ifunc_asked
    planned = 0x22222222,    ///< the plan area holds the plan
    refused = 0x44444444,    ///< nothing is to be recorded; the plan area holds the reason as text
    finished = 0x78787878,   ///< the trace is closed; the message area has the messages
};

enum class ProcessState : std::uint32_t { starting = 0, running = 0x33333333, ending = 0x5a5a5a5a };

/// The state of a slot in the table of threads.
enum class ThreadSlotState : std::uint32_t {
    free = 0,
    claimed = 0x11111111,
    live = 0x22222222,
    ended = 0x5c5c5c5c,
    left = 0x1e1e1e1e,  ///< free: the thread that had the slot is gone without a word
};

/// One live thread. Written by the thread itself, freed by the agent.
struct alignas(128) ThreadSlot {
    /// Stored when the thread begins, and again when it ends: its name may have changed.
    struct Begin {
        std::uint32_t index;  ///< unique in the process: the thread's number in the trace
        std::uint32_t tid;
        std::uint64_t start;
        /// The address of the thread's own counters, for the process alone. 0: the slot is `reopened`, for
        /// events after the thread's last destructor, and nobody will report its end.
        std::uint64_t counting;
        char name[16];

        bool reopened() const { return counting == 0; }
    };
    /// Stored when it ends.
    struct End {
        std::uint64_t end;
        std::uint64_t numbers;  ///< PackHeader::number of the last one; 0: there is none
    };

    std::atomic<ThreadSlotState> state;
    std::atomic<std::uint32_t> chunk;   ///< the one that its records go to; kNone: none
    std::atomic<std::uint32_t> packed;  ///< the one that its packs go to; kNone: none
    Begin begin;
    std::uint64_t begin_check;
    End end;
    std::uint64_t end_check;
    PublishedCount dropped;
    Published call_counters;  ///< how many of its counters are published
    std::atomic<std::uint64_t>
        counted_until;  ///< ticks: what they were then; 0: they are not there, or being written
    std::atomic<std::uint64_t> counted_check;  ///< of them, for counted_until
};
static_assert(sizeof(ThreadSlot) == 128);

/// How often a thread has called what Control::counted says. Written by the thread itself, together with
/// ThreadSlot::counted_until. The calls area is an array of them: the first ones are for the near counters of
/// each slot's thread, then come runs of blocks for the far counters of some slots' (Control::far_calls).
struct PublishedCalls {
    std::atomic<std::uint64_t> calls[kNearCounters];
};
inline constexpr std::uint32_t kCallBlocks = kCallsSize / sizeof(PublishedCalls);
inline constexpr std::uint32_t kMaxFarBlocks = kFarCounters / kNearCounters;  ///< of one thread
static_assert(kFarCounters % kNearCounters == 0 && kCallBlocks > kMaxThreads);

/// Blocks of the calls area, of one slot. As a number: the first one, then four bits for how many there are.
struct CallRun {
    std::uint32_t first = 0;
    std::uint32_t blocks = 0;

    std::uint32_t number() const { return first << 4U | blocks; }
    /// Nothing, if there is no such run.
    static CallRun of(std::uint32_t number) {
        const CallRun run{number >> 4U, number & 15U};
        return run.first >= kMaxThreads && run.first + run.blocks <= kCallBlocks ? run : CallRun{};
    }
};
static_assert(kMaxFarBlocks <= 15);

enum class ChunkState : std::uint32_t {
    free = 0,
    owned = 0x11111111,
    packing = 0x22222222,  ///< owned, and its thread packs its records
    full = 0x44444444,
    left = 0x1e1e1e1e,   ///< free: the thread that had it is gone without a word
    spent = 0x78787878,  ///< taken by the agent, which keeps it: a record in it may still be written
};

/// What stands behind the header of a chunk.
enum class ChunkKind : std::uint32_t {
    records = 0,  ///< events as the probes store them, zeros behind them
    packed,       ///< packs and call stacks, each behind a PackHeader
};

/// The first kChunkHeader bytes of a chunk. Written by the owning thread. It packs its records itself and
/// uses the chunk again; a chunk of records reaches the agent when that cannot be done: a record in it is
/// reserved and not written yet (a thread that packs in a signal handler may have interrupted a probe), there
/// is no room, or the program was killed.
struct ChunkHeader {
    /// Stored when a thread takes the chunk.
    struct Owner {
        ChunkKind kind;
        std::uint32_t thread;  ///< ThreadSlot::Begin::index
        std::uint32_t slot;    ///< position in Control::threads
        std::uint32_t chunk;   ///< this one
    };

    std::atomic<ChunkState> state;
    std::atomic<std::uint32_t> next_free;
    Owner owner;
    std::uint64_t owner_check;
    Published
        sequence;    ///< records: counts the thread's fillings; packed: that of the filling when it was taken
    Published used;  ///< records: of a full chunk, where the next would have begun; packed: behind the last
                     ///< pack; from the chunk's start
    Published number;  ///< records: of a full chunk, as PackHeader::number
};
static_assert(sizeof(ChunkHeader) <= kChunkHeader);

enum class PackKind : std::uint32_t { pack = 1, stack };

/// The header of each part of a packed chunk. It is followed by a pack (pack.h), or by a StackCopy with its
/// bytes, which precedes the pack with the record that refers to it.
struct PackHeader {
    std::uint32_t size = 0;  ///< with this header, a multiple of 8
    PackKind kind = PackKind::pack;
    std::uint32_t sequence =
        0;  ///< pack: the filling of the chunk of records that it was made of, and the place in that
    std::uint32_t end = 0;  ///< chunk up to which it goes: what a killed thread had packed is not taken twice
    std::uint32_t number =
        0;  ///< counts what the thread has left, from 1: packs, call stacks, and full chunks of records
    std::uint32_t reserved = 0;
    std::uint64_t check = 0;  ///< of the header up to here and of what is behind it
};
static_assert(sizeof(PackHeader) == 32);

/// `header` has its content behind it, up to `size`, which the caller has checked.
inline std::uint64_t check_of_pack(const void* header, std::uint32_t size) {
    const auto* bytes = static_cast<const unsigned char*>(header);
    const std::uint64_t head = check_of(bytes, offsetof(PackHeader, check), 0);
    return check_of(bytes + sizeof(PackHeader), size - sizeof(PackHeader), head);
}

/// A region that the program itself begins and ends (include/rdam/rdam.h). Texts end with a zero.
struct Region {
    char name[128];
    char file[128];
    char value_names[192];  ///< as in the source, separated by commas
    std::uint32_t line;
    std::uint32_t values;
    std::uint64_t check;  ///< of all before it, for the region's number
};

/// Measured by the process before it records: DESIGN §5.6. A number called _x16 is sixteenths.
struct Measured {
    std::uint32_t step;  ///< the ticks by which the clock advances at a time
    Counters counters;
    std::uint32_t counters_error;
    std::uint32_t reserved;
    std::uint64_t probe_ticks_x16;
    std::uint64_t inner_ticks_x16;
    std::uint64_t floor_ticks_x16;
    std::uint64_t flow_ticks_x16;  ///< of a call whose work would have overlapped with that of its neighbours
    std::uint64_t error_ticks_x16;  ///< by which equal work seems to differ, on average above its fastest
    std::uint64_t
        probe_instructions_x16;  ///< of one wrapped call; the part of them between its two readings:
    std::uint64_t inner_instructions_x16;
};

struct Control {
    std::uint64_t magic;
    std::uint64_t layout;  ///< kLayout
    std::uint32_t chunks;  ///< how many there are room for
    std::uint64_t size;    ///< of the whole memory, bytes
    std::uint64_t nonce;   ///< a number that no other process has, by some chance
    std::uint32_t pid;     ///< in its own PID namespace
    Clock clock;
    std::uint32_t forked;  ///< a fork child whose code is patched already, by its parent's plan
    settings::Values settings;
    Measured measured;
    std::uint64_t measured_check;

    // Start-up, and the end.
    std::atomic<AgentState> agent_futex;
    std::atomic<ProcessState> process_state;
    PublishedCount ended;  ///< ticks: nothing is recorded from then on; 0: the process has not said when
    std::atomic<std::uint32_t> agent_pid;    ///< 0: it is in a PID namespace that the process does not see
    std::uint64_t ifunc_resolver;            ///< run-time address; written by the agent
    std::uint64_t ifunc_target;              ///< written by the process
    std::atomic<std::uint32_t> ifunc_asked;  ///< counts the agent's questions
    std::atomic<std::uint32_t> ifunc_answered_futex;
    /// Objects that come and go while the program runs: the process fills the request area anew, counts this
    /// up and waits for the answer, which is a plan of the new objects alone. Request and answer have this
    /// count as their `serial`.
    std::atomic<std::uint32_t> late_asked;
    std::atomic<std::uint32_t> late_answered_futex;
    std::uint32_t message_size;
    char message[4096];  ///< printable text for stderr, lines end with \n

    /// The agent has something to say while the program runs: printed, and set to 0, by the thread that sees
    /// it first.
    std::atomic<std::uint32_t> notice_size;
    char notice[2048];

    // Full chunks and ended threads on their way to the agent. An entry is 1 + chunk index, or kEndedThread |
    // slot.
    alignas(64) Published ring_tail;
    alignas(64) std::atomic<std::uint32_t> work_futex;  ///< counts up with every entry
    std::atomic<std::uint32_t> agent_sleeps;
    std::atomic<std::uint32_t> ring_head;      ///< written by the agent: entries before it are done with
    std::atomic<std::uint32_t> out_of_memory;  ///< not 0: no further chunk could be had from the machine, by
                                               ///< this errno
    std::atomic<std::uint32_t> none_took;      ///< 1: none of the planned functions could be wrapped
    std::atomic<std::uint32_t> gave_up;        ///< kGaveUp: the process no longer records, because it could
                                               ///< not find out whether the agent is alive
    alignas(64) std::atomic<std::uint64_t> free_chunks;  ///< a stack: index + 1 in the low, a change count in
                                                         ///< the high half
    std::atomic<std::uint32_t> free_futex;  ///< counts up with every chunk given back while someone waits
    std::atomic<std::uint32_t> waiters;
    Published fresh_chunks;                 ///< how many have ever been used
    std::atomic<std::uint32_t> given_back;  ///< counts up with every chunk that becomes free
    std::atomic<std::uint32_t> threads_started;
    std::atomic<std::uint32_t> threads_ended;  ///< how many ends of threads have been reported
    std::atomic<std::uint32_t> threads_done;   ///< how many of these ends the agent has heard of
    std::atomic<std::uint32_t> file_futex;     ///< 1: the agent has opened the file, or cannot
    std::atomic<std::uint32_t>
        has_events;  ///< set before the first event: the first process with events gets the name
    std::atomic<std::uint32_t> thread_hint;
    PublishedCount dropped;               ///< events of threads for which there was no slot
    PublishedCount lent;                  ///< events of threads whose memory another task uses (children.h)
    PublishedCount without_site;          ///< calls that were not recorded, as there were no more CallSites
    Published damaged;                    ///< how much the process has found to be written over
    std::atomic<std::uint32_t> reopened;  ///< thread slots that are `reopened`; the agent counts down
    std::atomic<std::uint32_t> held;  ///< chunks that the agent keeps for a record that is not written yet

    /// A thread is under a system call filter (libprobe/base/filter.h): it wakes nobody, and takes fresh
    /// chunks only below `ready_chunks`.
    std::atomic<std::uint32_t> filtered;      ///< kFilterSeen: it is
    std::atomic<std::uint32_t> ready_chunks;  ///< written by the agent once `filtered`: so many have memory
    /// Written by the agent, kFilterSeen: there is a filter that the process has not told of.
    std::atomic<std::uint32_t> filter_seen;
    std::atomic<std::uint32_t> clockless;  ///< kFilterSeen: nothing is recorded from then on, as the clock is
                                           ///< a system call
    PublishedCount counterless;            ///< events of threads that may not read the time-stamp counter
    PublishedCount filtered_changes;       ///< of the list of libraries, which nobody could be asked about
    PublishedCount filtered_forks;         ///< fork children
    PublishedCount disturbed;  ///< events of signal handlers that interrupted the recorder's bookkeeping

    /// Recorded calls by function number, counted when they are packed: late by up to a chunk.
    std::atomic<std::uint64_t> calls[kMaxFunctions];

    /// Ticks of threads' time that calls of complete functions have cost; late like `calls`.
    std::atomic<std::uint64_t> spent;
    /// Written by the agent before the process records.
    std::uint64_t ticks_per_second;
    /// By function number, ticks: up to then all calls were recorded, since then those in windows; 0: all
    /// are. The process tells it before it closes the function's gate; the agent sets it back to 0 where
    /// nothing has the number any more.
    PublishedCount windowed_since[kMaxFunctions];
    std::atomic<std::uint32_t> windowed_futex;  ///< counts up with each of them

    /// The function number of each counter of calls; the process only adds to them.
    Published call_counters;
    std::uint32_t counted[kCallCounters];
    std::atomic<std::uint64_t> counted_check;  ///< of all of them
    Published far_calls[kMaxThreads];          ///< a CallRun for each slot

    Published region_count;
    Region regions[kMaxRegions];

    alignas(64) std::atomic<std::uint32_t> ring[kRingSize];
    ThreadSlot threads[kMaxThreads];
};

inline Births& births_of(Control& control) {
    return *reinterpret_cast<Births*>(reinterpret_cast<char*>(&control) + kBirthsOffset);
}

inline constexpr std::uint32_t kEndedThread = 0x80000000;
inline constexpr std::uint32_t kGaveUp = 0x6c6f7374;
inline constexpr std::uint32_t kFilterSeen = 0x53454343;
static_assert(sizeof(Control) <= kBirthsOffset);
/// One more setting moves what is behind them, though the whole may have room for it.
inline constexpr std::uint64_t kLayout =
    std::uint64_t{kVersion} << 48U | std::uint64_t{settings::kCount} << 32U | sizeof(Control);
static_assert(settings::kCount <= UINT16_MAX && sizeof(Control) <= UINT32_MAX);
static_assert(sizeof(Births) <= kBirthsSize);
static_assert(kBirthsOffset % kBirthsSize == 0);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// --- The request: what the process tells before it is planned for
// ------------------------------------------------

/// A piece of text in the same area; offsets are from the area's start.
struct Text {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
};

struct RequestedObject {
    Text path;
    Text build_id;  ///< raw bytes
    std::uint64_t base = 0;
    std::uint64_t end = 0;
};

struct Request {
    std::uint32_t serial = 0;  ///< late requests: Control::late_asked
    std::uint32_t bytes = 0;   ///< of the area that are in use, this included; a multiple of 8
    std::uint64_t check = 0;   ///< of what is behind it, for `serial`
    Text own_path;             ///< librdam.so
    Text executable;           ///< /proc/self/exe
    Text command;              ///< arguments, each ended by \0
    Text objects;              ///< RequestedObject[]; of a late request, those that are new
    Text gone;                 ///< late requests: the bases of unloaded objects, std::uint64_t[]
    /// Fork children: what agents before have said by PlanReply::inherited. It is in the plan area, at its
    /// begin.
    Text inherited;
    std::uint64_t inherited_check = 0;
};

/// `area` has `bytes` bytes, as its Request says.
inline std::uint64_t check_of_request(const void* area, std::uint32_t bytes, std::uint32_t serial) {
    constexpr std::size_t kBehind = offsetof(Request, check) + sizeof(std::uint64_t);
    return check_of(static_cast<const unsigned char*>(area) + kBehind, bytes - kBehind, serial);
}

// --- The plan: what the process is told to do
// ----------------------------------------------------------------------

/// The gate of a function, of either side's memory.
inline std::atomic<std::uint8_t>& gate_of(void* control, std::uint32_t function) {
    return reinterpret_cast<std::atomic<std::uint8_t>*>(static_cast<char*>(control) + kGatesOffset)[function];
}

/// Recording functions in windows gets one part in this many of the budget for overhead.
inline constexpr std::uint32_t kPartOfWindows = 5;

struct PlannedFunction {
    std::uint64_t address = 0;  ///< run-time address of the entry
    std::uint64_t base = 0;     ///< load base that the fix-ups are relative to
    std::uint32_t number = 0;
    std::uint32_t object = 0;  ///< moved code of one object is placed together
    std::uint32_t stack_bytes = 0;
    plan::Recording recording;
    plan::Frame frame = plan::Frame::shadow;
    std::uint8_t jump_before = 0;  ///< bytes before the entry where the 5-byte jump goes, the entry itself
                                   ///< getting a 2-byte jump back to it; 0: the 5-byte jump goes to the entry
    std::uint8_t sampled = 0;      ///< its calls are recorded in windows of time only: it has a gate
    std::uint8_t takes_flags = 0;  ///< something may be in the flags when it is called: it has no gate
    std::uint8_t waits = 0;        ///< it is known to wait, asleep or not
    std::uint8_t call = 0;         ///< at its address is a call, whose target is to be changed
    std::uint8_t anew = 0;         ///< its number has stood for another function
    std::uint8_t original_size = 0;
    std::uint8_t original[plan::kMaxMoved] = {};
    Text code;                       ///< the moved instructions, and what describes their frames
    Text fixups;                     ///< plan::Fixup[]
    std::uint32_t description = 0;   ///< where in the code the frame description (FDE) is; 0: there is none
    std::uint32_t waiters_mask = 0;  ///< plan::Waiters
    std::uint32_t waiters_offset = 0;
    std::uint32_t reserved = 0;
};

/// At the start of the plan area.
struct PlanReply {
    Text functions;  ///< PlannedFunction[]
    Text message;    ///< for stderr
    Text wrapped;    ///< the same for how many functions are wrapped, if they are
    /// For the agents of fork children, which have nothing else to plan by (tools/agent/plan/inheritance.h).
    /// The process keeps it, behind what it has kept so far, or instead of that.
    Text inherited;
    Text list;  ///< the path of the list, absolute, if RDAM_FUNCTIONS has a relative one
    std::uint32_t inherits_anew = 0;
    std::uint32_t reserved = 0;
    std::uint32_t serial = 0;  ///< of the request that it answers
    std::uint32_t bytes = 0;   ///< of the area that are in use, this included; a multiple of 8
    std::uint64_t check = 0;   ///< of all before it here, and of what is behind it
};

/// `area` has `bytes` bytes, as its PlanReply says.
inline std::uint64_t check_of_plan(const void* area, std::uint32_t bytes) {
    const auto* from = static_cast<const unsigned char*>(area);
    const std::uint64_t head = check_of(from, offsetof(PlanReply, check), 0);
    return check_of(from + sizeof(PlanReply), bytes - sizeof(PlanReply), head);
}

}  // namespace rdam::shm

// What the C library's headers may not have yet (kernel 5.14). For both sides of the shared memory.

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
