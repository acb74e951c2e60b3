#include "analyzer/report/check_runs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/report/match_reports.h"
#include "analyzer/report/ranking.h"

namespace rdam::score {
namespace {

using Run = std::vector<std::size_t>;  // indices of its reports

std::vector<Run> runs_of(std::span<const Report> reports) {
    std::vector<Run> runs;
    std::map<std::string, std::size_t> named;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const std::string& name = reports[i].process.run;
        if (!name.empty() && named.contains(name)) {
            runs[named.at(name)].push_back(i);
            continue;
        }
        if (!name.empty()) named.emplace(name, runs.size());
        runs.push_back({i});
    }
    return runs;
}

double time_of(std::span<const Report> reports, const Run& run) {
    double begin = HUGE_VAL, end = 0, longest = 0;
    for (const std::size_t i : run) {
        begin = std::min(begin, reports[i].start_unix_ns);
        end = std::max(end, reports[i].start_unix_ns + reports[i].duration_ns);
        longest = std::max(longest, reports[i].duration_ns);
    }
    return run.size() == 1 ? longest : std::max(longest, end - begin);
}

/// A function in one run.
struct InRun {
    bool recorded = true;  ///< in all processes that have it, and in one at least
    bool known = true;     ///< what it lost
    bool counted = true;   ///< to the end
    bool called = false;
    double calls = 0, lost_ns = 0;
    double score = 0;  ///< the highest of the processes
    bool above_floor = false;
    bool by_design = false;
};

InRun sum_up(const std::vector<InReport>& side, const Run& run) {
    InRun sum;
    sum.recorded = std::ranges::any_of(run, [&](std::size_t i) { return side[i].recorded; });
    for (const std::size_t i : run) {
        const FunctionRow* row = side[i].row;
        if (row == nullptr) continue;
        sum.called = true;
        sum.known = sum.known && !row->unknown() && !row->switched_off_ns;
        sum.counted = sum.counted && !row->switched_off_ns;
        sum.calls += static_cast<double>(row->occurrences);
        sum.lost_ns += row->lost_ns;
        sum.score = std::max(sum.score, likely_score(*row));
        sum.above_floor = sum.above_floor || says_something(*row);
        sum.by_design = sum.by_design || !row->by_design.empty();
    }
    return sum;
}

OverRuns over(std::span<const double> runs) {
    const auto [least, greatest] = std::ranges::minmax(runs);
    const double sum = std::accumulate(runs.begin(), runs.end(), 0.0);
    return {.mean = sum / static_cast<double>(runs.size()), .least = least, .greatest = greatest};
}

/// Their logarithms. 0 has none: it becomes one of a small part of what the runs have on average, whichever side they are on.
std::vector<double> logarithms(const std::vector<double>& runs) {
    constexpr double kPart = 1e-3;
    const double mean = std::accumulate(runs.begin(), runs.end(), 0.0) / static_cast<double>(runs.size());
    std::vector<double> result;
    for (const double run : runs)
        result.push_back(std::log(std::max(run, kPart * mean)));
    return result;
}

class Check {
  public:
    Check(std::span<const Report> before, std::span<const Report> after, const CheckLimits& limits)
        : before_(before),
          after_(after),
          limits_(limits),
          runs_before_(runs_of(before)),
          runs_after_(runs_of(after)) {
        result_.program = program_of(after.front());
        result_.runs_before = runs_before_.size();
        result_.runs_after = runs_after_.size();
    }

    CheckResult make() {
        std::vector<double> times;
        for (const Run& run : runs_before_)
            times.push_back(time_of(before_, run));
        for (const Run& run : runs_after_)
            times.push_back(time_of(after_, run));
        add({.measure = Measure::run_time}, times);
        add_functions();
        judge();
        return std::move(result_);
    }

  private:
    void add(CheckRow row, const std::vector<double>& runs) {
        if (*std::ranges::max_element(runs) <= 0) return;  // there is none of it
        const std::span<const double> all{runs};
        row.before = over(all.first(runs_before_.size()));
        row.after = over(all.subspan(runs_before_.size()));
        result_.rows.push_back(std::move(row));
        values_.push_back(logarithms(runs));
    }

    void add_functions() {
        std::vector<const Report*> before, after;
        for (const Report& report : before_)
            before.push_back(&report);
        for (const Report& report : after_)
            after.push_back(&report);
        const std::vector<MatchedFunction> functions = match_functions(before, after);
        std::vector<FunctionIdentity> identities;
        for (const MatchedFunction& function : functions)
            identities.push_back({function.row().module, function.row().name, function.identity.file});
        const std::vector<std::string> names = shown_names(identities);
        for (std::size_t i = 0; i < functions.size(); ++i) {
            const std::string& file = identities[i].file;
            add_function(file.empty() ? names[i] : names[i] + " (" + file + ")", functions[i]);
        }
    }

    void add_function(const std::string& name, const MatchedFunction& function) {
        std::vector<InRun> runs;
        for (const Run& run : runs_before_)
            runs.push_back(sum_up(function.a, run));
        for (const Run& run : runs_after_)
            runs.push_back(sum_up(function.b, run));
        if (!std::ranges::all_of(runs, &InRun::recorded)) return leave_out(name, runs);
        std::vector<double> calls, losses;
        double score = 0;
        std::size_t above_floor = 0;
        for (const InRun& run : runs) {
            calls.push_back(run.calls);
            losses.push_back(run.calls > 0 ? run.lost_ns / run.calls : 0);
            score += run.score / static_cast<double>(runs.size());
            above_floor += run.above_floor ? 1 : 0;
        }
        // Whether a function is compared must not depend on which runs are those before: the test would not hold.
        if (!std::ranges::all_of(runs, &InRun::counted)) {
            result_.uncompared.push_back({name, "was switched off in a run, as it cost too much"});
            return;
        }
        const bool lost = score >= kMayBeSome && 2 * above_floor >= runs.size() &&
                          std::ranges::none_of(runs, &InRun::by_design);
        if (lost && !std::ranges::all_of(runs, &InRun::known))
            result_.uncompared.push_back(
                {name, "was sampled too little in a run to know its loss; its calls are compared"});
        else if (lost && std::ranges::all_of(runs, &InRun::called))
            add({.measure = Measure::loss_per_call, .function = name}, losses);
        add({.measure = Measure::calls, .function = name}, calls);
    }

    void leave_out(const std::string& name, const std::vector<InRun>& runs) {
        const auto split = runs.begin() + static_cast<std::ptrdiff_t>(runs_before_.size());
        const bool before = std::any_of(runs.begin(), split, [](const InRun& run) { return run.recorded; });
        const bool after = std::any_of(split, runs.end(), [](const InRun& run) { return run.recorded; });
        result_.uncompared.push_back({name, !after    ? "is recorded only before"
                                            : !before ? "is recorded only after"
                                                      : "is not recorded in all runs"});
    }

    double limit_of(Measure measure) const {
        return measure == Measure::run_time        ? limits_.run_time
               : measure == Measure::loss_per_call ? limits_.loss_per_call
                                                   : limits_.calls;
    }

    void judge() {
        const std::vector<Shift> shifts = compare_groups(values_, runs_before_.size());
        for (std::size_t i = 0; i < shifts.size(); ++i) {
            CheckRow& row = result_.rows[i];
            row.p = shifts[i].p;
            if (row.before.least > 0 && row.after.least > 0) {
                row.change = std::expm1(shifts[i].difference);
                if (shifts[i].low) row.low = std::expm1(*shifts[i].low);
                if (shifts[i].high) row.high = std::expm1(*shifts[i].high);
            }
            row.worse = row.p <= limits_.risk && std::expm1(shifts[i].difference) >= limit_of(row.measure);
        }
        std::ranges::stable_sort(result_.rows, [](const CheckRow& x, const CheckRow& y) {
            return std::tuple{x.measure, x.p, -x.change.value_or(0)} <
                   std::tuple{y.measure, y.p, -y.change.value_or(0)};
        });
    }

    std::span<const Report> before_, after_;
    const CheckLimits& limits_;
    std::vector<Run> runs_before_, runs_after_;
    CheckResult result_;
    std::vector<std::vector<double>> values_;  // of the rows, as they are compared
};

}  // namespace

CheckResult check_runs(std::span<const Report> before, std::span<const Report> after,
                       const CheckLimits& limits) {
    return Check{before, after, limits}.make();
}

std::size_t count_runs(std::span<const Report> reports) {
    return runs_of(reports).size();
}

}  // namespace rdam::score
