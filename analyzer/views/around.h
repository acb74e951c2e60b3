// What every thread did around the calls that lost most, and who ran meanwhile: short windows of time, read again from
// the trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/calls/matcher.h"
#include "analyzer/report/report.h"
#include "tools/base/result.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"

namespace rdam::views {

/// A call, or several short ones of the same depth that came right after one another. Ticks.
struct Slice {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t function = 0;  ///< index into TraceInfo::functions; of merged ones, the one with most time
    std::uint32_t depth = 0;     ///< wrapped calls around it
    std::uint64_t calls = 1;     ///< above 1: merged
    bool marked = false;         ///< the call that the window is about
    bool open = false;           ///< not seen to end in what was read
};

/// Who had the processor of a thread that was preempted, as far as the context switches of other threads tell.
struct Meanwhile {
    static constexpr std::size_t kNotKnown = SIZE_MAX;

    std::uint16_t processor = trace::kNoCpu;  ///< that the thread had before; kNoCpu: not known
    std::size_t thread = kNotKnown;           ///< index into Report::threads: of several, who had it longest
    std::uint64_t ticks = 0;                  ///< for so long
};

/// One thread in the window.
struct Lane {
    std::size_t thread = 0;            ///< index into Report::threads
    std::vector<Slice> slices;         ///< by depth, then by time
    std::vector<trace::OffCpu> off;    ///< if context switches were recorded
    std::vector<Meanwhile> meanwhile;  ///< for each of `off`
    bool ran = false;                  ///< … and it was on a processor
};

struct Surroundings {
    std::size_t row = 0;     ///< index into Report::functions
    std::size_t thread = 0;  ///< index into Report::threads, of the call
    std::uint64_t call_begin = 0, call_end = 0;
    std::uint64_t begin = 0, end = 0;  ///< of the window
    double duration_ns = 0, lost_ns = 0;
    std::vector<Lane>
        lanes;  ///< the call's thread first, then those with most time in calls, then others that ran
    std::size_t left_out = 0;  ///< threads that ran or have calls in the window, and have no lane
    bool shortened = false;    ///< the window begins inside the call: more would take too long to read
};

struct Limits {
    std::size_t most = 12;             ///< windows
    std::size_t of_function = 3;       ///< windows about the same function
    std::size_t lanes = 16;            ///< of a window
    std::size_t columns = 400;         ///< what is shorter than window / columns is merged
    std::uint64_t events = 1'000'000;  ///< read for a window
    unsigned jobs = 0;                 ///< threads that read; 0: one per processor
};

/// The windows for the largest losses among the samples of `report`, largest first: the
/// first one, and others as long as no more than half of the trace has to be read again, or Limits::events.
/// Reads at most Limits::most × Limits::events events and some chunks more; memory for the lanes of as many
/// threads as read at a time beside the result. Errors: those of TraceReader.
Result<std::vector<Surroundings>> surroundings(const trace::TraceReader& reader, const score::Report& report,
                                               const Limits& limits);

// One thread in a window of time.

/// The calls that reach into `part`, as far as the chunks of events that do so tell: a call that began in an
/// earlier chunk is not known. Slices shorter than the part / `columns` are merged with their neighbours of
/// the same depth; beyond kMaxDepth they are left out. Takes memory for kMaxDepth × 2 × `columns` slices.
inline constexpr std::uint32_t kMaxDepth = 10;
Result<Lane> read_lane(const trace::TraceReader& reader, const calls::KnownEnds& ends, std::uint32_t thread,
                       const trace::TimePart& part, std::size_t columns);

/// A thread's times off the processor that reach into `part`, without those shorter than the part / `columns`.
/// `intervals` are those of TraceReader::off_cpu().
std::vector<trace::OffCpu> within(std::span<const trace::OffCpu> intervals, const trace::TimePart& part,
                                  std::size_t columns);

}  // namespace rdam::views
