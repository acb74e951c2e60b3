// Tables whose rows are functions in the order of their ranks.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyzer/output/table.h"
#include "analyzer/score/ranking.h"

namespace rdam::output {

inline constexpr const char* kWaitsByDesign = " waiting, by design:";

/// `lines`: Table::lines() of `rows`. Scores from the threshold on stand out, but for what waits by design,
/// which stands below a line of its own.
template <typename Row>
std::vector<std::string> ranked_lines(const std::vector<std::string>& lines,
                                      const std::vector<std::reference_wrapper<const Row>>& rows,
                                      double threshold, const Style& style) {
    std::vector<std::string> out{style.bold(lines.front())};
    bool waiting = false;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Row& row = rows[i];
        const std::string& text = lines[i + 1];
        const score::Standing standing = score::standing(row);
        if (standing == score::Standing::by_design && !waiting) out.push_back(style.faint(kWaitsByDesign));
        waiting = standing == score::Standing::by_design;
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
