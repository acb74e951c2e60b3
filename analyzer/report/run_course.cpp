#include "analyzer/report/run_course.h"

#include <algorithm>

namespace rdam::score {
namespace {

using Sums = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;  // by function and bin

std::vector<RunCourseCell> cells_of(const Sums& sums) {
    std::vector<RunCourseCell> cells;
    cells.reserve(sums.size());
    for (const auto& [place, lost] : sums)
        cells.push_back({.function = place.first, .bin = place.second, .lost_ns = lost});
    return cells;
}

/// A loss between two moments of the run, divided among its bins.
void spread(double begin, double end, double bin_ns, const RunCourseCell& cell, Sums& sums) {
    const auto bin_at = [&](double ns) {
        return static_cast<std::uint32_t>(std::clamp(ns / bin_ns, 0.0, double{Course::kBins - 1}));
    };
    const std::uint32_t first = bin_at(begin), last = bin_at(end);
    for (std::uint32_t bin = first; bin <= last; ++bin) {
        const double from = bin == first ? begin : bin * bin_ns;
        const double to = bin == last ? end : (bin + 1) * bin_ns;
        const double share = end > begin ? (to - from) / (end - begin) : 1;
        if (share > 0) sums[{cell.function, bin}] += cell.lost_ns * share;
    }
}

}  // namespace

RunCourse::RunCourse(double begin_unix_ns, double end_unix_ns, std::size_t most)
    : begin_unix_ns_(begin_unix_ns),
      bin_ns_(std::max(end_unix_ns - begin_unix_ns, 1.0) / Course::kBins),
      most_(std::max<std::size_t>(most, 1)) {}

void RunCourse::add(const Report& report, double start_unix_ns) {
    std::map<std::uint32_t, const FunctionRow*> by_function;
    for (const FunctionRow& row : report.functions)
        by_function.emplace(row.function, &row);
    RunCourseRow row{.process = processes_++, .lost_ns = 0, .cells = {}};
    Sums sums;
    const double since_run = start_unix_ns - begin_unix_ns_;
    for (const CourseCell& cell : report.course.cells) {
        const auto found = by_function.find(cell.function);
        if (found == by_function.end() || !(cell.lost_ns > 0)) continue;
        const FunctionRow& function = *found->second;
        const auto [number, is_new] = numbers_.try_emplace(Name{function.module, function.name},
                                                           static_cast<std::uint32_t>(functions_.size()));
        if (is_new) functions_.push_back(number->first);
        const double begin = since_run + report.course.begin_ns + cell.bin * report.course.bin_ns;
        spread(begin, begin + report.course.bin_ns, bin_ns_,
               {.function = number->second, .lost_ns = cell.lost_ns}, sums);
        if (function.by_design.empty()) row.lost_ns += cell.lost_ns;
    }
    row.cells = cells_of(sums);
    rows_.push_back(std::move(row));
    if (rows_.size() >= 2 * most_) keep_most();
}

void RunCourse::finish() {
    keep_most();
    std::ranges::sort(rows_, {}, &RunCourseRow::process);
}

void RunCourse::keep_most() {
    if (rows_.size() <= most_) return;
    std::ranges::stable_sort(rows_, std::ranges::greater{}, &RunCourseRow::lost_ns);
    Sums sums;
    for (const RunCourseCell& cell : rest_)
        sums[{cell.function, cell.bin}] += cell.lost_ns;
    for (std::size_t i = most_; i < rows_.size(); ++i)
        for (const RunCourseCell& cell : rows_[i].cells)
            sums[{cell.function, cell.bin}] += cell.lost_ns;
    rest_ = cells_of(sums);
    rows_.resize(most_);
}

}  // namespace rdam::score
