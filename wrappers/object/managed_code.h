// Code that cannot go through another frame because of the runtime it belongs to, recognized by what it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wrappers/object/object_file.h"

namespace rdam {

/// A language's implementation whose compiled code finds its frames by return addresses, never returns, or
/// has a stack of its own.
struct ManagedRuntime {
    std::string_view name;    ///< "OCaml"
    std::string_view reason;  ///< against wrapping a function of it, without the function's name
};

/// Which of an object's functions a managed runtime's compiler made, by sections, symbols and frame tables.
/// C functions of the runtime, and of the program, in the same object are none of them. Immutable.
class ManagedCode {
  public:
    /// `file` must outlive the result.
    explicit ManagedCode(const ObjectFile& file);

    /// What made the code at a link-time address; nullptr: nothing that forbids to wrap it.
    const ManagedRuntime* at(std::uint64_t address) const;

    /// The runtimes with code in the object.
    const std::vector<const ManagedRuntime*>& runtimes() const { return runtimes_; }

  private:
    struct Range {
        CodeRange code;
        const ManagedRuntime* runtime = nullptr;
    };
    /// Tells by the names of a function whether a runtime's compiler made it.
    using NameRule = bool (*)(const ObjectFile& file, std::string_view name);
    struct Named {
        NameRule rule = nullptr;
        const ManagedRuntime* runtime = nullptr;
    };

    void add(std::uint64_t begin, std::uint64_t end, const ManagedRuntime& runtime);
    void add(NameRule rule, const ManagedRuntime& runtime);
    void add_between(std::string_view first, std::string_view last, const ManagedRuntime& runtime);
    /// From each symbol called `first` to the next one called `last`.
    void add_up_to_next(std::string_view first, std::string_view last, const ManagedRuntime& runtime);
    void add_section(std::string_view name, const ManagedRuntime& runtime);
    void add_symbol(std::string_view name, const ManagedRuntime& runtime);
    void add_ocaml();
    void add_mono();
    void add_graal();
    void add_mlton();
    void add_julia();
    void add_poly_ml();
    void add_gnu_prolog();
    void add_stack_maps();
    void note(const ManagedRuntime& runtime);

    const ObjectFile& file_;
    std::vector<Range> ranges_;  // by begin
    std::vector<Named> named_;
    std::vector<const ManagedRuntime*> runtimes_;
};

// The functions that LLVM's stack maps describe.

/// Link-time addresses of the functions in .llvm_stackmaps, ascending; those of position-independent code are
/// taken from its relocations. Damaged tables yield what could be read before the damage.
std::vector<std::uint64_t> functions_with_stack_maps(const ObjectFile& file);

}  // namespace rdam
