// What one entry of a function list asks for, and which symbols of one object answer to it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wrappers/object/object_file.h"

namespace rdam {

/// How a symbol answered, from the most literal to the least.
enum class MatchKind : std::uint8_t {
    linkage_name,
    demangled_name,
    fortran_name,
    clone,  ///< a copy of a function that is not there itself
    copy,   ///< a copy beside the function itself
    body,   ///< what a function of that name does nothing but jump to
    glob
};

struct SymbolMatch {
    std::uint32_t symbol = 0;  ///< index into ObjectFile::symbols()
    MatchKind kind = MatchKind::linkage_name;
};

class NameQuery {
  public:
    /// `name` as in the list: linkage name with or without `@VERSION`/`@@VERSION`, demangled name with or
    /// without parameter list or return type, or a glob of any of them.
    explicit NameQuery(std::string_view name);

    /// The matches of the most literal kind that has any; several where several functions have that name, in
    /// C and in C++, and with the copies that are called in their place. Of a versioned name the default
    /// version alone, all where there is no default. Data symbols only if no code answers. Demangles only
    /// names that contain the query's longest identifier.
    std::vector<SymbolMatch> find_in(const ObjectFile& object) const;
    /// find_in() without MatchKind::glob.
    std::vector<SymbolMatch> find_spelled_out(const ObjectFile& object) const;

    const std::string& name() const { return name_; }        ///< without version
    const std::string& version() const { return version_; }  ///< empty: any
    bool is_glob() const { return is_glob_; }
    /// A glob that leaves nothing out ("*").
    bool matches_everything() const;

  private:
    std::vector<SymbolMatch> by_linkage_name(const ObjectFile& object, std::string_view name,
                                             MatchKind kind) const;
    std::vector<SymbolMatch> by_overload(const ObjectFile& object) const;
    std::vector<SymbolMatch> by_ocaml_name(const ObjectFile& object) const;
    std::vector<SymbolMatch> by_fortran_name(const ObjectFile& object) const;
    std::vector<SymbolMatch> by_demangled_name(const ObjectFile& object) const;
    std::vector<SymbolMatch> by_demangled_form(const ObjectFile& object, bool as_glob) const;
    std::vector<SymbolMatch> by_clone(const ObjectFile& object) const;
    std::vector<SymbolMatch> by_glob(const ObjectFile& object) const;
    void add_copies(const ObjectFile& object, std::vector<SymbolMatch>& matches) const;
    bool has_letters(std::uint64_t letters) const { return (letters_ & ~letters) == 0; }
    bool is_demangled_as(std::string_view mangled, bool as_glob) const;

    std::string name_;
    std::string version_;
    std::string normalized_;
    std::string token_;  // every mangled name that can match contains it
    std::string piece_;  // every name that can match a glob contains it, in the form found in the file
    std::uint64_t letters_ = 0;  // the letters that every such name contains
    bool is_glob_ = false;
};

/// The longest identifier of a demangled name that its mangled form is sure to spell out; empty: none is.
std::string required_token(std::string_view demangled);

// Functions of different names that are one and the same code.

/// Whether it is a part of the C library, which has several names for many functions.
bool is_c_library(const ObjectFile& file);

/// The readable names of other functions at the address of the one with this linkage name: a linker folds
/// functions whose code is equal (--icf). Spellings of one name (`f`, `_f`, `F_`), variants of a constructor,
/// copies by the compiler, and weak names of a strong one are not among them.
std::vector<std::string> folded_names(const ObjectFile& file, std::uint64_t address,
                                      std::string_view linkage_name);

}  // namespace rdam
