// Which part of a wait for a processor is the recorder's own doing.
#include <fcntl.h>

#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/probe/tids.h"
#include "tests/unit/temporary_folder.h"
#include "tools/agent/switches/off_cpu_log.h"
#include "tools/trace/reader.h"
#include "tools/trace/writer.h"

using namespace rdam;
using namespace rdam::agent;
using rdam::test::kOther;
using rdam::test::kTid;

namespace {

constexpr std::uint32_t kAgent = 900;
constexpr std::uint64_t kMicro = 1000;  // ns; a tick is a nanosecond here

SwitchRecord program(std::uint64_t at, std::uint16_t cpu, bool out, std::uint32_t tid = kTid,
                     bool preempted = true) {
    return {.ns = at, .tid = tid, .cpu = cpu, .out = out, .preempted = out && preempted};
}
SwitchRecord agent_on(std::uint64_t at, std::uint16_t cpu) {
    return {.ns = at, .tid = kAgent, .cpu = cpu, .agent = true};
}
SwitchRecord agent_off(std::uint64_t at, std::uint16_t cpu) {
    return {.ns = at, .tid = kAgent, .cpu = cpu, .out = true, .agent = true};
}

/// The intervals of a thread after these records, through a file: "begin-end who", times in microseconds.
std::vector<std::string> intervals(const std::vector<SwitchRecord>& records, std::uint32_t tid = kTid,
                                   std::uint64_t end = 10'000 * kMicro) {
    OffCpuLog log;
    for (const SwitchRecord& record : records)
        log.add(record, record.ns);
    log.finish();
    const test::TemporaryFolder folder;
    const std::string path = folder.file("trace.bin");
    auto writer = trace::TraceWriter::create(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600), path);
    REQUIRE(writer);
    for (OffCpuLog::Part& part : log.take_parts())
        REQUIRE(writer->append_off_cpu(part.tid, part.intervals));
    trace::TraceInfo info;
    info.threads.push_back({.tid = tid, .name = {}, .start = 1, .end = end});
    REQUIRE(writer->finish(info));
    const auto reader = trace::TraceReader::open(path);
    REQUIRE(reader);
    const auto read = reader->off_cpu(0);
    REQUIRE(read);
    std::vector<std::string> texts;
    for (const trace::OffCpu& each : *read)
        texts.push_back(std::to_string(each.out / kMicro) + "-" + std::to_string(each.in / kMicro) +
                        (each.by_recorder ? " recorder"
                         : each.preempted ? " others"
                                          : " blocked"));
    return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a wait during which the agent had the processor is the recorder's") {
    CHECK(intervals({program(100 * kMicro, 1, true), agent_on(101 * kMicro, 1), agent_off(298 * kMicro, 1),
                     program(300 * kMicro, 1, false)}) == Texts{"100-300 recorder"});
}

TEST_CASE("on another processor the agent disturbs nobody") {
    CHECK(intervals({program(100 * kMicro, 1, true), agent_on(101 * kMicro, 0), agent_off(298 * kMicro, 0),
                     program(300 * kMicro, 1, false)}) == Texts{"100-300 others"});
}

TEST_CASE("the processor that counts is the one that was left, wherever the thread goes on") {
    CHECK(intervals({program(100 * kMicro, 1, true), agent_on(101 * kMicro, 1),
                     program(300 * kMicro, 0, false), agent_off(900 * kMicro, 1)}) ==
          Texts{"100-300 recorder"});
}

TEST_CASE("a wait is cut where the agent gets the processor and where it loses it") {
    CHECK(
        intervals({program(100 * kMicro, 1, true), agent_on(150 * kMicro, 1), agent_off(170 * kMicro, 1),
                   agent_on(200 * kMicro, 1), agent_off(210 * kMicro, 1), program(300 * kMicro, 1, false)}) ==
        Texts{"100-150 others", "150-170 recorder", "170-200 others", "200-210 recorder", "210-300 others"});
}

TEST_CASE("an agent that was on before the wait began, and is on when it ends") {
    // Records of two processors' rings are in order, those of one moment in any.
    CHECK(intervals({agent_on(50 * kMicro, 1), program(100 * kMicro, 1, true),
                     program(300 * kMicro, 1, false)}) == Texts{"100-300 recorder"});
}

TEST_CASE("of two agent's threads in a row the change is the recorder's as well") {
    CHECK(intervals({program(100 * kMicro, 1, true), agent_on(101 * kMicro, 1), agent_off(200 * kMicro, 1),
                     agent_on(202 * kMicro, 1), agent_off(299 * kMicro, 1),
                     program(300 * kMicro, 1, false)}) == Texts{"100-300 recorder"});
}

TEST_CASE("who waits for something else is blocked, whoever has its processor") {
    CHECK(intervals({program(100 * kMicro, 1, true, kTid, false), agent_on(101 * kMicro, 1),
                     agent_off(298 * kMicro, 1), program(300 * kMicro, 1, false)}) ==
          Texts{"100-300 blocked"});
}

TEST_CASE("all who wait for the processor wait for the agent") {
    const std::vector<SwitchRecord> records = {program(50 * kMicro, 1, true, kOther),
                                               program(100 * kMicro, 1, true),
                                               agent_on(101 * kMicro, 1),
                                               agent_off(200 * kMicro, 1),
                                               program(201 * kMicro, 1, false),
                                               program(400 * kMicro, 1, false, kOther)};
    CHECK(intervals(records) == Texts{"100-201 recorder"});
    CHECK(intervals(records, kOther) == Texts{"50-101 others", "101-200 recorder", "200-400 others"});
}

TEST_CASE("where records are lost nobody is blamed") {
    const SwitchRecord lost{.ns = 150 * kMicro, .lost = true};
    CHECK(intervals({program(100 * kMicro, 1, true), agent_on(101 * kMicro, 1), lost,
                     program(300 * kMicro, 1, false)}) == Texts{});
    CHECK(intervals({agent_on(50 * kMicro, 1), lost, program(200 * kMicro, 1, true),
                     program(300 * kMicro, 1, false)}) == Texts{"200-300 others"});
}

TEST_CASE("an end of the agent without a beginning tells nothing") {
    CHECK(intervals({program(100 * kMicro, 1, true), agent_off(200 * kMicro, 1),
                     program(300 * kMicro, 1, false)}) == Texts{"100-300 others"});
}

TEST_CASE("records that come twice cut nothing twice") {
    CHECK(
        intervals({program(100 * kMicro, 1, true), program(100 * kMicro, 1, true), agent_on(150 * kMicro, 1),
                   agent_on(150 * kMicro, 1), agent_off(170 * kMicro, 1), agent_off(170 * kMicro, 1),
                   program(300 * kMicro, 1, false), program(300 * kMicro, 1, false)}) ==
        Texts{"100-150 others", "150-170 recorder", "170-300 others"});
}

TEST_CASE("times of a processor for which nobody waits are not kept") {
    AgentTimes times;
    times.add(agent_on(10, 1), 10);
    times.add(agent_off(20, 1), 20);
    times.wait_for(1);
    CHECK(times.within(1, {0, 0}, {100, 100}).empty());
    times.add(agent_on(30, 1), 30);
    times.add(agent_off(40, 1), 40);
    CHECK(times.within(1, {25, 25}, {100, 100}).size() == 1);
    times.stop_waiting_for(1);
    times.wait_for(1);
    CHECK(times.within(1, {25, 25}, {100, 100}).empty());
}
