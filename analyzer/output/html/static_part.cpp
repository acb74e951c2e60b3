#include "analyzer/output/html/static_part.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/output/html/function_data.h"
#include "analyzer/output/html/page_text.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/html/processes_data.h"
#include "analyzer/output/html/run_data.h"
#include "analyzer/output/units.h"
#include "analyzer/output/wording/comparison.h"
#include "analyzer/output/wording/notes.h"
#include "analyzer/output/wording/verdicts.h"
#include "analyzer/score/report/ranking.h"

namespace rdam::output {
namespace {

constexpr std::size_t kRowsWithoutScript = 200;

std::string cell(std::string_view text, bool number = true) {
    return fmt::format("<td{}>{}</td>", number ? " class=\"n\"" : "", html_text(text));
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

/// Before `row`, where another part of the ranking begins than `part`, which it becomes.
template <typename Row>
std::string apart_html(const std::vector<Row>& all, const Row& row, std::size_t columns,
                       score::Standing& part) {
    if (score::standing(row) == part) return {};
    part = score::standing(row);
    return fmt::format("<tr class=\"apart\"><td colspan=\"{}\">{}</td></tr>\n", columns,
                       html_text(standing_text(all, part)));
}

std::string row_html(const score::FunctionRow& row) {
    const auto time = [&](double ns) {
        return row.outermost > 0 && !row.unknown() ? human_time(ns) : std::string{"-"};
    };
    const std::string name =
        function_name(row) + (row.by_design.empty() ? "" : ", " + page_text(row.by_design));
    return "<tr>" + cell(fmt::format("{}", row.rank)) +
           cell(row.unknown() ? "-" : score_mark(row) + score_text(row.rdam)) +
           cell(row.unknown() ? "-" : interval_text(row.rdam_low, row.rdam_high)) + cell(name, false) +
           cell((row.estimates_occurrences() ? "~" : "") + grouped(row.occurrences)) +
           cell(time(row.min_ns)) + cell(time(row.median_ns)) + cell(time(row.p99_ns)) +
           cell(row.unknown() ? "-" : time(row.lost_ns)) + "</tr>\n";
}

std::string ranking_html(const PageRun& run, const PageLimits& limits) {
    std::string out =
        "<h2>Functions</h2>\n<p>score: " + score_in_words(run.report.comparison.baseline) +
        ". Functions are ranked by the lower end of its 95 % interval, those that wait by design "
        "after the "
        "others.</p>\n<table>\n<thead><tr><th class=\"n\">rank</th><th class=\"n\">score</th><th "
        "class=\"n\">95 %</th>"
        "<th>function</th><th class=\"n\">calls</th><th class=\"n\">min</th><th class=\"n\">median</th>"
        "<th class=\"n\">p99</th><th class=\"n\">lost</th></tr></thead>\n<tbody>\n";
    const auto rows = score::by_rank(run.report.functions, std::min(limits.rows, kRowsWithoutScript));
    constexpr std::size_t kColumns = 9;
    score::Standing part = score::Standing::told;
    for (const score::FunctionRow& row : rows) {
        out += apart_html(run.report.functions, row, kColumns, part);
        out += row_html(row);
    }
    out += "</tbody>\n</table>\n";
    if (const std::string marks = marks_text(run.report); !marks.empty())
        out += fmt::format("<p>{}</p>\n", html_text(marks));
    if (rows.size() < run.report.functions.size())
        out += fmt::format("<p>{} more functions are not listed here.</p>\n",
                           run.report.functions.size() - rows.size());
    return out;
}

std::string overall_html(const PageProcesses& processes, const PageLimits& limits) {
    std::string out =
        "<h2>Functions over all processes</h2>\n<p>score: the share of its life that the worst thread of all "
        "processes lost.</p>\n<table>\n<thead><tr><th class=\"n\">rank</th><th class=\"n\">score</th>"
        "<th class=\"n\">95 %</th><th>function</th><th class=\"n\">calls</th><th class=\"n\">lost</th>"
        "<th class=\"n\">processes</th></tr></thead>\n<tbody>\n";
    constexpr std::size_t kColumns = 7;
    const auto& functions = processes.all.overall.functions;
    const auto rows = score::by_rank(functions, std::min(limits.rows, kRowsWithoutScript));
    score::Standing part = score::Standing::told;
    for (const score::OverallFunction& row : rows) {
        out += apart_html(functions, row, kColumns, part);
        out += "<tr>" + cell(fmt::format("{}", row.rank)) + cell(row.unknown() ? "-" : score_text(row.rdam)) +
               cell(row.unknown() ? "-" : interval_text(row.rdam_low, row.rdam_high)) +
               cell(page_name(row.module, row.name), false) + cell(grouped(row.occurrences)) +
               cell(row.unknown() ? "-" : human_time(row.lost_ns)) + cell(grouped(row.processes.size())) +
               "</tr>\n";
    }
    out += "</tbody>\n</table>\n";
    if (rows.size() < functions.size())
        out += fmt::format("<p>{} more functions are not listed here.</p>\n", functions.size() - rows.size());
    return out;
}

std::string hints_html(const PageRun& run, const PageLimits& limits) {
    std::string out;
    for (const score::FunctionRow& row : score::by_rank(run.report.functions, limits.detailed)) {
        const std::vector<std::string> hints = hint_sentences(row);
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
        "<h2>Difference of the two recordings</h2>\n<table>\n<thead><tr><th>function</th><th>first</th>"
        "<th>second</th><th>verdict</th></tr></thead>\n<tbody>\n";
    const auto score = [](const score::FunctionRow* row) {
        return row == nullptr || row->unknown() ? std::string{"-"} : score_text(row->rdam);
    };
    for (const score::DiffRow& row :
         input.diff.first(std::min({input.diff.size(), limits.rows, kRowsWithoutScript})))
        out += "<tr>" + cell(page_name(row.module, row.name), false) + cell(score(row.a)) +
               cell(score(row.b)) + cell(verdict_name(row.verdict), false) + "</tr>\n";
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
        out += header_html(title(run), facts(run), notes(run.report, run.symbols)) +
               ranking_html(run, limits) + hints_html(run, limits);
    return out;
}

}  // namespace rdam::output
