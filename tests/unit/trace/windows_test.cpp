// Windows chunks: what was written is read again; what is wrong is left out.
#include <limits>
#include <random>

#include "libprobe/format/varint.h"
#include "tests/unit/catch.h"
#include "tests/unit/trace/files.h"
#include "tests/unit/trace/support.h"
#include "tools/trace/side_tables.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;

namespace rdam::trace {

std::ostream& operator<<(std::ostream& out, const Window& window) {
    return out << window.begin << "…" << window.end;
}

}  // namespace rdam::trace

namespace {

using Windows = std::vector<Window>;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

/// What is read from a trace with these chunks.
Windows read_again(const std::vector<Windows>& chunks) {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceWriter writer = writer_of(path);
    for (const Windows& each : chunks) {
        WindowsEncoder encoder;
        for (const Window& window : each)
            encoder.add(window);
        REQUIRE(writer.append_windows(encoder));
        REQUIRE(encoder.windows() == 0);
    }
    REQUIRE(writer.finish(info_of_one_function()));
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(reader->damage().bad_chunks == 0);
    CHECK(reader->damage().missing_chunks == 0);
    return reader->info().windows;
}

/// A payload of columns of these numbers; without groups as version 2.0 has it.
std::vector<std::uint8_t> payload_of(const std::vector<std::uint64_t>& gaps,
                                     const std::vector<std::uint64_t>& lengths,
                                     const std::vector<std::uint64_t>& groups = {}) {
    PlainColumn columns[3];
    for (const std::uint64_t gap : gaps)
        put_number(columns[0], gap);
    for (const std::uint64_t length : lengths)
        put_number(columns[1], length);
    for (const std::uint64_t group : groups)
        put_number(columns[2], group);
    return groups.empty() ? join_columns(std::span{columns}.first(2)) : join_columns(columns);
}

struct Chunk {
    std::uint32_t windows = 0;
    std::uint64_t first = 0, last = 0;
    std::vector<std::uint8_t> payload;
};

/// Nothing: the chunk is refused.
std::optional<Windows> decoded(const Chunk& chunk, Windows before = {}) {
    format::ChunkHeader header;
    header.events = chunk.windows;
    header.first_tsc = chunk.first;
    header.last_tsc = chunk.last;
    header.stored_size = static_cast<std::uint32_t>(chunk.payload.size());
    std::vector<std::uint8_t> bytes = chunk.payload;
    bytes.resize(bytes.size() + rdam::varint::kSlack);
    const Windows kept = before;
    if (decode_windows(header, std::span{bytes}.first(chunk.payload.size()), before)) return before;
    CHECK(before == kept);
    return std::nullopt;
}

}  // namespace

TEST_CASE("windows are read as they were written, over several chunks", "[windows]") {
    const Windows first{{1000, 1500, 2}, {1500, 1501, 0}, {90'000, 100'000, kMaxWindowGroup}};
    const Windows second{{100'000, 100'001, 1}, {kMax - 5, kMax, 2}};
    Windows all = first;
    all.insert(all.end(), second.begin(), second.end());
    CHECK(read_again({first, second}) == all);
    CHECK(read_again({}).empty());
}

TEST_CASE("what lies before the end of the last window is cut off when it is written", "[windows]") {
    CHECK(read_again({{{100, 100}, {100, 200}, {150, 180}, {150, 250}, {240, 300}}}) ==
          Windows{{100, 200}, {200, 250}, {250, 300}});
}

TEST_CASE("a chunk that says something impossible is refused as a whole", "[windows]") {
    const Chunk good{2, 100, 160, payload_of({0, 30}, {10, 20})};
    CHECK(decoded(good) == Windows{{100, 110}, {140, 160}});
    CHECK(decoded({2, 100, 160, payload_of({0, 30}, {10, 20}, {3, 0})}) ==
          Windows{{100, 110, 3}, {140, 160, 0}});
    CHECK_FALSE(decoded({2, 100, 160, payload_of({0, 30}, {10, 20}, {3, 64})}));
    CHECK_FALSE(decoded({2, 100, 160, payload_of({0, 30}, {10, 20}, {3})}));
    CHECK_FALSE(decoded({2, 100, 160, payload_of({0, 30}, {10, 20}, {3, 0, 0})}));
    CHECK(decoded(good, {{50, 100}}) == Windows{{50, 100}, {100, 110}, {140, 160}});

    CHECK_FALSE(decoded(good, {{50, 101}}));  // begins before the last one has ended
    CHECK_FALSE(decoded({2, 100, 161, good.payload}));
    CHECK_FALSE(decoded({0, 100, 160, good.payload}));
    CHECK_FALSE(decoded({1, 100, 110, good.payload}));
    CHECK_FALSE(decoded({3, 100, 160, good.payload}));
    CHECK_FALSE(decoded({2, 100, 160, payload_of({1, 30}, {10, 20})}));  // a gap before the first
    CHECK_FALSE(decoded({2, 100, 130, payload_of({0, 30}, {0, 0})}));    // empty ones
    CHECK_FALSE(decoded({1, kMax - 1, 5, payload_of({0}, {7})}));        // behind the end of time
    CHECK_FALSE(decoded({2, 100, 110, payload_of({0, kMax}, {10, 1})}));
    CHECK_FALSE(decoded({1000, 100, 160, good.payload}));
    for (std::size_t size = 0; size < good.payload.size(); ++size)
        CHECK_FALSE(
            decoded({2, 100, 160, {good.payload.begin(), good.payload.begin() + static_cast<long>(size)}}));
}

TEST_CASE("random bytes in a windows chunk do no harm", "[windows]") {
    std::mt19937_64 random{20261122};
    const Chunk good{3, 100, 190, payload_of({0, 30, 10}, {10, 20, 20})};
    REQUIRE(decoded(good));
    for (int i = 0; i < 20'000; ++i) {
        Chunk chunk = good;
        for (std::uint64_t changes = 1 + random() % 4; changes > 0; --changes)
            chunk.payload[random() % chunk.payload.size()] = static_cast<std::uint8_t>(random());
        const auto windows = decoded(chunk);
        if (!windows) continue;
        for (std::size_t w = 0; w < windows->size(); ++w) {
            CHECK((*windows)[w].begin < (*windows)[w].end);
            if (w > 0) CHECK((*windows)[w - 1].end <= (*windows)[w].begin);
        }
    }
}
