// The one loop that reads a thread of a trace: everybody who looks at calls is a sink of it.
//
//   trace::TraceReader → OffCpuPauses → EventWindow → sink
//
// A sink has consume(events) and gap(), neither of them virtual. It matches the events itself, as it is the
// sink of its BasicMatcher: score::ThreadAnalysis, and what derives from views::ThreadSequences.
//
// If a sink is to get blocks of finished calls of one sequence (a column of durations) instead of single
// calls, they are collected where a call has its sequence (views::ThreadSequences::end,
// ThreadAnalysis::enqueue) and handed on where consume() returns: the events that calls refer to are gone
// after that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyzer/calls/known_ends.h"
#include "analyzer/calls/off_cpu_pauses.h"
#include "analyzer/calls/window.h"
#include "tools/base/result.h"
#include "tools/trace/reader.h"

namespace rdam::calls {

struct StreamOptions {
    std::optional<trace::TickRange> window = {};  ///< null: the whole thread
    const std::vector<bool>& ignored;             ///< EventWindow
    KnownEnds ends;
    bool sums_off_cpu = false;  ///< off_cpu_in_pauses() is wanted
};

/// Of one thread, to be read once. Not thread-safe.
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
    Result<void> read(Sink& sink, const GoesOn& goes_on, bool ahead = false, trace::Turn* turn = nullptr) {
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
        if (auto done = reader_.read_thread(thread_, events, gap, how); !done) return done;
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

    const trace::TraceReader& reader_;
    std::uint32_t thread_;
    bool sums_off_cpu_;
    OffCpuPauses pauses_;
    std::optional<EventWindow> window_;
};

}  // namespace rdam::calls
