#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/causes/readers.h"
#include "analyzer/causes/row_sums.h"
#include "tools/base/text_lines.h"
#include "wrappers/perf/report_text.h"

namespace rdam::causes {
namespace {

/// The events in `anon group { cache-misses, cycles }` or `cache-misses`; never empty.
std::vector<std::string> events_of(std::string event) {
    const auto open = event.find('{');
    if (open == std::string::npos) return {event.empty() ? "samples" : std::move(event)};
    std::vector<std::string> events;
    constexpr auto kBetween = " ,}";
    for (auto begin = event.find_first_not_of(kBetween, open + 1); begin != std::string::npos;
         begin = event.find_first_not_of(kBetween, begin)) {
        // A PMU's event has commas of its own: cpu/event=0x2e,umask=0x41/
        const auto end = std::min(event.find_first_of(" }", begin), event.size());
        events.push_back(event.substr(begin, end - begin));
        if (events.back().ends_with(',')) events.back().pop_back();
        begin = end;
    }
    if (events.empty()) events.emplace_back("samples");
    return events;
}

/// What the row says of event `number` of its table.
PerfShare share_of(const PerfRow& row, std::size_t number) {
    if (number == 0) return {row.self, row.children};
    return number <= row.others.size() ? row.others[number - 1] : PerfShare{};
}

void add_line(const PerfRow& row, double self, std::vector<LineShare>& lines) {
    const auto place = place_in(row.source);
    if (!place || place->line == 0) return;
    const LineShare line{.function = std::string{row.symbol},
                         .module = std::string{row.module},
                         .file = std::string{place->file},
                         .line = place->line,
                         .share = std::min(1.0, self / 100)};
    lines.push_back(line);
}

/// Whether an event (`cycles:ppp`, `cpu_core/instructions/`) shows where the program works, not what disturbs
/// it.
bool counts_work(std::string_view event) {
    constexpr std::array<std::string_view, 8> kWork = {"cpu-clock",  "task-clock",   "cycles",   "cpu-cycles",
                                                       "ref-cycles", "instructions", "branches", "samples"};
    const auto pmu = event.find('/');
    if (pmu != std::string_view::npos) event.remove_prefix(pmu + 1);
    event = event.substr(0, event.find_first_of(":/,"));
    return std::ranges::find(kWork, event) != kWork.end();
}

CauseReport report_of(const PerfReport& perf, std::size_t number, const std::string& event) {
    CauseReport report{.tool = "perf report", .label = event, .unit = "%", .file = {}, .rows = {}};
    report.disturbs = !counts_work(report.label);
    report.total = 100;
    RowSums sums;
    for (const PerfRow& row : perf.rows) {
        if (row.symbol.starts_with("0x")) continue;  // an address that perf knows no function for
        const PerfShare share = share_of(row, number);
        const RowSums::Place place{
            .function = std::string{row.symbol}, .module = std::string{row.module}, .file = {}};
        sums.add_own(place, share.self);
        sums.add_callees(place, std::max(0.0, share.children - share.self));
        add_line(row, share.self, report.lines);
    }
    report.rows = sums.rows(report.total);
    return report;
}

}  // namespace

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
    for (const PerfReport& table : *events) {
        std::size_t columns = 1;
        for (const PerfRow& row : table.rows)
            columns = std::max(columns, 1 + row.others.size());
        const std::vector<std::string> names = events_of(table.event);
        for (std::size_t i = 0; i < std::min(columns, names.size()); ++i)
            reports.push_back(report_of(table, i, names[i]));
    }
    return reports;
}

}  // namespace rdam::causes
