// Any bytes as a chunk of the memory that the profiled program shares with its helper: the walk ends, no
// record reaches out of the chunk, and what is packed of it can be read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "libprobe/format/packer.h"
#include "tools/agent/memory/chunk_parser.h"
#include "tools/trace/decoder.h"

namespace {

using namespace rdam;

void require(bool truth) {
    if (!truth) std::abort();
}

/// Functions 0 to 2 with the words of the rules below.
const trace::TraceInfo& functions() {
    static const trace::TraceInfo info = [] {
        trace::TraceInfo made;
        made.functions.resize(3);
        for (std::uint16_t i = 1; i < 3; ++i) {
            made.functions[i].enter_words = i == 1 ? 1 : 6;
            made.functions[i].leave_words = i;
        }
        return made;
    }();
    return info;
}

/// As the thread itself does it, which believes its own heads: whatever comes of it, the reader is not
/// harmed.
void pack_and_read(const std::uint64_t* at, const std::uint64_t* end) {
    static const auto packer = [] {
        auto made = std::make_unique<pack::Packer>();
        made->prepare(3);
        return made;
    }();
    packer->clear();
    pack::PendingStacks pending;
    trace::Packs packs;
    pack::Stop stop = pack::Stop::full;
    while (stop == pack::Stop::full) {
        stop = packer->run(at, end, pending);
        if (packer->events() == 0) break;
        require(packer->size() <= pack::kMaxBytes);
        std::vector<std::uint64_t> bytes(packer->size() / sizeof(std::uint64_t));
        packer->write(bytes.data());
        const std::span<const std::uint8_t> written{reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                    packer->size()};
        const auto layout = trace::pack_layout(written);
        require(layout.has_value());
        packs.add(layout->header, written);
        packer->clear();
    }
    require(at <= end);
    trace::ChunkDecoder decoder;
    if (packs.events > 0 && decoder.decode(packs, functions())) decoder.events();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0 || size > shm::kChunkSize - shm::kChunkHeader) return 0;
    // The first byte says where the others lie, at the chunk's begin or end, and whether its end is known.
    const std::size_t rest = (size - 1) / sizeof(std::uint64_t) * sizeof(std::uint64_t);
    const std::size_t from = data[0] % 2 == 0 ? shm::kChunkHeader : shm::kChunkSize - rest;
    std::vector<std::uint64_t> memory(shm::kChunkSize / sizeof(std::uint64_t));
    const std::span<std::uint8_t> chunk{reinterpret_cast<std::uint8_t*>(memory.data()), shm::kChunkSize};
    if (rest > 0) std::memcpy(chunk.data() + from, data + 1, rest);
    const agent::RecordRules rules{.enter_words = {0, 1, 6}, .leave_words = {0, 1, 2}};
    agent::ChunkParser parser{chunk, rules, (data[0] & 2U) == 0 ? 0 : from + rest, from};
    pack_and_read(memory.data() + from / sizeof(std::uint64_t),
                  memory.data() + (from + rest) / sizeof(std::uint64_t));
    agent::EventRecord record;
    static volatile std::uint64_t sum = 0;  // so that the words are read
    for (std::size_t steps = 0;; ++steps) {
        require(steps <= chunk.size() && parser.at() <= chunk.size());
        const agent::ChunkParser::Step step = parser.next(record);
        if (step == agent::ChunkParser::Step::end) break;
        if (step == agent::ChunkParser::Step::unwritten) {
            parser.skip_unwritten();
            continue;
        }
        for (const std::uint64_t word : record.words)
            sum = sum + word;
    }
    return 0;
}
