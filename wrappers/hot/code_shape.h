// What a function's instructions reveal about the duration of a call: whether it calls, waits or loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rdam {

/// Describes the instructions that can be reached from the first one. If some were missed, `jumps_anywhere`
/// is true.
struct CodeShape {
    bool followed = true;         ///< false: it runs into something that is no instruction, or past its end
    bool calls = false;           ///< other functions
    bool jumps_anywhere = false;  ///< through a register or a table
    bool enters_kernel = false;   ///< by a system call or an interrupt
    /// Locked instructions, exchanges with memory, full fences, pauses, transactions: what locks are made of.
    bool synchronizes = false;
    bool synchronizes_in_loop = false;  ///< and perhaps until another thread lets it continue
    bool polls = false;                 ///< a loop that only another thread's writes can end
    std::vector<std::uint64_t> exits;   ///< where it jumps to outside of it, offsets from its first byte,
                                        ///< modulo 2^64
    std::uint32_t shortest = 0;         ///< instructions on the shortest way to a return; 0: there is none
    std::vector<bool> in_loop;          ///< by offset of an instruction: whether a call may come by again

    bool loops() const;
};

/// `body` is a whole function. A call right before its end is one that never comes back (`abort`,
/// `__stack_chk_fail`) and does not count. Time, and the depth of recursion, grow with the body: give it some
/// KiB. Thread-safe.
CodeShape shape_of_code(std::span<const std::uint8_t> body);

}  // namespace rdam
