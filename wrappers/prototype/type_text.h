// A type as its source would write it, for display.
#pragma once

#include <elfutils/libdw.h>

#include <string>

namespace rdam {

/// "const char*", "struct timespec*", "std::vector<int>&". Pointers to functions become "function*"; what
/// cannot be named becomes "?". At most about 200 characters.
std::string type_text(Dwarf_Die type);

/// The type a DIE's DW_AT_type (or its origin's) refers to. False: none, which means void, or unreadable.
bool type_of(Dwarf_Die die, Dwarf_Die& type);

}  // namespace rdam
