// The members of aggregate types and the classes of their eightbytes.
#pragma once

#include <elfutils/libdw.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdam {

enum class EightbyteClass : std::uint8_t { none, integer, sse, sse_up, x87, x87_up, complex_x87, memory };

/// What a type is made of once typedefs and qualifiers are taken away.
struct PeeledType {
    Dwarf_Die die{};
    int tag = 0;
    std::uint64_t size = 0;
    bool is_atomic = false;
    std::uint64_t typedef_alignment = 0;  ///< asked for by a typedef on the way; 0: none
};

/// Nothing: the type is void or cannot be read.
std::optional<PeeledType> peel(Dwarf_Die type);

/// Classes of the first two eightbytes of a value, and its alignment. `doubt` as in TypeLayout.
struct Classification {
    std::array<EightbyteClass, 2> classes{};
    std::uint64_t size = 0;
    std::uint64_t alignment = 1;
    std::string doubt;
};

Classification classify(const PeeledType& type);

/// An unsigned attribute of the DIE itself or of its origin.
std::optional<std::uint64_t> unsigned_attribute(Dwarf_Die die, unsigned name);

/// Whether the DIE itself or its origin has this flag, and it is set.
bool has_flag(Dwarf_Die die, unsigned name);

/// The language of a DIE's compilation unit, by DWARF's number; 0: it has no unit.
int language_of(Dwarf_Die die);
bool is_c(int language);
bool is_fortran(int language);

/// A text attribute of the DIE itself or of its origin; empty: it has none.
std::string_view text_attribute(Dwarf_Die die, unsigned name);

// A type as its source would write it, for display.

/// "const char*", "struct timespec*", "std::vector<int>&". Pointers to functions become "function*"; what
/// cannot be named becomes "?". At most about 200 characters.
std::string type_text(Dwarf_Die type);

/// The type a DIE's DW_AT_type (or its origin's) refers to. False: none, which means void, or unreadable.
bool type_of(Dwarf_Die die, Dwarf_Die& type);

}  // namespace rdam
