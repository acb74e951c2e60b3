#include "analyzer/causes/hot_lines.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analyzer/causes/function_names.h"

namespace rdam::causes {
namespace {

using Lines = std::map<std::pair<std::string, std::uint32_t>, double>;  // file and line, share

/// By function.
std::map<std::uint32_t, Lines> lines_of(const CauseReport& report, const FunctionNames& names) {
    std::map<std::uint32_t, Lines> found;
    for (const LineShare& line : report.lines)
        for (const std::uint32_t function : names.find(line.function, line.module))
            found[function][{line.file, line.line}] += line.share;
    return found;
}

}  // namespace

void add_hot_lines(const std::vector<CauseReport>& reports, const trace::TraceInfo& info,
                   score::Report& report) {
    const auto tells = [](const CauseReport& each) { return !each.disturbs && !each.lines.empty(); };
    const auto found = std::ranges::find_if(reports, tells);
    if (found == reports.end()) return;
    const auto lines = lines_of(*found, FunctionNames{info.functions});
    std::map<std::uint32_t, double> shares;
    for (const auto& [function, theirs] : lines)
        for (const auto& [place, share] : theirs)
            shares[function] += share;
    for (score::FunctionRow& row : report.functions) {
        const auto theirs = lines.find(row.function);
        if (theirs == lines.end() || !(shares[row.function] > 0)) continue;
        const auto hottest =
            std::ranges::max_element(theirs->second, {}, [](const auto& line) { return line.second; });
        row.hot_line = score::HotLine{.file = hottest->first.first,
                                      .line = hottest->first.second,
                                      .share = hottest->second / shares[row.function]};
    }
}

}  // namespace rdam::causes
