// Tables whose rows are functions in the order of their ranks.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/output/table.h"
#include "analyzer/report/ranking.h"

namespace rdam::output {

/// The line above a group, which begins with rows[first]; nullptr: none is needed.
template <typename Row>
const char* heading(const std::vector<std::reference_wrapper<const Row>>& rows, std::size_t first) {
    const score::Standing group = score::standing(rows[first].get());
    if (group == score::Standing::by_design) return " waiting by design:";
    if (first == 0 || group == score::Standing::ranked) return nullptr;
    const auto all_of_group = [&](const auto& is_so) {
        return std::ranges::all_of(std::span{rows}.subspan(first), [&](const Row& row) {
            return score::standing(row) != group || is_so(row);
        });
    };
    if (group == score::Standing::little)
        return all_of_group([](const Row& row) { return score::lost_nothing(row); })
                   ? " nothing lost:"
                   : " next to nothing lost:";
    return all_of_group([](const Row& row) { return score::at_floor(row); })
               ? " no more than constant work would score:"
               : " no more than constant work would score, or unknown:";
}

/// `lines`: Table::lines() of `rows`. Scores from the threshold on are highlighted, except for functions that
/// wait by design and scores at their floor, which follow below lines of their own.
template <typename Row>
std::vector<std::string> ranked_lines(const std::vector<std::string>& lines,
                                      const std::vector<std::reference_wrapper<const Row>>& rows,
                                      double threshold, const Style& style) {
    std::vector<std::string> out{style.bold(lines.front())};
    score::Standing group = score::Standing::ranked;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const score::Standing standing = score::standing(row);
        const char* const title = standing == group ? nullptr : heading(rows, i);
        if (title != nullptr) out.push_back(style.faint(title));
        group = standing;
        const std::string& text = lines[i + 1];
        if (standing == score::Standing::ranked && row.rdam >= threshold)
            out.push_back(style.alarming(text));
        else if (standing == score::Standing::ranked && row.rdam >= threshold / 4)
            out.push_back(style.notable(text));
        else
            out.push_back(text);
    }
    return out;
}

}  // namespace rdam::output
