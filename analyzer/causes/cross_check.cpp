#include "analyzer/causes/cross_check.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace rdam::causes {
namespace {

class Joiner {
  public:
    Joiner(const score::Report& report, const trace::TraceInfo& info, FunctionLines& lines,
           std::size_t reports)
        : report_(report),
          info_(info),
          names_(info.functions),
          lines_(lines),
          shares_(info.functions.size()) {
        for (auto& shares : shares_)
            shares.resize(reports);
    }

    void add(std::size_t index, const CauseReport& report) {
        for (const CauseRow& row : report.rows) {
            const auto functions = find(row);
            for (const std::uint32_t function : functions)
                add(shares_[function][index], row, report.adds_up);
            if (functions.empty() && row.share >= kCause) not_recorded_.push_back({index, row});
        }
    }

    std::vector<CheckedFunction> functions(const std::vector<CauseReport>& reports) const {
        std::map<std::uint32_t, const score::FunctionRow*> rows;
        for (const score::FunctionRow& row : report_.functions)
            rows.emplace(row.function, &row);
        const std::set<std::string> never{report_.never_called.begin(), report_.never_called.end()};
        std::vector<CheckedFunction> functions;
        for (std::uint32_t i = 0; i < info_.functions.size(); ++i) {
            const auto row = rows.find(i);
            const trace::FunctionInfo& function = info_.functions[i];
            // Others were left out of the report by a selection.
            if (row == rows.end() && !never.contains(score::qualified_name(function.module, function.name)))
                continue;
            CheckedFunction checked{.row = row == rows.end() ? nullptr : row->second,
                                    .name = function.name,
                                    .module = function.module,
                                    .causes = shares_[i]};
            checked.verdict = verdict(checked, reports);
            if (checked.row != nullptr || checked.verdict == CauseVerdict::cause_only)
                functions.push_back(std::move(checked));
        }
        return functions;
    }

    std::vector<NotRecorded> take_not_recorded() { return std::move(not_recorded_); }

  private:
    std::vector<std::uint32_t> find(const CauseRow& row) {
        auto functions =
            row.function.empty() ? std::vector<std::uint32_t>{} : names_.find(row.function, row.module);
        if (functions.empty() && !row.file.empty() && row.line > 0)
            functions = lines_.find(row.file, row.line);
        return functions;
    }

    static void add(CauseShare& sum, const CauseRow& row, bool adds_up) {
        if (!adds_up) {
            if (row.share > sum.share) sum = {row.share, row.with_callees, row.absolute};
            return;
        }
        sum.share = std::min(1.0, sum.share + row.share);
        sum.with_callees = std::min(1.0, sum.with_callees + row.with_callees);
        sum.absolute += row.absolute;
    }

    static CauseVerdict verdict(const CheckedFunction& function, const std::vector<CauseReport>& reports) {
        bool own = false;
        bool within = false;
        for (std::size_t i = 0; i < reports.size(); ++i) {
            if (!reports[i].disturbs) continue;
            own = own || function.causes[i].share >= kCause;
            within = within || function.causes[i].with_callees >= kCause;
        }
        const bool effect = function.row != nullptr && function.row->rdam >= kEffect;
        if (effect) return own || within ? CauseVerdict::agree : CauseVerdict::effect_only;
        return own ? CauseVerdict::cause_only : CauseVerdict::neither;
    }

    const score::Report& report_;
    const trace::TraceInfo& info_;
    FunctionNames names_;
    FunctionLines& lines_;
    std::vector<std::vector<CauseShare>> shares_;  // by function, by report
    std::vector<NotRecorded> not_recorded_;
};

/// What to look at first: verdicts in their order, then the score, then the largest cause.
bool comes_before(const CheckedFunction& a, const CheckedFunction& b) {
    const auto key = [](const CheckedFunction& f) {
        double most = 0;
        for (const CauseShare& cause : f.causes)
            most = std::max(most, cause.share);
        return std::tuple{static_cast<int>(f.verdict), f.row == nullptr ? 0.0 : -f.row->rdam, -most};
    };
    return std::tuple{key(a), a.name, a.module} < std::tuple{key(b), b.name, b.module};
}

using Lines = std::map<std::pair<std::string, std::uint32_t>, double>;  // file and line, share

}  // namespace

HotLines hot_lines(const std::vector<CauseReport>& reports, const trace::TraceInfo& info) {
    const auto tells = [](const CauseReport& each) { return !each.disturbs && !each.lines.empty(); };
    const auto found = std::ranges::find_if(reports, tells);
    if (found == reports.end()) return {};
    const FunctionNames names{info.functions};
    std::map<std::uint32_t, Lines> lines;
    std::map<std::uint32_t, double> shares;
    for (const LineShare& line : found->lines)
        for (const std::uint32_t function : names.find(line.function, line.module)) {
            lines[function][{line.file, line.line}] += line.share;
            shares[function] += line.share;
        }
    HotLines hottest;
    for (const auto& [function, theirs] : lines) {
        if (!(shares[function] > 0)) continue;
        const auto& [place, share] =
            *std::ranges::max_element(theirs, {}, [](const auto& line) { return line.second; });
        hottest[function] = {place.first, place.second, share / shares[function]};
    }
    return hottest;
}

CrossCheck cross_check(std::vector<CauseReport> reports, const score::Report& report,
                       const trace::TraceInfo& info, FunctionLines& lines) {
    Joiner joiner{report, info, lines, reports.size()};
    for (std::size_t i = 0; i < reports.size(); ++i)
        joiner.add(i, reports[i]);
    CrossCheck check;
    check.functions = joiner.functions(reports);
    check.not_recorded = joiner.take_not_recorded();
    check.hot_lines = hot_lines(reports, info);
    check.reports = std::move(reports);
    std::ranges::stable_sort(check.functions, comes_before);
    return check;
}

}  // namespace rdam::causes
