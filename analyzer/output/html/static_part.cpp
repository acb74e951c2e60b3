#include "analyzer/output/html/static_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/output/comparison.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/html/function_data.h"
#include "analyzer/output/html/page_text.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/html/processes_data.h"
#include "analyzer/output/html/run_data.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"
#include "tools/base/units.h"

namespace rdam::output {
namespace {

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
    return page_name(row.module, row.name);
}

std::string header_html(const std::string& heading, const std::vector<Fact>& facts,
                        const std::vector<std::string>& said) {
    std::string out = fmt::format("<h1>{}</h1>\n<dl>\n", html_text(heading));
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
           ". Functions are ranked by the lower end of its 95 % interval, those that wait by design after "
           "the others.</p>\n" +
           ranking_html(
               function_fields(), run.analysis.report.functions, limits, [](const score::FunctionRow& row) {
                   return function_name(row) + (row.by_design.empty() ? "" : ", " + page_text(row.by_design));
               });
}

std::string overall_html(const PageProcesses& processes, const PageLimits& limits) {
    return "<h2>Functions over all processes</h2>\n<p>score: the share of its life that the worst thread of "
           "all processes lost.</p>\n" +
           ranking_html(overall_fields(), processes.all.overall.functions, limits,
                        [](const score::OverallFunction& row) { return page_name(row.module, row.name); });
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
    std::string out =
        "<h2>Difference of the two recordings</h2>\n<table>\n<thead><tr><th>function</th><th>verdict</th>";
    for (const Field<score::FunctionRow>& field : compared_fields())
        out +=
            fmt::format("<th class=\"n\">{}: first</th><th class=\"n\">second</th>", html_text(field.title));
    out += "</tr></thead>\n<tbody>\n";
    for (const score::DiffRow& row :
         input.diff.first(std::min({input.diff.size(), limits.rows, kRowsWithoutScript}))) {
        out += "<tr>" + cell_html(page_name(row.module, row.name), false) +
               cell_html(verdict_name(row.verdict), false);
        for (const Field<score::FunctionRow>& field : compared_fields())
            for (const score::FunctionRow* side : {row.a, row.b})
                out += cell_html(side == nullptr ? "-" : cell(field, *side));
        out += "</tr>\n";
    }
    return out + "</tbody>\n</table>\n";
}

}  // namespace

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

std::string static_html(const PageInput& input, const PageLimits& limits) {
    std::string out;
    if (!input.diff.empty()) out += diff_html(input, limits);
    if (input.processes != nullptr) {
        const PageProcesses& all = *input.processes;
        out += header_html(title(all), facts(all), notes(all)) + overall_html(all, limits);
    }
    for (const PageRun& run : input.runs)
        out += header_html(title(run), facts(run), notes(run.analysis.report, run.symbols)) +
               functions_html(run, limits) + hints_html(run, limits);
    return out;
}

}  // namespace rdam::output
