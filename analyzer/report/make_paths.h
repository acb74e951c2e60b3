// From the paths of the threads to those of the report.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/report/function_row.h"
#include "analyzer/report/group_loss.h"
#include "analyzer/report/report.h"
#include "analyzer/statistics/division.h"

namespace rdam::score {

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

}  // namespace rdam::score
