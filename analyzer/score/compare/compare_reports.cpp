#include "analyzer/score/compare/compare_reports.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/score/report/function_identity.h"
#include "wrappers/support/file_name.h"

namespace rdam::score {
namespace {

std::string program_of(const Report& report) {
    const std::string& executable = report.process.executable;
    return std::string{file_name(executable)};
}

// A new build often has another file name; the module of the program itself is therefore the empty one.
std::string module_of(const Report& report, const FunctionRow& row) {
    return row.module == program_of(report) ? std::string{} : row.module;
}

/// Wrapped functions of a report that were never called.
class NeverCalled {
  public:
    explicit NeverCalled(const Report& report)
        : program_(program_of(report)), names_(report.never_called.begin(), report.never_called.end()) {}

    bool contains(const FunctionIdentity& function) const {
        const std::string& module = function.module.empty() ? program_ : function.module;
        return names_.contains(qualified_name(module, function.name));
    }

  private:
    std::string program_;
    std::set<std::string> names_;
};

DiffVerdict judge(const DiffRow& row) {
    if (row.b == nullptr) return DiffVerdict::only_a;
    if (row.a == nullptr) return DiffVerdict::only_b;
    if (!row.scored) return DiffVerdict::same;
    if (row.a->rdam_low > row.b->rdam_high) return DiffVerdict::better;
    if (row.b->rdam_low > row.a->rdam_high) return DiffVerdict::worse;
    return DiffVerdict::same;
}

/// Calls that were not recorded may have been slower or faster.
bool is_scored(const FunctionRow* row) {
    return row == nullptr || (!row->few_windows && !row->switched_off_ns);
}

double lost(const DiffRow& row) {
    return std::max(row.a != nullptr ? row.a->lost_ns : 0, row.b != nullptr ? row.b->lost_ns : 0);
}

}  // namespace

std::vector<DiffRow> compare_reports(const Report& a, const Report& b) {
    FunctionIdentities identities;
    identities.look_at(a);
    identities.look_at(b);
    std::map<FunctionIdentity, DiffRow> both;
    const auto add = [&](const Report& report, const FunctionRow* DiffRow::*side) {
        for (const FunctionRow& row : report.functions) {
            const FunctionRow*& place = both[identities.of(row, module_of(report, row))].*side;
            if (place == nullptr) place = &row;
        }
    };
    add(a, &DiffRow::a);
    add(b, &DiffRow::b);
    const NeverCalled not_in_a{a}, not_in_b{b};
    std::vector<DiffRow> rows;
    for (auto& [key, row] : both) {
        const FunctionRow& named = row.b != nullptr ? *row.b : *row.a;
        row.name = named.name;
        row.module = named.module;
        row.file = key.file;
        row.recorded_in_both =
            (row.a != nullptr || not_in_a.contains(key)) && (row.b != nullptr || not_in_b.contains(key));
        row.scored = is_scored(row.a) && is_scored(row.b);
        if (row.recorded_in_both && row.scored)
            row.change = (row.b != nullptr ? row.b->rdam : 0) - (row.a != nullptr ? row.a->rdam : 0);
        row.verdict = judge(row);
        rows.push_back(std::move(row));
    }
    std::ranges::sort(rows, [](const DiffRow& x, const DiffRow& y) {
        return std::tuple{-std::abs(x.change), -lost(x), x.name, x.module} <
               std::tuple{-std::abs(y.change), -lost(y), y.name, y.module};
    });
    return rows;
}

}  // namespace rdam::score
