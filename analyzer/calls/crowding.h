// Threads of the program that displace each other, because more of them are runnable than there are
// processors. Waiting for a turn is not interference: the thread has its share of a processor.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tools/base/result.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"

namespace rdam::calls {

/// When the program had each processor, with any of its threads. After seal(), const methods may be called by
/// several threads. Takes 24 bytes for each change between the program and others, and during construction
/// for each context switch.
class ProgramProcessors {
  public:
    /// A change from one thread to another takes so many ticks: a gap that is not longer is none.
    explicit ProgramProcessors(std::uint64_t change) : change_(change) {}

    /// A thread that was off the processors in `intervals`, as TraceReader::off_cpu() gives them. Its time
    /// before the first and after the last counts for nothing: where it was is not known, or not for how
    /// long.
    void add(std::span<const trace::OffCpu> intervals);
    void seal();

    /// The same intervals of one of the threads; of those in which it was preempted, what the program had
    /// its processor for comes apart and has OffCpu::by_program set.
    std::vector<trace::OffCpu> marked(std::span<const trace::OffCpu> intervals) const;

  private:
    struct Span {
        std::uint64_t begin = 0, end = 0;
        std::uint32_t thread = 0;  ///< that had it last
    };

    std::uint64_t change_;
    std::uint32_t threads_ = 0;
    std::map<std::uint16_t, std::vector<Span>> spans_;  ///< by processor
};

/// The times off the processors of the threads of a trace, marked like that.
class Absences {
  public:
    /// Reads the context switches of all threads once, if there are any. `reader` must outlive it. Errors: of
    /// TraceReader::off_cpu().
    static Result<Absences> of(const trace::TraceReader& reader);

    /// Thread-safe. Errors: of TraceReader::off_cpu().
    Result<std::vector<trace::OffCpu>> thread(std::uint32_t thread) const;

  private:
    Absences(const trace::TraceReader& reader, std::uint64_t change) : reader_(&reader), program_(change) {}

    const trace::TraceReader* reader_;
    ProgramProcessors program_;
};

}  // namespace rdam::calls
