#include "analyzer/report/compare_reports.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyzer/report/merge_reports.h"
#include "tools/base/files.h"

namespace rdam::score {

std::string program_of(const Report& report) {
    const trace::ProcessInfo& process = report.process;
    if (!process.executable.empty() || process.command.empty())
        return std::string{file_name(process.executable)};
    return std::string{file_name(process.command.front())};  // formats of other tools have no more
}

namespace {

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

/// Whether the modules of two functions say that they are not the same. Other tools know no modules, or name
/// them in other ways.
bool modules_tell(const Report& a, const Report& b, const DiffRow& in_a, const DiffRow& in_b) {
    const std::string &module_a = in_a.a->module, &module_b = in_b.b->module;
    const bool foreign = !a.process.recorder.empty() || !b.process.recorder.empty();
    return !foreign && !module_a.empty() && !module_b.empty() && module_a != module_b;
}

/// Joins the rows of functions that are the only ones of their names in both reports.
void join_by_name(const Report& a, const Report& b, std::map<FunctionIdentity, DiffRow>& both) {
    std::map<std::string, std::vector<FunctionIdentity>> by_name;
    for (const auto& [key, row] : both)
        by_name[key.name].push_back(key);
    for (const auto& [name, keys] : by_name) {
        if (keys.size() != 2) continue;
        const bool a_first = both[keys[0]].a != nullptr;
        const FunctionIdentity &of_a = keys[a_first ? 0 : 1], &of_b = keys[a_first ? 1 : 0];
        const DiffRow& in_a = both[of_a];
        DiffRow& in_b = both[of_b];
        if (in_a.a == nullptr || in_a.b != nullptr || in_b.a != nullptr || modules_tell(a, b, in_a, in_b))
            continue;
        in_b.a = in_a.a;
        both.erase(of_a);
    }
}

}  // namespace

std::optional<double> factor_of_calls(const DiffRow& row) {
    const bool known = row.recorded_in_both && row.a != nullptr && row.b != nullptr &&
                       row.a->occurrences > 0 && !row.a->switched_off_ns && !row.b->switched_off_ns;
    if (!known) return {};
    return static_cast<double>(row.b->occurrences) / static_cast<double>(row.a->occurrences);
}

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
    join_by_name(a, b, both);
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
