// Many events, many chunks, several readers at a time.
#include <array>
#include <thread>

#include "tests/unit/catch.h"
#include "tests/unit/trace/files.h"
#include "tests/unit/trace/support.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;

namespace {

constexpr std::uint64_t kEvents = 1000000;

/// The i-th event of a thread is known from i: nothing need be kept to compare with.
std::uint64_t time_of(std::uint64_t i, std::uint32_t thread) {
    return std::uint64_t{1000} * thread + 100 * i;
}

void put(ChunkEncoder& encoder, std::uint64_t i, std::uint32_t thread) {
    const std::uint64_t tsc = time_of(i, thread);
    const auto function = static_cast<std::uint32_t>(i / 2 % 3);
    const std::array<std::uint64_t, 2> words{i, i * i};
    if (i % 2 == 0)
        encoder.enter(tsc, function, static_cast<std::uint16_t>(i / 1000 % 4), 0x1000 * (i % 700), false, 0,
                      words);
    else
        encoder.leave(tsc, function, static_cast<std::uint16_t>(i / 1000 % 4), false,
                      std::span(words).first(1));
}

bool is_event(const Event& event, std::uint64_t i, std::uint32_t thread) {
    const bool enters = i % 2 == 0;
    return event.tsc == time_of(i, thread) && event.function == i / 2 % 3 && event.cpu == i / 1000 % 4 &&
           event.kind == (enters ? EventKind::enter : EventKind::leave) &&
           event.words.size() == (enters ? 2U : 1U) && event.words[0] == i &&
           (!enters || (event.words[1] == i * i && event.caller == 0x1000 * (i % 700)));
}

std::uint64_t count_right_events(const TraceReader& reader, std::uint32_t thread) {
    std::uint64_t next = 0;
    std::uint64_t right = 0;
    const auto done = reader.read_thread(
        thread,
        [&](std::span<const Event> events) {
            for (const Event& event : events)
                right += is_event(event, next++, thread) ? 1 : 0;
        },
        [] {});
    return done && next == kEvents ? right : 0;
}

}  // namespace

TEST_CASE("two threads with a million events each, appended at once, read at the same time") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceInfo info = info_of_one_function();
    info.functions[0].enter_words = 2;
    info.functions.resize(3, info.functions[0]);
    info.threads.resize(2);
    TraceWriter writer = writer_of(path);
    ChunkEncoder encoder;
    for (const std::uint32_t thread : {0U, 1U}) {
        for (std::uint64_t i = 0; i < kEvents; ++i)
            put(encoder, i, thread);
        CHECK(encoder.events() == kEvents);
        REQUIRE(writer.append(thread, encoder));
    }
    REQUIRE(writer.finish(info));

    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(reader->events() == 2 * kEvents);
    CHECK(reader->events_of(1) == kEvents);
    std::array<std::uint64_t, 2> right{};
    std::thread other([&] { right[1] = count_right_events(*reader, 1); });
    right[0] = count_right_events(*reader, 0);
    other.join();
    CHECK(right[0] == kEvents);
    CHECK(right[1] == kEvents);
    CHECK(reader->damage().bad_chunks == 0);
}

TEST_CASE("events with very many words fill a chunk by their size") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceInfo info = info_of_one_function();
    info.functions[0].enter_words = format::kMaxEventWords;
    info.functions[0].parameters.clear();
    constexpr std::uint64_t kWide = 8000;
    std::vector<std::uint64_t> words(format::kMaxEventWords);
    TraceWriter writer = writer_of(path);
    ChunkEncoder encoder;
    for (std::uint64_t i = 0; i < kWide; ++i) {
        for (std::size_t w = 0; w < words.size(); ++w)
            words[w] = (i + 1) * (w + 1) * 0x9e3779b97f4a7c15U;
        encoder.enter(i, 0, 0, 0, false, 0, words);
    }
    REQUIRE(writer.append(0, encoder));
    REQUIRE(writer.finish(info));
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    const Replay read = replay(*reader, 0);
    REQUIRE(read.events.size() == kWide);
    CHECK(read.events.back().words == words);
    CHECK(read.gaps.empty());
}

TEST_CASE("many threads, many small chunks") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    constexpr std::uint32_t kThreads = 300;
    TraceInfo info = info_of_one_function();
    info.threads.resize(kThreads);
    TraceWriter writer = writer_of(path);
    ChunkEncoder encoder;
    for (int round = 0; round < 10; ++round)
        for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
            encode(encoder, {enter(thread, 0, {thread})});
            REQUIRE(writer.append(thread, encoder));
        }
    REQUIRE(writer.finish(info));
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(reader->events() == std::uint64_t{10} * kThreads);
    const Replay read = replay(*reader, kThreads - 1);
    CHECK(read.events == std::vector<OwnedEvent>(10, enter(kThreads - 1, 0, {kThreads - 1})));
}
