// Whether a function's own code keeps to the System V convention.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "wrappers/entry/frame_description.h"
#include "wrappers/object/object_file.h"

namespace rdam {

/// What the instructions of a function reveal. Functions with attributes such as `no_callee_saved_registers`,
/// `preserve_none` and `ms_abi` are described in debug information like any other.
struct Conduct {
    bool spoils_registers = false;  ///< writes rbx, rbp or r12 to r15 and saves it nowhere
    bool pops_arguments = false;    ///< `ret n`
    /// How far behind the return address it reads or writes through the stack or frame pointer, as far as the
    /// unwind tables tell where that address is. What the caller passed on the stack is that large, at least.
    std::uint64_t stack_bytes = 0;
    bool jumps_anywhere = false;  ///< through a register or memory: perhaps to another function
};

/// Thread-compatible. Looks at each function once, and at those that it jumps to in place of returning.
class CalleeConduct {
  public:
    /// `file` must outlive this.
    explicit CalleeConduct(const ObjectFile& file) : file_{file}, rows_{file} {}

    /// A frame of the recorder's own, which keeps its address in rbp and has a copy of the arguments on the
    /// stack, is safe: the code keeps all registers that it must, returns as it should, and uses no more than
    /// `stack_bytes` of what the caller put on the stack.
    bool suits_stack_frame(const CodeRange& function, std::uint64_t stack_bytes);

    /// The conduct of the function alone.
    const Conduct& of(const CodeRange& function);

  private:
    struct Looked {
        Conduct conduct;
        std::vector<std::uint64_t> tail_calls;  // of functions in the same object
    };
    const Looked& look_at(const CodeRange& function);
    Looked examine(const CodeRange& function) const;
    bool keeps_registers(const CodeRange& function, int depth);
    bool has_spoiling_neighbours(const CodeRange& function);
    std::optional<CodeRange> other_function_at(const CodeRange& function, std::uint64_t target) const;

    const ObjectFile& file_;
    StackRows rows_;
    std::map<std::uint64_t, Looked> looked_;  // by the function's first address
    std::map<std::uint64_t, bool> spoiling_;  // by block of code
};

/// Whether a function may be called with something in the flags of arithmetic. `body` is the code from its
/// first instruction on. False: whatever they are, it does not matter, as in all code that keeps to the
/// System V convention: it sets them before it looks at them. True: it looks at one first, or cannot be
/// followed.
bool takes_flags(std::span<const std::uint8_t> body);

// Functions that read their return address.

/// Finds the instructions with which a function reads its own return address, as for
/// `__builtin_return_address(0)`. Where that address is on the stack is known from the unwind tables: without
/// them, or where they contradict the code, nothing is found. Reads through a copied frame pointer
/// (`__builtin_return_address(1)`) are not seen.
class ReturnAddressReads {
  public:
    /// `file` must outlive this.
    explicit ReturnAddressReads(const ObjectFile& file) : file_{file}, rows_{file} {}

    /// The offset in the function of the first such instruction.
    std::optional<std::uint64_t> first_in(const CodeRange& function) const;

  private:
    const ObjectFile& file_;
    StackRows rows_;
};

}  // namespace rdam
