#include "analyzer/report/by_design.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "wrappers/catalogue/catalogue.h"

namespace rdam::score {
namespace {

/// Where the recorder found that it is about this function.
std::string known_reason(const trace::FunctionInfo& function) {
    if (!function.waits) return {};
    const CatalogueFunction* known =
        Catalogue::builtin().find(function.linkage_name.empty() ? function.name : function.linkage_name);
    return known != nullptr ? known->by_design : std::string{};
}

/// The reason for the recorded function that contains this return address.
std::string reason_at(const trace::TraceInfo& info, std::uint64_t address) {
    for (const trace::FunctionInfo& function : info.functions) {
        if (!function.waits || function.object >= info.objects.size()) continue;
        const std::uint64_t begin = info.objects[function.object].base + function.address;
        if (address > begin && address - begin <= function.size) return known_reason(function);
    }
    return {};
}

}  // namespace

std::string waits_by_design(const RowContext& context, const FunctionRow& row) {
    constexpr double kNearlyAll = 0.95;
    const trace::FunctionInfo& function = context.info.functions[row.function];
    std::string reason = known_reason(function);
    if (!reason.empty() || !function.waits || row.lost_ns <= 0) return reason;
    std::map<std::string, double> shares;
    for (const CallerRow& caller : row.callers)
        shares[reason_at(context.info, caller.address)] += caller.share;
    double by_design = 0;
    double most = 0;
    for (const auto& [each, share] : shares) {
        if (each.empty()) continue;
        by_design += share;
        if (share > most) reason = each;
        most = std::max(most, share);
    }
    return by_design >= kNearlyAll ? reason : std::string{};
}

}  // namespace rdam::score
