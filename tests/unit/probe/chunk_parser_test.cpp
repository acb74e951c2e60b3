// Records of shared memory as the agent reads them: whole, torn, and hostile.
#include "tools/agent/memory/chunk_parser.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include "tests/unit/catch.h"

namespace rdam::agent {
namespace {

using shm::RecordKind;
using Step = ChunkParser::Step;

/// A chunk of zeroes that records are put into, as the probe does it.
class Chunk {
  public:
    Chunk() : words_(std::make_unique<Words>()) {}

    std::size_t put(std::uint64_t tsc, RecordKind kind, std::uint32_t function,
                    std::vector<std::uint64_t> rest, std::uint32_t words = 0) {
        const std::size_t at = end_;
        (*words_)[at] = tsc;
        (*words_)[at + 1] = shm::make_head(kind, words, function);
        std::ranges::copy(rest, words_->begin() + static_cast<std::ptrdiff_t>(at) + 2);
        end_ += 2 + rest.size();
        return at;
    }
    void enter(std::uint64_t tsc, std::uint32_t function, std::vector<std::uint64_t> parameters = {}) {
        const auto count = static_cast<std::uint32_t>(parameters.size());
        parameters.insert(parameters.begin(), 0x401000);
        put(tsc, RecordKind::enter, function, std::move(parameters), count);
    }
    void leave(std::uint64_t tsc, std::uint32_t function) { put(tsc, RecordKind::leave, function, {}); }
    void leave_unwritten(std::size_t words) { end_ += words; }
    void skip_to(std::size_t byte) { end_ = byte / 8; }
    std::size_t end() const { return end_ * 8; }
    std::uint64_t& word(std::size_t at) { return (*words_)[at]; }

    std::span<const std::uint8_t> bytes() const {
        return {reinterpret_cast<const std::uint8_t*>(words_->data()), shm::kChunkSize};
    }

  private:
    using Words = std::array<std::uint64_t, shm::kChunkSize / 8>;
    std::unique_ptr<Words> words_;
    std::size_t end_ = shm::kChunkHeader / 8;
};

/// Function 0 has no parameters and no result, function 1 has two parameters and none.
const RecordRules kRules{.enter_words = {0, 2}, .leave_words = {0, 0}};

struct Parsed {
    std::vector<std::uint64_t> times;
    std::uint64_t unwritten = 0;
};

Parsed parse(const Chunk& chunk, std::size_t used = 0) {
    ChunkParser parser(chunk.bytes(), kRules, used);
    Parsed parsed;
    EventRecord record;
    for (auto step = parser.next(record); step != Step::end; step = parser.next(record))
        if (step == Step::record)
            parsed.times.push_back(record.tsc);
        else
            parser.skip_unwritten();
    parsed.unwritten = parser.unwritten();
    return parsed;
}

}  // namespace

TEST_CASE("records with a count of instructions stand beside records without", "[chunk]") {
    Chunk chunk;
    const auto counted = [&](std::size_t at) { chunk.word(at + 1) |= shm::kCounted; };
    counted(chunk.put(100, RecordKind::enter, 1, {0x401000, 7, 8, 5000}, 2));
    chunk.enter(110, 0);
    counted(chunk.put(120, RecordKind::leave, 0, {5090}));
    chunk.put(130, RecordKind::unwound, shm::kInnermostFunction, {});
    counted(chunk.put(140, RecordKind::tail_enter, 0, {0, 0}));
    counted(chunk.put(150, RecordKind::enter, 0, {0x401000, 6000}));
    ChunkParser parser(chunk.bytes(), kRules);
    EventRecord record;
    std::vector<std::uint64_t> instructions;
    std::vector<std::uint64_t> times;
    while (parser.next(record) == Step::record) {
        times.push_back(record.tsc);
        instructions.push_back(record.instructions);
        if (record.tsc == 100)
            CHECK(std::vector(record.words.begin(), record.words.end()) == std::vector<std::uint64_t>{7, 8});
    }
    CHECK(times == std::vector<std::uint64_t>{100, 110, 120, 130, 140, 150});
    CHECK(instructions == std::vector<std::uint64_t>{5000, 0, 5090, 0, 0, 6000});
    CHECK(parse(chunk).unwritten == 0);
}

TEST_CASE("a chunk of zeroes has no records", "[chunk]") {
    CHECK(parse(Chunk{}).times.empty());
    CHECK(parse(Chunk{}).unwritten == 0);
}

TEST_CASE("records come in the order in which they were taken", "[chunk]") {
    Chunk chunk;
    chunk.enter(100, 1, {7, 8});
    chunk.put(110, RecordKind::pause, static_cast<std::uint32_t>(shm::Pause::new_chunk), {120}, 1);
    chunk.enter(90, 0);  // a signal handler's, stamped before the call it interrupts
    chunk.leave(95, 0);
    chunk.leave(200, 1);
    ChunkParser parser(chunk.bytes(), kRules);
    EventRecord record;
    REQUIRE(parser.next(record) == Step::record);
    CHECK(record.kind == RecordKind::enter);
    CHECK(record.function == 1);
    CHECK(record.caller == 0x401000);
    CHECK(std::vector(record.words.begin(), record.words.end()) == std::vector<std::uint64_t>{7, 8});
    REQUIRE(parser.next(record) == Step::record);
    CHECK(record.kind == RecordKind::pause);
    CHECK(record.until == 120);
    CHECK(parse(chunk).times == std::vector<std::uint64_t>{100, 110, 90, 95, 200});
    CHECK(parse(chunk).unwritten == 0);
}

TEST_CASE("a record that was reserved and never written is passed over and counted", "[chunk]") {
    const std::size_t unwritten_words = GENERATE(2u, 3u, 5u, 25u);
    Chunk chunk;
    chunk.enter(100, 0);
    chunk.leave_unwritten(unwritten_words);
    chunk.leave(200, 0);
    chunk.enter(300, 0);
    CHECK(parse(chunk).times == std::vector<std::uint64_t>{100, 200, 300});
    CHECK(parse(chunk).unwritten == 1);
}

TEST_CASE("a record whose time is written and whose head is not is unwritten, too", "[chunk]") {
    Chunk chunk;
    chunk.enter(100, 0);
    const std::size_t torn = chunk.put(150, RecordKind::leave, 0, {});
    chunk.word(torn + 1) = 0;
    chunk.enter(300, 1, {1, 2});
    CHECK(parse(chunk).times == std::vector<std::uint64_t>{100, 300});
    CHECK(parse(chunk).unwritten == 1);
}

TEST_CASE("a torn record at the end is no record and hides none", "[chunk]") {
    Chunk chunk;
    chunk.enter(100, 0);
    const std::size_t torn = chunk.put(150, RecordKind::enter, 1, {0x401000, 1, 2}, 2);
    chunk.word(torn + 1) = 0;
    CHECK(parse(chunk).times == std::vector<std::uint64_t>{100});
}

TEST_CASE("a record may begin at the limit and not behind it", "[chunk]") {
    Chunk chunk;
    chunk.enter(100, 0);
    chunk.skip_to(shm::kChunkLimit);
    chunk.leave(200, 0);
    chunk.leave(300, 0);
    CHECK(parse(chunk).times == std::vector<std::uint64_t>{100, 200});
}

TEST_CASE("the end of a chunk that was handed over is known: an unwritten record there is seen", "[chunk]") {
    Chunk chunk;
    chunk.enter(100, 0);
    CHECK(parse(chunk, chunk.end()).unwritten == 0);
    chunk.leave_unwritten(3);
    CHECK(parse(chunk).unwritten == 0);
    CHECK(parse(chunk, chunk.end()).unwritten == 1);
    CHECK(parse(chunk, chunk.end()).times == std::vector<std::uint64_t>{100});
}

TEST_CASE("an unwritten record can be waited for", "[chunk]") {
    Chunk chunk;
    chunk.enter(100, 0);
    const std::size_t torn = chunk.put(150, RecordKind::leave, 0, {});
    const std::uint64_t head = std::exchange(chunk.word(torn + 1), 0);
    chunk.enter(300, 1, {1, 2});
    ChunkParser parser(chunk.bytes(), kRules, chunk.end());
    EventRecord record;
    REQUIRE(parser.next(record) == Step::record);
    REQUIRE(parser.next(record) == Step::unwritten);
    REQUIRE(parser.next(record) == Step::unwritten);
    ChunkParser later(chunk.bytes(), kRules, chunk.end(), parser.at());
    chunk.word(torn + 1) = head;
    REQUIRE(later.next(record) == Step::record);
    CHECK(record.tsc == 150);
    REQUIRE(later.next(record) == Step::record);
    CHECK(record.tsc == 300);
    CHECK(later.next(record) == Step::end);
    CHECK(later.unwritten() == 0);
}

TEST_CASE("a head that no function has is not believed", "[chunk]") {
    Chunk chunk;
    chunk.enter(100, 0);
    SECTION("a function that does not exist") {
        chunk.put(150, RecordKind::leave, 2, {});
    }
    SECTION("another number of words") {
        chunk.put(150, RecordKind::enter, 1, {0x401000}, 0);
    }
    SECTION("a kind that does not exist") {
        chunk.put(150, static_cast<RecordKind>(9), 0, {});
    }
    SECTION("a call stack of a function that does not exist") {
        chunk.put(150, RecordKind::stack, 2, {160, 0x401000, 1});
    }
    CHECK(parse(chunk).times.front() == 100);
    CHECK(parse(chunk).times.size() == 1);
}

TEST_CASE("whatever bytes a chunk holds, parsing ends inside it", "[chunk]") {
    std::mt19937_64 random(20181);
    for (int round = 0; round < 300; ++round) {
        Chunk chunk;
        std::uint64_t at = shm::kChunkHeader / 8;
        while (at + 8 < shm::kChunkSize / 8) {
            const std::uint64_t value = random();
            // Mostly plausible heads, or the parser would give up at once.
            chunk.word(at) = value % 3 == 0 ? value
                                            : shm::make_head(static_cast<RecordKind>(value % 8),
                                                             value >> 8 & 3, value >> 16 & 1);
            at += 1 + (round % 4 == 0 ? value % 64 : value % 3);
        }
        ChunkParser parser(chunk.bytes(), kRules);
        std::size_t records = 0;
        EventRecord record;
        for (auto step = parser.next(record); step != Step::end; step = parser.next(record))
            if (step == Step::record)
                ++records;
            else
                parser.skip_unwritten();
        CHECK(parser.at() <= shm::kChunkSize);
        CHECK(records <= shm::kChunkSize / 16);
    }
}

}  // namespace rdam::agent
