#include "analyzer/output/html/report_html.h"

#include <algorithm>

#include "analyzer/output/comparison.h"
#include "analyzer/output/html/function_data.h"
#include "analyzer/output/html/page_figures.h"
#include "analyzer/output/html/page_parts.h"
#include "analyzer/output/html/page_text.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/html/processes_data.h"
#include "analyzer/output/html/run_data.h"
#include "analyzer/output/html/static_part.h"
#include "analyzer/output/json_parts.h"

namespace rdam::output {
namespace {

Json diff_side(const score::FunctionRow* row) {
    if (row == nullptr) return nullptr;
    return row_json(*row);
}

Json diff_rows(const PageInput& input, const PageLimits& limits) {
    Json out = Json::array();
    for (const score::DiffRow& row : input.diff.first(std::min(input.diff.size(), limits.rows)))
        out.push_back({{"name", page_name(row.module, row.name)},
                       {"verdict", verdict_name(row.verdict)},
                       {"scored", row.scored},
                       {"recorded_in_both", row.recorded_in_both},
                       {"change", finite(row.change)},
                       {"a", diff_side(row.a)},
                       {"b", diff_side(row.b)}});
    return out;
}

/// JSON that can stand in a script element: nothing in it ends the element or begins a comment.
std::string data_text(const Json& data) {
    const std::string text = printable_json(data.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::string out;
    out.reserve(text.size());
    for (const char each : text) {
        if (each == '<')
            out += "\\u003c";
        else
            out += each;
    }
    return out;
}

std::string page(const PageInput& input, const PageLimits& limits) {
    Json data{{"version", 1},
              {"marks", marks_json()},
              {"columns",
               {{"functions", page_columns(function_fields())},
                {"overall", page_columns(overall_fields())},
                {"threads", page_columns(thread_fields())},
                {"sequences", page_columns(sequence_fields())},
                {"compared", page_columns(compared_fields())}}},
              {"runs", Json::array()}};
    for (const PageRun& run : input.runs)
        data["runs"].push_back(run_json(run, limits));
    if (!input.diff.empty()) {
        data["diff"] = diff_rows(input, limits);
        data["diff_left_out"] = input.diff.size() - data["diff"].size();
    }
    if (input.processes != nullptr) data["processes"] = processes_json(*input.processes, limits);
    std::string out{page_parts::kHead};
    const std::string of = input.processes != nullptr ? title(*input.processes) : title(input.runs.front());
    out += "<title>" + html_text("rdam: " + of) + "</title>\n";
    out += page_parts::kBeforeStatic;
    out += static_html(input, limits);
    out += page_parts::kBeforeData;
    out += data_text(data);
    out += page_parts::kTail;
    return out;
}

}  // namespace

bool page_is_there() {
    return !page_parts::kTail.empty();
}

Result<std::string> report_html(const PageInput& input) {
    if (!page_is_there())
        return fail(
            "this rdam was built without Chart.js, which the page needs: install Debian's libjs-chart.js and "
            "build again");
    PageLimits limits;
    std::string out = page(input, limits);
    while (out.size() > kMostBytes && !limits.least()) {
        limits = limits.halved();
        out = page(input, limits);
    }
    if (out.size() > kMostBytes)
        return fail("the names in {} are too long for a page: use rdam analyze --json",
                    page_name(input.processes != nullptr ? input.processes->all.files.front()
                                                         : input.runs.front().file));
    return out;
}

}  // namespace rdam::output
