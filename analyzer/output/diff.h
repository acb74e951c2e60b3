// What got better or worse from one recording to another.
#pragma once

#include <span>
#include <string>

#include "analyzer/output/text.h"
#include "analyzer/score/compare/compare_reports.h"

namespace rdam::output {

struct DiffSide {
    std::string file;
    const score::Report& report;
};

struct Diff {
    DiffSide a, b;
    std::span<const score::DiffRow> rows;
};

/// `better`, `worse`, `same`, `only_a`, `only_b`.
const char* verdict_name(score::DiffVerdict verdict);

/// A table, the largest change first. Nothing from the traces gets into it except through printable().
std::string diff_text(const Diff& diff, const TextOptions& options);

/// One JSON object (docs/json.md) with the `top` largest changes; 0: all.
std::string diff_json(const Diff& diff, std::size_t top);

}  // namespace rdam::output
