#include "analyzer/output/html/heat.h"

#include <cmath>

#include "analyzer/output/json_parts.h"
#include "analyzer/report/report.h"

namespace rdam::output {

Json HeatMap::json(std::uint64_t approximate) const {
    Json cells = Json::array();
    for (const auto& [key, lost] : cells_)
        cells.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::round(finite(lost))});
    return {{"begin", nanoseconds(begin_ns_)},
            {"bin", nanoseconds(bin_ns_)},
            {"bins", score::Course::kBins},
            {"rows", rows_},
            {"others", others_},
            {"cells", std::move(cells)},
            {"approximate", approximate}};
}

}  // namespace rdam::output
