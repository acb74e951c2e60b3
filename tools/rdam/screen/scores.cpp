#include "tools/rdam/screen/scores.h"

#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::screen {

Look look_of_score(double score, double threshold) {
    if (score >= threshold) return Look::alarming;
    return score >= threshold / 4 ? Look::notable : Look::plain;
}

std::string function_name(const score::FunctionRow& row) {
    return printable(score::qualified_name(row.module, row.name));
}

std::string calls(const score::FunctionRow& row, std::uint64_t count) {
    return (row.sampled ? "~" : "") + output::grouped(count);
}

}  // namespace rdam::screen
