// Which functions a plug-in of EZTrace must not wrap: those that its own modules record, and those that it
// calls itself.
#pragma once

#include <string>
#include <string_view>

namespace rdam {

/// The module (`eztrace -t`) that records a function of this linkage name; empty: none does. For MPI it is
/// "openmpi", which is called "mpich" where the program uses that.
std::string_view eztrace_module_of(std::string_view name);

/// Whether EZTrace or the OTF2 library call it, holding locks that recording a call needs.
bool is_used_by_eztrace(std::string_view name);

}  // namespace rdam
