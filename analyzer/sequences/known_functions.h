// What the catalogue says of functions of a trace, if they are what their names say (FunctionInfo::any_name).
#pragma once

#include "tools/trace/event.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::sequences {

/// nullptr: nothing. Thread-safe.
const CatalogueFunction* known_function(const trace::FunctionInfo& function);
/// Of a function that waits. nullptr: it does not, as far as the recorder found, or nothing more is known.
const CatalogueFunction* known_wait(const trace::FunctionInfo& function);
/// Whether threads wait in it until all of them have come.
bool is_barrier(const trace::FunctionInfo& function);
/// Whether it receives or sends through a file descriptor, its first parameter.
bool goes_through_descriptor(const trace::FunctionInfo& function);

}  // namespace rdam::sequences
