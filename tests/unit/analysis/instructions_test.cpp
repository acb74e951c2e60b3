// From the counts of events to those of calls.
#include <limits>
#include <vector>

#include "analyzer/calls/call.h"
#include "analyzer/score/thread_analysis.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr calls::ProbeInstructions kProbe{.total = 90, .inner = 30};

trace::Event event(trace::EventKind kind, std::uint32_t function, std::uint64_t tsc,
                   std::uint64_t instructions) {
    trace::Event made;
    made.kind = kind;
    made.function = function;
    made.tsc = tsc;
    made.instructions = instructions;
    return made;
}

/// Of the sampled calls of each function, in the order in which they ended.
std::vector<std::vector<std::uint64_t>> instructions_of(const std::vector<trace::Event>& events,
                                                        const std::vector<bool>& ignored = {}) {
    Recording recording(3);
    recording.thread(1, 1'000'000);
    score::ResolvedSettings settings = resolved(recording);
    settings.max_sampled = 100;
    settings.probe_instructions = kProbe;
    if (!ignored.empty()) settings.ignored = ignored;
    score::ThreadAnalysis analysis(recording.info, settings);
    analysis.consume(events);
    const auto times = analysis.finish();
    std::vector<std::vector<std::uint64_t>> found;
    for (const samples::CallSample& sample : times->samples) {
        found.emplace_back();
        for (const samples::SampledCall& call : sample.taken())
            found.back().push_back(call.instructions);
    }
    return found;
}

using Counts = std::vector<std::vector<std::uint64_t>>;
using enum trace::EventKind;

/// a() calls b(), which calls c(), and c() again.
const std::vector<trace::Event> kNested{event(enter, kA, 10, 1000), event(enter, kB, 20, 1200),
                                        event(enter, kC, 30, 1400), event(leave, kC, 40, 1480),
                                        event(leave, kB, 50, 1600), event(enter, kC, 60, 1700),
                                        event(leave, kC, 70, 1731), event(leave, kA, 80, 2000)};

}  // namespace

TEST_CASE("the probes' instructions are not the call's, at any depth", "[instructions]") {
    CHECK(instructions_of(kNested) == Counts{{1000 - 30 - 3 * 90}, {400 - 30 - 90}, {80 - 30, 1}});
}

TEST_CASE("a function that is ignored leaves its probes behind", "[instructions]") {
    CHECK(instructions_of(kNested, {false, true, false}) == Counts{{1000 - 30 - 3 * 90}, {}, {80 - 30, 1}});
}

TEST_CASE("a call is as well known as its two ends", "[instructions]") {
    for (const std::size_t unknown : {std::size_t{2}, std::size_t{3}}) {
        std::vector<trace::Event> events = kNested;
        events[unknown].instructions = 0;
        CHECK(instructions_of(events) == Counts{{700}, {280}, {0, 1}});
    }
}

TEST_CASE("a tail call ends what came before it", "[instructions]") {
    CHECK(instructions_of({event(enter, kA, 10, 1000), event(tail_enter, kB, 20, 1500),
                           event(leave, kA, 30, 3000)}) == Counts{{2000 - 30 - 90}, {1500 - 30}, {}});
}

TEST_CASE("impossible counts are not known", "[instructions]") {
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    CHECK(calls::net_instructions(kProbe, 500, 500, 0) == 0);
    CHECK(calls::net_instructions(kProbe, 500, 499, 0) == 0);
    CHECK(calls::net_instructions(kProbe, 1, kMax, 0) == 0);
    CHECK(calls::net_instructions(kProbe, 500, 501, kMax) == 1);
    CHECK(calls::net_instructions(kProbe, 500, 1530, 10) == 100);
    for (const double odd :
         {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        const calls::ProbeInstructions probe =
            calls::probe_instructions({.reason = {}, .probe = odd, .probe_inner = odd});
        CHECK(probe.total == 0);
        CHECK(probe.inner == 0);
    }
}

}  // namespace rdam::test
