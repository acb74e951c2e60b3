#include "tests/unit/trace/support.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>

#include "tests/unit/catch.h"

namespace rdam::trace::testing {

OwnedEvent OwnedEvent::copy(const Event& event) {
    OwnedEvent copied{event, {event.words.begin(), event.words.end()}};
    copied.event.words = {};
    return copied;
}

bool operator==(const OwnedEvent& a, const OwnedEvent& b) {
    const auto fields = [](const OwnedEvent& e) {
        return std::tie(e.event.tsc, e.event.until, e.event.caller, e.event.function, e.event.stack,
                        e.event.sampling, e.event.instructions, e.event.cpu, e.event.kind, e.event.reason,
                        e.event.unwound, e.words);
    };
    return fields(a) == fields(b);
}

std::ostream& operator<<(std::ostream& out, const OwnedEvent& e) {
    constexpr const char* kKinds[] = {"enter", "tail_enter", "leave", "pause"};
    out << kKinds[static_cast<int>(e.event.kind)] << " f" << e.event.function << " tsc " << e.event.tsc
        << " until " << e.event.until << " caller " << e.event.caller << " stack " << e.event.stack
        << " sampling " << int{e.event.sampling} << " instructions " << e.event.instructions << " cpu "
        << e.event.cpu << " reason " << static_cast<int>(e.event.reason)
        << (e.event.unwound ? " unwound" : "") << " words";
    for (const std::uint64_t word : e.words)
        out << ' ' << word;
    return out;
}

Replay replay(const TraceReader& reader, std::uint32_t thread) {
    Replay result;
    const auto done = reader.read_thread(
        thread,
        [&](std::span<const Event> events) {
            for (const Event& event : events)
                result.events.push_back(OwnedEvent::copy(event));
        },
        [&] { result.gaps.push_back(result.events.size()); });
    REQUIRE(done);
    return result;
}

TraceWriter writer_of(const std::string& path, std::uint64_t created_unix_ns) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    REQUIRE(fd >= 0);
    auto writer = TraceWriter::create(fd, path, created_unix_ns);
    REQUIRE(writer);
    return std::move(*writer);
}

void encode(ChunkEncoder& encoder, const std::vector<OwnedEvent>& events) {
    for (const OwnedEvent& each : events) {
        const Event& e = each.event;
        if (e.kind == EventKind::pause)
            encoder.pause(e.tsc, e.until, e.reason);
        else if (e.kind == EventKind::stack_switch)
            encoder.stack_switch(e.tsc, e.until);
        else if (e.kind == EventKind::leave)
            encoder.leave(e.tsc, e.function, e.cpu, e.unwound, each.words, e.instructions);
        else
            encoder.enter(e.tsc, e.function, e.cpu, e.caller, e.kind == EventKind::tail_enter, e.stack,
                          each.words, e.sampling, e.instructions);
    }
}

std::vector<std::uint8_t> contents(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void set_contents(const std::string& path, const std::vector<std::uint8_t>& bytes) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    REQUIRE(out.flush());
}

namespace {
std::vector<FunctionInfo> full_functions() {
    FunctionInfo work;
    work.name = "work";
    work.linkage_name = "_Z4workv";
    work.module = "app";
    work.source = "app.cpp:12";
    work.address = 0x1139;
    work.size = 42;
    work.inlined_copies = 3;
    work.switched_off = 0x1234567890;
    work.most_rate = 7;
    work.busy_waits = true;
    work.sampled = true;
    work.windowed_since = 0x2234567890;
    work.window_group = 5;
    work.wait_of = 0x1100;
    work.wakes = true;
    work.partner = true;
    work.any_name = true;
    work.counted = true;

    FunctionInfo write;
    write.name = write.linkage_name = "write";
    write.module = "libc.so.6";
    write.object = 1;
    write.address = 0xf7000;
    write.enter_words = 3;
    write.waits = true;
    write.leave_words = 1;
    write.parameters = {{"fd", 0, 4, 0, true, "int"},
                        {"buf", 2, 8, 1, false, "const void*", true},
                        {"count", 1, 8, 2, false, "size_t", false, true}};
    write.result = {{"return", 0, 8, 0, false, "ssize_t"}};

    FunctionInfo six;
    six.name = "six";
    six.enter_words = 6;
    six.leave_words = 1;
    return {work, write, six};
}
}  // namespace

TraceInfo full_info() {
    TraceInfo info;
    info.process = {.pid = 4711,
                    .start_ticks = 123456789012,
                    .boot_id = "0b6a4c1e-0000-4000-8000-000000000001",
                    .run = "run 1",
                    .command = {"./app", "", "a b", std::string("\xff\x00\x1b[31m", 7)},
                    .title = "app: idle",
                    .executable = "/opt/app",
                    .host = "node7",
                    .machine = "some processor, 2 processors",
                    .rdam_version = "0.1.0",
                    .recorder = "another 1.2",
                    .processors = 2,
                    .stack_period = 10000,
                    .max_overhead = 0.1,
                    .clean_end = true,
                    .unwound_unseen = true,
                    .nodes = {{0, {0, 1, 300}}, {7, {}}},
                    .copied_stacks = "greenlet",
                    .simulated = true,
                    .shortest_missing = true,
                    .machine_share = 0.0125};
    info.clock = {.source = "rdtscp",
                  .ticks_per_second = 2.5e9,
                  .start_tsc = 0xfedcba9876543210,
                  .start_unix_ns = 1700000000000000000,
                  .probe_ticks = 95.5,
                  .flow_ticks = 112.5,
                  .probe_inner_ticks = 45.25,
                  .floor_ticks = 88.125,
                  .step_ticks = 26,
                  .error_ticks = 2.5};
    info.switches = {.state = SwitchInfo::State::stopped,
                     .reason = "too many",
                     .until = 1234,
                     .lost = 56,
                     .missing = {100, 200, 300, 400},
                     .handed_over = 78,
                     .marked = true};
    info.agent = {.cpu_seconds = 1.25, .running_cpu_seconds = 0.5, .told = true};
    info.counters = {.state = CounterInfo::State::unavailable,
                     .reason = "no counter",
                     .probe = 91.5,
                     .probe_inner = 33.25};
    info.objects = {{"/opt/app", "00ff", 0x555555554000, 0x555555560000},
                    {"/usr/lib/libc.so.6", "deadbeef", 0x7ffff7d00000, 0x7ffff7f00000}};
    info.functions = full_functions();
    info.threads = {
        {4711, "main", 1000, 2000, 0, 0, {{0, 5}, {1, uint64_t{1} << 60U}}, 1990},
        {4712, "worker\n", 1100, 0, 5, 2},
        {1U << 22U, "worker's fiber 3", 1100, 1900, 0, 0, {}, 0, 3},
    };
    info.stacks = {{1, 0x401234, {0x401234, 0x401000, 0xffffffffffffffff}, false}, {0, 0, {}, true}};
    info.answers = {{"wri*", 0, "libc.so.6:write", "3 inlined copies"},
                    {"nothing", 1, "", "no such function"}};
    info.channels = {{3, ChannelInfo::Kind::socket, 4026, 4027, 1000, 2000}, {4, ChannelInfo::Kind::eventfd}};
    info.remarks = {"", "a remark"};
    info.texts = {"orders.db", ""};
    info.dropped = 7;
    return info;
}

namespace {
OwnedEvent make(EventKind kind, std::uint64_t tsc, std::uint32_t function, std::vector<std::uint64_t> words) {
    OwnedEvent made;
    made.event.kind = kind;
    made.event.tsc = tsc;
    made.event.function = function;
    made.words = std::move(words);
    return made;
}
}  // namespace

OwnedEvent enter(std::uint64_t tsc, std::uint32_t function, std::vector<std::uint64_t> words) {
    return make(EventKind::enter, tsc, function, std::move(words));
}
OwnedEvent leave(std::uint64_t tsc, std::uint32_t function, std::vector<std::uint64_t> words) {
    return make(EventKind::leave, tsc, function, std::move(words));
}
OwnedEvent pause(std::uint64_t begin, std::uint64_t end) {
    OwnedEvent made = make(EventKind::pause, begin, 0, {});
    made.event.until = end;
    made.event.cpu = kNoCpu;
    return made;
}

OwnedEvent stack_switch(std::uint64_t tsc, std::uint64_t number) {
    OwnedEvent made = make(EventKind::stack_switch, tsc, 0, {});
    made.event.until = number;
    made.event.cpu = kNoCpu;
    return made;
}

}  // namespace rdam::trace::testing
