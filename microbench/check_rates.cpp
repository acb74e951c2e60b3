// How often rdam check is right: comparisons of runs that are drawn from recordings of one program.
//
//     check_rates FUNCTION COMPARISONS RUNS TRACE… [--worse TRACE…]
//
// Each comparison draws RUNS recordings a side, no recording twice, of those before --worse. `equal`: nothing else, so that every
// function that is declared worse is a false alarm. `planted`: in the second side's, FUNCTION has lost a tenth more,
// and the run has taken that much longer: found, if its loss per call is declared worse. `recorded`: the second side's are
// drawn from the recordings behind --worse. `without_limits`: equal runs with --max-time, --max-loss and --max-calls 0 %, so that
// the test alone decides. Prints one line of JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/check_runs.h"
#include "analyzer/report/merge_reports.h"
#include "analyzer/report/score_trace.h"
#include "tools/trace/reader.h"

namespace {

using rdam::score::CheckResult;
using rdam::score::Report;

constexpr double kMore = 1.1;
constexpr rdam::score::CheckLimits kNoLimits{.run_time = 0, .loss_per_call = 0, .calls = 0};

Report report_of(const std::string& file) {
    const auto reader = rdam::trace::TraceReader::open(file);
    if (!reader) throw std::runtime_error{reader.error().message};
    auto report = rdam::score::score_trace(*reader, {}, {.max_sequences = 1, .max_patterns = 0});
    if (!report) throw std::runtime_error{report.error().message};
    return rdam::score::without_details(std::move(*report));
}

std::vector<Report> drawn(const std::vector<Report>& all, std::size_t count, std::mt19937_64& random) {
    std::vector<Report> runs;
    std::ranges::sample(all, std::back_inserter(runs), static_cast<std::ptrdiff_t>(count), random);
    std::ranges::shuffle(runs, random);
    return runs;
}

void lose_more(Report& report, const std::string& function) {
    for (auto& row : report.functions) {
        if (row.name != function) continue;
        report.duration_ns += row.lost_ns * (kMore - 1);
        row.lost_ns *= kMore;
    }
}

bool any_worse(const CheckResult& check) {
    return std::ranges::any_of(check.rows, &rdam::score::CheckRow::worse);
}

bool found(const CheckResult& check, const std::string& function) {
    return std::ranges::any_of(check.rows, [&](const auto& row) {
        return row.worse && row.function == function && row.measure == rdam::score::Measure::loss_per_call;
    });
}

double loss_of(const std::vector<Report>& reports, const std::string& function) {
    double score = 0;
    for (const Report& report : reports)
        for (const auto& row : report.functions)
            if (row.name == function) score += row.rdam / static_cast<double>(reports.size());
    return score;
}

int measure(const std::vector<std::string>& words) {
    const std::string& function = words.at(0);
    const std::size_t comparisons = std::stoul(words.at(1)), runs = std::stoul(words.at(2));
    std::vector<Report> base, worse;
    bool behind = false;
    for (std::size_t i = 3; i < words.size(); ++i) {
        if (words[i] == "--worse")
            behind = true;
        else
            (behind ? worse : base).push_back(report_of(words[i]));
    }
    if (runs < 2 || base.size() < 2 * runs || (behind && worse.size() < runs))
        throw std::runtime_error{"a comparison needs twice as many recordings as a side has runs"};
    std::mt19937_64 random{2010};
    std::size_t alarms = 0, unlimited = 0, planted = 0, recorded = 0;
    for (std::size_t i = 0; i < comparisons; ++i) {
        std::vector<Report> before = drawn(base, 2 * runs, random);
        std::vector<Report> after(before.begin() + static_cast<std::ptrdiff_t>(runs), before.end());
        before.resize(runs);
        alarms += any_worse(check_runs(before, after, {})) ? 1 : 0;
        unlimited += any_worse(check_runs(before, after, kNoLimits)) ? 1 : 0;
        for (Report& report : after)
            lose_more(report, function);
        planted += found(check_runs(before, after, {}), function) ? 1 : 0;
        if (behind) recorded += found(check_runs(before, drawn(worse, runs, random), {}), function) ? 1 : 0;
    }
    nlohmann::ordered_json result = {{"comparisons", comparisons},
                                     {"recordings", base.size()},
                                     {"score", loss_of(base, function)},
                                     {"false_alarms", alarms},
                                     {"false_alarms_without_limits", unlimited},
                                     {"planted_found", planted}};
    if (behind) result["recorded_found"] = recorded;
    std::cout << result.dump() << '\n';
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return measure({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::cerr << "check_rates: " << error.what()
                  << "\nusage: check_rates FUNCTION COMPARISONS RUNS TRACE… [--worse TRACE…]\n";
        return 1;
    }
}
