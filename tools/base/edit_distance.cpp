#include "tools/base/edit_distance.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rdam {

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    if (gap > limit) return limit + 1;
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t column = 0; column <= b.size(); ++column)
        last[column] = column;
    for (std::size_t line = 1; line <= a.size(); ++line) {
        row[0] = line;
        std::size_t smallest = row[0];
        for (std::size_t column = 1; column <= b.size(); ++column) {
            const std::size_t replace = last[column - 1] + (a[line - 1] == b[column - 1] ? 0 : 1);
            row[column] = std::min({last[column] + 1, row[column - 1] + 1, replace});
            const bool swapped =
                line > 1 && column > 1 && a[line - 1] == b[column - 2] && a[line - 2] == b[column - 1];
            if (swapped) row[column] = std::min(row[column], before[column - 2] + 1);
            smallest = std::min(smallest, row[column]);
        }
        if (smallest > limit) return limit + 1;
        std::swap(before, last);
        std::swap(last, row);
    }
    return std::min(last[b.size()], limit + 1);
}

}  // namespace rdam
