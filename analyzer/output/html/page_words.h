// The texts for groups of functions and for marks in the ranking, with and without a script.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/output/fields.h"
#include "analyzer/output/html/report_html.h"
#include "analyzer/report/ranking.h"

namespace rdam::output {

/// `ranked`, `by_design`, `at_floor`.
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
    for (const score::Standing each : {score::Standing::by_design, score::Standing::at_floor})
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

}  // namespace rdam::output
