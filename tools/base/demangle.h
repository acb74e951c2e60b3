// From linkage names to readable names: C++ (Itanium), Rust (legacy and v0), D, OCaml, compiler clones.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rdam {

/// The spellings under which a list may name one symbol. All empty when the linkage name is not a mangled
/// one. Clone suffixes stay visible: "f(int) [clone .constprop.0]".
struct DemangledName {
    std::string full;       ///< "void ns::f<int>(int)": as c++filt prints it
    std::string signature;  ///< "ns::f<int>(int)": without the return type
    std::string
        brief;  ///< "ns::f<int>": without the parameter list; Rust: without the hash. As perf prints it
    std::string hashed;  ///< Rust only: with the hash ("::h0123456789abcdef") or the crate's disambiguator
};

/// Thread-safe. Names beyond 64 KiB are not tried.
DemangledName demangle(std::string_view linkage_name);

/// Whether `demangle` would try: a cheap test of the prefix.
bool looks_mangled(std::string_view linkage_name);

/// For reports: the brief form where there is one, else the name itself; a C++ name with its signature if
/// `signature`.
std::string display_name(std::string_view linkage_name, bool signature = false);

/// The part after the last `::` of a demangled name without parameter list, ignoring those within template
/// arguments and parentheses: "A<b::c>::f<d::e>" → "f<d::e>".
std::string_view last_component(std::string_view brief_name);

/// The linkage name before the first compiler suffix, and that suffix: "f.constprop.0" → {"f",
/// ".constprop.0"}. The body of a coroutine belongs to the function that starts it, whatever its compiler
/// calls it: "_Z3genPZ3genliE14_Z3genli.Frame.actor" → {"_Z3genli", ".actor"}.
struct CloneParts {
    std::string_view base;
    std::string_view suffix;  ///< empty: not a clone
};
CloneParts split_clone(std::string_view linkage_name);

/// A demangled name as people write it: `std::string` instead of what that stands for, and without the inline
/// namespace of libstdc++'s newer ABI.
std::string familiar_name(std::string_view name);

/// Blanks that carry no meaning and ABI tags ("[abi:cxx11]") taken out, so that "A<B<int> >" and "A<B<int>>"
/// compare equal, and "f(std::string)" equals what it is short for.
std::string normalized_name(std::string_view name);

// Names known only from a library's debug symbols, and the exported functions that stand for them.

/// The exported functions that have `name` as a variant for one kind of processor:
/// "__memmove_avx_unaligned_erms" → {"memmove", "memcpy"}; empty if the name has no such suffix.
std::vector<std::string> variant_bases(std::string_view name);

/// What stands in the catalogue for one of OpenBLAS's kernels, by the sizes that it takes first:
/// "dgemm_kernel_SKYLAKEX" → "openblas_kernel_mnk". Empty: it is none, or of another kind.
std::string_view openblas_kernel(std::string_view name);

/// Exported names that may stand for one of glibc's internal names, best first:
/// "__GI___pthread_mutex_unlock_usercnt" → {…, "pthread_mutex_unlock"}. Empty where the name does not look
/// internal.
std::vector<std::string> exported_candidates(std::string_view name);

}  // namespace rdam
