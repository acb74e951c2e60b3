// What viewers with a timeline show: slices, within a budget.
//
// With a budget, the calls that lost most are kept, with the calls around them and with what other threads
// did during the very largest losses. All others are merged: for each thread and bin of time one slice that
// says how many there were and what they lost. The lost time of each bin is exact, kept calls included: a
// call's loss is in the bin in which it ends. The calls that are kept do not depend on the number of jobs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/export/processors.h"
#include "analyzer/views/visit.h"

namespace rdam::formats {

/// An end of an arrow, in the slice that it is given with.
struct ArrowEnd {
    std::uint64_t id = 0;  ///< from 1 on; the other end has the same
    bool is_begin = false;
    std::uint32_t function = 0;
    std::uint64_t tsc = 0;  ///< ticks
    std::int64_t at = 0;    ///< nanoseconds since the run's start
};

/// Nanoseconds since the run's start.
struct Slice {
    std::uint32_t function = 0;
    std::uint32_t depth = 0;  ///< slices around it
    std::int64_t begin = 0, end = 0;
    double lost = 0, baseline = 0;
    double self = 0, lost_self = 0;  ///< 0: not known (views::Closed)
    bool scored = false;             ///< `lost` and `baseline` are known
    std::uint64_t weight = 1;        ///< it stands for so many calls
    calls::End how = calls::End::returned;
    std::span<const std::uint64_t> words;   ///< parameters
    const std::uint64_t* result = nullptr;  ///< null: none
    std::vector<ArrowEnd> arrows = {};

    /// How it ended, if that is worth a word; empty: as most calls do.
    std::string odd_end() const {
        const bool odd = how == calls::End::unwound || how == calls::End::not_seen;
        return odd ? std::string{calls::word_of(how)} : std::string{};
    }
};

/// The calls of a bin that are no slices of their own.
struct MergedCalls {
    std::int64_t begin = 0, end = 0;
    std::uint64_t calls = 0;
    std::uint64_t weight = 0;  ///< they stand for so many
    double lost = 0;
    double time = 0;  ///< in the outermost of them
    double self = 0, lost_self = 0;
    std::uint32_t function = 0;  ///< the one with most time
};

/// A value from a time on.
struct CounterPoint {
    std::int64_t at = 0;
    double value = 0;
};

/// Writes what belongs to one thread: all slices before what is merged. A slice comes after those inside it.
class ThreadSlices {
  public:
    virtual ~ThreadSlices() = default;
    virtual void slice(const Slice& slice) = 0;
    virtual void off_cpu(std::int64_t begin, std::int64_t end, bool preempted) = 0;
    virtual void merged(const MergedCalls& calls) = 0;
    /// Nanoseconds lost in the thread, by bin; of equal ones after one another the first.
    virtual void lost(std::span<const CounterPoint> points) = 0;
    /// Nothing comes after it.
    virtual void end() {}
};

/// Writes a file: begin(), the threads, then the rest.
class SliceWriter {
  public:
    virtual ~SliceWriter() = default;
    virtual void begin(Buffer& out) = 0;
    /// Thread-safe, unless one_by_one(): several threads are written at the same time, each to an `out` of
    /// its own. Their order in the file is that of their numbers.
    virtual std::unique_ptr<ThreadSlices> thread(std::uint32_t thread, Buffer& out) = 0;
    virtual bool one_by_one() const { return false; }
    /// How many threads were inside calls, on average, in the same way as ThreadSlices::lost().
    virtual void inside(std::span<const CounterPoint> points, Buffer& out) = 0;
    /// Whether processor() is to be called.
    virtual bool draws_processors() const { return true; }
    /// What ran on a processor; after the threads, one processor after the other.
    virtual void processor(std::span<const OnProcessor> /*calls*/, Buffer& /*out*/) {}
    virtual void end(Buffer& out) = 0;
};

/// Memory: about 256 MB for what is not yet its thread's turn to be written, and the bins of a thread for
/// each job.
Result<Written> write_slices(const views::Visit& visit, const Options& options, SliceWriter& writer,
                             Sink& sink);

}  // namespace rdam::formats
