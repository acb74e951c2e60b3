// When, and on which path, time was lost: what the groups of a function lost in each thread, as it is in the
// function's row, is divided among the bins of the course and the paths.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analyzer/report/function_row.h"
#include "analyzer/report/report.h"
#include "analyzer/sequences/sequence_store.h"
#include "analyzer/statistics/division.h"
#include "tools/trace/clock.h"

namespace rdam::score {

/// Recorded calls (weighted), their durations, and what they lost against `base`. Ticks.
struct RecordedLoss {
    double calls = 0;
    double time = 0;
    double base = 0;
    double lost = 0;
};

/// Calls that stand for equally many each.
struct GroupPart {
    RecordedLoss outermost;  ///< whole durations of the outermost calls
    RecordedLoss self;       ///< self times of all calls that have one
    double stands_for = 1;   ///< calls, each of them
    double said = 1;  ///< … and the part of their loss that is reported (ThreadLoss::said), so many times
};

/// A group in one thread.
struct GroupLoss {
    std::size_t thread = 0;        ///< of RowContext::threads
    sequences::GroupId group = 0;  ///< in ThreadTimes::groups
    GroupPart usual;               ///< calls that were all recorded, or as trees
    GroupPart in_windows;          ///< of a function that is sampled in windows
};

/// `row` is the function's. Over all of them, Σ said × outermost.lost of both parts is row.lost_ns.
std::vector<GroupLoss> group_losses(const RowContext& context, const FunctionRow& row);

// From the paths of the threads to those of the report.

/// Several functions may be added at the same time.
class PathMaker {
  public:
    /// `context` must outlive it.
    explicit PathMaker(const RowContext& context);

    /// Each function that has calls, once.
    void add(const FunctionRow& row);
    /// After all of them.
    PathTree tree() const;

  private:
    /// Ticks; of one path of a thread.
    struct Totals {
        double time = 0;
        double self = 0;
        double lost = 0;
        double lost_self = 0;
    };
    /// The calls of a function in a thread that had no room, usual ones or those in windows.
    struct Rest {
        LossRest outermost;
        LossRest self;
    };
    struct Parts {
        std::vector<const PathCalls*> calls;
        std::vector<LossPart> outermost;
        std::vector<LossPart> self;
    };
    using Rests = std::unordered_map<std::size_t, Rest>;  ///< by thread

    void prepare(std::size_t thread);
    void add_part(const GroupLoss& loss, const GroupPart& part, bool in_windows, Rests& rests, Parts& parts);
    void add_rest(std::uint32_t function, std::size_t thread, bool in_windows, const Rest& rest);
    double calls_of(std::size_t thread, const Path& path) const;

    const RowContext& context_;
    std::vector<std::vector<Totals>> totals_;        // by thread and path
    std::vector<std::vector<std::uint32_t>> rests_;  // by thread: the paths with a rest, by function
};

/// The tree of a report that shows some functions: nodes of others are left only where one of these is below
/// them, and have no numbers of their own.
void show_only(const std::vector<bool>& shown, PathTree& tree);

// From the courses of the threads to that of the report.

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
    std::vector<CourseCover> covers(const trace::TickRange& range) const;

    using Bins = std::vector<LossPart>;  ///< of a function in a thread, ticks; none: it has no calls
    using Rests = std::unordered_map<std::size_t, LossRest>;  ///< by thread

    void add_part(const GroupLoss& loss, const GroupPart& part, bool in_windows, Rests& rests,
                  Bins& bins) const;
    void add_rest(std::uint32_t function, std::size_t thread, bool in_windows, const LossRest& rest,
                  Bins& bins) const;

    const RowContext& context_;
};

}  // namespace rdam::score
