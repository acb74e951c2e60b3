// What the catalogue says of a function that waits.
#pragma once

#include "tools/trace/event.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::hints {

/// nullptr: it does not wait, as far as the recorder found, or nothing more is known.
inline const CatalogueFunction* known_wait(const trace::FunctionInfo& function) {
    if (!function.waits && !function.busy_waits) return nullptr;
    return Catalogue::builtin().find(function.linkage_name.empty() ? function.name : function.linkage_name);
}

}  // namespace rdam::hints
