// The recorder's own data. Everything is static or thread-local: nothing is allocated on the way.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libprobe/base/filter.h"
#include "libprobe/base/layout.h"
#include "libprobe/format/packer.h"
#include "libprobe/format/shared.h"

namespace rdam::probe {

/// A thread that waits for the agent checks this often whether it is alive.
inline constexpr long kWaitMilliseconds = 100;

/// The event buffers have no fewer.
inline constexpr std::uint32_t kMinChunks = 16;

/// One wrapped function. The trampolines read it; it is written before the function's entry is patched, and
/// read-only from then on (settled.h).
struct alignas(64) FunctionEntry {
    void* resume;  ///< the moved prologue: continues as if the function had been called without rdam
    std::uint64_t enter_head;
    std::uint64_t leave_head;
    std::uint16_t enter_size;  ///< bytes of the record
    std::uint16_t leave_size;
    std::uint8_t return_value;  ///< plan::ReturnValue
    std::uint8_t reserved;
    std::uint16_t last_begin;  ///< of the chunk: up to there a call may take its first record
    // The straight path reads these up to no_words as one word: with all of them 0 there is nothing to store
    // or copy.
    std::uint32_t stack_bytes;  ///< to copy, a multiple of 64
    std::uint8_t integers;
    std::uint8_t vectors;
    std::uint8_t stack_words;
    std::uint8_t no_words;         ///< 0
    std::uint64_t store_integers;  ///< where to begin in STORE_WORDS, from its first label
    std::uint64_t store_vectors;
    std::uint64_t pair_key;  ///< see Pair::key
};

/// How often a function was called from one place, in one thread.
struct Pair {
    /// The return address, xor the function's pair_key: its number + 1 in the bits that no address has, and
    /// spread over the low ones, by which the place in the table is found. 0: nothing here.
    std::uint64_t key;
    std::uint64_t countdown;  ///< calls until the next call stack; reaching 0 calls rdam_slow_pair
};

inline constexpr std::uint32_t kPairs = 1u << RDAM_PAIR_BITS;

/// Where in a thread's tables a pair is.
inline std::uint32_t pair_index(std::uint64_t key) {
    return static_cast<std::uint32_t>(key) * RDAM_PAIR_HASH >> (32 - RDAM_PAIR_BITS);
}

/// A function that is called from one place without a frame on the stack: where the call goes on, and where
/// it returns to. Each has its pad, a piece of code that calls `resume` and finds the CallSite when that
/// returns (trampoline.S). It does not change once it is there, and does not belong to a call, so it does not
/// matter how many calls are open, whether they ever return, and on which stack and in which thread.
struct CallSite {
    std::atomic<std::uint64_t> return_address;  ///< 0: free
    FunctionEntry* entry;
    void* resume;
    std::uint32_t next;  ///< the number of the next one with the same hash, or of the next free one; 0: none
    std::uint32_t reserved;
};

struct PairTable;

/// The addresses of the stack that a thread began on. Empty: they are not known.
struct Stack {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
};

/// What a thread has published about itself, and continues with: it never reads its values back from the
/// shared memory.
struct Bookkeeping {
    std::uint32_t index = 0;            ///< of the thread
    std::uint32_t chunk = shm::kNone;   ///< the one that its records go to
    std::uint32_t packed = shm::kNone;  ///< the one that its packs go to
    std::uint32_t packed_used = 0;      ///< bytes, up to the end of the last pack
    std::uint32_t sequence = 0;         ///< of the filling of its chunk of records
    std::uint32_t number = 0;           ///< of its last pack, or full chunk of records
    std::uint64_t start = 0;
};

/// What a thread may still spend (chunks/budget.h). Ticks.
struct Account {
    std::int64_t credit = 0;
    std::uint64_t since = 0;  ///< up to then its time has been looked at; 0: it has no account
};

/// Where far counters count of threads that have no memory for them: nobody reads it.
inline constinit std::uint64_t nobodys_calls[shm::kFarCounters] = {};

/// Thread-local. The cursor starts beyond the end of an imaginary chunk, so that a thread's first event takes
/// the slow path.
struct ThreadState {
    std::uint64_t cursor = RDAM_CHUNK_LIMIT + 1;
    // The stack that the thread's last event was on (stacks.h). At first any address is on it.
    std::uint64_t stack_limit = 0;  ///< where rsp is below this, calls take nothing from the stack
    std::uint64_t stack_low = 0;
    std::uint64_t stack_high = ~std::uint64_t{0};
    std::uint64_t counter =
        0;  ///< the address of the page by which its counter is read (counter.h); 0: it has none
    std::uint64_t counter_gap =
        0;  ///< by how much the counter had been enabled longer than running when it began
    alignas(64) Pair pairs[kPairs] = {};
    /// Where in the table the CallSite of a pair may be, by the same hash; 0: not known. Only its content
    /// tells whether it is the right one.
    std::uint32_t sites[kPairs] = {};
    Stack stack;                 ///< that it began on
    std::uint32_t on_stack = 0;  ///< the number that the trace has been told last
    shm::ThreadSlot* slot = nullptr;
    std::uint32_t end_rounds = 0;     ///< of thread-specific-data destructors
    bool ended = false;               ///< its end has been reported
    PairTable* pair_table = nullptr;  ///< the pairs that do not fit into `pairs`
    std::uint64_t vfork_cursor =
        0;  ///< not 0: a child runs on this thread's memory (children.h), and records nothing
    Bookkeeping own;
    Account account;
    std::uint32_t tid = 0;           ///< the kernel's number of it, once it has been asked for
    std::uint64_t dropped = 0;       ///< events, since it has its slot
    pack::PendingStacks stacks;      ///< whose enter events are still to come
    std::uint32_t stack_number = 0;  ///< of the last call stack
    /// What a child on this thread's memory must leave as it was (children.h).
    std::uint64_t vfork_signals = 0;
    /// The child has a stack of its own, and nothing was done when the maker went on: it does so itself, at
    /// its next event.
    bool vfork_alone = false;
    bool lent = false;       ///< another task runs on this memory permanently: neither is recorded
    bool clockless = false;  ///< `lent`, but because it may not read the time-stamp counter any more
    /// What the thread's filter was before the system call that is being made (chunks/sandbox.h), or before a
    /// child on its memory.
    FilterCall filter_call;
    std::uint32_t filtered_before = 0;
    std::uint32_t all_filtered_before = 0;
    std::uint32_t vfork_filtered = 0;
    char name[16] = {};                        ///< its creator's, where it could not ask for its own
    shm::PublishedCalls* published = nullptr;  ///< the thread's own; nullptr: it has published nothing yet
    shm::PublishedCalls* published_far = nullptr;  ///< of its far counters
    std::uint32_t far_blocks = 0;                  ///< of published_far
    /// By counter: calls of gated functions, recorded or not. The gates' code counts them up (gates.h). The far
    /// ones are in memory of the thread's own while it is known (call_counts.h).
    std::uint64_t* far_calls = nobodys_calls;
    alignas(64) std::uint64_t gate_calls[shm::kNearCounters] = {};
};

inline constexpr std::uint32_t kSettled = 1;

/// One page that the kernel empties in a child after fork: the child must not touch the chunks, which it has
/// not inherited.
struct alignas(4096) Guard {
    /// Read by every event, with its record's offset in the chunk: RDAM_GUARD_OPEN; 0 = do not record.
    std::atomic<std::uint64_t> limit;
    std::atomic<std::uint32_t>
        initialised;  ///< 0 in a fork child (when the recorder has been started at all); kSettled; else
                      ///< 2 × the tid of the thread that is about to start the recorder in a fork child
    std::atomic<std::uint32_t> lends;     ///< a thread has lent its memory to a child since the last fork
    std::atomic<std::uint64_t> counters;  ///< all bits where the pages of the threads' counters are there
    std::uint8_t rest[4096 - 24] = {};

    bool active() const { return limit.load() != 0; }
    void activate() {
        counters.store(~std::uint64_t{0});
        limit.store(RDAM_GUARD_OPEN);
    }
    void deactivate() { limit.store(0); }
};

/// What start-up settles once. Private memory: a fork child has it too.
struct Settings {
    settings::Values values;
    std::uint32_t strict = 0;  ///< the process ends when nothing can be wrapped
    shm::Clock clock = shm::Clock::rdtscp;
    bool has_stderr = false;
    char** environment = nullptr;
    /// "RDAM_OUTPUT=" with the absolute path that a relative one meant at the start; null: it was absolute,
    /// or there was no current folder.
    const char* output = nullptr;
};
inline constexpr std::string_view kOutputVariable = "RDAM_OUTPUT=";

/// What the agent of this process, or of its parent, has said for those of fork children (format/shared.h).
struct Knowledge {
    char* bytes = nullptr;
    std::uint32_t size = 0;
    std::uint32_t room = 0;
};

/// What a fork child needs of its parent. Private memory that nobody else writes to (agent/inheritance.h).
struct Inherited {
    const char* const* environment = nullptr;  ///< the agent's, ends with a null
    Knowledge knowledge;
    shm::Births* births = nullptr;  ///< of this process; in a fork child that starts, of its parent
};

/// The state of the recorder and its agent. The recorder relies on this; the shared memory only informs the
/// agent.
struct OwnCopies {
    std::uint32_t chunks = 0;
    std::atomic<std::uint32_t> agent_pid;  ///< 0: not to be seen from here
    std::atomic<std::uint32_t> fresh_chunks;
    std::atomic<std::uint32_t> ring_tail;
    std::atomic<std::uint32_t> waiters;
    std::atomic<std::uint32_t> out_of_memory;
    std::atomic<std::uint32_t> threads_started;
    std::atomic<std::uint32_t> threads_ended;
    /// All chunks are accessible, whether they have memory or not (chunks/sandbox.h).
    std::atomic<std::uint32_t> opened;
    std::uint64_t ended = 0;                                ///< ticks
    std::atomic<std::uint8_t> slots[shm::kMaxThreads];      ///< 1: a thread that lives has it
    std::atomic<ThreadState*> states[shm::kMaxThreads];     ///< of that thread
    std::atomic<std::uint32_t> far_runs[shm::kMaxThreads];  ///< by slot: shm::CallRun
    std::atomic<std::uint32_t> far_taken;                   ///< blocks of these
    std::atomic<std::uint8_t> places[shm::kMaxChunks];      ///< ChunkPlace
};

enum ChunkPlace : std::uint8_t {
    kNotThere = 0,  ///< its pages are not accessible
    kTaken,         ///< a thread has it
    kAway,          ///< the agent has it, or it is on its way there or back
};

/// Within ±2 GiB of any code there is one of them after another: more would be needed by no process that fits
/// into its address space.
inline constexpr std::uint32_t kMaxGateCopies = 64;

struct Globals {
    Settings settings;
    Inherited inherited;
    shm::Control* control = nullptr;  ///< nullptr: nothing is recorded in this process
    std::uint32_t functions = 0;
    shm::Measured measured = {};
    std::uint64_t ticks_per_second = 0;
    std::uint32_t late_asked = 0;          ///< the last late request
    std::atomic<std::uint32_t> unsure{0};  ///< how often in a row it was not known whether the agent is alive
    /// The copies of the gates, each within reach of the moved code of some functions: kGatesSize bytes.
    std::uint64_t gates[kMaxGateCopies] = {};
    std::uint32_t gate_copies = 0;
    /// The function of each counter of calls, and by function one more than the number of its counter, 0: it
    /// has none. A fork child has its parent's code, so it has these.
    std::uint32_t counted[shm::kCallCounters] = {};
    std::uint16_t counter_of[shm::kMaxFunctions] = {};
    std::atomic<std::uint32_t> call_counters{0};
    bool patched = false;
    bool counting = false;  ///< the trampolines are those that read the thread's counter
    std::uint64_t addresses[shm::kMaxFunctions] =
        {};  ///< of the functions' entries, 0: no longer there; a fork child must get the same plan
    // libc's functions themselves, not their wrappers: pthread_setspecific, pthread_attr_getstack,
    // pthread_attr_setstacksize, pthread_attr_getstacksize, pthread_attr_init.
    int (*set_specific)(std::uint32_t, const void*) = nullptr;
    int (*get_stack)(const void*, void**, std::size_t*) = nullptr;
    int (*set_stack_size)(void*, std::size_t) = nullptr;
    int (*get_stack_size)(const void*, std::size_t*) = nullptr;
    int (*init_attributes)(void*) = nullptr;
    std::uint32_t thread_key = 0;
    bool has_thread_key = false;
    /// System calls were filtered when the program started.
    bool filtered_start = false;
    /// Where in its control block libc keeps a thread's number; 0: not known.
    std::uint32_t tid_offset = 0;
    /// Memory of the counts of calls is there for all threads.
    std::atomic<std::uint32_t> calls_opened{0};
};

extern Globals globals;
extern OwnCopies own_copies;

}  // namespace rdam::probe

extern "C" {
extern rdam::probe::FunctionEntry rdam_functions[rdam::shm::kMaxFunctions];
extern rdam::probe::Guard rdam_guard;
extern __thread rdam::probe::ThreadState rdam_thread;
extern void* rdam_target_stack;
extern void* rdam_target_shadow;
extern void* rdam_target_return;
extern rdam::probe::CallSite rdam_call_sites[RDAM_MAX_SITES];
extern const char rdam_pads[];
extern const char rdam_pads_end[];
extern const char rdam_stubs_stack[];
extern const char rdam_stubs_shadow[];
extern const char rdam_trampolines_begin[];
extern const char rdam_trampolines_end[];
void rdam_nothing();

// Called by trampoline.S, with general registers only.
std::uint64_t rdam_slow_pair(rdam::probe::FunctionEntry* entry, std::uint64_t return_address,
                             const rdam::shm::EntryRegisters* registers);
std::uint64_t rdam_slow_chunk(rdam::probe::FunctionEntry* entry, std::uint64_t return_address);
std::uint64_t rdam_slow_begin(rdam::probe::FunctionEntry* entry, std::uint64_t return_address);
std::uint64_t rdam_slow_inactive(rdam::probe::FunctionEntry* entry, std::uint64_t return_address);
std::uint64_t rdam_slow_site(rdam::probe::FunctionEntry* entry, std::uint64_t return_address);
void rdam_slow_stack(std::uint64_t place);
}

namespace rdam::probe {

/// Whether the caller is a child on its maker's memory (start/children.h), or a signal handler's moment from
/// having made one.
inline bool in_shared_child(const ThreadState& thread) {
    return thread.vfork_cursor != 0 && rdam_guard.lends.load() != 0;
}

}  // namespace rdam::probe
