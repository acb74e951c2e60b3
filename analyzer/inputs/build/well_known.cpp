#include "analyzer/inputs/build/well_known.h"

#include <algorithm>

namespace rdam::inputs {

void mark_well_known(trace::FunctionInfo& function, const Catalogue& catalogue) {
    const CatalogueFunction* known = catalogue.find(function.linkage_name);
    if (known == nullptr) return;
    function.waits = function.waits || known->waits;
    function.busy_waits = function.busy_waits || known->busy_waits;
    for (trace::ParameterInfo& parameter : function.parameters)
        parameter.key = parameter.key || std::ranges::find(known->keys, parameter.name) != known->keys.end();
}

}  // namespace rdam::inputs
