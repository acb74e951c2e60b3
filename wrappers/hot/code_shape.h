// What a function's instructions reveal about the duration of a call: whether it calls, waits or loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/hot/hot_report.h"

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

// Which hot functions are so small that recording a call would cost more than the call itself.

/// Sets HotFunction::leaf of what is likely to take no longer than its recording, some 40 ns:
///
/// - it makes no system call, no loop of it has in it what locks are made of (what waits for others is what
///   is being looked for), and the catalogue knows of no lock, file or wait of it;
/// - it has no loop and at most 512 bytes; or
/// - it has loops and at most 4096 bytes, and enough of its samples lie outside of them: that code runs once
///   a call. Where HotReport::places has too few to tell, at most 128 bytes.
///
/// What calls others, or has outside of loops what locks are made of (a counter that threads share), must
/// besides be called so often that recording it would take a tenth of the program's processor time.
///
/// What is in none of HotReport::objects stays as it is. Never fails: a file that cannot be read tells
/// nothing.
void mark_small_leaves(HotReport& report, const Catalogue& catalogue);

}  // namespace rdam
