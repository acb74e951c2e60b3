#include <algorithm>
#include <vector>

#include "analyzer/output/comparison.h"
#include "analyzer/output/json.h"
#include "analyzer/output/json_parts.h"

namespace rdam::output {
namespace {

Json overall_json(const Processes& processes) {
    Json unreadable = Json::array();
    for (const UnreadableTrace& trace : processes.unreadable)
        unreadable.push_back({{"file", trace.file}, {"error", trace.error}});
    return {{"processes", processes.reports.size()},
            {"runs", processes.overall.runs},
            {"threads_ns", nanoseconds(processes.overall.threads_ns)},
            {"unreadable", unreadable}};
}

Json shared_json(const SharedFinding& finding) {
    return {{"process", finding.process},
            {"finding", finding.finding},
            {"processes", finding.processes},
            {"lost_ns", nanoseconds(finding.lost_ns)}};
}

Json function_json(const score::OverallFunction& function, std::span<const score::Report> reports) {
    Json processes = Json::array();
    for (const score::ProcessShare& part : function.processes) {
        Json share{{"process", part.process}, {"pid", reports[part.process].process.pid}};
        share.update(figures_json(process_fields(), part));
        if (part.few_windows) share["few_windows"] = true;
        processes.push_back(std::move(share));
    }
    Json out{{"name", function.name},
             {"module", function.module},
             {"file", function.file},
             {"by_design", function.by_design}};
    out.update(figures_json(overall_fields(), function));
    out["processes"] = std::move(processes);
    return out;
}

}  // namespace

struct ProcessesJson::Objects {
    std::vector<Json> reports;
};

ProcessesJson::ProcessesJson(JsonOptions options)
    : options_(options), objects_(std::make_unique<Objects>()) {}

ProcessesJson::~ProcessesJson() = default;

void ProcessesJson::add(const hints::Analysis& analysis, Symbols& symbols) {
    objects_->reports.push_back(report_json(analysis, symbols, options_));
}

std::string ProcessesJson::finish(const Processes& processes) {
    Json each = Json::array();
    for (std::size_t i = 0; i < objects_->reports.size(); ++i) {
        Json process{{"file", processes.files[i]},
                     {"run", processes.reports[i].process.run},
                     {"short_lived", static_cast<bool>(processes.overall.short_lived[i])}};
        process.update(objects_->reports[i]);
        objects_->reports[i] = nullptr;
        each.push_back(std::move(process));
    }
    Json functions = Json::array();
    for (const score::OverallFunction& function : processes.overall.functions)
        if (options_.top == 0 || function.rank <= options_.top)
            functions.push_back(function_json(function, processes.reports));
    Json out{{"overall", overall_json(processes)}, {"findings", Json::array()}};
    for (const SharedFinding& finding : processes.findings.largest())
        out["findings"].push_back(shared_json(finding));
    if (const std::string verdict = processes.findings.verdict(); !verdict.empty()) out["verdict"] = verdict;
    out["processes"] = std::move(each);
    out["functions"] = std::move(functions);
    return dump(out);
}

namespace {

Json row_json(const score::DiffRow& row) {
    Json out{{"name", row.name},
             {"module", row.module},
             {"file", row.file},
             {"verdict", verdict_name(row.verdict)},
             {"change", finite(row.change)},
             {"change_low", finite(row.change_low)},
             {"change_high", finite(row.change_high)},
             {"scored", row.scored},
             {"recorded_in_both", row.recorded_in_both}};
    if (const auto factor = score::factor_of_calls(row)) out["calls_factor"] = finite(*factor);
    if (row.a != nullptr) out["a"] = figures_json(function_fields(), *row.a);
    if (row.b != nullptr) out["b"] = figures_json(function_fields(), *row.b);
    return out;
}

Json side_json(const DiffSide& side) {
    Json out{{"file", side.file}};
    out.update(trace_json(side.report));
    return out;
}

}  // namespace

std::string diff_json(const Diff& diff, std::size_t top) {
    const std::size_t shown = top == 0 ? diff.rows.size() : std::min(top, diff.rows.size());
    Json rows = Json::array();
    for (const score::DiffRow& row : diff.rows.first(shown))
        rows.push_back(row_json(row));
    return dump({{"a", side_json(diff.a)}, {"b", side_json(diff.b)}, {"diff", rows}});
}

}  // namespace rdam::output
