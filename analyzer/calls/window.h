// A part of a run: which events of a thread are inside it, and which calls only partly.
//
// A call that enters before the window or leaves after it is *cut off*: its own events inside the window are
// left out with it (except if it begins inside: it then counts as a call that was not seen to end), and so
// are tail calls within a frame that began before. Calls inside a cut-off call are judged separately: those
// that are completely inside the window are passed on, with the weight of their sampled call tree, as if no
// call enclosed them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tools/trace/clock.h"
#include "tools/trace/event.h"

namespace rdam::calls {

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

}  // namespace rdam::calls
