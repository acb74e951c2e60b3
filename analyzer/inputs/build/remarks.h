// What a reader has to say of a trace, in sentences that become notes of the report.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/plural.h"
#include "tools/trace/event.h"

namespace rdam::inputs {

/// "One `of_one`." or "12 `of_several`."; nothing if there is none.
inline void add_remark(std::vector<std::string>& remarks, std::uint64_t count, std::string_view of_one,
                       std::string_view of_several) {
    if (count == 1) remarks.push_back(fmt::format("One {}.", of_one));
    if (count > 1) remarks.push_back(fmt::format("{} {}.", grouped(count), of_several));
}

/// The file is one that `rdam export` has written.
inline void note_export(trace::TraceInfo& info) {
    info.remarks.emplace_back(
        "rdam exported this file for viewers: it does not say what recording cost, nor which calls it left "
        "out, so counts and scores may differ from those of the trace itself.");
    info.switches.reason = "or are not read, as the file is an export";
}

}  // namespace rdam::inputs
