// A trace that was exported as OTF2 and read again: the same calls, and the same losses of each.
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/formats/format.h"
#include "analyzer/inputs/otf2/archive.h"
#include "tests/unit/analysis/random_recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"

namespace rdam::test {
namespace {

class TextSink final : public formats::Sink {
  public:
    Result<void> write(std::string_view bytes) override {
        text += bytes;
        return {};
    }
    std::string text;
};

/// Each call with what was recorded of it and what it lost, but without its processor, which archives lack.
std::vector<std::string> calls_of(const trace::TraceReader& reader) {
    const auto visit = views::Visit::prepare(reader, {}, {});
    REQUIRE(visit);
    TextSink sink;
    REQUIRE(formats::write_csv(*visit, {}, sink));
    std::vector<std::string> lines;
    std::istringstream text{sink.text};
    for (std::string line; std::getline(text, line);) {
        constexpr int kProcessor = 11;
        std::size_t at = 0;
        for (int column = 0; column < kProcessor; ++column)
            at = line.find(',', at) + 1;
        line.erase(at, line.find(',', at) - at);
        lines.push_back(line);
    }
    return lines;
}

void compare(const std::vector<std::string>& before, const std::vector<std::string>& after) {
    REQUIRE(before.size() == after.size());
    for (std::size_t i = 0; i < before.size(); ++i)
        REQUIRE(before[i] == after[i]);
}

trace::TraceReader again(const trace::TraceReader& reader) {
    const auto visit = views::Visit::prepare(reader, {}, {});
    REQUIRE(visit);
    const TemporaryFolder folder;
    REQUIRE(formats::write_otf2(*visit, {}, {folder.file("x"), "x"}));
    auto read = inputs::otf2::read(folder.file("x"), [](std::uint64_t, std::uint64_t) {});
    INFO((read ? "" : read.error().message));
    REQUIRE(read);
    return std::move(*read);
}

TEST_CASE("What was recorded by another tool stays its own") {
    for (const std::string recorder : {"", "tracer 3"}) {
        Recording recording{1};
        recording.info.process.recorder = recorder;
        recording.info.process.rdam_version.clear();
        recording.info.process.command.clear();
        recording.thread(1000, 2000).call(1100, kA, 10);
        CHECK(again(reader_of(recording)).info().process.recorder == recorder);
    }
}

TEST_CASE("What a call was given and returned, lost and stood for comes back, and how it ended") {
    constexpr std::uint64_t kBegin = 1000;
    Recording recording{3, 2};
    recording.info.clock.probe_ticks = 7.25;
    recording.info.clock.probe_inner_ticks = 1.5;
    recording.info.clock.step_ticks = 2;
    recording.info.clock.error_ticks = 0.5;
    recording.info.functions[kB].parameters[0].key = true;
    recording.thread(kBegin, kBegin + 5000)
        .enter(kBegin + 10, kA, {1, 2})
        .call(kBegin + 20, kB, 10, {3, 4})
        .call(kBegin + 50, kB, 20, {3, 4})
        .call(kBegin + 90, kB, 35, {5, 4})
        .pause(kBegin + 130, kBegin + 150)
        .leave(kBegin + 200, kA)
        .tree(3)
        .enter(kBegin + 300, kA, {1, 3})
        .call(kBegin + 310, kC, 10, {0, 0})
        .leave(kBegin + 400, kA)
        // Left by a jump.
        .enter(kBegin + 500, kA, {1, 3})
        .enter(kBegin + 510, kB, {1, 3})
        .leave(kBegin + 600, kA)
        .enter(kBegin + 700, kA, {1, 3})
        .gap()
        .call(kBegin + 800, kC, 50, {0, 0})
        .enter(kBegin + 900, kA, {1, 3})
        .off({.out = kBegin + 210, .in = kBegin + 250, .cpu = 3})
        .off({.out = kBegin + 305, .in = kBegin + 308, .cpu = 3})
        .off({.out = kBegin + 309, .in = kBegin + 312, .cpu = 4})
        .off({.out = kBegin + 320, .in = kBegin + 320 + 1, .cpu = 3, .preempted = true});
    const trace::TraceReader before = reader_of(recording);
    const trace::TraceReader after = again(before);
    compare(calls_of(before), calls_of(after));
    const trace::ClockInfo& clock = after.info().clock;
    CHECK(clock.probe_ticks == 7.25);
    CHECK(clock.probe_inner_ticks == 1.5);
    CHECK(clock.step_ticks == 2);
    CHECK(clock.error_ticks == 0.5);
    CHECK(after.info().functions[kB].parameters[0].key);
    CHECK_FALSE(after.info().functions[kA].parameters[0].key);
    CHECK(after.info().threads[0].end - after.info().threads[0].start == 5000);
    const auto off = after.off_cpu(0);
    REQUIRE(off);
    REQUIRE(off->size() == 4);
    CHECK(off->at(0).in - off->at(0).out == 40);
    CHECK(off->at(0).cpu == 3);
    CHECK_FALSE(off->at(0).preempted);
    CHECK(off->at(2).in - off->at(2).out == 3);  // a call begins in it
    CHECK(off->at(2).cpu == 4);
    CHECK(off->at(3).preempted);
}

TEST_CASE("Random traces come back with the same calls and losses") {
    std::mt19937_64 random;  // NOLINT(cert-msc51-cpp): the same traces every time
    for (int round = 0; round < rounds(100); ++round) {
        Recording recording =
            random_recording(random, {.functions = 5, .threads = 3, .events = 200, .accidents = false});
        recording.info.clock.probe_ticks = 3;
        recording.info.clock.probe_inner_ticks = 1;
        const trace::TraceReader before = reader_of(recording);
        // A function entered by a tail call is a call inside the one that opened the frame.
        std::vector<std::string> calls = calls_of(before);
        for (std::string& each : calls)
            if (const std::size_t at = each.find(",tail,"); at != std::string::npos)
                each.replace(at, 6, ",returned,");
        compare(calls, calls_of(again(before)));
    }
}

}  // namespace
}  // namespace rdam::test
