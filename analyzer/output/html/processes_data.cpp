#include "analyzer/output/html/processes_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/output/comparison.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/html/function_data.h"
#include "analyzer/output/html/heat.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/lives.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/summed_notes.h"
#include "analyzer/report/ranking.h"
#include "tools/base/files.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

std::vector<const score::Report*> pointers_to(std::span<const score::Report> reports) {
    std::vector<const score::Report*> pointers;
    for (const score::Report& report : reports)
        pointers.push_back(&report);
    return pointers;
}

using Shown = std::vector<std::reference_wrapper<const score::OverallFunction>>;

Json function_json(const score::OverallFunction& row) {
    Json out{{"name", page_name(row.shown)},
             {"standing", standing_name(score::standing(row))},
             {"why", page_text(row.by_design)},
             {"mark", score_mark(row)},
             {"processes", row.processes.size()}};
    out.update(page_figures(overall_fields(), row));
    if (!row.processes.empty()) out["worst"] = row.processes.front().process;
    if (row.unknown()) out["unknown"] = true;
    if (row.estimated) out["estimated"] = true;
    return out;
}

/// By process: what it lost but for functions that wait by design, and the one with the highest score.
struct ProcessLoss {
    double lost_ns = 0;
    double rdam = 0;
    const score::OverallFunction* highest = nullptr;
};

std::vector<ProcessLoss> losses_of(const PageProcesses& processes) {
    std::vector<ProcessLoss> all(processes.all.reports.size());
    for (const score::OverallFunction& row : processes.all.overall.functions) {
        if (!row.by_design.empty()) continue;
        for (const score::ProcessShare& part : row.processes) {
            ProcessLoss& own = all[part.process];
            own.lost_ns += part.lost_ns;
            if (part.unknown() || part.rdam <= own.rdam) continue;
            own.rdam = part.rdam;
            own.highest = &row;
        }
    }
    return all;
}

/// Where several are named: the pid, if it is known.
std::string short_name(const PageProcesses& processes, std::size_t process) {
    const std::uint32_t pid = processes.all.reports[process].process.pid;
    return pid == 0 ? process_name(processes, process) : fmt::format("{}", pid);
}

Json process_json(const PageProcesses& processes, std::size_t process, const ProcessLoss& loss) {
    const score::Report& report = processes.all.reports[process];
    Json out{{"process", process},
             {"name", process_name(processes, process)},
             {"short_name", short_name(processes, process)},
             {"trace", page_name(processes.all.files[process])},
             {"life", nanoseconds(report.duration_ns)},
             {"threads", report.threads.size()},
             {"calls", report.counts.calls},
             {"lost", nanoseconds(loss.lost_ns)}};
    if (loss.highest != nullptr)
        out.update({{"highest", page_name(loss.highest->shown)}, {"rdam", finite(loss.rdam)}});
    if (const auto states = states_of(report))
        out.update({{"running", finite(states->running)},
                    {"waiting", finite(states->waiting)},
                    {"preempted", finite(states->preempted)}});
    const auto page = std::ranges::find(processes.with_page, process);
    if (page != processes.with_page.end()) out["run"] = page - processes.with_page.begin();
    if (processes.all.overall.short_lived[process]) out["short"] = true;
    return out;
}

/// The processes that lost most.
Json process_list(const PageProcesses& processes, const PageLimits& limits) {
    const std::vector<ProcessLoss> losses = losses_of(processes);
    std::vector<std::size_t> order(losses.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return losses[i].lost_ns; });
    Json out = Json::array();
    for (std::size_t i = 0; i < std::min(order.size(), limits.rows); ++i)
        out.push_back(process_json(processes, order[i], losses[order[i]]));
    return out;
}

/// Names of module and function, with the numbers that the heat map has for them.
std::map<score::RunCourse::Name, std::int64_t> places_of(const PageProcesses& processes, const Shown& shown,
                                                         const PageLimits& limits) {
    std::map<score::RunCourse::Name, std::int64_t> places;
    for (const score::OverallFunction& row : processes.all.overall.functions)
        if (!row.by_design.empty()) places[{row.module, row.name}] = kOthersByDesign;
    for (std::size_t i = 0; i < std::min(shown.size(), limits.detailed); ++i)
        places[{shown[i].get().module, shown[i].get().name}] = static_cast<std::int64_t>(i);
    return places;
}

Json heat_json(const PageProcesses& processes, const Shown& shown, const PageLimits& limits) {
    const score::RunCourse& course = processes.course;
    const auto places = places_of(processes, shown, limits);
    std::vector<std::int64_t> place_of;
    for (const score::RunCourse::Name& name : course.functions()) {
        const auto found = places.find(name);
        place_of.push_back(found == places.end() ? kOtherFunctions : found->second);
    }
    HeatMap map{0, course.bin_ns()};
    const auto add = [&](std::size_t row, const std::vector<score::RunCourseCell>& some) {
        for (const score::RunCourseCell& cell : some)
            map.add(row, cell.bin, place_of[cell.function], cell.lost_ns);
    };
    const std::size_t with_row = std::min(course.rows().size(), limits.threads);
    for (std::size_t i = 0; i < course.rows().size(); ++i) {
        if (i < with_row) map.add_row(process_name(processes, course.rows()[i].process));
        add(std::min(i, with_row), course.rows()[i].cells);
    }
    const std::size_t others = course.others() + course.rows().size() - with_row;
    if (others > 0) map.add_others(counted(others, "other process", "other processes"), others);
    add(with_row, course.rest());
    return map.json(0);
}

}  // namespace

std::string process_name(const PageProcesses& processes, std::size_t process) {
    const score::Report& report = processes.all.reports[process];
    const std::string what = page_name(what_it_is(report));
    return report.process.pid == 0 ? what : fmt::format("{} {}", report.process.pid, what);
}

std::string title(const PageProcesses& processes) {
    std::map<std::string, std::size_t> programs;
    for (const score::Report& report : processes.all.reports)
        ++programs[std::string{file_name(report.process.executable)}];
    const auto commonest = std::ranges::max_element(
        programs, {}, [](const std::pair<const std::string, std::size_t>& each) { return each.second; });
    const std::size_t all = processes.all.reports.size();
    const std::string count = counted(all, "process", "processes");
    if (commonest->first.empty()) return count;
    if (programs.size() == 1) return count + " of " + page_name(commonest->first);
    if (2 * commonest->second > all) return count + ", most of them " + page_name(commonest->first);
    return count + " of " + counted(programs.size(), "program", "programs");
}

std::vector<Fact> facts(const PageProcesses& processes) {
    std::vector<double> lives;
    std::uint64_t threads = 0, events = 0, calls = 0;
    for (const score::Report& report : processes.all.reports) {
        lives.push_back(report.duration_ns);
        threads += report.threads.size();
        events += report.events;
        calls += report.counts.calls;
    }
    std::ranges::sort(lives);
    const double run_ns = processes.course.bin_ns() * score::Course::kBins;
    std::vector<Fact> all{
        {"Processes", grouped(lives.size())},
        {"Duration", human_time(run_ns)},
        {"Lives", fmt::format("{} to {}, median {}", human_time(lives.front()), human_time(lives.back()),
                              human_time(lives[lives.size() / 2]))},
        {"Threads", grouped(threads)},
        {"Events", grouped(events)},
        {"Calls", grouped(calls)},
        {"Recorded with", page_name(trace::recorded_with(processes.all.reports.front().process))}};
    for (const SharedWait& wait : processes.all.findings.waits())
        all.push_back({"Waiting", page_text(fmt::format("in {}, {}", process_name(processes, wait.process),
                                                        wait.line))});
    if (const std::string summary = processes.all.findings.waits_summary(); !summary.empty())
        all.push_back({"Waiting", page_text(summary)});
    add_settings(of_all(pointers_to(processes.all.reports)), all);
    return all;
}

std::vector<std::string> notes(const PageProcesses& processes) {
    constexpr std::size_t kNamed = 4;
    const std::vector<const score::Report*> all = pointers_to(processes.all.reports);
    std::vector<std::string> out;
    for (const SharedNote& note : notes(all, all)) {
        std::string who;
        const bool some = !note.processes.empty() && note.processes.size() < all.size();
        for (std::size_t i = 0; some && i < std::min(note.processes.size(), kNamed); ++i)
            who += (i == 0 ? "" : ", ") + short_name(processes, note.processes[i]);
        if (some && note.processes.size() > kNamed)
            who += fmt::format(" and {} more", note.processes.size() - kNamed);
        out.push_back(page_text(who.empty() ? note.text : who + ": " + note.text));
    }
    for (const UnreadableTrace& trace : processes.all.unreadable)
        out.push_back(page_text(trace.file + " was skipped: " + trace.error));
    return out;
}

namespace {

/// Those of a run's page (run_data.cpp), `run` and `rank` where a page tells more.
Json findings_of(const PageProcesses& processes) {
    Json out = Json::array();
    for (const SharedFinding& finding : processes.all.findings.largest()) {
        Json lines =
            Json::array({page_text(where_shared(finding, process_name(processes, finding.process)))});
        for (const std::string& line : finding.text.lines)
            lines.push_back(page_text(line));
        out.push_back({{"title", page_text(finding.text.title)}, {"lines", std::move(lines)}});
        const auto run = std::ranges::find(processes.with_page, finding.process);
        if (run != processes.with_page.end())
            out.back().update({{"run", run - processes.with_page.begin()}, {"rank", finding.rank}});
    }
    return out;
}

}  // namespace

Json processes_json(const PageProcesses& processes, const PageLimits& limits) {
    const Shown shown = score::by_rank(processes.all.overall.functions, limits.rows);
    Json functions = Json::array();
    for (const score::OverallFunction& row : shown)
        functions.push_back(function_json(row));
    Json fact_list = Json::array();
    for (const Fact& fact : facts(processes))
        fact_list.push_back({fact.name, fact.value});
    const std::size_t listed = std::min(processes.all.reports.size(), limits.rows);
    return {{"title", title(processes)},
            {"findings", findings_of(processes)},
            {"verdict", page_text(processes.all.findings.verdict())},
            {"facts", std::move(fact_list)},
            {"notes", notes(processes)},
            {"score", overall_score_in_words()},
            {"functions", std::move(functions)},
            {"standings", standings_json(processes.all.overall.functions)},
            {"left_out", processes.all.overall.functions.size() - shown.size()},
            {"processes", process_list(processes, limits)},
            {"processes_left_out", processes.all.reports.size() - listed},
            {"heat", heat_json(processes, shown, limits)}};
}

}  // namespace rdam::output
