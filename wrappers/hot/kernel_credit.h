// Credits time in the kernel to the innermost user-space function of each chain that ends in the kernel.
#pragma once

#include <string_view>
#include <vector>

#include "wrappers/hot/kernel_frames.h"
#include "wrappers/perf/report_text.h"

namespace rdam {

struct KernelCredit {
    std::string_view function;
    double percent = 0;
};

/// One entry for each chain; the same function may come several times. Without chains a report with a
/// Children column still tells it of functions that do nothing but wait in the kernel (the catalogue's).
std::vector<KernelCredit> kernel_credits(const PerfReport& report, const FrameNames& names,
                                         const Catalogue& catalogue);

}  // namespace rdam
