// Off-CPU chunks: what was written is read again, within the thread's life; what is wrong is left out.
#include <algorithm>
#include <random>

#include "tests/unit/catch.h"
#include "tests/unit/trace/files.h"
#include "tests/unit/trace/support.h"
#include "tools/trace/side_tables.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;

namespace rdam::trace {

bool operator==(const OffCpu& a, const OffCpu& b) {
    return a.out == b.out && a.in == b.in && a.cpu == b.cpu && a.preempted == b.preempted &&
           a.by_recorder == b.by_recorder;
}

std::ostream& operator<<(std::ostream& out, const OffCpu& interval) {
    return out << interval.out << "…" << interval.in << " cpu " << interval.cpu
               << (interval.preempted ? " preempted" : " blocked")
               << (interval.by_recorder ? " by the recorder" : "");
}

}  // namespace rdam::trace

namespace {

using Intervals = std::vector<OffCpu>;

constexpr std::uint32_t kTid = 4711;
constexpr std::uint64_t kBegin = 1000, kEnd = 9000;

TraceInfo info_of_thread() {
    TraceInfo info = info_of_one_function();
    info.threads[0] = {.tid = kTid, .name = "main", .start = kBegin, .end = kEnd};
    info.switches.state = SwitchInfo::State::recorded;
    return info;
}

OffCpuEncoder encoded(const Intervals& intervals) {
    OffCpuEncoder encoder;
    for (const OffCpu& each : intervals)
        encoder.add(each);
    return encoder;
}

/// A trace of one thread whose chunks have these intervals.
Bytes trace_of(const std::vector<Intervals>& chunks, const TraceInfo& info = info_of_thread()) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceWriter writer = writer_of(path);
    for (const Intervals& each : chunks) {
        OffCpuEncoder encoder = encoded(each);
        REQUIRE(writer.append_off_cpu(kTid, encoder));
        REQUIRE(encoder.intervals() == 0);
    }
    REQUIRE(writer.finish(info));
    return contents(path);
}

struct ReadBack {
    Intervals intervals;
    Damage damage;
};

ReadBack read(const Bytes& file, std::uint32_t thread = 0) {
    const MemoryFile memory(file);
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    const auto intervals = reader->off_cpu(thread);
    REQUIRE(intervals);
    return {*intervals, reader->damage()};
}

/// An off-CPU chunk to be spoiled: 2000…2100 blocked, then 2150…2160 preempted, on processor 3.
struct OffCpuChunk {
    format::ChunkHeader header;
    std::vector<Bytes> columns = {numbers({0, 50}), numbers({101, 11}), numbers({8, 9})};

    OffCpuChunk() {
        header.type = static_cast<std::uint8_t>(format::ChunkType::off_cpu);
        header.thread = kTid;
        header.events = 2;
        header.first_tsc = 2000;
        header.last_tsc = 2160;
    }
    Bytes trace() const {
        EventChunk shape;
        shape.columns = columns;
        return file_header() + description(info_of_thread()) + chunk(header, shape.payload());
    }
};

void check_left_out(const OffCpuChunk& chunk) {
    const ReadBack back = read(chunk.trace());
    CHECK(back.intervals.empty());
    CHECK(back.damage.bad_chunks == 1);
}

}  // namespace

TEST_CASE("intervals are read as they were written") {
    std::mt19937 random(1);
    std::vector<Intervals> chunks(3);
    Intervals all;
    std::uint64_t now = kBegin;
    for (Intervals& intervals : chunks) {
        for (int i = 0; i < 1000; ++i) {
            const std::uint64_t out = now + random() % 1000;
            now = out + 1 + random() % 100000;
            const bool preempted = random() % 2 == 0;
            intervals.push_back({.out = out,
                                 .in = now,
                                 .cpu = static_cast<std::uint16_t>(random()),
                                 .preempted = preempted,
                                 .by_recorder = preempted && random() % 2 == 0});
        }
        all.insert(all.end(), intervals.begin(), intervals.end());
    }
    TraceInfo info = info_of_thread();
    info.threads[0].end = now + 1;
    const ReadBack back = read(trace_of(chunks, info));
    CHECK(back.intervals == all);
    CHECK(back.damage.bad_chunks == 0);
    CHECK(back.damage.missing_chunks == 0);
}

TEST_CASE("intervals lie in the life of the thread") {
    const Intervals given = {
        {100, 200, 0, false}, {900, 1100, 1, true}, {8000, 9500, 2, false}, {9600, 9700, 3, true}};
    CHECK(read(trace_of({given})).intervals == Intervals{{1000, 1100, 1, true}, {8000, 9000, 2, false}});
}

TEST_CASE("a thread with another one's tid has only what was in its own life") {
    TraceInfo info = info_of_thread();
    info.threads.push_back({.tid = kTid, .name = "later", .start = 10000, .end = 20000});
    const Bytes file = trace_of({{{2000, 2100, 0, false}, {11000, 11500, 0, false}}}, info);
    CHECK(read(file, 0).intervals == Intervals{{2000, 2100, 0, false}});
    CHECK(read(file, 1).intervals == Intervals{{11000, 11500, 0, false}});
}

TEST_CASE("who does not come back is out to the end of its life") {
    const Intervals given = {{2000, 2100, 0, false}, {3000, OffCpuEncoder::kStillOut, 0, true}};
    CHECK(read(trace_of({given})).intervals == Intervals{{2000, 2100, 0, false}, {3000, kEnd, kNoCpu, true}});
}

TEST_CASE("where the end of a thread is not known its last event counts") {
    TraceInfo info = info_of_thread();
    info.threads[0].end = 0;
    OffCpuChunk chunk;
    EventChunk events;  // the last at 1100
    const Bytes file = file_header() + description(info) + events.bytes();
    CHECK(read(file).intervals.empty());
    chunk.header.first_tsc = 1050;
    chunk.header.last_tsc = 1050;
    chunk.header.events = 1;
    chunk.columns = {numbers({0}), numbers({0}), numbers({0})};
    EventChunk shape;
    shape.columns = chunk.columns;
    CHECK(read(file + testing::chunk(chunk.header, shape.payload())).intervals ==
          Intervals{{1050, 1100, kNoCpu, false}});
}

TEST_CASE("what overlaps is cut") {
    const ReadBack back = read(trace_of(
        {{{2000, 3000, 0, false}, {2500, 2600, 1, true}, {2900, 3500, 1, true}}, {{3400, 3600, 2, false}}}));
    CHECK(back.intervals == Intervals{{2000, 3000, 0, false}, {3000, 3500, 1, true}, {3500, 3600, 2, false}});
}

TEST_CASE("a trace without context switches has none, and says what the recorder knew") {
    TraceInfo info = info_of_thread();
    info.switches = {.state = SwitchInfo::State::unavailable, .reason = "not here"};
    const MemoryFile memory(trace_of({}, info));
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    CHECK(reader->info().switches.state == SwitchInfo::State::unavailable);
    CHECK(reader->info().switches.reason == "not here");
    CHECK(reader->off_cpu(0)->empty());
    CHECK_FALSE(reader->off_cpu(1));
}

TEST_CASE("a chunk made by hand is read as the page on the format says") {
    const ReadBack back = read(OffCpuChunk{}.trace());
    CHECK(back.intervals == Intervals{{2000, 2100, 3, false}, {2150, 2160, 3, true}});
    CHECK(back.damage.bad_chunks == 0);
}

TEST_CASE("the last column tells which intervals are the recorder's") {
    OffCpuChunk chunk;  // without it, as version 1.2 has it
    CHECK(read(chunk.trace()).intervals == Intervals{{2000, 2100, 3, false}, {2150, 2160, 3, true}});
    chunk.columns.push_back(numbers({1}));
    CHECK(read(chunk.trace()).intervals == Intervals{{2000, 2100, 3, false}, {2150, 2160, 3, true, true}});
    chunk.columns = {numbers({0, 0, 50}), numbers({101, 31, 11}), numbers({9, 9, 9}), numbers({0, 2})};
    chunk.header.events = 3;
    chunk.header.last_tsc = 2190;
    CHECK(read(chunk.trace()).intervals ==
          Intervals{{2000, 2100, 3, true, true}, {2100, 2130, 3, true}, {2180, 2190, 3, true, true}});
}

TEST_CASE("rows of stacks tell which intervals are the program's") {
    OffCpuChunk chunk;
    chunk.columns.push_back({});
    chunk.columns.push_back(numbers({1}));
    const auto intervals = read(chunk.trace()).intervals;
    REQUIRE(intervals.size() == 2);
    CHECK_FALSE(intervals[0].by_program);
    CHECK(intervals[1].by_program);
    chunk.columns.back() = numbers({0});  // of one that was not preempted
    CHECK(read(chunk.trace()).intervals.empty());
}

TEST_CASE("columns of a later version are passed over") {
    OffCpuChunk chunk;
    chunk.columns.push_back({});
    chunk.columns.push_back({});
    chunk.columns.push_back(numbers({1, 2, 3}));
    CHECK(read(chunk.trace()).intervals.size() == 2);
}

TEST_CASE("an off-CPU chunk that breaks a rule is left out as a whole") {
    struct Fault {
        const char* what;
        std::size_t column;
        Bytes content;
    };
    const std::vector<Fault> faults = {
        {"a first time before the first interval", 0, numbers({1, 49})},
        {"a time beyond all", 0, numbers({0, ~0ULL})},
        {"a column that ends early", 1, numbers({101})},
        {"a length beyond all", 1, numbers({101, ~0ULL})},
        {"bytes left over", 2, numbers({8, 9, 9})},
        {"a processor that is none", 2, numbers({8, 1U << 17U})},
        {"a mark for one that was blocked", 3, numbers({0})},
        {"a mark behind the last", 3, numbers({2})},
        {"two marks for one", 3, numbers({1, 0})},
        {"a mark beyond all", 3, numbers({1, ~0ULL})},
    };
    for (const Fault& fault : faults) {
        CAPTURE(fault.what);
        OffCpuChunk chunk;
        chunk.columns.resize(std::max(chunk.columns.size(), fault.column + 1));
        chunk.columns[fault.column] = fault.content;
        check_left_out(chunk);
    }
}

TEST_CASE("an off-CPU chunk whose header does not fit its columns is left out as a whole") {
    OffCpuChunk chunk;
    for (const std::uint32_t intervals : {0U, 1U, 3U}) {
        chunk.header.events = intervals;
        check_left_out(chunk);
    }
    chunk = {};
    chunk.header.last_tsc = 2161;
    check_left_out(chunk);
    chunk.header.last_tsc = 2060;  // one that is still out and not the last
    chunk.columns[1] = numbers({0, 11});
    check_left_out(chunk);
    chunk = {};
    chunk.columns.pop_back();
    check_left_out(chunk);
    chunk = {};
    chunk.header.events = format::kMaxEvents;  // more than so few bytes can mean
    chunk.columns[0].assign(600, 0);
    check_left_out(chunk);
}

TEST_CASE("damage costs the chunk that has it, whatever is around it") {
    const std::vector<Intervals> chunks = {
        {{2000, 2100, 0, false}}, {{3000, 3100, 1, true}}, {{4000, 4100, 2, false}}};
    const Bytes file = trace_of(chunks);
    const auto first = format::load<format::ChunkHeader>(file.data() + sizeof(format::FileHeader));
    REQUIRE(first.is(format::ChunkType::off_cpu));
    const std::size_t second = sizeof(format::FileHeader) + format::extent(first.stored_size);
    Bytes spoiled = file;
    spoiled[second + sizeof(format::ChunkHeader) + 17] ^= 0x55U;
    const ReadBack back = read(spoiled);
    CHECK(back.intervals == Intervals{{2000, 2100, 0, false}, {4000, 4100, 2, false}});
    CHECK(back.damage.bad_chunks == 1);

    const Bytes missing =
        Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(second)) +
        Bytes(file.begin() + static_cast<std::ptrdiff_t>(second + format::extent(first.stored_size)),
              file.end());
    const ReadBack scanned = read(missing);
    CHECK(scanned.intervals == Intervals{{2000, 2100, 0, false}, {4000, 4100, 2, false}});
    CHECK(scanned.damage.missing_chunks == 1);
}

TEST_CASE("damage is counted once, however often the thread is read") {
    OffCpuChunk chunk;
    chunk.header.last_tsc = 2161;
    const MemoryFile memory(chunk.trace());
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    for (int i = 0; i < 2; ++i)
        CHECK(reader->off_cpu(0)->empty());
    CHECK(reader->damage().bad_chunks == 1);
}
