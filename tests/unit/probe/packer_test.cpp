// Records to packs and back to events: as the probes store them, as the reader of traces gives them.
#include "libprobe/format/packer.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <random>

#include "tests/unit/catch.h"
#include "tools/trace/decoder.h"

namespace rdam {
namespace {

using shm::RecordKind;
using trace::Event;
using trace::EventKind;

constexpr std::uint64_t kCaller = 0x401000;
constexpr std::uint64_t kRest = ~std::uint64_t{0} >> 12;  ///< of a head, without the processor

/// Function 0: nothing; 1: two parameters and a result; 2: thirty parameters.
trace::TraceInfo functions() {
    trace::TraceInfo info;
    info.functions.resize(3);
    info.functions[1].enter_words = 2;
    info.functions[1].leave_words = 1;
    info.functions[2].enter_words = 30;
    info.stacks.resize(5);
    return info;
}

/// The records of a chunk, and what they mean.
class Records {
  public:
    void add(RecordKind kind, std::uint32_t function, std::uint64_t tsc,
             const std::vector<std::uint64_t>& words = {}, std::uint64_t caller = kCaller,
             std::uint64_t head_bits = 0) {
        const bool enter = kind == RecordKind::enter || kind == RecordKind::tail_enter;
        words_.push_back(tsc);
        words_.push_back((shm::make_head(kind, static_cast<std::uint32_t>(words.size()), function) & kRest) |
                         std::uint64_t{processor} << RDAM_HEAD_CPU_SHIFT | head_bits |
                         (count != 0 ? shm::kCounted : 0));
        if (enter) words_.push_back(caller);
        words_.insert(words_.end(), words.begin(), words.end());
        if (count != 0) words_.push_back(count);
        Event event;
        event.tsc = tsc;
        event.function = function;
        event.cpu = processor == 0xfff ? trace::kNoCpu : static_cast<std::uint16_t>(processor);
        event.kind = kind == RecordKind::enter        ? EventKind::enter
                     : kind == RecordKind::tail_enter ? EventKind::tail_enter
                                                      : EventKind::leave;
        event.unwound = kind == RecordKind::unwound;
        event.caller = enter ? caller : 0;
        event.instructions = count;
        expect(event, words);
    }
    void pause(std::uint64_t begin, std::uint64_t end, shm::Pause reason) {
        words_.push_back(begin);
        words_.push_back(shm::make_head(RecordKind::pause, 1, static_cast<std::uint32_t>(reason)));
        words_.push_back(end);
        expect_pause(begin, end, reason);
    }
    void stack_switch(std::uint64_t tsc, std::uint64_t number) {
        words_.insert(words_.end(), {tsc, shm::make_head(RecordKind::stack_switch, 0, 0), number});
        Event event;
        event.tsc = tsc;
        event.until = number;
        event.cpu = trace::kNoCpu;
        event.kind = EventKind::stack_switch;
        expect(event, {});
    }
    void stack(std::uint64_t begin, std::uint64_t end, std::uint32_t function, std::uint64_t number) {
        words_.push_back(begin);
        words_.push_back(shm::make_head(RecordKind::stack, 0, function));
        words_.insert(words_.end(), {end, kCaller, number});
        expect_pause(begin, end, shm::Pause::stack_copy);
    }
    void leave_unwritten(std::size_t words) { words_.insert(words_.end(), words, 0); }

    const std::uint64_t* begin() const { return words_.data(); }
    const std::uint64_t* end() const { return words_.data() + words_.size(); }
    std::vector<Event>& events() { return events_; }
    const std::vector<std::vector<std::uint64_t>>& words() const { return event_words_; }

    std::uint32_t processor = 3;
    std::uint64_t count = 0;  ///< instructions, not 0: counted

  private:
    void expect(const Event& event, const std::vector<std::uint64_t>& words) {
        events_.push_back(event);
        event_words_.push_back(words);
    }
    void expect_pause(std::uint64_t begin, std::uint64_t end, shm::Pause reason) {
        Event event;
        event.tsc = begin;
        event.until = end;
        event.cpu = trace::kNoCpu;
        event.kind = EventKind::pause;
        event.reason = static_cast<trace::PauseReason>(reason);
        expect(event, {});
    }

    std::vector<std::uint64_t> words_;
    std::vector<Event> events_;
    std::vector<std::vector<std::uint64_t>> event_words_;
};

struct Packed {
    trace::Packs packs;
    pack::Stop stop = pack::Stop::end;
    std::size_t records = 0;  ///< words that were taken
};

Packed pack_all(const Records& records, std::uint32_t step = 1) {
    Packed packed;
    const auto packer = std::make_unique<pack::Packer>();
    packer->prepare(step);
    pack::PendingStacks stacks;
    const std::uint64_t* at = records.begin();
    do {
        packed.stop = packer->run(at, records.end(), stacks);
        REQUIRE((packer->events() > 0 || packed.stop != pack::Stop::full));
        if (packer->events() == 0) break;
        std::vector<std::uint64_t> bytes(packer->size() / 8);
        REQUIRE(packer->size() <= pack::kMaxBytes);
        packer->write(bytes.data());
        const std::span<const std::uint8_t> span{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                 packer->size()};
        const auto layout = trace::pack_layout(span);
        REQUIRE(layout);
        packed.packs.add(layout->header, span);
        packer->clear();
    } while (packed.stop == pack::Stop::full);
    packed.records = static_cast<std::size_t>(at - records.begin());
    return packed;
}

void check(Records& records, const trace::TraceInfo& info, std::uint32_t step = 1) {
    Packed packed = pack_all(records, step);
    REQUIRE(packed.stop == pack::Stop::end);
    packed.packs.switches = std::ranges::any_of(
        records.events(), [](const Event& each) { return each.kind == EventKind::stack_switch; });
    trace::ChunkDecoder decoder;
    REQUIRE(decoder.decode(packed.packs, info));
    const auto events = decoder.events();
    REQUIRE(events.size() == records.events().size());
    for (std::size_t i = 0; i < events.size(); ++i) {
        const Event& wanted = records.events()[i];
        INFO("event " << i);
        REQUIRE(events[i].kind == wanted.kind);
        REQUIRE(events[i].tsc == wanted.tsc);
        REQUIRE(events[i].until == wanted.until);
        REQUIRE(events[i].function == wanted.function);
        REQUIRE(events[i].cpu == wanted.cpu);
        REQUIRE(events[i].caller == wanted.caller);
        REQUIRE(events[i].stack == wanted.stack);
        REQUIRE(events[i].sampling == wanted.sampling);
        REQUIRE(events[i].instructions == wanted.instructions);
        REQUIRE(events[i].reason == wanted.reason);
        REQUIRE(events[i].unwound == wanted.unwound);
        if (!wanted.unwound)
            REQUIRE(std::vector(events[i].words.begin(), events[i].words.end()) == records.words()[i]);
    }
}

}  // namespace

TEST_CASE("what every kind of record says comes back as an event", "[packer]") {
    Records records;
    records.pause(1000, 1400, shm::Pause::new_chunk);
    records.stack_switch(1500, std::uint64_t{1} << 40);
    records.stack_switch(1600, 0);
    records.add(RecordKind::enter, 1, 2000, {7, ~std::uint64_t{0}});
    records.add(RecordKind::enter, 0, 2100);
    records.add(RecordKind::tail_enter, 0, 2200, {}, 0);
    records.processor = 0xfff;
    records.add(RecordKind::unwound, 0, 2300);
    records.processor = 200;
    records.add(RecordKind::leave, 1, 2400, {42});
    records.count = 5000;
    records.add(RecordKind::enter, 0, 2500);
    records.count = 5100;
    records.add(RecordKind::leave, 0, 2600);
    records.count = 0;
    records.add(RecordKind::enter, 0, 2700);
    records.add(RecordKind::leave, 0, 2800);
    check(records, functions());
}

TEST_CASE("times near and far, forwards and back, on the clock's steps and off them", "[packer]") {
    const std::uint32_t step = GENERATE(1U, 2U, 26U, 1000U, 65535U);
    Records records;
    std::uint64_t tsc = std::uint64_t{1} << 50;
    for (const std::uint64_t steps :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{251}, std::uint64_t{252}, std::uint64_t{65535},
          std::uint64_t{65536}, std::uint64_t{1} << 33, std::uint64_t{0} - 3, std::uint64_t{1}})
        for (const std::uint64_t off : {0, 1}) {
            records.add(RecordKind::enter, 0, tsc);
            records.add(RecordKind::leave, 0, tsc += steps * step + off);
            records.add(RecordKind::enter, 0, tsc);
            records.add(RecordKind::leave, 0, tsc += 5 * step);
        }
    // The straight loop leaves the last records to the other one: some more, so that it sees those above.
    for (int i = 0; i < 20; ++i) {
        records.add(RecordKind::enter, 0, tsc += step);
        records.add(RecordKind::leave, 0, tsc += step);
    }
    check(records, functions(), step);
}

TEST_CASE("a call stack is of the enter event that it was taken for", "[packer]") {
    Records records;
    records.stack(100, 150, 1, 4);
    records.add(RecordKind::enter, 0, 160);  // a signal handler's
    records.add(RecordKind::leave, 0, 170);
    records.add(RecordKind::enter, 1, 180, {1, 2});
    records.events().back().stack = 4;
    records.add(RecordKind::enter, 1, 190, {1, 2});
    check(records, functions());
}

TEST_CASE("a record that is not written, or makes no sense, stops the packing in front of it", "[packer]") {
    Records records;
    records.add(RecordKind::enter, 0, 100);
    const auto before = static_cast<std::size_t>(records.end() - records.begin());
    SECTION("an unwritten record") {
        records.leave_unwritten(3);
    }
    SECTION("a kind that there is not") {
        records.add(static_cast<RecordKind>(15), 0, 100);
    }
    SECTION("one that is cut off") {
        records.add(RecordKind::enter, 1, 200, {1});  // says two words, has one
        const_cast<std::uint64_t&>(records.begin()[before + 1]) += std::uint64_t{1} << RDAM_HEAD_WORDS_SHIFT;
    }
    SECTION("bits that no probe writes") {
        records.add(RecordKind::leave, 0, 200);
        const_cast<std::uint64_t&>(records.begin()[before + 1]) |= std::uint64_t{1} << 38;
    }
    if (records.end() - records.begin() == 3 + 3) records.add(RecordKind::leave, 0, 300);
    const Packed packed = pack_all(records);
    CHECK(packed.stop == pack::Stop::unwritten);
    CHECK(packed.records == before);
    CHECK(packed.packs.events == 1);
}

TEST_CASE("thousands of places of call, and of words, become several packs", "[packer]") {
    Records records;
    std::mt19937_64 random(7);
    std::uint64_t tsc = 1000;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        std::vector<std::uint64_t> words(30);
        for (std::uint64_t& word : words)
            word = random();
        records.add(RecordKind::enter, i % 3 == 0 ? 2 : 0, tsc += 10,
                    i % 3 == 0 ? words : std::vector<std::uint64_t>{}, kCaller + i % 2000 * 16);
        records.add(RecordKind::leave, i % 3 == 0 ? 2 : 0, tsc += 10);
    }
    check(records, functions());
}

TEST_CASE("random events come back", "[packer]") {
    const trace::TraceInfo info = functions();
    std::mt19937_64 random(11);
    for (int round = 0; round < 200; ++round) {
        Records records;
        const std::uint32_t step = 1 + static_cast<std::uint32_t>(random() % 40);
        std::uint64_t tsc = random() >> 8;
        const std::size_t count = 1 + random() % 700;
        for (std::size_t i = 0; i < count; ++i) {
            if (random() % 50 == 0) records.processor = static_cast<std::uint32_t>(random() % 6);
            tsc += random() % 30 * step;
            if (random() % 100 == 0) tsc -= random() % 5000;
            const auto function = static_cast<std::uint32_t>(random() % 3);
            const std::size_t shape = random() % 9;
            const bool enter = shape < 5;
            const auto kind = shape < 4    ? RecordKind::enter
                              : shape == 4 ? RecordKind::tail_enter
                              : shape < 8  ? RecordKind::leave
                                           : RecordKind::unwound;
            std::vector<std::uint64_t> words(kind == RecordKind::unwound ? 0
                                             : enter ? info.functions[function].enter_words
                                                     : info.functions[function].leave_words);
            for (std::uint64_t& word : words)
                word = random() % 3 == 0 ? random() : random() % 1000;
            if (random() % 50 == 0)
                records.stack_switch(tsc, random() >> random() % 64);
            else if (random() % 200 == 0)
                records.pause(tsc, tsc + random() % 100000, shm::Pause::buffer_full);
            else
                records.add(kind, function, tsc, words,
                            kind == RecordKind::tail_enter ? 0 : kCaller + random() % 5 * 64);
        }
        check(records, info, step);
    }
}

TEST_CASE("calls of one function after another, and what comes between them", "[packer]") {
    std::mt19937_64 random(12);
    for (const std::uint64_t step : {1U, 26U, 0xffffU}) {
        for (std::uint16_t enter_words = 0; enter_words < 5; ++enter_words) {
            for (std::uint16_t leave_words = 0; leave_words < 3; ++leave_words) {
                trace::TraceInfo info = functions();
                info.functions[0].enter_words = enter_words;
                info.functions[0].leave_words = leave_words;
                Records records;
                std::uint64_t tsc = random() >> 8;
                const auto words = [&](std::size_t count) {
                    std::vector<std::uint64_t> some(count);
                    for (std::uint64_t& word : some)
                        word = random() % 4 == 0 ? random() : random() % 3;
                    return some;
                };
                for (int call = 0; call < 5000; ++call) {
                    // Around the limits of one byte and two, off the steps, back, and far.
                    const std::uint64_t gaps[] = {3 * step,        250 * step,   251 * step,
                                                  252 * step,      65535 * step, 65536 * step,
                                                  4 * step + 1,    0 - 3 * step, std::uint64_t{1} << 50,
                                                  0 - (1ULL << 60)};
                    const bool odd = random() % 20 == 0;
                    tsc += odd ? gaps[random() % std::size(gaps)] : random() % 252 * step;
                    if (random() % 100 == 0) records.processor = static_cast<std::uint32_t>(random() % 6);
                    const std::uint64_t caller = random() % 30 == 0 ? kCaller + 64 : kCaller;
                    records.add(RecordKind::enter, 0, tsc, words(enter_words), caller);
                    if (random() % 40 == 0) records.add(RecordKind::enter, 2, tsc += step, words(30));
                    tsc += random() % 20 == 0 ? gaps[random() % std::size(gaps)] : random() % 252 * step;
                    if (random() % 60 == 0)
                        records.add(RecordKind::unwound, 0, tsc);
                    else
                        records.add(RecordKind::leave, 0, tsc, words(leave_words));
                }
                check(records, info, static_cast<std::uint32_t>(step));
            }
        }
    }
}

TEST_CASE("what comes again and again is said once, and only what can be is read again", "[packer]") {
    constexpr std::uint32_t kCalls = 500;
    Records records;
    for (std::uint64_t i = 0; i < kCalls; ++i) {
        records.add(RecordKind::enter, 0, 1000 + 10 * i);
        records.add(RecordKind::leave, 0, 1005 + 10 * i);
    }
    const trace::TraceInfo info = functions();
    const trace::Packs whole = pack_all(records).packs;
    const auto layout = trace::pack_layout(whole.payload);
    REQUIRE(layout);
    constexpr auto kOps = static_cast<std::size_t>(pack::Column::ops);
    REQUIRE(layout->header.bytes[kOps] < 64);
    const std::size_t first = layout->columns[kOps];
    const std::size_t end = first + layout->header.bytes[kOps];
    std::size_t at = first;
    while (at < end && whole.payload[at] != pack::kWideOp)
        ++at;
    REQUIRE(at + 3 <= end);
    std::uint16_t number = 0;
    std::memcpy(&number, &whole.payload[at + 1], sizeof number);
    REQUIRE(number > pack::kAgain);
    REQUIRE(number <= pack::kAgain + kCalls);

    trace::ChunkDecoder decoder;
    const auto readable = [&](std::size_t place, std::uint16_t again) {
        trace::Packs changed = whole;
        changed.payload[place] = pack::kWideOp;
        std::memcpy(&changed.payload[place + 1], &again, sizeof again);
        return decoder.decode(changed, info);
    };
    CHECK(readable(at, number));
    CHECK_FALSE(readable(at, pack::kAgain));
    CHECK_FALSE(readable(at, static_cast<std::uint16_t>(number - 1)));
    CHECK_FALSE(readable(at, static_cast<std::uint16_t>(number + 1)));
    CHECK_FALSE(readable(at, 0xffff));
    CHECK_FALSE(readable(first, number));
}

TEST_CASE("a pack that is cut, or says what cannot be, is refused", "[packer]") {
    Records records;
    for (std::uint64_t i = 0; i < 50; ++i) {
        records.add(RecordKind::enter, 1, 1000 + 10 * i, {i, 2 * i});
        records.add(RecordKind::leave, 1, 1005 + 10 * i, {i});
    }
    const trace::TraceInfo info = functions();
    const trace::Packs whole = pack_all(records).packs;
    trace::ChunkDecoder decoder;
    REQUIRE(decoder.decode(whole, info));
    for (std::size_t size = 0; size < whole.payload.size(); ++size) {
        trace::Packs cut = whole;
        cut.payload.resize(size);
        REQUIRE_FALSE(decoder.decode(cut, info));
    }
    std::mt19937_64 random(3);
    for (int i = 0; i < 20000; ++i) {
        trace::Packs flipped = whole;
        for (std::uint64_t flips = 1 + random() % 3; flips > 0; --flips)
            flipped.payload[random() % flipped.payload.size()] ^=
                static_cast<std::uint8_t>(1U << random() % 8);
        if (!decoder.decode(flipped, info)) continue;  // else: what it says is possible
        for (const Event& event : decoder.events())
            if (event.kind != EventKind::pause) REQUIRE(event.function < info.functions.size());
    }
    trace::TraceInfo fewer = info;
    fewer.functions[1].enter_words = 1;
    CHECK_FALSE(decoder.decode(whole, fewer));
    fewer.functions.resize(1);
    CHECK_FALSE(decoder.decode(whole, fewer));
}

}  // namespace rdam
