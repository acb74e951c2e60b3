// Gates: a call of a gated function is recorded while the byte of its number is not 0 (docs/recorder.md,
// "Sampling in windows"). The bytes are in the memory that is shared with the agent; the code that reads them
// needs a copy of their pages within reach of a 32-bit displacement.
#pragma once

#include <cstdint>

#include "libprobe/format/plan.h"

namespace rdam::probe {

// What runs before every call of a gated function, recorded or not, is `incq %fs:counter` (if the function
// has a counter, call_counts.h), `cmpb $0, gate(%rip)`, `jne recorded`. It writes no register and no memory but the counter, which one instruction
// counts up, so no signal comes in between. The flags it changes are dead at a function's entry, and it does
// not touch the stack. A far counter is behind a pointer, which needs a register: `push %r11`,
// `mov %fs:counters, %r11`, `incq counter(%r11)`, `pop %r11`. Below the stack pointer there is nothing of
// anybody's at a function's entry.

// Between the two, of a function that wakes threads (plan::Waiters): `testl $mask, offset(%rdi)` and a short `jz` behind the gate.
// The function itself reads the same word before all else.

/// Bytes of the code that stands right before a gated function's moved code, and of that which counts, right
/// before it.
inline constexpr std::uint32_t kGateCode = 13;
inline constexpr std::uint32_t kWaitersCode = 9;
inline constexpr std::uint32_t kCountCode = 9;
inline constexpr std::uint32_t kFarCountCode = 20;
/// Of kFarCountCode, the bytes before and behind which the stack is as the caller left it.
inline constexpr std::uint32_t kPushCode = 2;

/// All gates of `gates` are open from now on.
void open_all_gates(void* gates);

/// A copy of the gates that is within reach of all code from `begin` to `end`, or may be put at `place`
/// (kGatesSize bytes that are reserved for it). 0: there is none. One thread at a time.
std::uint64_t gates_within_reach(std::uint64_t begin, std::uint64_t end);
bool copy_gates_to(std::uint64_t place);

/// Writes the gate's code to `at`: on to the moved code behind it if the byte at `gate` is 0, else to
/// `recorded`. Both must be within reach.
void write_gate(std::uint64_t at, std::uint64_t gate, std::uint64_t recorded);

/// Writes a gate where there is no copy of the gates: it always leads to `recorded`.
void write_open_gate(std::uint64_t at, std::uint64_t recorded);

/// Writes to `at`, right before a gate, what passes by it if nobody waits.
void write_waiters(std::uint64_t at, const plan::Waiters& waiters);

/// Writes to `at` what counts a call: `displacement` is the counter's from the thread pointer.
void write_count(std::uint64_t at, std::uint32_t displacement);
/// Of a far counter: at `offset` bytes from what the pointer at `displacement` points to.
void write_far_count(std::uint64_t at, std::uint32_t displacement, std::uint32_t offset);

/// For a fork child, which has inherited its parent's gates. The first function opens them, because nobody
/// else would, so that the child's next wrapped call is seen. The second replaces the copies by those of the
/// child's own agent (globals.control). Both keep the addresses.
void forget_parents_gates();
bool adopt_gates();

}  // namespace rdam::probe
