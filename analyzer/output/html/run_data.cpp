#include "analyzer/output/html/run_data.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "analyzer/output/comparison.h"
#include "analyzer/output/html/function_data.h"
#include "analyzer/output/html/page_text.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/html/pictures.h"
#include "analyzer/output/html/plots.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

std::string start_text(double unix_ns) {
    constexpr double kSecond = 1e9;
    if (!(unix_ns > 0) || unix_ns > 1e19) return "not known";
    const auto seconds = static_cast<std::time_t>(unix_ns / kSecond);
    std::tm utc{};
    if (gmtime_r(&seconds, &utc) == nullptr) return "not known";
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", utc);
}

bool has_weight(const score::Report& report, const score::FunctionRow& row, const PageLimits& limits) {
    constexpr std::size_t kFirst = 10;
    const bool looked_into = row.rdam >= report.threshold || !row.sample.calls.empty();
    return row.rank <= limits.detailed && (row.rank <= kFirst || looked_into);
}

}  // namespace

void add_settings(const score::Comparison& comparison, std::vector<Fact>& facts) {
    constexpr std::size_t kMostNames = 100;
    for (const SettingInForce& each : settings_in_force(comparison, kMostNames))
        facts.push_back({each.name, each.value.empty() ? "yes" : page_text(each.value)});
}

std::vector<Fact> facts(const PageRun& run) {
    const score::Report& report = run.analysis.report;
    const trace::ProcessInfo& process = report.process;
    std::vector<Fact> all{{"Command", page_text(command_text(process.command))},
                          {"Trace", page_name(run.file)},
                          {"Started", start_text(report.start_unix_ns)},
                          {"Duration", human_time(report.duration_ns)},
                          {"Process", fmt::format("{}", process.pid)},
                          {"Threads", grouped(report.threads.size())},
                          {"Events", grouped(report.events)},
                          {"Calls", grouped(report.counts.calls)}};
    if (!process.host.empty()) all.push_back({"Host", page_name(process.host)});
    if (!process.machine.empty()) all.push_back({"Machine", page_name(process.machine)});
    std::string cost = recording_cost(report);
    if (!cost.empty())
        cost.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(cost.front())));
    all.push_back({"Recording", page_text(cost)});
    all.push_back({"Recorded with", page_name(trace::recorded_with(process))});
    add_settings(report.comparison, all);
    return all;
}

std::string title(const PageRun& run) {
    const std::string command = page_name(command_text(run.analysis.report.process.command));
    return command.empty() ? page_name(run.file) : command;
}

Json run_json(const PageRun& run, const PageLimits& limits) {
    const score::Report& report = run.analysis.report;
    const RunClock clock = run_clock(run.info, report);
    Json functions = Json::array();
    std::vector<std::uint32_t> shown;  // index in the trace, by place in `functions`
    for (const score::FunctionRow& row : score::by_rank(report.functions, limits.rows)) {
        functions.push_back(row_json(row));
        if (has_weight(report, row, limits))
            functions.back()["details"] = details_json(run, row, clock, limits);
        shown.push_back(row.function);
    }
    Json threads = Json::array();
    for (const score::ThreadRow& thread : report.threads) {
        if (threads.size() == limits.rows) break;
        threads.push_back(thread_name(thread));
    }
    Json fact_list = Json::array();
    for (const Fact& fact : facts(run))
        fact_list.push_back({fact.name, fact.value});
    Json out{{"title", title(run)},
             {"facts", std::move(fact_list)},
             {"duration", nanoseconds(report.duration_ns)},
             {"threshold", finite(report.threshold)},
             {"score", score_in_words(report.comparison.baseline)},
             {"functions", std::move(functions)},
             {"standings", standings_json(report.functions)},
             {"left_out", report.functions.size() - shown.size()},
             {"threads", std::move(threads)},
             {"heat", heat_json(run, shown, limits)},
             {"icicle", icicle_json(run, limits)},
             {"timelines", timelines_json(run, clock, limits)}};
    Json note_list = Json::array();
    for (const std::string& note : notes(report, run.symbols))
        note_list.push_back(page_text(note));
    out["notes"] = std::move(note_list);
    return out;
}

}  // namespace rdam::output
