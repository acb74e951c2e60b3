#include "tools/agent/memory/functions_left.h"

#include <cstring>

#include "libprobe/format/pack.h"
#include "libprobe/format/shared.h"

namespace rdam::agent {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint64_t word_at(std::span<const std::uint8_t> bytes, std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
}

bool may_be_head(shm::Head head) {
    return head.kind() != shm::RecordKind::none && head.kind() <= shm::RecordKind::stack;
}

/// The two words of a pack::Op.
bool may_be_op(std::uint64_t caller, std::uint64_t word) {
    constexpr std::uint64_t kLowestCode = 4096;
    const auto byte = [word](unsigned number) { return word >> (8 * number) & 0xff; };
    const bool enters = byte(4) <= static_cast<std::uint64_t>(pack::Kind::tail_enter);
    return byte(4) < static_cast<std::uint64_t>(pack::Kind::count) && byte(6) <= 1 && byte(7) == 0 &&
           (enters ? caller >= kLowestCode : caller == 0);
}

/// The first word of the shm::PackHeader of a call stack.
bool may_head_stack(std::uint64_t word) {
    const auto size = static_cast<std::uint32_t>(word);
    return word >> 32 == static_cast<std::uint64_t>(shm::PackKind::stack) && size <= shm::kChunkSize &&
           size % kWord == 0;
}

}  // namespace

void FunctionsLeft::note(std::uint64_t number) {
    if (number < seen_.size()) seen_[number] = true;
}

void FunctionsLeft::look_at_records(std::span<const std::uint8_t> chunk) {
    for (std::size_t at = shm::kChunkHeader; at + kWord <= chunk.size(); at += kWord)
        if (const shm::Head head{word_at(chunk, at)}; may_be_head(head)) note(head.function());
}

void FunctionsLeft::look_at_packs(std::span<const std::uint8_t> chunk) {
    for (std::size_t at = shm::kChunkHeader; at + kWord <= chunk.size(); at += kWord) {
        const std::uint64_t word = word_at(chunk, at);
        if (may_be_op(word_at(chunk, at - kWord), word)) note(static_cast<std::uint32_t>(word));
        const std::size_t copy = at + sizeof(shm::PackHeader);
        if (may_head_stack(word) && copy + kWord <= chunk.size())
            note(static_cast<std::uint32_t>(word_at(chunk, copy)));
    }
}

}  // namespace rdam::agent
