#include "analyzer/causes/row_sums.h"

#include <algorithm>

namespace rdam::causes {

std::vector<CauseRow> RowSums::rows(double total) const {
    const auto share = [total](double part) { return total > 0 ? std::clamp(part / total, 0.0, 1.0) : 0.0; };
    std::vector<CauseRow> rows;
    rows.reserve(sums_.size());
    for (const auto& [place, sum] : sums_)
        rows.push_back({.function = place.function,
                        .module = place.module,
                        .file = place.file,
                        .line = place.line,
                        .share = share(sum.own),
                        .with_callees = share(sum.with_callees),
                        .absolute = sum.own});
    std::ranges::stable_sort(rows, [](const CauseRow& a, const CauseRow& b) {
        return std::pair{a.share, a.with_callees} > std::pair{b.share, b.with_callees};
    });
    return rows;
}

}  // namespace rdam::causes
