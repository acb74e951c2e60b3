#include "tests/e2e/damage/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <random>

#include "tools/trace/reader.h"

namespace damage {
namespace {

using namespace rdam;
using trace::format::ChunkType;

std::vector<Chunk> find_chunks(const Bytes& file) {
    std::vector<Chunk> chunks;
    std::size_t at = sizeof(trace::format::FileHeader);
    while (at + sizeof(trace::format::ChunkHeader) <= file.size()) {
        const auto header = trace::format::load<trace::format::ChunkHeader>(file.data() + at);
        if (!trace::format::is_sound(header)) break;
        chunks.push_back({at, at + sizeof header + header.stored_size, header, {}});
        at += trace::format::extent(header.stored_size);
    }
    return chunks;
}

/// Shares the calls of a thread out to its chunks.
Result<void> count_calls(const trace::TraceReader& reader, std::uint32_t thread, std::vector<Chunk>& chunks) {
    std::deque<Chunk*> own;
    for (Chunk& chunk : chunks) {
        if (trace::format::holds_events(chunk.header.type) && chunk.header.thread == thread)
            own.push_back(&chunk);
    }
    std::uint64_t read = 0;
    return reader.read_thread(
        thread,
        [&](std::span<const trace::Event> events) {
            for (const trace::Event& event : events) {
                if (own.empty()) return;
                if (event.kind == trace::EventKind::enter)
                    ++own.front()->calls[reader.info().functions[event.function].name];
                if (++read < own.front()->header.events) continue;
                own.pop_front();
                read = 0;
            }
        },
        [] {});
}

struct Hits {
    std::size_t size = 0;              ///< where the file ends
    std::vector<std::size_t> flipped;  ///< bytes

    bool hits(std::size_t begin, std::size_t end) const {
        return end > size ||
               std::ranges::any_of(flipped, [&](std::size_t at) { return begin <= at && at < end; });
    }
};

Expectation expect(const Original& original, const Hits& hits) {
    Expectation expected{.exact = true};
    std::size_t hit_chunks = 0, hit_payloads = 0, whole_events = 0;
    for (const Chunk& chunk : original.chunks) {
        const bool hit = hits.hits(chunk.begin, chunk.end);
        hit_chunks += hit;
        if (chunk.header.is(ChunkType::description)) expected.exact = expected.exact && !hit;
        if (!trace::format::holds_events(chunk.header.type)) continue;
        if (hit) {
            expected.loses_calls = true;
            hit_payloads += !hits.hits(chunk.begin, chunk.begin + sizeof chunk.header);
            continue;
        }
        ++whole_events;
        for (const auto& [function, count] : chunk.calls)
            expected.calls[function] += count;
    }
    const auto outside = static_cast<std::size_t>(std::ranges::count_if(hits.flipped, [&](std::size_t at) {
        return std::ranges::none_of(original.chunks,
                                    [&](const Chunk& chunk) { return chunk.begin <= at && at < chunk.end; });
    }));
    expected.one_payload =
        hits.size == original.file.size() && outside == 0 && hit_chunks == 1 && hit_payloads == 1;
    expected.readable = whole_events > 0 && expected.exact;
    return expected;
}

}  // namespace

Result<Original> read_original(const std::string& path, const Bytes& file) {
    const auto reader = trace::TraceReader::open(path);
    if (!reader) return tl::unexpected{reader.error()};
    Original original{.file = file, .chunks = find_chunks(file)};
    for (std::uint32_t thread = 0; thread < reader->info().threads.size(); ++thread) {
        if (auto counted = count_calls(*reader, thread, original.chunks); !counted)
            return tl::unexpected{counted.error()};
    }
    const auto events = std::ranges::count_if(
        original.chunks, [](const Chunk& c) { return trace::format::holds_events(c.header.type); });
    const auto descriptions = std::ranges::count_if(
        original.chunks, [](const Chunk& c) { return c.header.is(ChunkType::description); });
    if (events < 4 || descriptions < 2 || reader->damage().no_index || reader->damage().bad_chunks > 0)
        return fail("{}: a whole trace of four chunks of events and two descriptions at least is needed",
                    path);
    return original;
}

Damaged damage_at_random(const Original& original, std::uint64_t seed) {
    std::mt19937_64 random{seed};
    const std::uint64_t way = random() % 30;
    const bool both = way == 0;
    const bool cut = both || way <= 10;
    Damaged damaged{.file = original.file, .expected = {}, .what = {}};
    Hits hits{.size = original.file.size(), .flipped = {}};
    for (std::uint64_t flips = cut && !both ? 0 : 1 + (random() % 3) * (random() % 8); flips > 0; --flips) {
        const std::size_t at = random() % original.file.size();
        const unsigned bit = random() % 8;
        const bool again = std::ranges::find(hits.flipped, at) != hits.flipped.end();
        if (again) continue;
        damaged.file[at] = static_cast<std::uint8_t>(damaged.file[at] ^ (1U << bit));
        hits.flipped.push_back(at);
        damaged.what += fmt::format("bit {} of byte {} flipped, ", bit, at);
    }
    if (cut) {
        hits.size = random() % original.file.size();
        damaged.file.resize(hits.size);
        damaged.what += fmt::format("cut at {}, ", hits.size);
    }
    damaged.what += fmt::format("of {} bytes", original.file.size());
    damaged.expected = expect(original, hits);
    return damaged;
}

std::string compare(const Calls& found, const Expectation& expected) {
    std::uint64_t all_found = 0, all_expected = 0;
    for (const auto& [function, count] : expected.calls)
        all_expected += count;
    for (const auto& [function, count] : found)
        all_found += count;
    if (all_found > all_expected)
        return fmt::format("{} calls were found in chunks of {} calls", all_found, all_expected);
    if (expected.exact && found != expected.calls)
        return fmt::format("{} calls were found instead of {}, or others", all_found, all_expected);
    return {};
}

}  // namespace damage
