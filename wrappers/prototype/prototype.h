// What a function takes and returns, in the terms of the calling convention.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wrappers/catalogue/catalogue.h"

namespace rdam {

// Where arguments are passed: System V AMD64 psABI, 3.2.3, for classified values.

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

    bool operator==(const ArgumentPlace&) const = default;
};

/// Bytes of a function's frame, from where its base is when the frame is complete.
struct FrameBytes {
    enum class Base : std::uint8_t { canonical_frame_address, rbp, rsp };
    Base base = Base::canonical_frame_address;
    std::int64_t offset = 0;
    std::uint64_t size = 0;
};

/// Hands out registers and stack bytes, from the first argument (a hidden result pointer included) to the
/// last.
class ArgumentAllocator {
  public:
    explicit ArgumentAllocator(bool hidden_result = false) : integer_used_{hidden_result ? 1U : 0U} {}
    ArgumentPlace place(const PassedAs& value);

    /// Bytes between the first stack argument and the end of the last one, a multiple of 8.
    std::uint64_t stack_bytes() const { return (stack_ + 7) / 8 * 8; }
    /// Some argument wants the stack aligned to more than 16 bytes, which a copy of the arguments does not
    /// keep.
    bool over_aligned() const { return over_aligned_; }

  private:
    std::uint32_t integer_used_;
    std::uint32_t vector_used_ = 0;
    std::uint64_t stack_ = 0;
    bool over_aligned_ = false;
};

/// How a single value of that kind is handed over.
PassedAs passed_as(ValueKind kind);

/// A value that a trace can show: a number, a pointer, a truth value. Structures are none.
struct ScalarType {
    ValueKind kind = ValueKind::unsigned_integer;
    std::uint8_t size = 8;  ///< bytes, at most 8
};

struct PrototypeParameter {
    std::string name;  ///< empty: not known
    std::string type;  ///< as in the source; empty: not known
    PassedAs passed;
    std::optional<ScalarType> scalar;
    bool unproven = false;  ///< nothing says that it is there when the function is entered: no value is known
};

struct PrototypeResult {
    enum class Where : std::uint8_t {
        nowhere,  ///< void, or a kind that is not recorded (structures in registers, x87, vectors)
        rax,
        xmm0,
        hidden_pointer,  ///< in memory whose address the caller passes as the first integer argument
    };
    Where where = Where::nowhere;
    std::string type;
    std::optional<ScalarType> scalar;
};

struct Prototype {
    std::vector<PrototypeParameter> parameters;  ///< in the order in which they are passed
    PrototypeResult result;
    bool variadic = false;
    bool stack_unproven = false;  ///< how much the caller passes on the stack may differ
    /// Empty: the layout is certain. Else why it is not ("K&R definition", "a 32-byte vector"): nothing may
    /// be derived from the parameters then.
    std::string doubt;
};

/// A catalogue's description in the same terms. Never doubtful.
Prototype prototype_of(const CatalogueFunction& function);

}  // namespace rdam
