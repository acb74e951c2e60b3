// A trace made by hand, in memory.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/report/report.h"
#include "analyzer/report/score_trace.h"
#include "tools/trace/event.h"

namespace rdam::test {

/// The functions of a recording.
inline constexpr std::uint32_t kA = 0, kB = 1, kC = 2, kD = 3, kE = 4;

/// The events of one thread, and where events are missing. Times are in ticks of one nanosecond.
class ThreadRecording {
  public:
    struct Piece {
        std::vector<trace::Event> events;
        bool gap_before = false;
    };

    ThreadRecording& enter(std::uint64_t tsc, std::uint32_t function, std::vector<std::uint64_t> words = {},
                           std::uint64_t caller = 0, std::uint32_t stack = 0);
    ThreadRecording& tail_enter(std::uint64_t tsc, std::uint32_t function,
                                std::vector<std::uint64_t> words = {});
    ThreadRecording& leave(std::uint64_t tsc, std::uint32_t function);
    /// A leave with a result.
    ThreadRecording& returns(std::uint64_t tsc, std::uint32_t function, std::uint64_t result);
    ThreadRecording& pause(std::uint64_t begin, std::uint64_t end);
    ThreadRecording& gap();
    /// Events are on that stack from here on; 0: its own.
    ThreadRecording& switch_to(std::uint64_t tsc, std::uint64_t stack);
    /// The last event was read with so many instructions.
    ThreadRecording& counted(std::uint64_t instructions);
    /// A call is left by an exception.
    ThreadRecording& unwind(std::uint64_t tsc, std::uint32_t function);
    /// The next enter begins a sampled call tree, recorded with probability 2^-rate.
    ThreadRecording& tree(std::uint8_t rate);
    /// The events of a call tree of another recording; `sampling` is its first one's.
    ThreadRecording& copy(std::span<const trace::Event> tree, std::uint8_t sampling);

    /// A call without children.
    ThreadRecording& call(std::uint64_t tsc, std::uint32_t function, std::uint64_t duration,
                          std::vector<std::uint64_t> words = {});

    /// A time off the processors: in files (recording_file.h) alone.
    ThreadRecording& off(const trace::OffCpu& interval) {
        off_.push_back(interval);
        return *this;
    }

    const std::vector<Piece>& pieces() const { return pieces_; }
    const std::vector<trace::OffCpu>& times_off() const { return off_; }

  private:
    void add(trace::Event event, std::vector<std::uint64_t> words);

    std::uint8_t sampling_ = 0;  ///< of the next enter
    std::vector<Piece> pieces_{Piece{}};
    std::vector<trace::OffCpu> off_;
    std::deque<std::vector<std::uint64_t>> words_;  // stays in place: events refer to it
};

struct Recording {
    /// Functions a, b, c, … of the module "app"; each enter event carries `enter_words` words, the first of
    /// them the parameter "k", the second "n".
    explicit Recording(std::size_t functions, std::uint16_t enter_words = 0);

    ThreadRecording& thread(std::uint64_t start, std::uint64_t end);

    trace::TraceInfo info;
    std::deque<ThreadRecording> threads;
};

/// What comes before the scores. `pack`: so many events are handed on as columns at a time; 0: each by itself.
score::AnalyzedTrace read(const Recording& recording, const score::ResolvedSettings& settings,
                          const score::Selection& asked = {}, std::size_t pack = 50);

score::ResolvedSettings resolved(const Recording& recording, const score::Settings& settings = {});
score::Report analyze(const Recording& recording, const score::Settings& settings = {},
                      std::size_t max_sequences = 1000, std::size_t max_sampled = 0);

/// The row of a function; fails the test if there is none.
const score::FunctionRow& row(const score::Report& report, std::string_view name);

}  // namespace rdam::test
