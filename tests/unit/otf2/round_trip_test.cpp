// A trace that was exported as OTF2 and read again: the same calls, and the same losses of each.
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/analysis/analyze.h"
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
    recording.info.functions[kB].parameters[1].key = recording.info.functions[kB].parameters[1].by_size =
        true;
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
    CHECK_FALSE(after.info().functions[kB].parameters[0].by_size);
    CHECK(after.info().functions[kB].parameters[1].key);
    CHECK(after.info().functions[kB].parameters[1].by_size);
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

/// b is sampled in windows, a is not.
Recording windowed_recording() {
    constexpr std::uint64_t kBegin = 1000, kEnd = 40'001'000, kRound = 1'000'000;
    Recording recording{3};
    recording.info.clock.probe_ticks = 30;
    recording.info.functions[kA].most_rate = 2;
    trace::FunctionInfo& windowed = recording.info.functions[kB];
    windowed.windowed_since = kBegin + kRound / 2;
    windowed.counted = windowed.sampled = true;
    recording.info.functions[kC].switched_off = kEnd - kRound;
    ThreadRecording& thread = recording.thread(kBegin, kEnd);
    std::uint64_t calls = 0;
    for (std::uint64_t begin = kBegin + kRound / 2; begin < kEnd - kRound; begin += kRound) {
        recording.info.windows.push_back({begin, begin + 20'000});
        for (std::uint64_t at = begin; at < begin + 18'000; at += 1000, ++calls)
            thread.enter(at, kA).call(at + 100, kB, 200 + calls % 7 * 10).leave(at + 500, kA);
        thread.call(begin + 50'000, kC, 520 + calls % 3 * 100);
    }
    recording.info.threads[0].calls = {{kB, 10 * calls}};
    recording.info.threads[0].calls_until = kEnd;
    // Nothing of this one was recorded; it was killed, and so was the next.
    recording.thread(kBegin + 100, kEnd);
    recording.info.threads[1].calls = {{kB, 5}};
    recording.info.threads[1].calls_until = kEnd - 1;
    recording.thread(kBegin + 200, 0).call(kBegin + kRound, kC, 700);
    recording.info.threads[2].dropped = 6;
    recording.info.threads[2].unwritten = 2;
    recording.info.dropped = 7;
    recording.info.process.clean_end = false;
    recording.info.process.machine_share = 0.25;
    recording.info.switches = {
        .state = trace::SwitchInfo::State::stopped, .reason = "there are many", .until = kEnd - 5 * kRound};
    return recording;
}

TEST_CASE("What the recorder left out is told") {
    const Recording recording = windowed_recording();
    const trace::TraceReader before = reader_of(recording);
    const trace::TraceReader after = again(before);
    const trace::TraceInfo& info = after.info();
    REQUIRE(info.threads.size() == 3);
    const std::uint64_t moved = recording.info.threads[0].start - info.threads[0].start;
    REQUIRE(info.windows.size() == recording.info.windows.size());
    for (std::size_t i = 0; i < info.windows.size(); ++i) {
        CHECK(info.windows[i].begin + moved == recording.info.windows[i].begin);
        CHECK(info.windows[i].end + moved == recording.info.windows[i].end);
    }
    CHECK(info.functions[kA].most_rate == 2);
    CHECK(info.functions[kB].windowed_since + moved == recording.info.functions[kB].windowed_since);
    CHECK(info.functions[kB].counted);
    CHECK(info.functions[kB].sampled);
    CHECK(info.functions[kC].windowed_since == 0);
    CHECK(info.functions[kC].switched_off + moved == recording.info.functions[kC].switched_off);
    for (std::size_t t = 0; t < 2; ++t) {
        CHECK(info.threads[t].calls == recording.info.threads[t].calls);
        CHECK(info.threads[t].calls_until + moved == recording.info.threads[t].calls_until);
    }
    CHECK(info.threads[2].calls_until == 0);
    CHECK(info.threads[2].dropped == 6);
    CHECK(info.threads[2].unwritten == 2);
    CHECK(info.dropped == 7);
    CHECK_FALSE(info.process.clean_end);
    CHECK(info.process.machine_share == 0.25);
    CHECK(info.switches.state == trace::SwitchInfo::State::stopped);
    CHECK(info.switches.until + moved == recording.info.switches.until);
    CHECK(info.switches.reason == "there are many");
    CHECK(info.remarks.empty());
}

TEST_CASE("Functions that are sampled in windows have the same scores") {
    const trace::TraceReader reader = reader_of(windowed_recording());
    const auto before = analysis::analyze(reader, {}, {});
    const auto after = analysis::analyze(again(reader), {}, {});
    REQUIRE(before);
    REQUIRE(after);
    REQUIRE(before->functions.size() == 3);
    REQUIRE(after->functions.size() == 3);
    for (const score::FunctionRow& mine : before->functions) {
        const score::FunctionRow& other = row(*after, mine.name);
        INFO(mine.name);
        CHECK(other.occurrences == mine.occurrences);
        CHECK(other.occurrences_error == mine.occurrences_error);
        CHECK(other.lost_ns == mine.lost_ns);
        CHECK(other.lost_error_ns == mine.lost_error_ns);
        CHECK(other.rdam == mine.rdam);
        CHECK(other.rdam_high == mine.rdam_high);
        CHECK(other.windows_cover == mine.windows_cover);
        CHECK(other.few_windows == mine.few_windows);
        CHECK(other.counted == mine.counted);
        CHECK(other.switched_off_ns == mine.switched_off_ns);
    }
    CHECK(row(*before, "b").windows_cover < 0.1);
    CHECK(row(*before, "b").lost_ns > 0);
    for (std::size_t t = 0; t < 3; ++t)
        CHECK(after->threads[t].duration_ns == before->threads[t].duration_ns);
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
