// The plan: what the agent tells the recorder to do to the program's code, as plain data in shared memory.
//
// The agent (outside) reads ELF, DWARF and instructions; the recorder (inside) only copies bytes, applies
// fix-ups and writes jumps. All addresses are relative to the load base of their object, so a plan can be
// cached by build-id. Little-endian, naturally aligned, no pointers. A plan is made and used by the same
// version of rdam: kPlanVersion changes with any change of a structure below.
#pragma once

#include <cstdint>

namespace rdam::plan {

inline constexpr std::uint32_t kVersion = 2;

/// Bytes that the recorder overwrites at a function's entry: `jmp rel32`.
inline constexpr std::uint32_t kPatchSize = 5;

/// The most bytes of a prologue that a plan moves. 4 + the longest instruction (15) would be enough, except
/// for small loops back to the entry, which are moved as a whole (pthread_spin_lock,
/// pthread_rwlock_tryrdlock). Only the first kPatchSize of them are ever overwritten.
inline constexpr std::uint32_t kMaxMoved = 64;

/// Integer-class registers in the order of the calling convention: rdi rsi rdx rcx r8 r9.
inline constexpr std::uint32_t kMaxIntegerRegisters = 6;
/// Vector registers xmm0–xmm7; the low 64 bits of each are recorded.
inline constexpr std::uint32_t kMaxVectorRegisters = 8;
/// Words of stack-passed arguments that can be recorded, from the first on.
inline constexpr std::uint32_t kMaxStackWords = 8;

/// Bytes of stack-passed arguments that a stack frame can copy; beyond that a shadow frame is used.
inline constexpr std::uint32_t kMaxStackBytes = 1024;

/// Where glibc's pthread_mutex_t has the thread id of its owner, an int: 0 while there is none
/// (sysdeps/x86/nptl/bits/struct_mutex.h, since 2.0; part of its ABI).
inline constexpr std::uint32_t kMutexOwner = 8;
/// The parameter that this word is, in the trace.
inline constexpr const char* kOwnerName = "owner";
/// The parameter, in the trace, that is the thread id of the one whose end is waited for.
inline constexpr const char* kJoinedName = "joined";
/// … and of the one of what wakes who waits: to where the function returns that gives a mutex back.
inline constexpr const char* kCallerName = "caller";

enum class Frame : std::uint8_t {
    stack,   ///< push, call, leave: needs the exact number of stack bytes, which are copied
    shadow,  ///< registers and stack stay as they were, but for the return address
};

/// What the leave event carries. Complex results (structures, x87) are not recorded.
enum class ReturnValue : std::uint8_t { none, rax, xmm0 };

/// The words of an enter event, in this order: `integer_registers` first registers of the integer class,
/// `vector_registers` first of the vector class, `stack_words` first words of the stack area.
/// Which word is which parameter is for the analyzer to know (the trace's description of the function).
struct Recording {
    std::uint8_t integer_registers = 0;
    std::uint8_t vector_registers = 0;
    std::uint8_t stack_words = 0;
    ReturnValue return_value = ReturnValue::none;
    /// 1: the only register is the address of a mutex of glibc, and behind it comes one more word: what the
    /// mutex says of its owner (kMutexOwner).
    std::uint8_t owner = 0;

    constexpr std::uint32_t enter_words() const {
        return std::uint32_t{integer_registers} + vector_registers + stack_words + owner;
    }

    friend bool operator==(const Recording&, const Recording&) = default;
};

/// Of a function that wakes the threads that wait for an object: where the object, whose address is the function's first
/// argument, says whether there are any, and the function returns at once if there are none.
struct Waiters {
    std::uint32_t mask =
        0;  ///< of the 32 bits there, those that are not all 0 if there are; 0: the object does not say it
    std::uint8_t offset = 0;  ///< of these bits, below 128

    friend bool operator==(const Waiters&, const Waiters&) = default;
};

enum class FixupKind : std::uint32_t {
    rel32,  ///< 4 bytes at code+offset := base + target − (address of the 4 bytes + 4); must fit in ±2 GiB
    abs64,  ///< 8 bytes at code+offset := base + target
};

/// Makes moved code refer to the object it came from. `target` is relative to the object's base; for a rel32
/// it includes whatever addend the instruction needs when immediate bytes follow the displacement.
struct Fixup {
    std::uint32_t code_offset = 0;  ///< from the start of this function's moved code
    FixupKind kind = FixupKind::rel32;
    std::int64_t target = 0;
};

}  // namespace rdam::plan
