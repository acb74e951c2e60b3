#include "analyzer/report/merge_reports.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/report/function_row.h"
#include "analyzer/report/ranking.h"

namespace rdam::score {
namespace {

/// The longest life of a process, by run.
class Runs {
  public:
    explicit Runs(std::span<const Report> reports) {
        for (std::size_t i = 0; i < reports.size(); ++i) {
            double& longest = longest_[key(reports[i], i)];
            longest = std::max(longest, reports[i].duration_ns);
        }
    }

    std::size_t count() const { return longest_.size(); }
    double longest(const Report& report, std::size_t index) const { return longest_.at(key(report, index)); }

  private:
    using Key = std::pair<std::string, std::size_t>;
    static Key key(const Report& report, std::size_t index) {
        return {report.process.run, report.process.run.empty() ? index + 1 : 0};
    }

    std::map<Key, double> longest_;
};

void add_row(OverallFunction& function, const FunctionRow& row, std::size_t process, bool short_lived) {
    const Scored& own = row;
    ProcessShare& part = function.processes.emplace_back();
    static_cast<Scored&>(part) = own;
    part.process = process;
    if (!short_lived && !row.unknown() && row.rdam >= function.rdam) {
        Scored& all = function;
        const Scored sums = all;
        all = own;
        all.occurrences = sums.occurrences;
        all.lost_ns = sums.lost_ns;
        all.estimated = sums.estimated;
    }
    if (!row.by_design.empty()) function.by_design = row.by_design;
    function.occurrences += row.occurrences;
    function.lost_ns += row.lost_ns;
    function.sampled = function.sampled || row.sampled;
    function.estimated = function.estimated || row.estimates_occurrences();
    function.switched_off = function.switched_off || row.switched_off_ns;
}

/// A function that is unknown in every process that called it.
void fill_unknown(OverallFunction& function) {
    if (!std::ranges::all_of(function.processes, &ProcessShare::unknown)) return;
    function.few_windows = std::ranges::all_of(function.processes, &ProcessShare::few_windows);
    function.no_score = !function.few_windows;
    function.rdam_high = 1;
}

}  // namespace

Report without_details(Report report) {
    for (FunctionRow& row : report.functions) {
        row.sequences = {};
        row.stacks = {};
        row.callers = {};
        row.sample = {};
    }
    report.names = {};
    report.patterns = {};
    report.paths = {};
    report.course = {};
    return report;
}

OverallReport merge_reports(std::span<const Report> reports) {
    OverallReport overall;
    const Runs runs{reports};
    overall.runs = runs.count();
    FunctionIdentities identities;
    for (const Report& report : reports)
        identities.look_at(report);
    std::map<FunctionIdentity, OverallFunction> functions;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const Report& report = reports[i];
        overall.short_lived.push_back(report.duration_ns < kShortLife * runs.longest(report, i));
        overall.runs_named = overall.runs_named && !report.process.run.empty();
        overall.threads_ns += report.threads_ns;
        for (const FunctionRow& row : report.functions) {
            OverallFunction& function = functions[identities.of(row)];
            add_row(function, row, i, overall.short_lived.back());
            function.rdam_self += row.rdam_self * report.threads_ns;
        }
    }
    for (auto& [key, function] : functions) {
        function.module = key.module;
        function.name = key.name;
        function.file = key.file;
        fill_unknown(function);
        function.rdam_all = share(function.lost_ns, overall.threads_ns);
        function.rdam_self = share(function.rdam_self, overall.threads_ns);
        std::ranges::stable_sort(function.processes, [](const ProcessShare& a, const ProcessShare& b) {
            return std::tie(b.rdam, b.lost_ns) < std::tie(a.rdam, a.lost_ns);
        });
        overall.functions.push_back(std::move(function));
    }
    std::ranges::sort(overall.functions, [](const OverallFunction& a, const OverallFunction& b) {
        return std::tie(b.rdam, b.lost_ns, a.name, a.module, a.file) <
               std::tie(a.rdam, a.lost_ns, b.name, b.module, b.file);
    });
    rank(overall.functions);
    const std::vector<std::string> names = shown_names(overall.functions);
    for (std::size_t i = 0; i < names.size(); ++i)
        overall.functions[i].shown = names[i];
    return overall;
}

void FunctionIdentities::look_at(const Report& report) {
    std::set<std::pair<std::string, std::string>> seen;
    for (const FunctionRow& row : report.functions) {
        if (!seen.emplace(row.module, row.name).second) ambiguous_.insert(row.name);
    }
}

FunctionIdentity FunctionIdentities::of(const FunctionRow& row, const std::string& module) const {
    FunctionIdentity identity{.module = module, .name = row.name, .file = {}};
    if (ambiguous_.contains(row.name)) identity.file = row.source.substr(0, row.source.rfind(':'));
    return identity;
}

}  // namespace rdam::score
