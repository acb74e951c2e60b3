// Threads that write to different words of the same cache line (listing 5.2 of the thesis).
#include <array>
#include <cstdint>
#include <memory>

#include "microbench/interference/increment.h"
#include "microbench/interference/pause.h"
#include "microbench/interference/places.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"
#include "microbench/interference/time_option.h"

MEASURED void shared_increment(volatile std::uint64_t* counters, std::uint64_t updates) {
    rdam::microbench::increment(counters, updates);
}

MEASURED void shared_store(volatile std::uint64_t* counters, std::uint64_t updates) {
    rdam::microbench::store(counters, updates);
}

namespace rdam::microbench {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kWords = kLine / sizeof(std::uint64_t);
constexpr std::size_t kThreads = kWords / kWordsOfAThread;

struct alignas(kLine) Line {
    std::array<volatile std::uint64_t, kWords> counters{};
};

struct Options {
    bool padded = false;
    bool store = false;
    Work work;
    double pause_ns = 0;
};

/// The threads with odd numbers are delayed.
Result<Outcome> run(const Point& point, const Options& options) {
    if (point.threads > kThreads && !options.padded) {
        return fail("the counters of {} threads do not fit on a cache line; --threads can be {} at most",
                    point.threads, kThreads);
    }
    Places<Line> lines(point.threads, options.padded);
    const Compute pause(options.pause_ns);
    const Compute delayed(options.pause_ns + point.delay_ns);
    const auto operation = options.store ? shared_store : shared_increment;
    const std::uint64_t updates = options.work.count(options.store ? store : increment);
    return run_team(point, [&](const Seat& seat) {
        volatile std::uint64_t* const counters =
            &lines.of(seat.number).counters[seat.number % kThreads * kWordsOfAThread];
        return repeat(point, seat, seat.number % 2 == 0 ? pause : delayed,
                      [&] { operation(counters, updates); });
    });
}

Runner add(CLI::App& app) {
    const auto options = std::make_shared<Options>();
    app.add_flag("--padded", options->padded, "Control: each counter has a cache line of its own");
    app.add_flag("--store", options->store,
                 "Only write, in shared_store: what delays it waits in the store buffer, if a call has few");
    add_work(app, options->work);
    add_time(
        app, "--pause", [options = options.get()](double time) { options->pause_ns = time; },
        "What all threads compute between two calls [0ns]; the delay comes on top");
    return {[options] { return options->store ? "shared_store" : "shared_increment"; },
            [options](const Point& point) { return run(point, *options); }};
}

}  // namespace

const Benchmark kFalsesharing{
    .name = "falsesharing",
    .summary = "Increment counters on one cache line, every second thread delayed",
    .threads = 2,
    .iterations = 300'000,
    .delay = "1us",
    .add = add,
};

}  // namespace rdam::microbench
