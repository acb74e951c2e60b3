// What the readers of other tools' traces fill: a trace as rdam's own, in an unlinked temporary file
// ($TMPDIR). A copy is needed because an analysis reads a trace thread by thread and more than once, while
// these formats have the events of all threads in one stream, compressed or as text.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"
#include "tools/base/units.h"
#include "tools/base/unmovable.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::inputs {

/// Called now and then while a trace is read: how much of it has been, in units of the reader's choice, of
/// how much (0: not known). May throw to stop the reader.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// In which order the events of a thread are given.
enum class Order : std::uint8_t {
    of_time,  ///< one that is earlier than the one before is an error of the reader (see disordered())
    any,  ///< sorted by time at the end; those of equal time keep their order. Takes about 40 bytes of memory
          ///< an event
};

class TraceBuilder;

/// Descriptors of one file without a name: that of a trace which is made of another one.
struct TemporaryTrace {
    int to_write = -1;
    int to_read = -1;

    /// Messages call the trace `name`.
    static Result<TemporaryTrace> create(const std::string& name);
};

/// The events of one thread. Times are ticks from any origin; 0 is one, too. What could not be taken as it
/// stands (a leave without a call, more than kMaxOpen calls inside each other) is counted, and finish() makes
/// remarks of it. Not thread-safe; different threads may be filled at the same time, but no function or
/// thread may be added meanwhile. Errors (no room in the temporary file) are kept: see
/// TraceBuilder::finish().
class ThreadBuilder : private Unmovable {
  public:
    /// No stack of calls is as deep.
    static constexpr std::size_t kMaxOpen = std::size_t{1} << 16;

    ~ThreadBuilder();

    /// A call of `function` begins at `time` (ticks). `words`: exactly FunctionInfo::enter_words, of any kind
    /// as 64 bits (put_value()). `cpu`: trace::kNoCpu where it is not known.
    void enter(std::uint64_t time, std::uint32_t function, std::span<const std::uint64_t> words = {},
               std::uint16_t cpu = trace::kNoCpu);
    /// The innermost open call ends. `words`: FunctionInfo::leave_words of its function, or none: they are 0.
    void leave(std::uint64_t time, std::span<const std::uint64_t> words = {},
               std::uint16_t cpu = trace::kNoCpu);
    /// The innermost open call of `function` ends, and those inside it with it, at unknown times.
    void leave_function(std::uint64_t time, std::uint32_t function, std::span<const std::uint64_t> words = {},
                        std::uint16_t cpu = trace::kNoCpu);
    /// As leave_function(), but if no call of `function` is open, the innermost ends: the program may have
    /// renamed it while it ran. `words` are lost then.
    void leave_renamed(std::uint64_t time, std::uint32_t function, std::span<const std::uint64_t> words = {},
                       std::uint16_t cpu = trace::kNoCpu);
    /// The thread was held by its recorder: calls do not count that time. It may begin before the last
    /// event.
    void pause(std::uint64_t begin, std::uint64_t end);
    /// All open calls but the outermost `kept` have ended, by longjmp() or the like, before `time`; at that
    /// time, unless ProcessInfo::unwound_unseen is set.
    void unwind(std::uint64_t time, std::size_t kept);
    /// Events of the thread are missing here: calls that are open cannot be trusted.
    void gap();
    /// In the order of `out`, not overlapping.
    void off_cpu(const trace::OffCpu& interval);

    /// When the thread began and ended (ticks). Default: with its first event, and with the whole trace.
    void began(std::uint64_t time);
    void ended(std::uint64_t time);
    /// No event is likely to come: its memory can be used for other threads.
    void release();
    /// With Order::any these are what was given so far, in the order in which it was given.
    std::size_t depth() const;
    std::uint32_t innermost() const;  ///< the function of the innermost open call; depth() must not be 0
    std::uint64_t last_time() const;  ///< of an event; 0: there was none
    /// With Order::of_time: an event was earlier than the one before. The reader has to begin again with
    /// Order::any, or to sort by itself; finish() refuses such a trace.
    bool disordered() const;

  private:
    friend class TraceBuilder;
    struct State;
    explicit ThreadBuilder(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// A builder is used by one thread, except for the ThreadBuilders.
class TraceBuilder {
  public:
    /// `name` of the trace, for messages.
    static Result<TraceBuilder> create(std::string name, Order order = Order::of_time);
    ~TraceBuilder();
    TraceBuilder(TraceBuilder&&) noexcept;
    TraceBuilder& operator=(TraceBuilder&&) noexcept;
    TraceBuilder(const TraceBuilder&) = delete;
    TraceBuilder& operator=(const TraceBuilder&) = delete;

    const std::string& name() const;
    Order order() const;

    /// To be filled in: process (recorder, command, host, pid where they are known), clock (set_clock() does
    /// most), remarks, dropped. Functions, threads and objects are added by the functions below; names may be
    /// changed until finish(). `switches` are taken as recorded if there is any off_cpu(), otherwise as not
    /// told by the trace, unless a reader says more.
    trace::TraceInfo& info();

    /// `step`: ticks by which the clock moves at a time; 0: not known.
    void set_clock(std::string_view source, double ticks_per_second, std::uint64_t step);

    /// The number of the object with this path; "" is one, too.
    std::uint32_t object(std::string_view path);
    /// Adds a function. Each parameter and the result has one 64-bit word, numbered here. What the catalogue
    /// knows of its linkage name is added, unless it has FunctionInfo::any_name.
    std::uint32_t add_function(trace::FunctionInfo function);

    /// Adds a thread. A tid that is 0, or that another thread has, becomes the lowest that none has.
    ThreadBuilder& add_thread(std::string name, std::uint32_t tid = 0);
    ThreadBuilder& thread(std::uint32_t index);  ///< in the order in which they were added, from 0
    std::size_t threads() const;

    /// A number for a text that is the value of a text_parameter(), from 1 in order of first appearance; 0:
    /// there were a million of them, or it is longer than 4 KiB. The trace keeps the first texts, a megabyte
    /// of them. Thread-safe.
    std::uint64_t text(std::string_view text);

    /// Ends the trace and opens it. Errors: no room in the temporary file, no thread has a call, events out
    /// of order.
    Result<trace::TraceReader> finish() &&;

  private:
    friend class ThreadBuilder;
    friend class ApartBuilder;
    TraceBuilder();
    static Result<TraceBuilder> on(TemporaryTrace file, std::string name, Order order);
    Result<void> write();
    struct State;
    std::unique_ptr<State> state_;
};

/// The 64 bits of a recorded word.
inline std::uint64_t put_value(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}
inline std::uint64_t put_value(std::uint64_t value) {
    return value;
}
inline std::uint64_t put_value(double value) {
    return std::bit_cast<std::uint64_t>(value);
}

/// A parameter of 8 bytes. `type` is for people.
trace::ParameterInfo parameter(std::string name, ValueKind kind, std::string type);
/// One whose words are those of TraceBuilder::text(): of the type "text".
trace::ParameterInfo text_parameter(std::string name);

// What a reader has to say of a trace, in sentences that become notes of the report.

/// "One `of_one`." or "12 `of_several`."; nothing if there is none.
inline void add_remark(std::vector<std::string>& remarks, std::uint64_t count, std::string_view of_one,
                       std::string_view of_several) {
    if (count == 1) remarks.push_back(fmt::format("One {}.", of_one));
    if (count > 1) remarks.push_back(fmt::format("{} {}.", grouped(count), of_several));
}

/// Of calls that ended under another name: ThreadBuilder::leave_renamed().
inline void add_renamed_remark(std::vector<std::string>& remarks, std::uint64_t count) {
    add_remark(remarks, count,
               "call ends as another function than it began as: it counts as the one that began",
               "calls end as other functions than they began as: they count as those that began");
}

/// The file is one that `rdam export` has written.
inline void note_export(trace::TraceInfo& info) {
    info.remarks.emplace_back(
        "rdam exported this file for viewers: it does not say what recording cost, nor which calls it left "
        "out, so counts and scores may differ from those of the trace itself.");
    info.switches.reason = "or are not read, as the file is an export";
}

}  // namespace rdam::inputs
