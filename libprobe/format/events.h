// Events as the probe stores them in shared memory, before the agent turns them into the chunks of a trace
// file. Shared with trampoline.S: what stands outside `#ifndef __ASSEMBLER__` is plain preprocessor text.
//
// An event record is a whole number of 8-byte words. Word 0 is the time-stamp counter, word 1 (the *head*)
// says what the record is and is written last: memory is zero before a record is taken, so a record whose
// head is zero has been reserved and not (yet) been written.
//
//   head = cpu << 52 | kind << 48 | words << 40 | function + 1; bits 32 to 38 are 0
//
// Bit RDAM_HEAD_COUNTED_SHIFT of the head of an enter, tail_enter or leave: one more word follows,
// the instructions that the thread had executed (libprobe/event/counter.h); 0: not known.
//
//   enter, tail_enter   tsc, head, return address, words…[, instructions]      24 + 8·words [+ 8] bytes
//   leave, unwound      tsc, head, words…[, instructions]                      16 + 8·words [+ 8] bytes
//   pause               begin, head (function = PauseReason), end                      24 bytes
//   stack               begin, head, end, return address, number of the StackCopy        40 bytes
//   stack_switch        tsc, head, number of the stack                                   24 bytes
//
// A stack_switch says on which stack the thread's events are from there on: 0 is the one that it began on,
// others are numbered in the process; one on which another thread began has 2^31 plus that one's tid.
#pragma once

#define RDAM_KIND_ENTER 1
#define RDAM_KIND_TAIL_ENTER 2
#define RDAM_KIND_LEAVE 3
#define RDAM_KIND_UNWOUND 4
#define RDAM_KIND_PAUSE 5
#define RDAM_KIND_STACK 6
#define RDAM_KIND_SWITCH 7

#define RDAM_HEAD_CPU_SHIFT 52
#define RDAM_HEAD_KIND_SHIFT 48
#define RDAM_HEAD_WORDS_SHIFT 40
#define RDAM_HEAD_COUNTED_SHIFT 39

// Where timestamps come from, in the order of shm::Clock: rdtscp with a fence, so that the function does not
// begin before the counter is read; rdtscp alone; rdtsc, which waits for nothing and does not give the
// processor; rdtsc, and the processor by rdpid; CLOCK_MONOTONIC in nanoseconds, by a system call, if the
// counter cannot be trusted.
#define RDAM_CLOCKS(X) X(rdtscp) X(unfenced) X(rdtsc) X(rdpid) X(monotonic)

// Chunks are aligned to their size: the end of a chunk is known from a record's address alone. The last
// kilobytes are never handed out, so that the records which nested signal handlers reserve beyond the limit,
// before one of them has changed the chunk, still lie inside. Behind RDAM_CHUNK_WAITS no call begins (but
// tail calls) of a function that is known to wait: a thread that returns from it may hold a lock, and should
// change its chunk before it waits and not while it holds that.
#define RDAM_CHUNK_SIZE 0x10000
#define RDAM_CHUNK_LIMIT (RDAM_CHUNK_SIZE - 0x2000)
#define RDAM_CHUNK_WAITS (RDAM_CHUNK_LIMIT - 0x400)
#define RDAM_CHUNK_HEADER 64

#define RDAM_MAX_FUNCTIONS 8192

#ifndef __ASSEMBLER__

#include <cstddef>
#include <cstdint>

namespace rdam::shm {

inline constexpr std::uint32_t kChunkSize = RDAM_CHUNK_SIZE;
inline constexpr std::uint32_t kChunkLimit = RDAM_CHUNK_LIMIT;
inline constexpr std::uint32_t kChunkWaits = RDAM_CHUNK_WAITS;
inline constexpr std::uint32_t kChunkHeader = RDAM_CHUNK_HEADER;
/// Function numbers have room for these; the last two are not functions of the program.
inline constexpr std::uint32_t kMaxFunctions = RDAM_MAX_FUNCTIONS;
inline constexpr std::uint32_t kEmptyFunction =
    kMaxFunctions - 2;  ///< what the probe's cost is measured with
inline constexpr std::uint32_t kInnermostFunction =
    kMaxFunctions - 1;  ///< unwound: whichever call is the innermost open one

/// Manual probes: these many numbers before those.
inline constexpr std::uint32_t kMaxRegions = 256;
inline constexpr std::uint32_t kFirstRegion = kEmptyFunction - kMaxRegions;

enum class RecordKind : std::uint8_t {
    none = 0,
    enter = RDAM_KIND_ENTER,
    tail_enter = RDAM_KIND_TAIL_ENTER,
    leave = RDAM_KIND_LEAVE,
    unwound = RDAM_KIND_UNWOUND,
    pause = RDAM_KIND_PAUSE,
    stack = RDAM_KIND_STACK,
    stack_switch = RDAM_KIND_SWITCH,
};

constexpr std::uint64_t make_head(RecordKind kind, std::uint32_t words, std::uint32_t function) {
    return std::uint64_t{static_cast<std::uint8_t>(kind)} << RDAM_HEAD_KIND_SHIFT |
           std::uint64_t{words} << RDAM_HEAD_WORDS_SHIFT | (std::uint64_t{function} + 1);
}

inline constexpr std::uint64_t kCounted = std::uint64_t{1} << RDAM_HEAD_COUNTED_SHIFT;

struct Head {
    std::uint64_t bits;

    constexpr RecordKind kind() const { return static_cast<RecordKind>(bits >> RDAM_HEAD_KIND_SHIFT & 0xf); }
    constexpr std::uint32_t words() const {
        return static_cast<std::uint32_t>(bits >> RDAM_HEAD_WORDS_SHIFT & 0xff);
    }
    /// False: a probe has not written it.
    constexpr bool is_sound() const { return (bits >> 32 & 0x7f) == 0; }
    constexpr bool counted() const { return (bits >> RDAM_HEAD_COUNTED_SHIFT & 1) != 0; }
    constexpr std::uint32_t function() const { return static_cast<std::uint32_t>(bits) - 1; }
    constexpr std::uint16_t cpu() const { return static_cast<std::uint16_t>(bits >> RDAM_HEAD_CPU_SHIFT); }
};

/// The registers that an unwinder needs to start in the caller of a wrapped function, at the function's
/// entry.
struct EntryRegisters {
    std::uint64_t rsp = 0;  ///< points to the return address
    std::uint64_t rbp = 0, rbx = 0, r12 = 0, r13 = 0, r14 = 0, r15 = 0;
};

inline constexpr std::uint32_t kMaxStackCopy = 16 * 1024;
inline constexpr std::uint32_t kStackRecordWords =
    5;  ///< of 8 bytes; the enter event that follows belongs to the same call

/// In a packed chunk, with a PackHeader before it: behind it `stack_bytes` from registers.rsp upwards, with
/// the return addresses that calls without a frame of the recorder's have without it.
struct StackCopy {
    std::uint32_t function = 0;
    std::uint32_t number = 0;  ///< from 1, by thread: what the stack record says
    std::uint64_t caller = 0;  ///< the return address of the call
    EntryRegisters registers;
    std::uint32_t stack_bytes = 0;
    std::uint32_t reserved = 0;
};

/// Why the recorder held a thread. The numbers are those of rdam::trace::PauseReason. `other`: the trace's
/// file was to be opened.
enum class Pause : std::uint8_t { stack_copy = 0, new_chunk = 1, buffer_full = 2, other = 3 };
inline constexpr std::uint32_t kPauseRecordWords = 3;  ///< of 8 bytes: begin, head, end

}  // namespace rdam::shm

#endif
