// What viewers with a timeline show: slices, within a budget.
//
// With a budget, the calls that lost most are kept, with the calls around them and with what other threads
// did during the very largest losses. All others are merged: for each thread and bin of time one slice that
// says how many there were and what they lost. The lost time of each bin is exact, kept calls included: a
// call's loss is in the bin in which it ends. The calls that are kept do not depend on the number of jobs.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/export/format.h"
#include "analyzer/export/processors.h"
#include "analyzer/views/visit.h"
#include "tools/base/unmovable.h"

namespace rdam::exports {

/// A wait that another thread ended, or what that one did to end waits. Nanoseconds since the run's start.
struct Waited {
    std::string name;                        ///< as Arrow::End
    std::int64_t begin = 0;                  ///< of the wait; of what ended it the same as `end`
    std::int64_t end = 0;                    ///< here arrows end or begin
    bool waits = false;                      ///< arrows end here
    double waited_ns = 0;                    ///< as Arrow
    std::vector<std::uint64_t> arrows = {};  ///< from 1 on; the other end has the same
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

/// Writes what belongs to one thread: all slices, then waits, then what is merged. A slice comes after those inside it.
class ThreadSlices {
  public:
    virtual ~ThreadSlices() = default;
    virtual void slice(const Slice& slice) = 0;
    virtual void off_cpu(std::int64_t begin, std::int64_t end, bool preempted) = 0;
    virtual void merged(const MergedCalls& calls) = 0;
    /// In the order of their begins, one around another one before it; only where Options::arrows has some.
    virtual void waited(const Waited& /*wait*/) {}
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

// The bins of time in which calls are merged.

/// Time in equal parts.
class Bins {
  public:
    Bins(const trace::TickRange& span, std::size_t count)
        : span_(span),
          count_(count),
          length_(static_cast<double>(span.end - span.begin) / static_cast<double>(count)),
          per_tick_(1 / length_) {}

    std::size_t count() const { return count_; }
    double length() const { return length_; }
    std::size_t of(std::uint64_t tsc) const {
        const double at = static_cast<double>(tsc - std::min(tsc, span_.begin)) * per_tick_;
        return std::min(static_cast<std::size_t>(at), count_ - 1);
    }
    std::uint64_t begin(std::size_t bin) const {
        return span_.begin + static_cast<std::uint64_t>(length() * static_cast<double>(bin));
    }

  private:
    trace::TickRange span_;
    std::size_t count_;
    double length_, per_tick_;
};

/// The time in each function, of one bin after the other.
class FunctionTimes {
  public:
    explicit FunctionTimes(std::size_t functions) : times_(functions, kNone) {}

    void add(std::uint32_t function, double time) {
        double& sum = times_[function];
        if (sum == kNone) {
            there_.push_back(function);
            sum = 0;
        }
        sum += time;
    }
    /// The function with most time, of equal ones the first. Nothing is known afterwards.
    std::uint32_t take_most() {
        std::ranges::sort(there_);
        const std::uint32_t most =
            *std::ranges::max_element(there_, {}, [&](std::uint32_t function) { return times_[function]; });
        for (const std::uint32_t function : there_)
            times_[function] = kNone;
        there_.clear();
        return most;
    }

  private:
    static constexpr double kNone = -1;

    std::vector<double> times_;         // by function
    std::vector<std::uint32_t> there_;  // those with a time
};

// Several threads write parts of an output at the same time; the sink gets the parts in their order.

/// Holds what comes before its turn, up to `most` bytes in all; who would exceed them waits until it is its
/// turn. Parts are begun in rising order, from 0 on, each by one thread. Thread-safe.
class InOrder {
  public:
    InOrder(Sink& sink, std::size_t most) : sink_(sink), most_(most) {}

    /// One part, which ends with it. Not thread-safe.
    class Part final : public Sink, private Unmovable {
      public:
        Part(InOrder& all, std::size_t number) : all_(all), number_(number) {}
        ~Part() override { all_.end(number_); }

        /// Error: that of the sink, for any of the parts.
        Result<void> write(std::string_view bytes) override { return all_.write(number_, bytes); }

      private:
        InOrder& all_;
        std::size_t number_;
    };

  private:
    struct Held {
        std::string bytes;
        bool over = false;
    };

    Result<void> write(std::size_t part, std::string_view bytes);
    void end(std::size_t part);
    void pass_on(std::string_view bytes);

    Sink& sink_;
    const std::size_t most_;
    std::mutex mutex_;
    std::condition_variable moved_;
    std::size_t turn_ = 0;              // the part that writes to the sink
    std::size_t bytes_ = 0;             // in held_
    std::map<std::size_t, Held> held_;  // of later parts
    std::optional<Error> error_;
};

}  // namespace rdam::exports
