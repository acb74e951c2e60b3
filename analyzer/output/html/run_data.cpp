#include "analyzer/output/html/run_data.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include "analyzer/output/comparison.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/html/heat.h"
#include "analyzer/output/html/icicle.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/html/timelines.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/lives.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/symbols.h"
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

/// By index into Report::threads: its row; those that lost most have one of their own.
std::vector<std::size_t> rows_of_threads(const score::Report& report, std::size_t most) {
    std::vector<double> lost(report.threads.size());
    for (const score::CourseCell& cell : report.course.cells)
        lost[cell.thread] += cell.lost_ns;
    std::vector<std::size_t> order(lost.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return lost[a] > lost[b]; });
    const bool all = order.size() <= most;
    std::vector<std::size_t> chosen(order.begin(),
                                    order.begin() + static_cast<std::ptrdiff_t>(all ? order.size() : most));
    // As the run shows them: in the order of the trace.
    std::ranges::sort(chosen);
    std::vector<std::size_t> rows(lost.size(), chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i)
        rows[chosen[i]] = i;
    return rows;
}

/// By place of a function that is sampled in windows: `{place: [part of each bin, …]}`.
Json covers_json(const score::Course& course, const std::vector<std::int64_t>& places) {
    constexpr double kSteps = 1e4;
    Json out = Json::object();
    for (const score::CourseCover& cover : course.covers) {
        if (places[cover.function] < 0) continue;
        Json parts = Json::array();
        for (const double part : cover.parts)
            parts.push_back(std::ceil(part * kSteps) / kSteps);
        out[fmt::format("{}", places[cover.function])] = std::move(parts);
    }
    return out;
}

/// Lost time by thread and time: `{begin, bin, bins, rows: [name, …], cells: [[row, bin, function, lost_ns],
/// …], covers, approximate}`. Functions by their place in `shown` (-1: another one); the threads that lost most have
/// rows, the last row is all the others together. Null: nothing is known of the course.
Json heat_json(const PageRun& run, std::span<const std::uint32_t> shown, const PageLimits& limits) {
    const score::Report& report = run.analysis.report;
    const score::Course& course = report.course;
    if (!(course.bin_ns > 0)) return nullptr;
    std::vector<std::int64_t> places(run.info.functions.size(), kOtherFunctions);
    for (const score::FunctionRow& row : report.functions)
        if (!row.by_design.empty()) places[row.function] = kOthersByDesign;
    for (std::size_t i = 0; i < std::min(shown.size(), limits.detailed); ++i)
        places[shown[i]] = static_cast<std::int64_t>(i);
    const std::vector<std::size_t> rows = rows_of_threads(report, limits.threads);
    HeatMap map{course.begin_ns, course.bin_ns};
    for (const score::CourseCell& cell : course.cells)
        map.add(rows[cell.thread], cell.bin, places[cell.function], cell.lost_ns);
    const std::size_t with_row = std::min(report.threads.size(), limits.threads);
    for (std::size_t t = 0; t < rows.size(); ++t)
        if (rows[t] < with_row) map.add_row(thread_name(report.threads[t]));
    const std::size_t others = report.threads.size() - with_row;
    if (others > 0) map.add_others(counted(others, "other thread", "other threads"), others);
    Json heat = map.json(course.approximate);
    if (!course.covers.empty()) heat["covers"] = covers_json(course, places);
    return heat;
}

/// `[{title, lines: […], rank}, …]`.
Json findings_json(const PageRun& run) {
    Json out = Json::array();
    const std::vector<FindingText> texts = finding_texts(run.analysis, run.symbols);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        Json lines = Json::array();
        for (const std::string& line : texts[i].lines)
            lines.push_back(page_text(line));
        const score::FunctionRow& row = run.analysis.report.functions[run.analysis.findings.all[i].row];
        out.push_back(
            {{"title", page_text(texts[i].title)}, {"lines", std::move(lines)}, {"rank", row.rank}});
    }
    return out;
}

/// `{columns, rows: [{name, …}, …], left_out}`: what threads did with their lives, those to look at first.
Json lives_json(const PageRun& run, const PageLimits& limits) {
    const std::vector<Field<Life>> fields = life_fields(run.analysis);
    std::vector<std::size_t> order = threads_to_look_at(run.analysis);
    const std::size_t left_out = order.size() - std::min(order.size(), limits.rows);
    order.resize(order.size() - left_out);
    Json rows = Json::array();
    for (const std::size_t thread : order) {
        rows.push_back({{"name", thread_name(run.analysis.report.threads[thread])}});
        rows.back().update(page_figures(Fields<Life>{fields}, life_of(run.analysis, thread)));
    }
    return {{"columns", page_columns(Fields<Life>{fields})},
            {"known", lives_known(run.analysis)},
            {"rows", std::move(rows)},
            {"left_out", left_out}};
}

}  // namespace

void add_settings(const score::Comparison& comparison, std::vector<Fact>& facts) {
    constexpr std::size_t kMaxNames = 100;
    for (const SettingInForce& each : settings_in_force(comparison, kMaxNames))
        facts.push_back({each.name, each.value.empty() ? "yes" : page_text(each.value)});
}

std::vector<Fact> facts(const PageRun& run) {
    const score::Report& report = run.analysis.report;
    const trace::ProcessInfo& process = report.process;
    std::vector<Fact> all{
        {"Command", page_text(command_text(process.command))}, {"Trace", page_name(run.file)},
        {"Started", start_text(report.start_unix_ns)},         {"Duration", human_time(report.duration_ns)},
        {"Process", fmt::format("{}", process.pid)},           {"Threads", grouped(report.threads.size())}};
    if (std::string states = thread_states(report); !states.empty())
        all.push_back({"Running", std::move(states)});
    for (const std::string& line : wait_lines(run.analysis.waits))
        all.push_back({"Waiting", page_text(line)});
    all.push_back({"Events", grouped(report.events)});
    all.push_back({"Calls", grouped(report.counts.calls)});
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
             {"findings", findings_json(run)},
             {"verdict", run.analysis.findings.verdict},
             {"states", short_thread_states(report)},
             {"warnings", warnings(report).size()},
             {"facts", std::move(fact_list)},
             {"duration", nanoseconds(report.duration_ns)},
             {"threshold", finite(report.threshold)},
             {"score", score_in_words(report.comparison.baseline)},
             {"functions", std::move(functions)},
             {"standings", standings_json(report.functions)},
             {"left_out", report.functions.size() - shown.size()},
             {"threads", std::move(threads)},
             {"lives", lives_json(run, limits)},
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
