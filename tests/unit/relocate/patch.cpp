#include "tests/unit/relocate/patch.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "tests/unit/relocate/placement.h"

namespace rdam::test {
namespace {

constexpr std::size_t kStubSize = 4096;
constexpr std::uint32_t kCodeOffset = 64;
constexpr std::uint64_t kSearchStep = std::uint64_t{1} << 20;
constexpr std::uint64_t kSearchEnd = std::uint64_t{1} << 30;

std::uint64_t address_of(const void* pointer) {
    return reinterpret_cast<std::uint64_t>(pointer);
}

std::uint64_t own_base() {
    std::uint64_t base = 0;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            *static_cast<std::uint64_t*>(data) = info->dlpi_addr;
            return 1;
        },
        &base);
    return base;
}

/// Free memory in reach of a jump.
std::uint8_t* map_near(const std::uint8_t* function) {
    const std::uint64_t from = address_of(function) & ~(kSearchStep - 1);
    for (std::uint64_t distance = kSearchStep; distance < kSearchEnd; distance += kSearchStep) {
        void* wanted = reinterpret_cast<void*>(from - distance);
        void* got = mmap(wanted, kStubSize, PROT_READ | PROT_WRITE | PROT_EXEC,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == wanted) return static_cast<std::uint8_t*>(got);
        if (got != MAP_FAILED) munmap(got, kStubSize);
    }
    return nullptr;
}

void put_relative(std::uint8_t* field, const std::uint8_t* target) {
    const auto relative = static_cast<std::int32_t>(target - (field + 4));
    std::memcpy(field, &relative, sizeof relative);
}

}  // namespace

Patch::Patch(const std::uint8_t* function, std::size_t size, std::uint32_t padding,
             std::size_t padding_before, std::span<const std::uint64_t> other_entries)
    : function_(const_cast<std::uint8_t*>(function)) {
    const std::uint64_t base = own_base();
    const std::uint64_t address = address_of(function) - base;
    std::vector<std::uint64_t> entries;
    for (const std::uint64_t offset : other_entries)
        entries.push_back(address + offset);
    const std::span before(function - padding_before, padding_before);
    const auto moved = move_prologue({function, size}, address, padding, entries, before);
    stub_ = map_near(function);
    if (!moved || !stub_) {
        problem_ = moved ? "no memory near the function" : moved.error().message;
        return;
    }
    jump_before_ = moved->jump_before;
    write_stub(*moved, base);
    if (problem_.empty()) write_jump();
}

Patch::~Patch() {
    if (problem_.empty()) write_code(saved_);
    if (stub_) munmap(stub_, kStubSize);
}

std::uint64_t Patch::calls() const {
    std::uint64_t count = 0;
    std::memcpy(&count, stub_, sizeof count);
    return count;
}

/// The counter, then `incq counter(%rip)`, which falls into int3 so that only the jump gets on.
void Patch::write_stub(const MovedPrologue& moved, std::uint64_t base) {
    constexpr std::array<std::uint8_t, 3> kIncrement{0x48, 0xFF, 0x05};
    const auto code = placed_code(moved, base, address_of(stub_ + kCodeOffset));
    if (!code) {
        problem_ = "a fix-up does not reach its target";
        return;
    }
    std::memset(stub_ + 8, 0xCC, kStubSize - 8);
    std::memcpy(stub_ + 8, kIncrement.data(), kIncrement.size());
    put_relative(stub_ + 11, stub_);
    stub_[15] = 0xE9;
    put_relative(stub_ + 16, stub_ + kCodeOffset);
    std::memcpy(stub_ + kCodeOffset, code->data(), code->size());
}

void Patch::write_jump() {
    const std::uint8_t* jump = function_ - jump_before_;
    const std::size_t patch = jump_before_ > 0 ? jump_before_ + kShortPatchSize : plan::kPatchSize;
    std::vector<std::uint8_t> bytes(jump, jump + patch);
    saved_ = bytes;
    const auto relative = static_cast<std::int32_t>(stub_ + 8 - (jump + plan::kPatchSize));
    bytes[0] = 0xE9;
    std::memcpy(bytes.data() + 1, &relative, sizeof relative);
    if (jump_before_ > 0) {
        bytes[jump_before_] = 0xEB;
        bytes[jump_before_ + 1] =
            static_cast<std::uint8_t>(-static_cast<int>(jump_before_ + kShortPatchSize));
    }
    write_code(bytes);
}

void Patch::write_code(std::span<const std::uint8_t> bytes) {
    constexpr std::uint64_t kPage = 4096;
    std::uint8_t* to = function_ - jump_before_;
    const std::uint64_t first = address_of(to) & ~(kPage - 1);
    const std::uint64_t end = address_of(to) + bytes.size();
    void* pages = reinterpret_cast<void*>(first);
    if (mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        problem_ = "the code cannot be made writable";
        return;
    }
    std::memcpy(to, bytes.data(), bytes.size());
    mprotect(pages, end - first, PROT_READ | PROT_EXEC);
}

}  // namespace rdam::test
