// Any bytes as a chunk of the memory that the profiled program shares with its helper: the walk ends, and no
// slot reaches out of the chunk.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tools/agent/chunk_parser.h"

namespace {

using namespace rdam;

void require(bool truth) {
    if (!truth) std::abort();
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
    const agent::SlotRules rules{.enter_words = {0, 1, 6}, .leave_words = {0, 1, 2}};
    agent::ChunkParser parser{chunk, rules, (data[0] & 2U) == 0 ? 0 : from + rest, from};
    agent::Slot slot;
    static volatile std::uint64_t sum = 0;  // so that the words are read
    for (std::size_t steps = 0;; ++steps) {
        require(steps <= chunk.size() && parser.at() <= chunk.size());
        const agent::ChunkParser::Step step = parser.next(slot);
        if (step == agent::ChunkParser::Step::end) break;
        if (step == agent::ChunkParser::Step::hole) {
            parser.skip_hole();
            continue;
        }
        for (const std::uint64_t word : slot.words)
            sum = sum + word;
    }
    return 0;
}
