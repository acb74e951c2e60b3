#include "analyzer/sequences/known_functions.h"

namespace rdam::sequences {

const CatalogueFunction* known_function(const trace::FunctionInfo& function) {
    if (function.any_name) return nullptr;
    return Catalogue::builtin().find(function.linkage_name.empty() ? function.name : function.linkage_name);
}

const CatalogueFunction* known_wait(const trace::FunctionInfo& function) {
    return function.waits || function.busy_waits ? known_function(function) : nullptr;
}

bool is_barrier(const trace::FunctionInfo& function) {
    const CatalogueFunction* const known = known_wait(function);
    return known != nullptr && known->barrier;
}

bool goes_through_descriptor(const trace::FunctionInfo& function) {
    const CatalogueFunction* const known = known_wait(function);
    return known != nullptr && (known->receives || known->sends);
}

}  // namespace rdam::sequences
