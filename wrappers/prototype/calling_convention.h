// Where arguments are passed: System V AMD64 psABI, 3.2.3, for classified values.
#pragma once

#include <cstdint>

namespace rdam {

/// How one value is handed over, as far as its type decides it.
struct PassedAs {
    enum class Class : std::uint8_t {
        nothing,    ///< an empty class: neither register nor stack
        registers,  ///< in registers if enough of both kinds are left, else on the stack, never split
        memory,     ///< always on the stack
    };
    Class where = Class::registers;
    std::uint8_t integer_registers = 0;
    std::uint8_t vector_registers = 0;
    std::uint64_t size = 8;       ///< bytes, when on the stack
    std::uint64_t alignment = 8;  ///< bytes, when on the stack; counts from 8 up
};

/// Where a value has been put.
struct ArgumentPlace {
    enum class Kind : std::uint8_t { nowhere, integer_register, vector_register, mixed_registers, stack };
    Kind kind = Kind::nowhere;
    std::uint32_t index =
        0;  ///< of the first register of its kind, or the offset in bytes from the first stack argument
};

/// Hands out registers and stack bytes, from the first argument (a hidden result pointer included) to the
/// last.
class ArgumentAllocator {
  public:
    ArgumentPlace place(const PassedAs& value);

    /// Bytes between the first stack argument and the end of the last one, a multiple of 8.
    std::uint64_t stack_bytes() const { return (stack_ + 7) / 8 * 8; }
    /// Some argument wants the stack aligned to more than 16 bytes, which a copy of the arguments does not
    /// keep.
    bool over_aligned() const { return over_aligned_; }

  private:
    std::uint32_t integer_used_ = 0;
    std::uint32_t vector_used_ = 0;
    std::uint64_t stack_ = 0;
    bool over_aligned_ = false;
};

}  // namespace rdam
