#include "libprobe/code/moved_frames.h"

#include <atomic>

#include "libprobe/base/loaded_object.h"
#include "libprobe/base/runtime.h"
#include "libprobe/code/patch.h"
#include "libprobe/format/plan.h"

namespace rdam::probe {
namespace {

/// The stack is as the caller left it: CFA = rsp + 8, the return address below it.
constexpr std::uint8_t kKind[] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                                  1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};
constexpr std::uint32_t kDescriptionSize = 20;
constexpr std::uint32_t kDescriptions = 3;  ///< of FrameTables
/// Version 1; a 32-bit relative pointer to descriptions, a 32-bit count, rows of two 32-bit offsets from the
/// header.
constexpr std::uint8_t kHeader[] = {1, 0x1b, 3, 0x3b};
constexpr std::uint32_t kHeaderSize = 12;
constexpr std::uint32_t kRowSize = 8;
/// A size of 0 ends descriptions: LLVM's unwinder reads on from the first one where the header has none for
/// an address.
constexpr std::uint32_t kEndSize = 4;
constexpr std::uint32_t kJumpSize = kHeaderSize + kRowSize + kDescriptionSize + kEndSize;

/// The jumps in objects' padding. A filter keeps others from looking through them: a bit for each address,
/// which others share.
struct Jump {
    std::uint64_t address = 0;  ///< 0: free
    std::uint64_t table = 0;
};
constexpr std::uint32_t kMaxJumps = 4096;
constexpr std::uint32_t kFilterBits = 1 << 15;
constinit Jump known_jumps[kMaxJumps] = {};
constinit std::uint32_t jumps_end = 0;
alignas(64) constinit std::uint64_t jump_filter[kFilterBits / 64] = {};

std::uint64_t& filter_word(std::uint64_t jump) {
    return jump_filter[jump % kFilterBits / 64];
}

std::uint64_t filter_bit(std::uint64_t jump) {
    return std::uint64_t{1} << (jump % 64);
}

/// 0: there is no such jump.
std::uint64_t table_of_jump(std::uint64_t address) {
    if ((std::atomic_ref{filter_word(address)}.load(std::memory_order_acquire) & filter_bit(address)) == 0)
        return 0;
    const std::uint32_t end = std::atomic_ref{jumps_end}.load(std::memory_order_acquire);
    for (std::uint32_t i = 0; i < end; ++i)
        if (std::atomic_ref{known_jumps[i].address}.load(std::memory_order_acquire) == address)
            return std::atomic_ref{known_jumps[i].table}.load(std::memory_order_relaxed);
    return 0;
}

void put(std::uint64_t at, std::uint64_t value) {
    const auto low = static_cast<std::uint32_t>(value);
    copy_bytes(reinterpret_cast<void*>(at), &low, sizeof low);
}

void put_description(std::uint64_t at, std::uint64_t kind, std::uint64_t code, std::uint64_t size) {
    put(at, kDescriptionSize - 4);
    put(at + 4, at + 4 - kind);
    put(at + 8, code - (at + 8));
    put(at + 12, size);
    put(at + 16, 0);
}

std::uint32_t rows_size(const FrameCounts& counts) {
    return 2 * kRowSize * (counts.functions + counts.pushing);
}

void put_header(std::uint64_t at, std::uint64_t first) {
    copy_bytes(reinterpret_cast<void*>(at), kHeader, sizeof kHeader);
    put(at + 4, first - (at + 4));
    put(at + 8, 0);
}

}  // namespace

std::uint32_t frames_size(const FrameCounts& counts) {
    return static_cast<std::uint32_t>(sizeof kKind) + kDescriptions * kDescriptionSize + kEndSize +
           kHeaderSize + rows_size(counts) + kJumpSize * counts.jumps;
}

FrameTables::FrameTables(std::uint64_t at, std::uint64_t mapping, std::uint64_t mapping_size,
                         const FrameCounts& counts)
    : header_{at + sizeof kKind + kDescriptions * kDescriptionSize + kEndSize},
      entered_{at + sizeof kKind},
      pushed_{entered_ + kDescriptionSize},
      undescribed_{pushed_ + kDescriptionSize},
      jumps_{header_ + kHeaderSize + rows_size(counts)} {
    // DW_CFA_def_cfa_offset 16, behind the length of an augmentation that is not there.
    constexpr std::uint32_t kOneMore = 0x0010'0e00;
    copy_bytes(reinterpret_cast<void*>(at), kKind, sizeof kKind);
    put_description(entered_, at, mapping, mapping_size);
    put_description(pushed_, at, mapping, mapping_size);
    put(pushed_ + kDescriptionSize - sizeof kOneMore, kOneMore);
    put_description(undescribed_, at, mapping, 0);
    put(undescribed_ + kDescriptionSize, 0);
    put_header(header_, entered_);
}

std::uint64_t FrameTables::jump_table(std::uint32_t index) const {
    return jumps_ + std::uint64_t{kJumpSize} * index;
}

void FrameTables::add_jump(std::uint64_t jump) {
    const std::uint64_t table = jump_table(jump_count_++);
    const std::uint64_t description = table + kHeaderSize + kRowSize;
    const std::uint64_t kind = entered_ - sizeof kKind;
    put_description(description, kind, jump, plan::kPatchSize);
    put(description + kDescriptionSize, 0);
    put_header(table, description);
    put(table + 8, 1);
    put(table + kHeaderSize, jump - table);
    put(table + kHeaderSize + 4, description - table);
}

void FrameTables::add(std::uint64_t begin) {
    add_row(begin, entered_);
}

void FrameTables::add_pushed(std::uint64_t begin, std::uint64_t end) {
    add_row(begin, pushed_);
    add_row(end, entered_);
}

void FrameTables::add_moved(std::uint64_t moved, std::uint64_t description) {
    add_row(moved, description != 0 ? description : undescribed_);
}

void FrameTables::add_row(std::uint64_t code, std::uint64_t description) {
    const std::uint64_t row = header_ + kHeaderSize + std::uint64_t{kRowSize} * rows_;
    put(row, code - header_);
    put(row + 4, description - header_);
    put(header_ + 8, ++rows_);
}

void note_jump(std::uint64_t jump, std::uint64_t table) {
    for (std::uint32_t i = 0; i < kMaxJumps; ++i) {
        if (known_jumps[i].address != 0) continue;
        // Whoever unwinds reads it at any time.
        std::atomic_ref{known_jumps[i].table}.store(table, std::memory_order_relaxed);
        std::atomic_ref{known_jumps[i].address}.store(jump, std::memory_order_release);
        if (i >= jumps_end) std::atomic_ref{jumps_end}.store(i + 1, std::memory_order_release);
        std::atomic_ref{filter_word(jump)}.fetch_or(filter_bit(jump), std::memory_order_release);
        return;
    }
}

void forget_jumps(std::uint64_t low, std::uint64_t high) {
    for (Jump& jump : known_jumps)
        if (jump.address >= low && jump.address < high)
            std::atomic_ref{jump.address}.store(0, std::memory_order_release);
}

}  // namespace rdam::probe

// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): unwinders look for this name.
extern "C" __attribute__((visibility("default"))) int _dl_find_object(void* address,
                                                                      rdam::probe::FoundObject* found) {
    using namespace rdam::probe;
    const int known = find_object(address, found);
    const auto pc = reinterpret_cast<std::uint64_t>(address);
    if (known == 0) {
        if (const std::uint64_t table = table_of_jump(pc); table != 0)
            found->eh_frame = reinterpret_cast<void*>(table);
        return known;
    }
    const MovedCode moved = moved_code_at(pc);
    if (moved.frames == 0) return known;
    *found = {};
    found->map_start = reinterpret_cast<void*>(moved.begin);
    found->map_end = reinterpret_cast<void*>(moved.end);
    found->eh_frame = reinterpret_cast<void*>(moved.frames);
    return 0;
}
