// Threads that write to different words of the same cache line (listing 5.2 of the thesis).
#include <array>
#include <cstdint>
#include <memory>

#include "microbench/interference/pause.h"
#include "microbench/interference/places.h"
#include "microbench/interference/registry.h"
#include "microbench/interference/team.h"

/// Reads, modifies and writes. A store alone would not do: it waits for the line in the store buffer, after
/// the call has returned.
MEASURED void shared_increment(volatile std::uint64_t* counter) {
    *counter = *counter + 1;
}

namespace rdam::microbench {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kWords = kLine / sizeof(std::uint64_t);

struct alignas(kLine) Line {
    std::array<volatile std::uint64_t, kWords> counters{};
};

/// The threads with odd numbers are delayed.
Result<Outcome> run(const Point& point, bool padded) {
    if (point.threads > kWords && !padded) {
        return fail("{} counters do not fit on a cache line; --threads can be {} at most", point.threads,
                    kWords);
    }
    Places<Line> lines(point.threads, padded);
    const Compute pause(point.delay_ns);
    const Compute none(0);
    return run_team(point, [&](unsigned thread) {
        volatile std::uint64_t* const counter = &lines.of(thread).counters[thread % kWords];
        return repeat(point, thread % 2 == 0 ? none : pause, [=] { shared_increment(counter); });
    });
}

Runner add(CLI::App& app) {
    const auto padded = std::make_shared<bool>(false);
    app.add_flag("--padded", *padded, "Control: each counter has a cache line of its own");
    return measures("shared_increment", [padded](const Point& point) { return run(point, *padded); });
}

}  // namespace

const Benchmark kFalsesharing{
    .name = "falsesharing",
    .summary = "Increment counters on one cache line, every second thread delayed",
    .threads = 2,
    .iterations = 2'000'000,
    .delay = "100ns",
    .add = add,
};

}  // namespace rdam::microbench
