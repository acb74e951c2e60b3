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

Patch::Patch(const std::uint8_t* function, std::size_t size, std::uint32_t padding)
    : function_(const_cast<std::uint8_t*>(function)) {
    const std::uint64_t base = own_base();
    const auto moved = move_prologue({function, size}, address_of(function) - base, padding);
    stub_ = map_near(function);
    if (!moved || !stub_) {
        problem_ = moved ? "no memory near the function" : moved.error().message;
        return;
    }
    std::memcpy(saved_, function, sizeof saved_);
    write_stub(*moved, base);
    if (!problem_.empty()) return;
    std::array<std::uint8_t, plan::kPatchSize> jump{0xE9};
    const auto relative = static_cast<std::int32_t>(stub_ + 8 - (function + plan::kPatchSize));
    std::memcpy(jump.data() + 1, &relative, sizeof relative);
    write_entry(jump);
}

Patch::~Patch() {
    if (problem_.empty()) write_entry(saved_);
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

void Patch::write_entry(std::span<const std::uint8_t> bytes) {
    constexpr std::uint64_t kPage = 4096;
    const std::uint64_t first = address_of(function_) & ~(kPage - 1);
    const std::uint64_t end = address_of(function_) + bytes.size();
    void* pages = reinterpret_cast<void*>(first);
    if (mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) {
        problem_ = "the code cannot be made writable";
        return;
    }
    std::memcpy(function_, bytes.data(), bytes.size());
    mprotect(pages, end - first, PROT_READ | PROT_EXEC);
}

}  // namespace rdam::test
