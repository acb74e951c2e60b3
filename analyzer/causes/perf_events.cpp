#include "analyzer/causes/perf_events.h"

#include <algorithm>
#include <array>

#include "analyzer/causes/row_sums.h"
#include "analyzer/causes/text_lines.h"
#include "wrappers/list/perf_columns.h"
#include "wrappers/list/perf_text.h"

namespace rdam::causes {
namespace {

/// `anon group { cache-misses, cycles }` and `anon group { cache-misses, … }`: its first event.
std::string first_of_group(const std::string& event) {
    const auto open = event.find('{');
    if (open == std::string::npos) return event;
    const auto begin = event.find_first_not_of(' ', open + 1);
    if (begin == std::string::npos) return event;
    return event.substr(begin, event.find_first_of(" ,}", begin) - begin);
}

CauseReport report_of(const PerfReport& perf) {
    CauseReport report{
        .tool = "perf report", .label = first_of_group(perf.event), .unit = "%", .file = {}, .rows = {}};
    if (report.label.empty()) report.label = "samples";
    report.disturbs = !counts_work(report.label);
    report.total = 100;
    RowSums sums;
    for (const PerfRow& row : perf.rows) {
        if (row.symbol.starts_with("0x")) continue;  // an address that perf knows no function for
        const RowSums::Place place{
            .function = std::string{row.symbol}, .module = std::string{row.module}, .file = {}};
        sums.add_own(place, row.self);
        sums.add_callees(place, std::max(0.0, row.children - row.self));
    }
    report.rows = sums.rows(report.total);
    return report;
}

}  // namespace

bool counts_work(std::string_view event) {
    constexpr std::array<std::string_view, 8> kWork = {"cpu-clock",  "task-clock",   "cycles",   "cpu-cycles",
                                                       "ref-cycles", "instructions", "branches", "samples"};
    const auto pmu = event.find('/');
    if (pmu != std::string_view::npos) event.remove_prefix(pmu + 1);
    event = event.substr(0, event.find_first_of(":/,"));
    return std::ranges::find(kWork, event) != kWork.end();
}

bool is_perf_events(std::string_view text) {
    // A report that is refused for a reason of its own (--hierarchy, -q) is still one.
    TextLines lines{text};
    std::string_view line;
    while (lines.next(line))
        if (PerfColumns::looks_like_titles(without_colours(line)) || line.starts_with("# Samples: "))
            return true;
    return false;
}

CauseReports parse_perf_events_text(std::string_view text, std::string_view origin) {
    const std::string plain = without_colours(text);
    const auto events = parse_perf_events(plain, origin);
    if (!events) return tl::unexpected{events.error()};
    std::vector<CauseReport> reports;
    for (const PerfReport& event : *events)
        reports.push_back(report_of(event));
    return reports;
}

}  // namespace rdam::causes
