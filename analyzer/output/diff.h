// Two recordings of a program, as they are shown.
#pragma once

#include <span>
#include <string>

#include "analyzer/report/compare_reports.h"

namespace rdam::output {

struct DiffSide {
    std::string file;
    const score::Report& report;
};

struct Diff {
    DiffSide a, b;
    std::span<const score::DiffRow> rows;
};

}  // namespace rdam::output
