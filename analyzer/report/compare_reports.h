// What got better or worse from one recording to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/report/report.h"

namespace rdam::score {

enum class DiffVerdict : std::uint8_t {
    same,  ///< the 95 % intervals of the two scores overlap: the difference may be chance
    better,
    worse,
    only_a,  ///< never called in b, or not recorded there
    only_b,
};

struct DiffRow {
    std::string name;
    std::string module;              ///< b's, if it is there
    std::string shown = {};          ///< shown_names()
    std::string file;                ///< FunctionIdentity
    const FunctionRow* a = nullptr;  ///< of the reports that were compared; null: not called there
    const FunctionRow* b = nullptr;
    double change = 0;  ///< rdam of b − rdam of a; a function that was never called lost nothing. 0 if it is
                        ///< not known because one of the recordings did not wrap the function
    double change_low = 0, change_high = 0;  ///< its 95 % interval, the two scores being independent
    DiffVerdict verdict = DiffVerdict::same;
    bool scored = true;            ///< false: sampled in too few windows for a score on one side; the verdict
                                   ///< is `same`
    bool recorded_in_both = true;  ///< wrapped, that is, and not necessarily called
};

/// So many times as many calls in b as in a; nothing: it was not called in one of them, or not recorded to the end.
std::optional<double> factor_of_calls(const DiffRow& row);

/// The rows refer to the reports, whose functions match_functions() joins. The largest absolute change first, then lost time,
/// name, module.
std::vector<DiffRow> compare_reports(const Report& a, const Report& b);

}  // namespace rdam::score
