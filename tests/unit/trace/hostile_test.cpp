// Chunks whose checksums are right and whose content is not: each is dropped as a whole.
#include <limits>
#include <protozero/pbf_writer.hpp>

#include "tests/unit/catch.h"
#include "tests/unit/trace/files.h"
#include "tests/unit/trace/support.h"
#include "tools/trace/schema.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;
using format::Column;

namespace {

Bytes trace_with(const EventChunk& events) {
    return file_header() + description(info_of_one_function()) + events.bytes();
}

/// Events of thread 0, nothing when the chunk was refused (and counted).
std::vector<OwnedEvent> events_in(const Bytes& file) {
    const MemoryFile memory(file);
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    const Replay read = replay(*reader, 0);
    const bool bad = reader->damage().bad_chunks != 0;
    CHECK(bad == read.events.empty());
    CHECK(bad == (read.gaps == std::vector<std::size_t>{0}));
    return read.events;
}

}  // namespace

TEST_CASE("a chunk made by hand is read as the format says") {
    OwnedEvent entered = enter(1000, 0, {42});
    entered.event.caller = 0x401000;
    entered.event.stack = 1;
    entered.event.cpu = 3;
    OwnedEvent left = leave(1050, 0, {~0ULL});
    left.event.cpu = 3;
    OwnedEvent paused = pause(1100, 1110);
    paused.event.reason = PauseReason::buffer_full;
    CHECK(events_in(trace_with({})) == std::vector<OwnedEvent>{entered, left, paused});
}

TEST_CASE("a chunk of version 1.0, without the column for sampling, is read") {
    EventChunk events;
    const auto now = events_in(trace_with(events));
    events.columns.resize(format::kFirstColumns);
    CHECK(events_in(trace_with(events)) == now);
    CHECK(now.size() == 3);
}

TEST_CASE("a chunk of version 1.2, without the column for instructions, is read") {
    EventChunk events;
    events.columns.resize(static_cast<std::size_t>(Column::instructions));
    const auto read = events_in(trace_with(events));
    REQUIRE(read.size() == 3);
    CHECK(read[0].event.instructions == 0);
}

TEST_CASE("instructions are those of enters and leaves, from one to the next") {
    EventChunk events;
    SECTION("both are known") {
        events[Column::instructions] = numbers({1 + 2 * 7000, 1 + 2 * 60});
        const auto read = events_in(trace_with(events));
        REQUIRE(read.size() == 3);
        CHECK(read[0].event.instructions == 7000);
        CHECK(read[1].event.instructions == 7060);
        CHECK(read[2].event.instructions == 0);
    }
    SECTION("one is not") {
        events[Column::instructions] = numbers({0, 1 + 2 * 60});
        const auto read = events_in(trace_with(events));
        REQUIRE(read.size() == 3);
        CHECK(read[0].event.instructions == 0);
        CHECK(read[1].event.instructions == 60);
    }
}

TEST_CASE("a difference of instructions for which there is no number is not known") {
    TraceInfo info = info_of_one_function();
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceWriter writer = writer_of(path);
    ChunkEncoder encoder;
    encoder.enter(1000, 0, 3, 0x401000, false, 0, std::vector<std::uint64_t>{42}, 0, 1ULL << 63);
    encoder.leave(1050, 0, 3, false, std::vector<std::uint64_t>{7}, 77);
    REQUIRE(writer.append(0, encoder));
    REQUIRE(writer.finish(info));
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    const auto read = replay(*reader, 0).events;
    REQUIRE(read.size() == 2);
    CHECK(read[0].event.instructions == 0);
    CHECK(read[1].event.instructions == 77);
}

TEST_CASE("a sampling rate belongs to an enter") {
    EventChunk events;
    events[Column::sampling] = numbers({0, 1U + kMaxSampling});
    const auto read = events_in(trace_with(events));
    REQUIRE(read.size() == 3);
    CHECK(read[0].event.sampling == 1U + kMaxSampling);
    CHECK(read[1].event.sampling == 0);
}

TEST_CASE("a switch of the stack names its number") {
    EventChunk events;
    events[Column::pauses] = numbers({100, 20, 255});
    events.header.flags = format::kSwitches;
    const auto read = events_in(trace_with(events));
    REQUIRE(read.size() == 3);
    CHECK(read[2].event.kind == EventKind::stack_switch);
    CHECK(read[2].event.tsc == 1100);
    CHECK(read[2].event.until == 10);
}

TEST_CASE("a chunk that breaks a rule is dropped") {
    struct Fault {
        const char* what;
        Column column;
        Bytes content;
    };
    const std::vector<Fault> faults = {
        {"a switch of the stack that its header does not tell", Column::pauses, numbers({100, 20, 255})},
        {"a function that does not exist", Column::functions, numbers({1, 2, 2})},
        {"a huge function number", Column::functions, numbers({1ULL << 63, 2, 2})},
        {"a function table that ends early", Column::functions, numbers({0, 2})},
        {"a function without parameters", Column::functions, numbers({0, 1, 2})},
        {"a function with two parameters", Column::functions, numbers({0, 3, 2})},
        {"a function that is never entered", Column::functions, numbers({0, 0, 2})},
        {"a function that is never left", Column::functions, numbers({0, 2, 0})},
        {"a function number that is not in the table", Column::what, numbers({5, 3, 0})},
        {"a very large function number", Column::what, numbers({1, ~0ULL, 0})},
        {"too few enter times", Column::enter_times, {}},
        {"too many enter times", Column::enter_times, numbers({0, 0})},
        {"a number that does not end", Column::enter_times, {0x80}},
        {"a number of more than 64 bits", Column::leave_times, Bytes(9, 0xff) + Bytes{2}},
        {"a number of eleven bytes", Column::leave_times, Bytes(10, 0xff) + Bytes{0}},
        {"too few processors", Column::processors, numbers({1, 4})},
        {"a run of no events", Column::processors, numbers({0, 4, 2, 4})},
        {"a run that is too long", Column::processors, numbers({3, 4})},
        {"a caller that was not introduced", Column::callers, numbers({1})},
        {"a caller without an address", Column::caller_addresses, {}},
        {"an address without a caller", Column::caller_addresses, numbers({1, 1})},
        {"too few words", Column::words, numbers({84})},
        {"no words", Column::words, {}},
        {"too many words", Column::words, numbers({84, 1, 1})},
        {"a pause without an end", Column::pauses, numbers({100})},
        {"no pause", Column::pauses, {}},
        {"a stack of an event behind the last", Column::stacks, numbers({3, 1})},
        {"a stack far away", Column::stacks, numbers({~0ULL, 1})},
        {"a stack of a leave", Column::stacks, numbers({1, 1})},
        {"half a stack", Column::stacks, numbers({0})},
        {"a sampling rate of an event behind the last", Column::sampling, numbers({3, 1})},
        {"a sampling rate of a leave", Column::sampling, numbers({1, 1})},
        {"a sampling rate of nothing", Column::sampling, numbers({0, 0})},
        {"a sampling rate that is too high", Column::sampling, numbers({0, 2U + kMaxSampling})},
        {"instructions of too few events", Column::instructions, numbers({1})},
        {"instructions of too many events", Column::instructions, numbers({1, 1, 1})},
        {"instructions that do not end", Column::instructions, {1, 0x80}},
        {"half a sampling rate", Column::sampling, numbers({0})},
    };
    for (const Fault& fault : faults) {
        CAPTURE(fault.what);
        EventChunk events;
        events[fault.column] = fault.content;
        CHECK(events_in(trace_with(events)).empty());
    }
}

TEST_CASE("a chunk whose header does not fit its columns is dropped") {
    EventChunk chunk;
    for (const std::uint32_t events : {0U, 2U, 4U}) {
        chunk.header.events = events;
        CHECK(events_in(trace_with(chunk)).empty());
    }
    chunk = {};
    chunk.header.last_tsc = 1101;
    CHECK(events_in(trace_with(chunk)).empty());
    chunk.header.first_tsc = 999;
    chunk.header.last_tsc = 1099;
    chunk[Column::enter_times] = numbers({2});
    CHECK(events_in(trace_with(chunk)).empty());
    chunk = {};
    chunk.columns.resize(format::kFirstColumns - 1);
    CHECK(events_in(trace_with(chunk)).empty());
}

TEST_CASE("a thread is believed when it is one of many, not when it is one of billions") {
    for (const std::uint32_t thread : {50000U, 0x7fffffffU, 0xffffffffU}) {
        EventChunk events;
        events.header.thread = thread;
        const MemoryFile memory(trace_with(events));
        const auto reader = TraceReader::open(memory.path());
        REQUIRE(reader);
        const bool plausible = thread == 50000;
        CHECK(reader->damage().bad_chunks == (plausible ? 0U : 1U));
        CHECK(reader->info().threads.size() == (plausible ? 50001U : 1U));
        if (plausible) CHECK(replay(*reader, thread).events.size() == 3);
    }
}

TEST_CASE("a payload of any size is read within its bounds") {
    const Bytes good = EventChunk().payload();
    for (std::size_t size = 0; size < good.size(); ++size) {
        const Bytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
        const EventChunk events;
        CHECK(events_in(file_header() + description(info_of_one_function()) + chunk(events.header, cut))
                  .empty());
    }
}

TEST_CASE("a stack that was never described is none") {
    EventChunk events;
    events[Column::stacks] = numbers({0, 2});
    const auto read = events_in(trace_with(events));
    REQUIRE(read.size() == 3);
    CHECK(read[0].event.stack == 0);
}

TEST_CASE("a pause for a reason that is not known has another one") {
    EventChunk events;
    events[Column::pauses] = numbers({100, 20, 77});
    const auto read = events_in(trace_with(events));
    REQUIRE(read.size() == 3);
    CHECK(read[2].event.reason == PauseReason::other);
}

TEST_CASE("a newer minor version is read: unknown chunks, columns, flags and fields are passed over") {
    EventChunk events;
    events.columns.emplace_back(100, std::uint8_t{0xee});
    events.header.flags = 0x80;
    format::ChunkHeader unknown;
    unknown.type = 200;
    std::string message;
    {
        constexpr protozero::pbf_tag_type kRemarks = 8, kText = 2;
        protozero::pbf_writer writer(message);
        writer.add_string(1000, "what is this");
        writer.add_uint64(kRemarks, 5);
        std::string remark;
        protozero::pbf_writer in_remark(remark);
        in_remark.add_fixed32(77, 1);
        in_remark.add_string(kText, "hello");
        writer.add_message(kRemarks, remark);
    }
    format::ChunkHeader described;
    described.type = static_cast<std::uint8_t>(format::ChunkType::description);
    described.sequence = 1;
    const MemoryFile memory(file_header(format::kMajor, 99) + chunk(unknown, Bytes(50, 1)) +
                            description(info_of_one_function()) + events.bytes() +
                            chunk(described, {message.begin(), message.end()}));
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    CHECK(replay(*reader, 0).events.size() == 3);
    CHECK(reader->info().remarks == std::vector<std::string>{"hello"});
    CHECK(reader->damage().bad_chunks == 0);
    CHECK(reader->damage().skipped_bytes == 0);
}

TEST_CASE("indices in a description are in range, whatever it says") {
    TraceInfo info = info_of_one_function();
    info.functions[0].object = 5;
    info.functions[0].parameters.resize(2);
    info.functions[0].parameters[1].word = 1;
    info.functions[0].result.resize(3);
    info.stacks[0].function = 9;
    info.threads.clear();
    const MemoryFile memory(file_header() + description(info) + EventChunk().bytes());
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    const TraceInfo& read = reader->info();
    CHECK(read.functions[0].object < read.objects.size());
    CHECK(read.functions[0].parameters.size() == 1);
    CHECK(read.functions[0].result.size() == 1);
    CHECK(read.stacks[0].function < read.functions.size());
    CHECK(read.threads.size() == 1);
    CHECK(replay(*reader, 0).events.size() == 3);
}

TEST_CASE("a measurement of the clock that cannot be is not known") {
    const double value = GENERATE(-1.0, 1e153, 1e-150, std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN());
    TraceInfo info = info_of_one_function();
    ClockInfo& clock = info.clock;
    for (double* each : {&clock.ticks_per_second, &clock.probe_ticks, &clock.probe_inner_ticks,
                         &clock.floor_ticks, &clock.flow_ticks, &clock.error_ticks})
        *each = value;
    const MemoryFile memory(file_header() + description(info) + EventChunk().bytes());
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    const ClockInfo& read = reader->info().clock;
    CHECK(read.ticks_per_second == 0);
    for (const double each :
         {read.probe_ticks, read.probe_inner_ticks, read.floor_ticks, read.flow_ticks, read.error_ticks})
        CHECK(each == (value == 1e-150 ? value : 0));
    CHECK(replay(*reader, 0).events.size() == 3);
}

TEST_CASE("a message that breaks off replaces nothing") {
    constexpr protozero::pbf_tag_type kClock = 2, kTicksPerSecond = 2;
    std::string clock;
    protozero::pbf_writer(clock).add_double(kTicksPerSecond, 1e9);
    std::string message;
    protozero::pbf_writer(message).add_message(kClock, clock + "\x1a\x7f");
    format::ChunkHeader header;
    header.type = static_cast<std::uint8_t>(format::ChunkType::description);
    TraceInfo info = info_of_one_function();
    info.clock.ticks_per_second = 2e9;
    const MemoryFile memory(file_header() + description(info) +
                            chunk(header, {message.begin(), message.end()}) + EventChunk().bytes());
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    CHECK(reader->damage().bad_chunks == 1);
    CHECK(reader->info().clock.ticks_per_second == info.clock.ticks_per_second);
    CHECK(replay(*reader, 0).events.size() == 3);
}

TEST_CASE("a description cannot ask for more memory than its size is worth") {
    std::string message;
    std::string item;
    SECTION("one item far away") {
        constexpr protozero::pbf_tag_type kStacks = 6;
        protozero::pbf_writer(item).add_uint64(kIndexField, 0xffffffffffff);
        protozero::pbf_writer(message).add_message(kStacks, item);
    }
    SECTION("half a field") {
        message = "\x1a\x7f";
    }
    SECTION("no protobuf at all") {
        message = std::string(100, '\xff');
    }
    format::ChunkHeader header;
    header.type = static_cast<std::uint8_t>(format::ChunkType::description);
    const MemoryFile memory(file_header() + chunk(header, {message.begin(), message.end()}));
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    CHECK(reader->damage().bad_chunks == 1);
}

TEST_CASE("a description that unfolds to very many items is refused") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceInfo info = info_of_one_function();
    info.functions[0].parameters.resize(500000);
    TraceWriter writer = writer_of(path);
    REQUIRE(writer.finish(info));
    CHECK(writer.bytes() < 100000);
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(reader->damage().bad_chunks == 2);
}
