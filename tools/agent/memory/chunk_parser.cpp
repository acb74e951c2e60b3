#include "tools/agent/memory/chunk_parser.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "libprobe/format/pack.h"
#include "libprobe/format/shared.h"

namespace rdam::agent {

std::uint64_t ChunkParser::word(std::size_t at) const {
    auto* memory = const_cast<std::uint64_t*>(reinterpret_cast<const std::uint64_t*>(bytes_.data() + at));
    return std::atomic_ref<std::uint64_t>{*memory}.load(std::memory_order_acquire);
}

/// The size of a record with this head; 0: there is none.
std::size_t ChunkParser::size_of(shm::Head head) const {
    const auto known = [&](const std::vector<std::uint16_t>& counts) {
        return head.function() < counts.size() && counts[head.function()] == head.words();
    };
    if (!head.is_sound()) return 0;
    const std::size_t words = head.words() + (head.counted() ? std::size_t{1} : std::size_t{0});
    switch (head.kind()) {
        case shm::RecordKind::enter:
        case shm::RecordKind::tail_enter:
            return known(rules_.enter_words) ? 24 + 8 * words : 0;
        case shm::RecordKind::leave:
            return known(rules_.leave_words) ? 16 + 8 * words : 0;
        case shm::RecordKind::unwound:
            return head.function() < rules_.leave_words.size() || head.function() == shm::kInnermostFunction
                       ? 16
                       : 0;
        case shm::RecordKind::pause:
            return head.function() <= static_cast<std::uint32_t>(shm::Pause::other) ? 24 : 0;
        case shm::RecordKind::stack:
            return head.function() < rules_.enter_words.size()
                       ? shm::kStackRecordWords * sizeof(std::uint64_t)
                       : 0;
        case shm::RecordKind::stack_switch:
            return head.function() == 0 && head.words() == 0 ? 24 : 0;
        case shm::RecordKind::none:
            break;
    }
    return 0;
}

/// The head is read before what it is the head of, and nothing twice.
bool ChunkParser::read(std::size_t at, EventRecord& record) const {
    if (bytes_.size() < at + 16) return false;
    const shm::Head head{word(at + 8)};
    const std::size_t size = size_of(head);
    if (size == 0 || bytes_.size() < at + size) return false;
    std::vector<std::uint64_t>& raw = record.raw;
    raw.resize(size / sizeof raw[0]);
    for (std::size_t i = 0; i < raw.size(); ++i)
        raw[i] = i == 1 ? head.bits : word(at + i * sizeof raw[0]);
    const bool enters = head.kind() == shm::RecordKind::enter || head.kind() == shm::RecordKind::tail_enter;
    const bool waits = head.kind() == shm::RecordKind::pause || head.kind() == shm::RecordKind::stack ||
                       head.kind() == shm::RecordKind::stack_switch;
    const bool calls = enters || head.kind() == shm::RecordKind::leave;
    record.kind = head.kind();
    record.function = head.function();
    record.cpu = head.cpu();
    record.tsc = raw[0];
    record.caller = enters ? raw[2] : 0;
    record.until = waits ? raw[2] : 0;
    record.instructions = calls && head.counted() ? raw.back() : 0;
    record.words = {};
    if (calls) record.words = std::span<const std::uint64_t>(raw).subspan(enters ? 3 : 2, head.words());
    return true;
}

/// Where the next record begins behind an unwritten one; the end of the chunk: there is none.
std::size_t ChunkParser::find_next() const {
    const auto* begin = reinterpret_cast<const std::uint64_t*>(bytes_.data() + at_);
    const auto* end = reinterpret_cast<const std::uint64_t*>(bytes_.data() + bytes_.size());
    for (const auto* from = begin; from < end;) {
        // A record begins one word before its head.
        const auto* nonzero = std::find_if(from, end, [](std::uint64_t value) { return value != 0; });
        if (nonzero == end) break;
        for (const auto* start : {nonzero - 1, nonzero}) {
            const auto at =
                static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(start) - bytes_.data());
            if (at <= at_ || at > shm::kChunkLimit || bytes_.size() < at + 16) continue;
            const std::size_t size = size_of(shm::Head{word(at + 8)});
            if (size != 0 && bytes_.size() >= at + size) return at;
        }
        from = nonzero + 1;
    }
    return bytes_.size();
}

ChunkParser::Step ChunkParser::next(EventRecord& record) {
    // A record that begins behind the limit was given up by its probe, which took one in the next chunk.
    if (at_ > shm::kChunkLimit || (used_ != 0 && at_ >= used_)) return Step::end;
    if (read(at_, record)) {
        at_ += record.raw.size() * sizeof record.raw[0];
        return Step::record;
    }
    return used_ != 0 || find_next() < bytes_.size() ? Step::unwritten : Step::end;
}

void ChunkParser::skip_unwritten() {
    ++unwritten_;
    at_ = find_next();
}

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
