// How often threads call functions, for as long as the program runs: some are called so often, and are so
// short, that recording every call slows the program down several times. Their user should know while the run
// can still be stopped.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tools/agent/memory/shared_memory.h"
#include "tools/trace/decoder.h"
#include "tools/trace/event.h"
#include "tools/trace/pack_decoder.h"

namespace rdam::agent {

/// How many events a thread has is known of all chunks; whose they are, only of some, which are decoded: of
/// the threads with enough events, some at a time, and of each of these 10 to 20 a second by the time stamps.
/// Not thread-safe.
class CallRates {
  public:
    explicit CallRates(const trace::TraceInfo& info) : info_(info) {}

    /// The next events of a thread, none left out. True: see() wants them.
    bool wants(std::uint32_t thread, const trace::Packs& packs);

    /// What was wanted last.
    void see(std::span<const trace::Event> events);

    /// A message that is due after see(), one line without a newline; empty: none. Each function is named
    /// once. Its rate is that of one thread, over half a second to a second, and it was called so often in
    /// at least half a second of that: nothing is said of a burst.
    std::string take_notice();

  private:
    struct Thread {
        std::uint64_t since = 0;   ///< ticks: the end of the last look; 0: there was none
        std::uint64_t last = 0;    ///< the end of the last chunk
        std::uint64_t events = 0;  ///< since the last look
        double gap = 0;            ///< seconds until the next
    };
    struct Calls {
        std::uint32_t function = 0;
        double calls = 0;
        double timed = 0;         ///< of them, those whose durations are known
        double within_probe = 0;  ///< of these, those that took no longer than the probe
    };
    struct Look {
        double ticks = 0;   ///< since the look before
        double events = 0;  ///< in that time
        // What is seen in the chunk. It is the one of a moment, so a chunk is chosen the more often the
        // longer it took; sums over looks are weighted accordingly.
        double weight = 0;  ///< 0: it is not decoded, the thread has too few events for a hot function
        double seen = 0;    ///< events
        double lost = 0;    ///< ticks of probes, and of the recorder's pauses
        std::vector<Calls> calls = {};
    };
    struct Watched {
        std::uint32_t thread = 0;
        std::uint64_t since = 0;  ///< ticks
        std::deque<Look> looks;   ///< of the last second
    };
    struct Open {
        std::uint32_t function = 0;
        std::uint64_t tsc = 0;
    };

    Watched* watch(std::uint32_t thread, std::uint64_t now);
    void keep(Watched& watched, Look look) const;
    void count(std::span<const trace::Event> events, Look& look);
    Calls& calls_of(std::uint32_t function, Look& look);
    std::string notice_of(std::uint32_t function, const std::deque<Look>& looks) const;

    const trace::TraceInfo& info_;
    std::vector<Thread> threads_;  ///< by their numbers in the trace
    std::vector<Watched> watched_;
    std::size_t wanted_ = 0;             ///< in watched_: of the chunk that was wanted
    Look look_;                          ///< how that chunk is looked at
    std::vector<Open> open_;             ///< calls of the chunk at hand
    std::vector<std::uint32_t> places_;  ///< by function: 1 + its place in its calls; 0: none
    std::vector<bool> named_;            ///< by function
    std::minstd_rand random_{};          ///< looks must not fall into step with the program
};

// What the recorded events cost the program: without a budget, a notice names the functions that are too hot.

/// Tells the process by way of the shared memory. Not thread-safe.
class CostWatch {
  public:
    CostWatch(const SharedMemory& shared, const trace::TraceInfo& info)
        : shared_(shared), info_(info), rates_(info) {}

    /// The next events of a thread that TraceInfo::threads has.
    void see(std::uint32_t thread, const trace::Packs& packs);

  private:
    const SharedMemory& shared_;
    const trace::TraceInfo& info_;
    CallRates rates_;
    trace::ChunkDecoder decoder_;
};

}  // namespace rdam::agent
