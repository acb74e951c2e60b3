// What the groups of a function lost in each thread, as it is in the function's row, for those who divide it.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/report/function_row.h"
#include "analyzer/report/report.h"
#include "analyzer/sequences/sequence_store.h"

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
    std::size_t thread = 0;     ///< of RowContext::threads
    mining::GroupId group = 0;  ///< in ThreadTimes::groups
    GroupPart usual;            ///< calls that were all recorded, or as trees
    GroupPart in_windows;       ///< of a function that is sampled in windows
};

/// `row` is the function's. Over all of them, Σ said × outermost.lost of both parts is row.lost_ns.
std::vector<GroupLoss> group_losses(const RowContext& context, const FunctionRow& row);

}  // namespace rdam::score
