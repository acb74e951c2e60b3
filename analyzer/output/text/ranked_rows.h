// Tables whose rows are functions in the order of their ranks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/output/text/table.h"
#include "analyzer/score/report/ranking.h"

namespace rdam::output {

/// The line above the rows of a group; nullptr: none is needed. `first`: the group's first row; `any_above`:
/// rows of other groups stand above.
template <typename Row>
const char* heading(const Row& first, bool any_above, bool below_waiting) {
    if (score::standing(first) == score::Standing::by_design) return " waiting, by design:";
    if (any_above && score::at_floor(first)) return " no more than constant work would score:";
    return below_waiting ? " nothing lost:" : nullptr;
}

/// `lines`: Table::lines() of `rows`. Scores from the threshold on are highlighted, except for functions that
/// wait by design and scores at their floor, which follow below lines of their own.
template <typename Row>
std::vector<std::string> ranked_lines(const std::vector<std::string>& lines,
                                      const std::vector<std::reference_wrapper<const Row>>& rows,
                                      double threshold, const Style& style) {
    std::vector<std::string> out{style.bold(lines.front())};
    score::Standing group = score::Standing::told;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const score::Standing standing = score::standing(row);
        const char* const title =
            standing == group ? nullptr : heading(row, i > 0, group == score::Standing::by_design);
        if (title != nullptr) out.push_back(style.faint(title));
        group = standing;
        const std::string& text = lines[i + 1];
        if (standing == score::Standing::told && row.rdam >= threshold)
            out.push_back(style.alarming(text));
        else if (standing == score::Standing::told && row.rdam >= threshold / 4)
            out.push_back(style.notable(text));
        else
            out.push_back(text);
    }
    return out;
}

}  // namespace rdam::output
