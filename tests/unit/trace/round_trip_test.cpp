#include <random>

#include "tests/unit/catch.h"
#include "tests/unit/trace/support.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;

namespace {

/// Functions with 0 to 6 parameters, with and without a result.
TraceInfo info_for_random_events() {
    TraceInfo info;
    info.objects.emplace_back();
    for (std::uint32_t i = 0; i < 40; ++i) {
        FunctionInfo function;
        function.name = "f" + std::to_string(i);
        function.enter_words = static_cast<std::uint16_t>(i % 7);
        function.leave_words = static_cast<std::uint16_t>(i % 2);
        info.functions.push_back(function);
    }
    info.threads.resize(3);
    info.stacks.resize(100);
    return info;
}

/// Numbers as they come in life, and the extreme ones.
class Numbers {
  public:
    explicit Numbers(std::uint32_t seed) : random_(seed) {}

    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    std::uint64_t any() {
        constexpr std::uint64_t kExtreme[] = {
            0,          1,          0x7f,       0x80,  0x3fff,   0x4000, (1ULL << 55) - 1,
            1ULL << 55, 1ULL << 56, 1ULL << 63, ~0ULL, ~0ULL - 1};
        switch (below(4)) {
            case 0:
                return kExtreme[below(std::size(kExtreme))];
            case 1:
                return random_() >> below(64);
            case 2:
                return 0x7fff00000000 + below(4096);
            default:
                return below(100);
        }
    }

  private:
    std::mt19937_64 random_;
};

/// Of threads that have a counter, and of such as have none.
std::uint64_t random_count(Numbers& numbers, bool counted) {
    return counted && numbers.below(10) != 0 ? numbers.any() >> 1 : 0;
}

OwnedEvent random_event(Numbers& numbers, const TraceInfo& info, std::uint64_t& tsc, bool counted) {
    tsc = numbers.below(50) == 0 ? numbers.any() : tsc + numbers.below(1000) - numbers.below(10);
    const std::uint64_t chance = numbers.below(20);
    if (chance == 19) return stack_switch(tsc, numbers.any());
    if (chance == 0) {
        OwnedEvent made = pause(tsc, numbers.below(2) == 0 ? numbers.any() : tsc + 5);
        made.event.reason = static_cast<PauseReason>(numbers.below(4));
        return made;
    }
    const auto function = static_cast<std::uint32_t>(numbers.below(info.functions.size()));
    OwnedEvent made = chance < 10 ? enter(tsc, function) : leave(tsc, function);
    made.event.cpu = static_cast<std::uint16_t>(numbers.below(30) == 0 ? numbers.any() : 3);
    made.event.instructions = random_count(numbers, counted);
    if (made.event.kind == EventKind::enter) {
        if (numbers.below(5) == 0) made.event.kind = EventKind::tail_enter;
        made.event.caller = numbers.any();
        if (numbers.below(3) == 0)
            made.event.sampling = static_cast<std::uint8_t>(numbers.below(2U + kMaxSampling));
        made.event.stack = static_cast<std::uint32_t>(numbers.below(10) == 0 ? numbers.below(101) : 0);
        made.words.resize(info.functions[function].enter_words);
    } else {
        made.event.unwound = numbers.below(10) == 0;
        made.words.resize(info.functions[function].leave_words);
    }
    if (!made.event.unwound)
        for (std::uint64_t& word : made.words)
            word = numbers.any();
    return made;
}

}  // namespace

TEST_CASE("what is written is read: a small trace with everything in it") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    std::vector<OwnedEvent> main_events = {enter(1000, 0), enter(1010, 1, {1, 0x7fff0000, 512}),
                                           leave(1500, 1, {~0ULL}), leave(1600, 0), pause(1700, 1800)};
    main_events[0].event.caller = 0x401000;
    main_events[1].event.stack = 1;
    main_events[2].event.cpu = 1;
    main_events[2].event.instructions = 5000;
    const std::vector<OwnedEvent> other_events = {enter(5, 2, {1, 2, 3, 4, 5, 6})};
    {
        TraceWriter writer = writer_of(path);
        ChunkEncoder encoder;
        encode(encoder, main_events);
        CHECK(encoder.events() == 5);
        REQUIRE(writer.append(0, encoder));
        CHECK(encoder.events() == 0);
        encode(encoder, other_events);
        REQUIRE(writer.append(1, encoder));
        CHECK(writer.events() == 6);
        REQUIRE(writer.finish(full_info()));
    }
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(reader->info() == full_info());
    CHECK(reader->events() == 6);
    CHECK(reader->events_of(0) == 5);
    CHECK(reader->events_of(1) == 1);
    CHECK(reader->events_of(2) == 0);
    CHECK(replay(*reader, 0).events == main_events);
    CHECK(replay(*reader, 0).gaps.empty());
    CHECK(replay(*reader, 1).events == other_events);
    CHECK_FALSE(reader->read_thread(
        3, [](auto) {}, [] {}));
    const Damage damage = reader->damage();
    CHECK_FALSE(damage.no_index);
    CHECK_FALSE(damage.bad_header);
    CHECK(damage.bad_chunks == 0);
    CHECK(damage.missing_chunks == 0);
    CHECK(damage.skipped_bytes == 0);
}

TEST_CASE("what is written is read: random events") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    const TraceInfo info = info_for_random_events();
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        Numbers numbers(seed);
        std::vector<std::vector<OwnedEvent>> threads(info.threads.size());
        TraceWriter writer = writer_of(path);
        std::vector<ChunkEncoder> encoders(info.threads.size());
        for (std::uint64_t chunk = numbers.below(10); chunk > 0; --chunk) {
            const auto thread = static_cast<std::uint32_t>(numbers.below(threads.size()));
            std::vector<OwnedEvent> events(numbers.below(500));
            std::uint64_t tsc = numbers.any();
            const bool counted = numbers.below(2) == 0;
            for (OwnedEvent& event : events)
                event = random_event(numbers, info, tsc, counted);
            encode(encoders[thread], events);
            REQUIRE(writer.append(thread, encoders[thread]));
            threads[thread].insert(threads[thread].end(), events.begin(), events.end());
            if (numbers.below(3) == 0) REQUIRE(writer.describe(info));
        }
        REQUIRE(writer.finish(info));

        const auto reader = TraceReader::open(path);
        REQUIRE(reader);
        REQUIRE(reader->info() == info);
        for (std::uint32_t thread = 0; thread < threads.size(); ++thread)
            REQUIRE(replay(*reader, thread).events == threads[thread]);
        CHECK(reader->damage().bad_chunks == 0);
    }
}

TEST_CASE("a trace says which threads switch their stacks") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    const std::vector<OwnedEvent> events = {enter(10, 0), stack_switch(20, 3), enter(30, 0),
                                            stack_switch(40, 0), leave(50, 0)};
    {
        TraceWriter writer = writer_of(path);
        ChunkEncoder encoder;
        encode(encoder, events);
        REQUIRE(writer.append(0, encoder));
        encode(encoder, {enter(10, 0), leave(20, 0)});
        REQUIRE(writer.append(1, encoder));
        REQUIRE(writer.finish(info_for_random_events()));
    }
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(reader->switches_stacks(0));
    CHECK_FALSE(reader->switches_stacks(1));
    CHECK_FALSE(reader->switches_stacks(2));
    CHECK(replay(*reader, 0).events == events);
    auto stream = reader->stream(0);
    REQUIRE(stream);
    const auto part = stream->next();
    REQUIRE(part);
    REQUIRE(*part);
    CHECK_FALSE((*part)->gap);
    CHECK((*part)->events.size() == 5);
    CHECK_FALSE(*stream->next());
}
