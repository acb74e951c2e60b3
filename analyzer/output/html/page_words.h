// Text and figures as they enter the page, and what is said of groups of functions and of marks in the ranking, with
// and without a script.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/output/fields.h"
#include "analyzer/output/html/report_html.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/report/ranking.h"
#include "analyzer/report/report.h"
#include "tools/base/name_text.h"
#include "tools/base/printable.h"

namespace rdam::output {

/// `ranked`, `by_design`, `at_floor`, `little`.
const char* standing_name(score::Standing standing);

/// Above the functions of a standing; empty for those that come first. `constant`: some of them have a score
/// that constant work would have; `nothing`: some lost nothing; `unsure`: of some it is not known.
std::string standing_text(score::Standing standing, bool constant, bool nothing, bool unsure);

/// `rows`: all functions.
template <typename Row>
std::string standing_text(const std::vector<Row>& rows, score::Standing standing) {
    bool constant = false, nothing = false, unsure = false;
    for (const Row& row : rows) {
        if (score::standing(row) != standing) continue;
        (score::at_floor(row) ? constant : score::lost_nothing(row) ? nothing : unsure) = true;
    }
    return standing_text(standing, constant, nothing, unsure);
}

/// `{standing: standing_text(…), …}`
template <typename Row>
nlohmann::ordered_json standings_json(const std::vector<Row>& rows) {
    nlohmann::ordered_json out;
    for (const score::Standing each :
         {score::Standing::by_design, score::Standing::at_floor, score::Standing::little})
        out[standing_name(each)] = standing_text(rows, each);
    return out;
}

/// What the marks in front of scores and calls mean: `[[mark, text], …]`.
nlohmann::ordered_json marks_json();

/// The marks that stand before scores and calls, in one line; empty: there are none.
std::string marks_text(const std::vector<std::string>& marks, bool estimated, bool unknown);
template <class Row>
std::string marks_text(const std::vector<Row>& rows) {
    std::vector<std::string> marks;
    for (const Row& row : rows)
        marks.push_back(score_mark(row));
    return marks_text(marks, std::ranges::any_of(rows, &score::Scored::estimated),
                      std::ranges::any_of(rows, &score::Scored::unknown));
}

// The figures of a row on the page, as data for its script (analyzer/output/fields.h).

/// Figures that the page needs beside those of its columns.
constexpr bool is_of_the_page(std::string_view key) {
    return key == "rank" || key == "rdam_high" || key == "floor" || key == "rdam_all" || key == "max_ns";
}

/// By their keys, without those that are not known; `cells` has what a column says otherwise than by its
/// unit.
template <class Row>
Json page_figures(Fields<Row> fields, const Row& row) {
    Json out = Json::object();
    for (const Field<Row>& field : fields) {
        if (field.key.empty() || (field.title.empty() && !is_of_the_page(field.key))) continue;
        if (field.value != nullptr && (field.needs != Needs::timed || has(row, field.needs)))
            out[field.key] = figure_json(field.unit, field.value(row));
        const std::string text = field.title.empty() ? "" : cell(field, row);
        const bool otherwise = field.value == nullptr || field.unit == Unit::share ||
                               text != figure_text(field.unit, field.value(row));
        if (!text.empty() && otherwise) out["cells"][field.key] = text;
    }
    return out;
}

/// `[{title, key, unit}, …]`
template <class Row>
Json page_columns(Fields<Row> fields) {
    constexpr const char* kUnits[] = {"name", "score", "share", "count", "time", "flag", "text"};
    Json out = Json::array();
    for (const Field<Row>& field : fields) {
        const bool name = field.unit == Unit::name;
        if (field.title.empty() || (field.key.empty() && !name)) continue;
        out.push_back({{"title", field.title},
                       {"key", name ? "name" : field.key},
                       {"unit", kUnits[static_cast<std::size_t>(field.unit)]}});
    }
    return out;
}

// Text of a trace as it enters the page: printable, and of a length that somebody may read. A trace may have
// names of megabytes.

/// Columns of a name.
inline constexpr std::size_t kLongestPageName = 400;
/// … of a sentence, which may hold several names, or a command.
inline constexpr std::size_t kLongestPageText = 4000;

/// Without its middle if it is longer.
inline std::string page_text(std::string_view text, std::size_t longest = kLongestPageText) {
    // What is cut off anyway must not cost the time of looking at it: no character takes more bytes than
    // four.
    const std::size_t most = 4 * longest;
    if (text.size() <= 2 * most) return shortened_name(printable(text), longest);
    const std::string ends = std::string{text.substr(0, most)}.append(text.substr(text.size() - most));
    return shortened_name(printable(ends), longest);
}

inline std::string page_name(std::string_view name) {
    return page_text(name, kLongestPageName);
}
/// Of a function of the trace, by its index.
inline std::string page_name(const PageRun& run, std::uint32_t function) {
    return page_name(run.analysis.report.names[function]);
}

/// Names that are used often, by number: the page has each of them once.
class Names {
  public:
    std::size_t of(const std::string& name) {
        const auto [place, is_new] = numbers_.emplace(name, numbers_.size());
        if (is_new) list_.push_back(name);
        return place->second;
    }
    Json take() { return std::move(list_); }

  private:
    std::unordered_map<std::string, std::size_t> numbers_;
    Json list_ = Json::array();
};

}  // namespace rdam::output
