#include "analyzer/inputs/build/well_known.h"

#include <algorithm>

namespace rdam::inputs {

void mark_well_known(trace::FunctionInfo& function, const Catalogue& catalogue) {
    const CatalogueFunction* known = catalogue.find(function.linkage_name);
    if (known == nullptr) return;
    function.waits = function.waits || known->waits;
    function.busy_waits = function.busy_waits || known->busy_waits;
    const auto among = [](const std::vector<std::string>& names, const std::string& name) {
        return std::ranges::find(names, name) != names.end();
    };
    for (trace::ParameterInfo& parameter : function.parameters) {
        const bool key = among(known->keys, parameter.name);
        parameter.by_size =
            parameter.by_size || (key && !parameter.key && among(known->sizes, parameter.name));
        parameter.key = parameter.key || key;
    }
    if (known->result_is_size)
        for (trace::ParameterInfo& result : function.result)
            result.key = result.by_size = !result.is_text;
}

}  // namespace rdam::inputs
