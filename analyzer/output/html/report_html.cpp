#include "analyzer/output/html/report_html.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/output/comparison.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/findings.h"
#include "analyzer/output/html/function_data.h"
#include "analyzer/output/html/page_parts.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/html/processes_data.h"
#include "analyzer/output/html/run_data.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

Json diff_side(const score::FunctionRow* row) {
    if (row == nullptr) return nullptr;
    return row_json(*row);
}

std::string change_of(const PageInput& input) {
    return run_change(input.runs[0].analysis.report, input.runs[1].analysis.report);
}

Json diff_rows(const PageInput& input, const PageLimits& limits) {
    Json out = Json::array();
    for (const score::DiffRow& row : input.diff.first(std::min(input.diff.size(), limits.rows)))
        out.push_back({{"name", page_name(row.shown)},
                       {"verdict", verdict_name(row.verdict)},
                       {"scored", row.scored},
                       {"recorded_in_both", row.recorded_in_both},
                       {"change", finite(row.change)},
                       {"change_low", finite(row.change_low)},
                       {"change_high", finite(row.change_high)},
                       {"words", verdict_in_words(row)},
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

/// Text as HTML, in an element or a quoted attribute.
std::string html_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char each : text) {
        switch (each) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += each;
        }
    }
    return out;
}

constexpr std::size_t kRowsWithoutScript = 200;

std::string cell_html(std::string_view text, bool number = true) {
    return fmt::format("<td{}>{}</td>", number ? " class=\"n\"" : "", html_text(text));
}

/// The row of titles, the rank first.
template <class Row>
std::string titles_html(Fields<Row> fields) {
    std::string out = "<tr><th class=\"n\">rank</th>";
    for (const Field<Row>& field : fields)
        if (!field.title.empty())
            out += fmt::format("<th{}>{}</th>", field.unit == Unit::name ? "" : " class=\"n\"",
                               html_text(field.title));
    return out + "</tr>";
}

template <class Row>
std::string row_html(Fields<Row> fields, const Row& row, std::string_view name) {
    std::string out = "<tr>" + cell_html(fmt::format("{}", row.rank));
    for (const Field<Row>& field : fields)
        if (!field.title.empty())
            out += field.unit == Unit::name ? cell_html(name, false) : cell_html(cell(field, row));
    return out + "</tr>\n";
}

/// How many columns these tables have.
template <class Row>
std::size_t columns_of(Fields<Row> fields) {
    return 1 + static_cast<std::size_t>(std::ranges::count_if(
                   fields, [](const Field<Row>& field) { return !field.title.empty(); }));
}

std::string function_name(const score::FunctionRow& row) {
    return page_name(row.shown);
}

std::string findings_html(const std::vector<FindingText>& texts, const std::string& verdict) {
    if (texts.empty())
        return verdict.empty() ? "" : fmt::format("<p>{}</p>\n", html_text(page_text(verdict)));
    std::string out = "<ol class=\"findings\">\n";
    for (const FindingText& text : texts) {
        out += fmt::format("<li><b>{}</b>\n<ul>\n", html_text(page_text(text.title)));
        for (const std::string& line : text.lines)
            out += fmt::format("<li>{}</li>\n", html_text(page_text(line)));
        out += "</ul></li>\n";
    }
    return out + "</ol>\n";
}

std::string findings_html(const PageRun& run) {
    return findings_html(finding_texts(run.analysis, run.symbols), run.analysis.findings.verdict);
}

std::string findings_html(const PageProcesses& processes) {
    std::vector<FindingText> texts;
    for (const SharedFinding& finding : processes.all.findings.largest()) {
        texts.push_back(finding.text);
        texts.back().lines.insert(texts.back().lines.begin(),
                                  where_shared(finding, process_name(processes, finding.process)));
    }
    return findings_html(texts, processes.all.findings.verdict());
}

/// `first`: HTML that follows the heading.
std::string header_html(const std::string& heading, const std::string& first, const std::vector<Fact>& facts,
                        const std::vector<std::string>& said) {
    std::string out = fmt::format("<h1>{}</h1>\n{}<dl>\n", html_text(heading), first);
    for (const Fact& fact : facts)
        out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(fact.name), html_text(fact.value));
    out += "</dl>\n";
    if (said.empty()) return out;
    out += "<ul class=\"notes\">\n";
    for (const std::string& note : said)
        out += fmt::format("<li>{}</li>\n", html_text(page_text(note)));
    return out + "</ul>\n";
}

/// The rows in the order of their ranks, with a line where another part of the ranking begins.
template <class Row, class Name>
std::string ranking_html(Fields<Row> fields, const std::vector<Row>& all, const PageLimits& limits,
                         const Name& name) {
    std::string out = "<table>\n<thead>" + titles_html(fields) + "</thead>\n<tbody>\n";
    const auto rows = score::by_rank(all, std::min(limits.rows, kRowsWithoutScript));
    score::Standing part = score::Standing::ranked;
    for (const Row& row : rows) {
        if (score::standing(row) != part) {
            part = score::standing(row);
            out += fmt::format("<tr class=\"apart\"><td colspan=\"{}\">{}</td></tr>\n", columns_of(fields),
                               html_text(standing_text(all, part)));
        }
        out += row_html(fields, row, name(row));
    }
    out += "</tbody>\n</table>\n";
    if (const std::string marks = marks_text(all); !marks.empty())
        out += fmt::format("<p>{}</p>\n", html_text(marks));
    if (rows.size() < all.size())
        out += fmt::format("<p>{} more functions are not listed here.</p>\n", all.size() - rows.size());
    return out;
}

std::string functions_html(const PageRun& run, const PageLimits& limits) {
    return "<h2>Functions</h2>\n<p>score: " + score_in_words(run.analysis.report.comparison.baseline) +
           ". Functions are ranked by the lower end of its 95 % interval, or by a tenth of the score if that "
           "is more, those that wait by design after the others.</p>\n" +
           ranking_html(
               function_fields(), run.analysis.report.functions, limits, [](const score::FunctionRow& row) {
                   return function_name(row) + (row.by_design.empty() ? "" : ", " + page_text(row.by_design));
               });
}

std::string overall_html(const PageProcesses& processes, const PageLimits& limits) {
    return "<h2>Functions over all processes</h2>\n<p>score: " + overall_score_in_words() + ".</p>\n" +
           ranking_html(overall_fields(), processes.all.overall.functions, limits,
                        [](const score::OverallFunction& row) { return page_name(row.shown); });
}

std::string hints_html(const PageRun& run, const PageLimits& limits) {
    std::string out;
    for (const score::FunctionRow& row : score::by_rank(run.analysis.report.functions, limits.detailed)) {
        const std::vector<std::string> hints = hint_sentences(row, run.analysis.of(row).hints);
        if (hints.empty()) continue;
        out += fmt::format("<h3>{}</h3>\n<ul>\n", html_text(function_name(row)));
        for (const std::string& hint : hints)
            out += fmt::format("<li>{}</li>\n", html_text(hint));
        out += "</ul>\n";
    }
    return out.empty() ? out : "<h2>What may explain the scores</h2>\n" + out;
}

std::string diff_html(const PageInput& input, const PageLimits& limits) {
    std::string out = "<h2>Before and after</h2>\n";
    if (const std::string line = change_of(input); !line.empty())
        out += fmt::format("<p>{}</p>\n", html_text(line));
    out += "<table>\n<thead><tr><th>function</th><th>verdict</th>";
    for (const Field<score::FunctionRow>& field : compared_fields())
        out += fmt::format("<th class=\"n\">{}: {}</th><th class=\"n\">{}</th>", html_text(field.title),
                           kBefore, kAfter);
    out += "</tr></thead>\n<tbody>\n";
    for (const score::DiffRow& row :
         input.diff.first(std::min({input.diff.size(), limits.rows, kRowsWithoutScript}))) {
        out += "<tr>" + cell_html(page_name(row.shown), false) + cell_html(verdict_in_words(row), false);
        for (const Field<score::FunctionRow>& field : compared_fields())
            for (const score::FunctionRow* side : {row.a, row.b})
                out += cell_html(side == nullptr ? "-" : cell(field, *side));
        out += "</tr>\n";
    }
    return out + "</tbody>\n</table>\n";
}

/// What the page shows without its script: header, notes, ranking and hints.
std::string static_html(const PageInput& input, const PageLimits& limits) {
    std::string out;
    if (!input.diff.empty()) out += diff_html(input, limits);
    if (input.processes != nullptr) {
        const PageProcesses& all = *input.processes;
        out +=
            header_html(title(all), findings_html(all), facts(all), notes(all)) + overall_html(all, limits);
    }
    for (const PageRun& run : input.runs)
        out +=
            header_html(title(run), findings_html(run), facts(run), notes(run.analysis.report, run.symbols)) +
            functions_html(run, limits) + hints_html(run, limits);
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
        data["diff_change"] = change_of(input);
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
    while (out.size() > kMaxBytes && !limits.least()) {
        limits = limits.halved();
        out = page(input, limits);
    }
    if (out.size() > kMaxBytes)
        return fail("the names in {} are too long for a page: use rdam analyze --json",
                    page_name(input.processes != nullptr ? input.processes->all.files.front()
                                                         : input.runs.front().file));
    return out;
}

}  // namespace rdam::output
