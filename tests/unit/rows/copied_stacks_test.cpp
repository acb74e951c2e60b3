// Programs whose stacks are copied away (greenlet): what is not known is not told.
#include <algorithm>

#include "analyzer/output/notes.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"

using namespace rdam;
using namespace rdam::test;

namespace {

/// Calls of a that last as long as it seems, and of b, which waits in libc.
Recording recording_of(const std::string& library) {
    Recording recording(3);
    recording.info.process.copied_stacks = library;
    recording.info.functions[kB].module = "libc.so.6";
    recording.info.functions[kB].waits = true;
    ThreadRecording& thread = recording.thread(1, 100'000);
    for (std::uint64_t i = 0; i < 100; ++i)
        thread.enter(100 + i * 500, kA).call(110 + i * 500, kB, 10 + i % 7).leave(300 + i * 500 + i, kA);
    return recording;
}

}  // namespace

TEST_CASE("where stacks are copied away, scores and durations are unknown, and calls are counted") {
    const score::Report report = analyze(recording_of("greenlet"));
    const score::FunctionRow& a = row(report, "a");
    CHECK(a.copied_stacks);
    CHECK(a.unknown());
    CHECK(a.occurrences == 100);
    CHECK(a.lost_ns == 0);
    CHECK(a.rdam == 0);
    CHECK(a.rdam_high == 1);
    CHECK(a.outermost == 0);
    CHECK(a.median_ns == 0);
    CHECK(output::no_score_reason(a) == "stacks are copied away");
    const score::FunctionRow& b = row(report, "b");
    CHECK_FALSE(b.unknown());
    CHECK(b.outermost == 100);
    CHECK(b.min_ns == 10);
    const auto notes = output::notes(report);
    CHECK(std::ranges::any_of(notes, [](const std::string& note) {
        return contains(note, "Stacks of this program are copied away (greenlet)");
    }));
}

TEST_CASE("where no stack is copied away, all of them are known") {
    const score::Report report = analyze(recording_of(""));
    CHECK_FALSE(row(report, "a").unknown());
    CHECK(row(report, "a").outermost == 100);
}
