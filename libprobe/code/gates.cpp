#include "libprobe/code/gates.h"

#include <linux/mman.h>
#include <sys/mman.h>

#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"

#ifndef MADV_DOFORK
#define MADV_DOFORK 11
#endif

namespace rdam::probe {
namespace {

constexpr std::uint64_t kReach = std::uint64_t{1} << 31;
constexpr int kFixed = MREMAP_MAYMOVE | MREMAP_FIXED;

bool reaches(std::uint64_t gates, std::uint64_t begin, std::uint64_t end) {
    const std::uint64_t low = gates < begin ? gates : begin;
    const std::uint64_t gates_end = gates + shm::kGatesSize;
    return (gates_end > end ? gates_end : end) - low < kReach;
}

/// Puts the shared pages at `place` a second time, over what is there. An old size of 0 is how a shared
/// mapping is duplicated without its descriptor (mremap(2)).
bool duplicate(std::uint64_t place) {
    const long shared = sys::word(globals.control) + static_cast<long>(shm::kGatesOffset);
    const auto size = static_cast<long>(shm::kGatesSize);
    const auto at = static_cast<long>(place);
    if (sys::failed(sys::call(SYS_mremap, shared, 0, size, kFixed, at))) return false;
    // A fork child reads its gates before it knows that it is one: unlike the chunks they must be there.
    sys::call(SYS_madvise, at, size, MADV_DOFORK);
    sys::call(SYS_mprotect, at, size, PROT_READ);
    return true;
}

void put32(std::uint8_t* at, std::uint64_t value) {
    const auto low = static_cast<std::uint32_t>(value);
    copy_bytes(at, &low, sizeof low);
}

}  // namespace

void open_all_gates(void* gates) {
    auto* bytes = static_cast<volatile std::uint8_t*>(gates);
    for (std::uint64_t i = 0; i < shm::kGatesSize; ++i)
        bytes[i] = shm::kGateOpen;
}

std::uint64_t gates_within_reach(std::uint64_t begin, std::uint64_t end) {
    for (std::uint32_t i = 0; i < globals.gate_copies; ++i)
        if (reaches(globals.gates[i], begin, end)) return globals.gates[i];
    return 0;
}

bool copy_gates_to(std::uint64_t place) {
    if (globals.gate_copies == kMaxGateCopies || !duplicate(place)) return false;
    globals.gates[globals.gate_copies++] = place;
    return true;
}

void write_gate(std::uint64_t at, std::uint64_t gate, std::uint64_t recorded) {
    constexpr std::uint64_t kCompare = 7;
    std::uint8_t code[kGateCode] = {0x80, 0x3d, 0, 0, 0, 0, 0,  // cmpb $0, gate(%rip)
                                    0x0f, 0x85, 0, 0, 0, 0};    // jne recorded
    put32(code + 2, gate - (at + kCompare));
    put32(code + kCompare + 2, recorded - (at + kGateCode));
    copy_bytes(reinterpret_cast<void*>(at), code, sizeof code);
}

void write_open_gate(std::uint64_t at, std::uint64_t recorded) {
    constexpr std::uint64_t kJump = 5;
    std::uint8_t code[kJump] = {0xe9, 0, 0, 0, 0};  // jmp recorded
    put32(code + 1, recorded - (at + kJump));
    copy_bytes(reinterpret_cast<void*>(at), code, sizeof code);
}

void write_waiters(std::uint64_t at, const plan::Waiters& waiters) {
    std::uint8_t code[kWaitersCode] = {0xf7, 0x47,     waiters.offset, 0, 0,
                                       0,    0,           // testl $mask, offset(%rdi)
                                       0x74, kGateCode};  // jz behind the gate
    put32(code + 3, waiters.mask);
    copy_bytes(reinterpret_cast<void*>(at), code, sizeof code);
}

void write_count(std::uint64_t at, std::uint32_t displacement) {
    std::uint8_t code[kCountCode] = {0x64, 0x48, 0xff, 0x04, 0x25, 0, 0, 0, 0};  // incq %fs:displacement
    put32(code + 5, displacement);
    copy_bytes(reinterpret_cast<void*>(at), code, sizeof code);
}

void write_far_count(std::uint64_t at, std::uint32_t displacement, std::uint32_t offset) {
    constexpr std::uint64_t kLoad = 9;
    std::uint8_t code[kFarCountCode] = {0x41, 0x53,  // push %r11
                                        0x64, 0x4c, 0x8b, 0x1c, 0x25, 0, 0,
                                        0,    0,                             // mov %fs:displacement, %r11
                                        0x49, 0xff, 0x83, 0,    0,    0, 0,  // incq offset(%r11)
                                        0x41, 0x5b};                         // pop %r11
    put32(code + kPushCode + 5, displacement);
    put32(code + kPushCode + kLoad + 3, offset);
    copy_bytes(reinterpret_cast<void*>(at), code, sizeof code);
}

void forget_parents_gates() {
    // Under a filter nothing is recorded in the child, whatever its gates say.
    for (std::uint32_t i = 0; i < globals.gate_copies; ++i) {
        const long place = sys::mmap(globals.gates[i], shm::kGatesSize, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (!sys::failed(place)) open_all_gates(reinterpret_cast<void*>(place));
    }
}

bool adopt_gates() {
    for (std::uint32_t i = 0; i < globals.gate_copies; ++i)
        if (!duplicate(globals.gates[i])) return false;
    return true;
}

}  // namespace rdam::probe
