#include "analyzer/report/compare_reports.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analyzer/report/match_reports.h"

namespace rdam::score {

namespace {

DiffVerdict verdict_of(const DiffRow& row) {
    if (row.b == nullptr) return DiffVerdict::only_a;
    if (row.a == nullptr) return DiffVerdict::only_b;
    if (!row.scored) return DiffVerdict::same;
    if (row.a->rdam_low > row.b->rdam_high) return DiffVerdict::better;
    if (row.b->rdam_low > row.a->rdam_high) return DiffVerdict::worse;
    return DiffVerdict::same;
}

/// Calls that were not recorded may have been slower or faster.
bool is_scored(const FunctionRow* row) {
    return row == nullptr || (!row->unknown() && !row->switched_off_ns);
}

void set_change(DiffRow& row) {
    const FunctionRow never;
    const FunctionRow& a = row.a != nullptr ? *row.a : never;
    const FunctionRow& b = row.b != nullptr ? *row.b : never;
    row.change = b.rdam - a.rdam;
    row.change_low = row.change - std::hypot(b.rdam - b.rdam_low, a.rdam_high - a.rdam);
    row.change_high = row.change + std::hypot(b.rdam_high - b.rdam, a.rdam - a.rdam_low);
}

double lost(const DiffRow& row) {
    return std::max(row.a != nullptr ? row.a->lost_ns : 0, row.b != nullptr ? row.b->lost_ns : 0);
}

}  // namespace

std::optional<double> factor_of_calls(const DiffRow& row) {
    const bool known = row.recorded_in_both && row.a != nullptr && row.b != nullptr &&
                       row.a->occurrences > 0 && !row.a->switched_off_ns && !row.b->switched_off_ns;
    if (!known) return {};
    return static_cast<double>(row.b->occurrences) / static_cast<double>(row.a->occurrences);
}

std::vector<DiffRow> compare_reports(const Report& a, const Report& b) {
    const Report *const in_a[] = {&a}, *const in_b[] = {&b};
    std::vector<DiffRow> rows;
    for (const MatchedFunction& function : match_functions(in_a, in_b)) {
        DiffRow row;
        row.a = function.a.front().row;
        row.b = function.b.front().row;
        row.name = function.row().name;
        row.module = function.row().module;
        row.file = function.identity.file;
        row.recorded_in_both = function.a.front().recorded && function.b.front().recorded;
        row.scored = is_scored(row.a) && is_scored(row.b);
        if (row.recorded_in_both && row.scored) set_change(row);
        row.verdict = verdict_of(row);
        rows.push_back(std::move(row));
    }
    std::ranges::sort(rows, [](const DiffRow& x, const DiffRow& y) {
        return std::tuple{-std::abs(x.change), -lost(x), x.name, x.module} <
               std::tuple{-std::abs(y.change), -lost(y), y.name, y.module};
    });
    const std::vector<std::string> names = shown_names(rows);
    for (std::size_t i = 0; i < names.size(); ++i)
        rows[i].shown = names[i];
    return rows;
}

}  // namespace rdam::score
