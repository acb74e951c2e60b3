// Where and when time was lost, by the definitions of report/report.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/unit/analysis/reference.h"

namespace rdam::test {

struct ReferencePath {
    double calls = 0, time = 0, self = 0, lost = 0, lost_self = 0;
};

/// By the functions of the path.
std::map<std::vector<std::uint32_t>, ReferencePath> reference_paths(const Recording& recording,
                                                                    const ReferenceSettings& settings);

struct ReferenceBin {
    double calls = 0, time = 0, lost = 0;
};
struct ReferencePlace {
    std::size_t thread = 0;
    std::uint32_t function = 0;
    std::uint32_t bin = 0;

    friend auto operator<=>(const ReferencePlace&, const ReferencePlace&) = default;
};

/// In parts of [begin, end) of equal length, as many as a Course has.
std::map<ReferencePlace, ReferenceBin> reference_course(const Recording& recording,
                                                        const ReferenceSettings& settings,
                                                        std::uint64_t begin, std::uint64_t end);

}  // namespace rdam::test
