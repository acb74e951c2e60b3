// Files that were cut, spoiled or put together wrongly: what is whole in them is read, the rest is counted.
#include <algorithm>

#include "tests/unit/catch.h"
#include "tests/unit/trace/files.h"
#include "tests/unit/trace/support.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;

namespace {

/// Three chunks of two threads, descriptions between them.
Bytes small_trace() {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceWriter writer = writer_of(path);
    REQUIRE(writer.describe(full_info()));
    ChunkEncoder encoder;
    for (const std::uint32_t thread : {0U, 1U, 0U}) {
        encode(encoder, {enter(10, 0), enter(20, 1, {1, 2, 3}), leave(30, 1, {4}), leave(40 + thread, 0)});
        REQUIRE(writer.append(thread, encoder));
    }
    REQUIRE(writer.finish(full_info()));
    return contents(path);
}

/// Offsets of the chunks, and the end of the last.
std::vector<std::size_t> borders(const Bytes& file) {
    std::vector<std::size_t> result{sizeof(format::FileHeader)};
    while (result.back() + sizeof(format::ChunkHeader) <= file.size()) {
        const auto header = format::load<format::ChunkHeader>(file.data() + result.back());
        if (!format::is_sound(header)) break;
        result.push_back(result.back() + format::extent(header.stored_size));
    }
    return result;
}

/// Where the payloads end, padding left out: a chunk is whole without it.
std::vector<std::size_t> payload_ends(const Bytes& file) {
    std::vector<std::size_t> result;
    for (const std::size_t at : borders(file)) {
        if (at + sizeof(format::ChunkHeader) > file.size()) break;
        const auto header = format::load<format::ChunkHeader>(file.data() + at);
        if (format::is_sound(header)) result.push_back(at + sizeof header + header.stored_size);
    }
    return result;
}

Bytes part(const Bytes& file, std::size_t begin, std::size_t end) {
    return {file.begin() + static_cast<std::ptrdiff_t>(begin),
            file.begin() + static_cast<std::ptrdiff_t>(end)};
}

bool is_prefix(const std::vector<OwnedEvent>& some, const std::vector<OwnedEvent>& all) {
    return some.size() <= all.size() && std::equal(some.begin(), some.end(), all.begin());
}

bool any(const Damage& damage) {
    return damage.bad_header || damage.no_index || damage.bad_chunks != 0 || damage.missing_chunks != 0 ||
           damage.skipped_bytes != 0;
}

struct Whole {
    std::vector<OwnedEvent> first, second;
};

Whole whole(const Bytes& file) {
    const MemoryFile memory(file);
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    REQUIRE_FALSE(any(reader->damage()));
    return {replay(*reader, 0).events, replay(*reader, 1).events};
}

/// Whether what is read from a spoiled file says that it is spoiled, or is the same as before.
bool honest(const std::string& path, const Whole& expected) {
    const auto reader = TraceReader::open(path);
    if (!reader) return !reader.error().message.empty();
    const bool same = reader->info().threads.size() == full_info().threads.size() &&
                      replay(*reader, 0).events == expected.first &&
                      replay(*reader, 1).events == expected.second && reader->info() == full_info();
    return same || any(reader->damage());
}

}  // namespace

TEST_CASE("a trace cut anywhere gives the chunks that are whole") {
    const Bytes file = small_trace();
    const Whole expected = whole(file);
    const std::vector<std::size_t> ends = payload_ends(file);
    REQUIRE(ends.size() == 6);
    MemoryFile memory(file);
    for (std::size_t size = file.size(); size-- > 0;) {
        CAPTURE(size);
        memory.truncate(size);
        const auto reader = TraceReader::open(memory.path());
        const bool has_chunk = size >= ends[0];
        REQUIRE(reader.has_value() == has_chunk);
        if (!reader) continue;
        REQUIRE(reader->damage().no_index);
        const auto whole_chunks = std::count_if(ends.begin() + 1, ends.begin() + 4,
                                                [size](std::size_t end) { return end <= size; });
        const auto first = replay(*reader, 0);
        const auto second = replay(*reader, 1);
        REQUIRE(is_prefix(first.events, expected.first));
        REQUIRE(is_prefix(second.events, expected.second));
        REQUIRE(first.events.size() + second.events.size() == 4 * static_cast<std::size_t>(whole_chunks));
        REQUIRE(first.gaps.empty());
        REQUIRE(reader->info() == full_info());
    }
}

TEST_CASE("a flipped bit is an error, or counted, or without effect") {
    const Bytes file = small_trace();
    const Whole expected = whole(file);
    MemoryFile memory(file);
    for (std::size_t at = 0; at < file.size(); ++at) {
        CAPTURE(at);
        for (const unsigned flip : {1U << (at % 8), 0xffU}) {
            memory.set(at, static_cast<std::uint8_t>(file[at] ^ flip));
            REQUIRE(honest(memory.path(), expected));
        }
        memory.set(at, file[at]);
    }
    CHECK_FALSE(any(TraceReader::open(memory.path())->damage()));
}

TEST_CASE("a spoiled chunk is left out as a whole, with a gap in its place") {
    Bytes file = small_trace();
    const auto at = borders(file);
    file[at[1] + sizeof(format::ChunkHeader) + 3] ^= 1U;
    const MemoryFile memory(file);
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    for (int i = 0; i < 2; ++i) {
        const Replay first = replay(*reader, 0);
        CHECK(first.events.size() == 4);
        CHECK(first.gaps == std::vector<std::size_t>{0});
    }
    CHECK(replay(*reader, 1).events.size() == 4);
    CHECK(reader->damage().bad_chunks == 1);
    CHECK_FALSE(reader->damage().no_index);
}

TEST_CASE("without its index, too, a trace gives all but the spoiled chunk") {
    Bytes file = small_trace();
    const auto at = borders(file);
    file.resize(at[5]);
    SECTION("payload") {
        file[at[2] + sizeof(format::ChunkHeader)] ^= 1U;
        const MemoryFile memory(file);
        const auto reader = TraceReader::open(memory.path());
        REQUIRE(reader);
        CHECK(replay(*reader, 0).events.size() == 8);
        CHECK(replay(*reader, 1).events.empty());
        CHECK(reader->damage().bad_chunks == 1);
    }
    SECTION("header") {
        file[at[1] + 20] ^= 1U;
        const MemoryFile memory(file);
        const auto reader = TraceReader::open(memory.path());
        REQUIRE(reader);
        const Replay first = replay(*reader, 0);
        CHECK(first.events.size() == 4);
        CHECK(first.gaps == std::vector<std::size_t>{0});
        CHECK(reader->damage().missing_chunks == 1);
        CHECK(reader->damage().skipped_bytes == at[2] - at[1]);
    }
}

TEST_CASE("garbage between chunks is passed over") {
    const Bytes file = small_trace();
    const auto at = borders(file);
    for (const std::size_t length : {1U, 7U, 64U, 300000U}) {
        CAPTURE(length);
        Bytes garbage(length);
        for (std::size_t i = 0; i < length; ++i)
            garbage[i] = format::kChunkMagic[i % 8];
        const MemoryFile memory(part(file, 0, at[2]) + garbage + part(file, at[2], file.size()));
        const auto reader = TraceReader::open(memory.path());
        REQUIRE(reader);
        CHECK(replay(*reader, 0).events.size() == 8);
        CHECK(replay(*reader, 1).events.size() == 4);
        CHECK(replay(*reader, 0).gaps.empty());
        CHECK(reader->info() == full_info());
        CHECK(reader->damage().skipped_bytes == length);
        CHECK(reader->damage().bad_chunks == 0);
    }
}

TEST_CASE("bytes missing inside a chunk cost that chunk only") {
    const Bytes file = small_trace();
    const auto at = borders(file);
    const std::size_t inside = at[1] + sizeof(format::ChunkHeader) + 8;
    const MemoryFile memory(part(file, 0, inside) + part(file, inside + 8, file.size()));
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    const Replay first = replay(*reader, 0);
    CHECK(first.events.size() == 4);
    CHECK(first.gaps == std::vector<std::size_t>{0});
    CHECK(replay(*reader, 1).events.size() == 4);
    CHECK(reader->damage().bad_chunks == 1);
}

TEST_CASE("a chunk that is there twice is read once") {
    const Bytes file = small_trace();
    const auto at = borders(file);
    const MemoryFile memory(part(file, 0, at[2]) + part(file, at[1], at[5]));
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    CHECK(replay(*reader, 0).events.size() == 8);
    CHECK(reader->damage().bad_chunks == 1);
}

TEST_CASE("a trace that lost its first bytes is known by its chunks") {
    Bytes file = small_trace();
    std::fill_n(file.begin(), sizeof(format::FileHeader), std::uint8_t{0});
    const MemoryFile memory(file);
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    CHECK(reader->damage().bad_header);
    CHECK(replay(*reader, 0).events.size() == 8);
}

TEST_CASE("a trace that loses its first description has it at the end again") {
    Bytes file = small_trace();
    file[sizeof(format::FileHeader) + sizeof(format::ChunkHeader) + 20] ^= 1U;
    const MemoryFile memory(file);
    const auto reader = TraceReader::open(memory.path());
    REQUIRE(reader);
    CHECK(reader->info() == full_info());
    CHECK(replay(*reader, 0).events.size() == 8);
    CHECK(reader->damage().bad_chunks == 1);
}
