// Traces whose threads run on several stacks, one after the other (fibers, coroutines): ends of calls belong
// to the calls that began on the same stack, in whatever thread, so each stack becomes a row of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::inputs {

/// The number of a stack of its own where it is not known which it is, because there are too many: what is on
/// it belongs together only up to the next switch.
inline constexpr std::uint64_t kSomeStack = 1U << 16U;

/// A number from here on is that of the stack on which the thread with the tid behind it began.
inline constexpr std::uint64_t kThreadStacks = std::uint64_t{1} << 31U;

/// Whether a thread of the trace switches its stack.
bool switches_stacks(const trace::TraceReader& reader);

/// The same trace in an unlinked temporary file, without switches: what was called on a stack of its own
/// (ThreadInfo::fiber) is a thread behind the threads of `reader`, from its first event to its last; what is
/// left to a thread is what was called on the stack that it began on, also by other threads.
///
/// - Pauses and times off the processors belong to the row that ran then.
/// - Instructions are unknown for calls during which the row did not run all the time.
/// - The number of counted calls (ThreadInfo::calls) is divided among the rows of a thread like the recorded
///   ones.
/// - A call without a mark that begins on an empty stack during a sampled call tree of its thread shares that
///   tree's fate, and is marked so.
/// - Where events are missing, every row that may have run there has a gap, as it is not known on which stack
///   the thread continued.
///
/// Memory: some kilobytes a row and some megabytes for each thread that shares stacks with another. `name` is
/// for messages. Errors: no room in the temporary file.
Result<trace::TraceReader> divide_into_rows(const trace::TraceReader& reader, const std::string& name,
                                            const Progress& progress);

// Which threads share stacks, so that their events must be read together.

struct StackSurvey {
    std::vector<std::vector<std::uint32_t>>
        groups;                                ///< every thread once, with all that share stacks with it
    std::unordered_set<std::uint64_t> shared;  ///< stacks on which several threads have run
    /// By tid: threads on whose stacks others have run, by their begins. A tid may be given twice.
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> lenders;
    std::unordered_set<std::uint32_t> lent;  ///< those threads

    /// The thread that began on the stack with this number, seen at `tsc`; nothing: none that is known.
    std::optional<std::uint32_t> lender(const trace::TraceInfo& info, std::uint64_t stack,
                                        std::uint64_t tsc) const;
};

/// Reads all events of threads that switch their stacks.
Result<StackSurvey> survey_stacks(const trace::TraceReader& reader);

}  // namespace rdam::inputs
