#include "analyzer/report/function_identity.h"

#include <utility>

namespace rdam::score {

void FunctionIdentities::look_at(const Report& report) {
    std::set<std::pair<std::string, std::string>> seen;
    for (const FunctionRow& row : report.functions) {
        if (!seen.emplace(row.module, row.name).second) ambiguous_.insert(row.name);
    }
}

FunctionIdentity FunctionIdentities::of(const FunctionRow& row, const std::string& module) const {
    FunctionIdentity identity{.module = module, .name = row.name, .file = {}};
    if (ambiguous_.contains(row.name)) identity.file = row.source.substr(0, row.source.rfind(':'));
    return identity;
}

}  // namespace rdam::score
