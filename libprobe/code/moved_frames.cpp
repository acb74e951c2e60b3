#include "libprobe/code/moved_frames.h"

#include "libprobe/base/runtime.h"
#include "libprobe/code/patch.h"

namespace rdam::probe {
namespace {

/// Of glibc's <dlfcn.h>, on x86-64.
struct FoundObject {
    std::uint64_t flags;
    void* map_start;
    void* map_end;
    void* link_map;
    void* eh_frame;
    std::uint64_t reserved[7];
};
using FindObject = int(void*, FoundObject*);
constinit FindObject* real_find = nullptr;

/// The stack is as the caller left it: CFA = rsp + 8, the return address below it.
constexpr std::uint8_t kKind[] = {20, 0,    0,  0, 0,    0,    0, 0, 1,    'z', 'R', 0,
                                  1,  0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,   0,   0};
constexpr std::uint32_t kDescriptionSize = 20;
/// Version 1; a 32-bit relative pointer to descriptions, a 32-bit count, rows of two 32-bit offsets from the
/// header.
constexpr std::uint8_t kHeader[] = {1, 0x1b, 3, 0x3b};
constexpr std::uint32_t kHeaderSize = 12;
constexpr std::uint32_t kRowSize = 8;

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

}  // namespace

std::uint32_t frames_size(std::uint32_t functions) {
    return static_cast<std::uint32_t>(sizeof kKind) + 2 * kDescriptionSize + kHeaderSize +
           2 * kRowSize * functions;
}

FrameTables::FrameTables(std::uint64_t at, std::uint64_t mapping, std::uint64_t mapping_size)
    : header_{at + sizeof kKind + std::uint64_t{2} * kDescriptionSize},
      entered_{at + sizeof kKind},
      undescribed_{entered_ + kDescriptionSize} {
    copy_bytes(reinterpret_cast<void*>(at), kKind, sizeof kKind);
    put_description(entered_, at, mapping, mapping_size);
    put_description(undescribed_, at, mapping, 0);
    copy_bytes(reinterpret_cast<void*>(header_), kHeader, sizeof kHeader);
    put(header_ + 4, entered_ - (header_ + 4));
    put(header_ + 8, 0);
}

void FrameTables::add(std::uint64_t begin, std::uint64_t moved, std::uint64_t description) {
    add_row(begin, entered_);
    add_row(moved, description != 0 ? description : undescribed_);
}

void FrameTables::add_row(std::uint64_t code, std::uint64_t description) {
    const std::uint64_t row = header_ + kHeaderSize + std::uint64_t{kRowSize} * rows_;
    put(row, code - header_);
    put(row + 4, description - header_);
    put(header_ + 8, ++rows_);
}

void prepare_frames() {
    real_find = reinterpret_cast<FindObject*>(find_next("_dl_find_object"));
}

}  // namespace rdam::probe

extern "C" __attribute__((visibility("default"))) int _dl_find_object(void* address,
                                                                      rdam::probe::FoundObject* found) {
    using namespace rdam::probe;
    if (real_find == nullptr) prepare_frames();
    const int known = real_find != nullptr ? real_find(address, found) : -1;
    if (known == 0) return known;
    const MovedCode moved = moved_code_at(reinterpret_cast<std::uint64_t>(address));
    if (moved.frames == 0) return known;
    *found = {};
    found->map_start = reinterpret_cast<void*>(moved.begin);
    found->map_end = reinterpret_cast<void*>(moved.end);
    found->eh_frame = reinterpret_cast<void*>(moved.frames);
    return 0;
}
