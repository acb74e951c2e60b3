// Which arguments and results of a function were recorded, and how: uftrace's argument specifications
// (uftrace-record(1), ARGUMENTS). The data itself does not tell.
#pragma once

#include <regex.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/inputs/uftrace/folder.h"

namespace rdam::inputs::uftrace {

enum class ValueFormat : std::uint8_t {
    number,  ///< of a type that uftrace did not know: what looks like a negative `int` is one
    signed_number,
    unsigned_number,
    pointer,
    enumeration,
    character,
    floating,
    text,       ///< two bytes of length, then the bytes
    structure,  ///< by value: its bytes are passed over
};

struct ValueSpec {
    std::string name;  ///< "arg1", "fparg2", "retval"
    ValueFormat format = ValueFormat::number;
    std::uint16_t size = 8;  ///< bytes; of a text: those of the length
    std::string type;        ///< of an enumeration or structure
    std::string place;       ///< what it is known by: a later specification of the same place replaces it
};

struct Signature {
    std::vector<ValueSpec> arguments;
    std::vector<ValueSpec> results;  ///< more than one only if specifications contradict each other

    bool empty() const { return arguments.empty() && results.empty(); }
};

/// What is known of a function of which the signature is wanted.
struct Described {
    std::string_view linkage_name;
    std::string_view module;           ///< file name
    bool linkage_table = false;        ///< an entry of the procedure linkage table
    bool of_program = false;           ///< in the executable itself
    std::string_view debug_arguments;  ///< DebugNotes
    std::string_view debug_results;
};

/// The values that `@arg1/s,arg2%rdi` or `arg1/s,arg2%rdi` names, up to the first that is not understood.
std::vector<ValueSpec> parse_values(std::string_view text, bool wide, bool results);

/// The specifications of a recording. Not thread-safe.
class Signatures {
  public:
    explicit Signatures(const Info& info);
    ~Signatures();
    Signatures(Signatures&&) noexcept;
    Signatures& operator=(Signatures&&) noexcept;
    Signatures(const Signatures&) = delete;
    Signatures& operator=(const Signatures&) = delete;

    Signature of(const Described& function) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The name under which uftrace knows a C++ function: without parameters and template arguments.
std::string simple_name(std::string_view linkage_name);

// Names and patterns of names, as uftrace has them.

/// A name, or what matches several. Patterns come from files that cannot be trusted: a regular expression
/// that may take exponential time or memory matches nothing.
class NamePattern {
  public:
    NamePattern(Pattern kind, std::string text);

    bool matches(const std::string& name) const;

  private:
    struct Free {
        void operator()(regex_t* regex) const;
    };
    Pattern kind_;
    std::string text_;
    std::unique_ptr<regex_t, Free> regex_;  ///< of Pattern::regex; none: it matches nothing
};

/// Without template arguments, and without parameters in between: "A<B<int>>::f(int)::C::g" → "A::f::C::g".
std::string without_arguments(std::string_view name);

/// The parts between separators; "" has none.
std::vector<std::string_view> split_all(std::string_view text, char separator);

}  // namespace rdam::inputs::uftrace
