// The functions of the catalogue in which a program may sleep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wrappers/catalogue/catalogue.h"

namespace rdam {

struct WaitingFunctions {
    std::vector<std::string> names;       ///< sorted
    std::vector<std::string> unreadable;  ///< one line for each object that could not be looked at
    std::size_t objects = 0;              ///< how many could
};

/// Launchers (a shell, `env`, …) among `objects` are not looked at: what they wait for is the program.
WaitingFunctions waiting_functions(const std::vector<std::string>& objects, const Catalogue& catalogue);

/// The public name of a function that perf calls by one of glibc's own (`__GI___libc_write` is `write`), or
/// the name without version where the catalogue knows no other; empty: the catalogue does not know the
/// function.
std::string well_known_name(std::string_view symbol, const Catalogue& catalogue);

}  // namespace rdam
