// The one loop that reads a thread of a trace: everybody who looks at calls is a sink of it.
//
//   trace::TraceReader → OffCpuPauses → EventWindow → sink
//
// A sink that has take_trees() gets the packs of a whole thread as columns first, and only what it does not take
// of them event by event.
//
// A sink has consume(events) and gap(), neither of them virtual. It matches the events itself, as it is the
// sink of its BasicMatcher: score::ThreadAnalysis, and what derives from views::ThreadSequences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/calls/matcher.h"
#include "tools/base/result.h"
#include "tools/trace/clock.h"
#include "tools/trace/event.h"
#include "tools/trace/reader.h"

namespace rdam::calls {

// A part of a run: which events of a thread are inside it, and which calls only partly.
//
// A call that enters before the window or leaves after it is *cut off*: its own events inside the window are
// left out with it (except if it begins inside: it then counts as a call that was not seen to end), and so
// are tail calls within a frame that began before. Calls inside a cut-off call are judged separately: those
// that are completely inside the window are passed on, with the weight of their sampled call tree, as if no
// call enclosed them.

/// The part of a thread's life in `range`; where an end of its life is not known, up to that of the range.
trace::TickRange life_in(const trace::ThreadInfo& thread, const trace::TickRange& range);

/// For one thread. Time per event is constant (amortized); memory grows with the nesting.
class EventWindow {
  public:
    /// Event::function must be below `functions`. Calls of functions in `ignored` (it may be shorter) do not
    /// count as cut off.
    EventWindow(trace::TickRange range, std::size_t functions, std::vector<bool> ignored);

    /// What of `events` is to be analyzed. Valid until the next call, and as long as `events`.
    std::span<const trace::Event> inside(std::span<const trace::Event> events);

    /// Events are missing here. Returns whether the analysis is to know.
    bool gap();

    /// Calls that began before the window and were open when it began. Those open at its end are the ones
    /// that the matcher sees abandoned at the end, if `reaches_end()`.
    std::uint64_t cut_at_begin() const { return cut_at_begin_; }
    bool begins_before() const { return begins_before_; }  ///< there was an event before the window
    bool reaches_begin() const { return reaches_begin_; }  ///< there was one in it or behind it
    bool reaches_end() const { return reaches_end_; }      ///< there was one behind it

  private:
    struct Frame {
        std::uint32_t function = 0;
        std::uint8_t sampling = 0;  ///< as Event::sampling, of its tree
        bool tail = false;
        bool passed_on = false;
    };

    void see(std::uint64_t tsc);
    bool passes(trace::Event& event);
    bool enter(trace::Event& event);
    bool tail_enter(trace::Event& event);
    bool leave(const trace::Event& event);
    bool clip_pause(trace::Event& event) const;
    void pop();

    trace::TickRange range_;
    std::vector<bool> ignored_;
    std::vector<Frame> stack_;
    std::vector<std::uint32_t> open_frames_;  ///< by function; tail calls have none
    std::vector<trace::Event> kept_;
    std::uint64_t cut_at_begin_ = 0;
    bool begins_before_ = false;
    bool reaches_begin_ = false;
    bool reaches_end_ = false;
};

// Times in which the recorder's threads, or other threads of the program, occupied a thread's processor, as
// pauses among the thread's events.

/// Works on one thread. The matcher, or a window in front of it, gets the output instead of the events.
class OffCpuPauses {
  public:
    /// `intervals` as returned by Absences::thread(); they must outlive this object. Intervals caused by
    /// other programs, or by the thread itself, are skipped. An event with a timestamp above `latest`
    /// (KnownEnds) has no valid time.
    OffCpuPauses(std::span<const trace::OffCpu> intervals, std::uint64_t latest);

    /// `events`, and in front of each the pauses that began before it. Valid until the next call, and as long
    /// as `events`.
    std::span<const trace::Event> among(std::span<const trace::Event> events);

    /// Whether among() may return more than events with these timestamps.
    bool due_among(std::span<const std::uint64_t> tsc) const {
        return next_ < pauses_.size() && pauses_[next_].tsc < std::ranges::max(tsc);
    }

    /// The pauses after the last event. Valid as long as this object.
    std::span<const trace::Event> rest();

    /// Counts the ticks for which the thread was off-CPU during the pauses among `events` in which the
    /// recorder held it to work, not to wait. Adds up over calls, which must be in the order of time.
    void note_pauses(std::span<const trace::Event> events);
    std::uint64_t off_cpu_in_pauses() const { return off_cpu_in_pauses_; }

  private:
    bool due(const trace::Event& event) const {
        return next_ < pauses_.size() && pauses_[next_].tsc < event.tsc && event.tsc <= latest_;
    }

    std::span<const trace::OffCpu> intervals_;
    std::size_t behind_ = 0;  ///< the first of them that is not over when the last pause begins
    std::uint64_t off_cpu_in_pauses_ = 0;
    std::vector<trace::Event> pauses_;
    std::size_t next_ = 0;
    std::uint64_t latest_;
    std::vector<trace::Event> merged_;
};

struct StreamOptions {
    std::optional<trace::TickRange> window = {};  ///< null: the whole thread
    const std::vector<bool>& ignored;             ///< EventWindow
    KnownEnds ends;
    bool sums_off_cpu = false;  ///< off_cpu_in_pauses() is wanted
};

/// The calls of one thread, to be read once. Not thread-safe.
class CallStream {
  public:
    /// `off_cpu` as Absences::thread() gives it; both must outlive it.
    CallStream(const trace::TraceReader& reader, std::uint32_t thread, std::span<const trace::OffCpu> off_cpu,
               const StreamOptions& options)
        : reader_(reader),
          thread_(thread),
          sums_off_cpu_(options.sums_off_cpu),
          pauses_(off_cpu, options.ends.latest) {
        if (options.window) window_.emplace(*options.window, reader.info().functions.size(), options.ignored);
    }

    /// Hands the events on to `sink`, some thousands at a time. `goes_on(events)` is asked after each piece,
    /// with the number of its events in the trace; false: reading stops, with an error. Errors: those of
    /// TraceReader::read_thread(), which `ahead` and `turn` are for.
    template <class Sink, class GoesOn>
    Result<void> read(Sink& sink, const GoesOn& goes_on, bool ahead = false,
                      trace::ExpansionLock* turn = nullptr) {
        bool stopped = false;
        const auto events = [&](std::span<const trace::Event> block) {
            while (!block.empty() && !stopped) {
                const auto piece = block.first(std::min(kPiece, block.size()));
                hand_on(pauses_.among(piece), sink);
                stopped = !goes_on(piece.size());
                block = block.subspan(piece.size());
            }
        };
        const auto gap = [&] {
            if (!window_ || window_->gap()) sink.gap();
        };
        const trace::Reading how{.ahead = ahead, .turn = turn, .stopped = [&] { return stopped; }};
        trace::ColumnsSink reading{.columns = {}, .events = events, .gap = gap};
        if constexpr (requires { sink.take_trees(trace::EventColumns{}, std::size_t{}); }) {
            if (!window_)
                reading.columns = [&](std::span<const trace::EventColumns> packs) {
                    for (const trace::EventColumns& columns : packs) {
                        if (stopped) return;
                        hand_on(columns, sink);
                        stopped = !goes_on(columns.size());
                    }
                };
        }
        if (auto done = reader_.read_columns(thread_, reading, how); !done) return done;
        hand_on(pauses_.rest(), sink);
        return {};
    }

    // After read().
    std::uint64_t off_cpu_in_pauses() const { return pauses_.off_cpu_in_pauses(); }
    std::optional<EventWindow> take_window() { return std::move(window_); }

  private:
    /// Events that a cache holds.
    static constexpr std::size_t kPiece = std::size_t{1} << 14;

    template <class Sink>
    void hand_on(std::span<const trace::Event> events, Sink& sink) {
        if (window_) events = window_->inside(events);
        if (sums_off_cpu_) pauses_.note_pauses(events);
        sink.consume(events);
    }

    template <class Sink>
    void hand_on(const trace::EventColumns& columns, Sink& sink) {
        const auto one_by_one = [&](std::size_t begin, std::size_t end) {
            for (std::size_t at = begin; at < end;) {
                const std::size_t piece = std::min(kPiece, end - at);
                if (single_.size() < piece) single_.resize(piece);
                columns.events(at, at + piece, single_.data());
                hand_on(pauses_.among(std::span{single_}.first(piece)), sink);
                at += piece;
            }
        };
        if (pauses_.due_among(columns.tsc)) return one_by_one(0, columns.size());
        for (std::size_t at = 0; at < columns.size();) {
            const auto part = sink.take_trees(columns, at);
            if (part.begin < part.end) one_by_one(part.begin, part.end);
            at = part.end;
        }
    }

    const trace::TraceReader& reader_;
    std::uint32_t thread_;
    bool sums_off_cpu_;
    std::vector<trace::Event> single_;  // of columns, that are looked at one by one
    OffCpuPauses pauses_;
    std::optional<EventWindow> window_;
};

/// Finds the calls for BasicMatcher::set_unended() among the same events. Not thread-safe.
class UnendedFinder {
  public:
    UnendedFinder(std::size_t functions, const KnownEnds& ends);
    void consume(std::span<const trace::Event> events);
    void gap();
    /// Those that are never seen to end, by their numbers among all calls that begin, from 0. Nothing else may be
    /// asked afterwards.
    std::vector<std::uint64_t> finish();

  private:
    friend BasicMatcher<UnendedFinder>;

    void opened(const trace::Event& /*enter*/, std::uint64_t /*weight*/) { open_.push_back(next_++); }
    void closed(const Call& /*call*/) { open_.pop_back(); }
    void abandoned(std::size_t count);
    void wait_opened(const trace::Event& /*enter*/) {}
    void waited(const Call& /*wait*/) {}
    void tree_ended(std::uint64_t /*weight*/) {}

    std::vector<std::uint64_t> open_;
    std::vector<std::uint64_t> found_;
    std::uint64_t next_ = 0;
    BasicMatcher<UnendedFinder> matcher_;
};

/// What an UnendedFinder finds in a thread, for whoever reads it by a CallStream with the same options. Reads the
/// whole thread; `goes_on` as in CallStream::read().
Result<std::vector<std::uint64_t>> unended_calls(const trace::TraceReader& reader, std::uint32_t thread,
                                                 std::span<const trace::OffCpu> off_cpu,
                                                 const StreamOptions& options,
                                                 const std::function<bool(std::size_t)>& goes_on);

}  // namespace rdam::calls
