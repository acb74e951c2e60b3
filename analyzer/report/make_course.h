// From the courses of the threads to that of the report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/report/function_row.h"
#include "analyzer/report/group_loss.h"
#include "analyzer/report/report.h"
#include "analyzer/statistics/division.h"
#include "tools/trace/clock.h"

namespace rdam::score {

/// The time that the course is about: that of the run, from the first thread's start to the last one's end,
/// as far as it is in `window`. `end_of(t)`: when thread t ended. Empty: there is none.
trace::TickRange course_span(const trace::TraceInfo& info, const std::optional<trace::TickRange>& window,
                             const std::function<std::uint64_t(std::uint32_t)>& end_of);

/// Several functions may be asked about at the same time.
class CourseMaker {
  public:
    /// `context` must outlive it.
    explicit CourseMaker(const RowContext& context) : context_(context) {}

    /// The cells of a function, by thread and bin.
    std::vector<CourseCell> cells(const FunctionRow& row) const;
    /// Of the cells of all functions, in any order. Without a length if no thread has a CourseTally.
    Course course(std::vector<CourseCell> cells) const;

  private:
    using Bins = std::vector<LossPart>;  ///< of a function in a thread, ticks; none: it has no calls
    using Rests = std::unordered_map<std::size_t, LossRest>;  ///< by thread

    void add_part(const GroupLoss& loss, const GroupPart& part, bool in_windows, Rests& rests,
                  Bins& bins) const;
    void add_rest(std::uint32_t function, std::size_t thread, bool in_windows, const LossRest& rest,
                  Bins& bins) const;

    const RowContext& context_;
};

}  // namespace rdam::score
