// The personality routine of the trampolines: a call that ends by an exception, by cancellation or by
// pthread_exit gets its leave event here.
#include <atomic>
#include <cstdint>

#include "libprobe/base/loaded_object.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/call_sites.h"
#include "libprobe/event/chunks.h"
#include "libprobe/event/clock.h"
#include "libprobe/event/stacks.h"

extern "C" {
// Weak: a program that unwinds has them, in libgcc_s or, linked statically, out of our sight.
__attribute__((weak)) std::uint64_t _Unwind_GetGR(void* context, int index);
__attribute__((weak)) std::uint64_t _Unwind_GetIP(void* context);
__attribute__((weak)) std::uint64_t _Unwind_GetCFA(void* context);
}

namespace {

// From the ABI's unwind.h, which belongs to the compiler and not to libc.
constexpr int kCleanupPhase = 2;
constexpr int kContinueUnwind = 8;
constexpr int kRegisterRbp = 6;

using rdam::probe::FunctionEntry;

bool read_word(std::uint64_t from, std::uint64_t& value) {
    return rdam::probe::read_memory(&value, from, sizeof value) == sizeof value;
}

FunctionEntry* as_entry(std::uint64_t address) {
    const auto first = reinterpret_cast<std::uint64_t>(rdam_functions);
    const std::uint64_t end = first + std::uint64_t{rdam::probe::globals.functions} * sizeof(FunctionEntry);
    const bool is_entry =
        (address >= first && address < end && (address - first) % sizeof(FunctionEntry) == 0) ||
        address == first + rdam::shm::kInnermostFunction * sizeof(FunctionEntry);
    return is_entry ? reinterpret_cast<FunctionEntry*>(address) : nullptr;
}

/// What a frame belongs to that is being unwound. Without an entry it is not one of ours.
struct UnwoundFrame {
    FunctionEntry* entry = nullptr;
    std::uint64_t rbp = 0;  ///< as the trampoline had it
};

/// What libgcc's context begins with: the addresses where the registers are kept, the CFA of the frame that
/// has been unwound last, and the return address in this one. Of another unwinder's nothing of ours is found
/// there.
struct Context {
    std::uint64_t places[18];
    std::uint64_t cfa;
    std::uint64_t address;
};

/// What is known of the frame that is being unwound; without the unwinder's functions, by libgcc's context.
struct Registers {
    std::uint64_t rip = 0;
    std::uint64_t rsp = 0;  ///< as the frame's callee left it
    std::uint64_t rbp = 0;
};

/// The functions that we see may be another unwinder's than the one that unwinds: beside a libgcc that is
/// linked statically, or in another namespace (dlmopen). libgcc's abort the program in a copy that has never
/// unwound.
bool asks_own_functions(std::uint64_t unwinder) {
    if (_Unwind_GetGR == nullptr || _Unwind_GetIP == nullptr || _Unwind_GetCFA == nullptr) return false;
    // The range of the object that has them, once it is known; in a cache line that nobody writes to.
    struct alignas(64) Known {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
    };
    static constinit Known known;
    const std::atomic_ref known_end{known.end};
    if (known_end.load(std::memory_order_acquire) == 0) {
        const auto object = rdam::probe::object_around(reinterpret_cast<std::uint64_t>(&_Unwind_GetGR));
        std::atomic_ref{known.begin}.store(object.begin, std::memory_order_relaxed);
        known_end.store(object.end, std::memory_order_release);
    }
    return unwinder >= std::atomic_ref{known.begin}.load(std::memory_order_relaxed) &&
           unwinder < known_end.load();
}

Registers registers_of(void* context, std::uint64_t unwinder) {
    Registers known;
    if (asks_own_functions(unwinder))
        return {.rip = _Unwind_GetIP(context),
                .rsp = _Unwind_GetCFA(context),
                .rbp = _Unwind_GetGR(context, kRegisterRbp)};
    const auto* const words = static_cast<const Context*>(context);
    const auto at = [](const std::uint64_t& word) { return reinterpret_cast<std::uint64_t>(&word); };
    std::uint64_t place = 0;
    if (!read_word(at(words->address), known.rip) || !read_word(at(words->cfa), known.rsp) ||
        !read_word(at(words->places[kRegisterRbp]), place) || !read_word(place, known.rbp))
        return {};
    return known;
}

UnwoundFrame frame_of(void* context, std::uint64_t unwinder) {
    const Registers registers = registers_of(context, unwinder);
    if (FunctionEntry* const entry = rdam::probe::entry_of_pad(registers.rip); entry != nullptr)
        return {as_entry(reinterpret_cast<std::uint64_t>(entry)), registers.rsp - 2 * sizeof(std::uint64_t)};
    std::uint64_t entry = 0;
    if (registers.rbp == 0 || !read_word(registers.rbp + RDAM_FRAME_ENTRY, entry)) return {};
    return {as_entry(entry), registers.rbp};
}

}  // namespace

extern "C" {

__attribute__((visibility("hidden"))) int rdam_personality(int, int actions, std::uint64_t, void*,
                                                           void* context) {
    if ((actions & kCleanupPhase) == 0) return kContinueUnwind;
    const rdam::sys::BlockSignals blocked;
    auto& thread = rdam_thread;
    if (blocked.nested()) {
        rdam::probe::drop_disturbed(thread);
        return kContinueUnwind;
    }
    std::uint32_t function = rdam::shm::kInnermostFunction;
    const UnwoundFrame frame =
        frame_of(context, reinterpret_cast<std::uint64_t>(__builtin_return_address(0)));
    if (frame.entry != nullptr) function = static_cast<std::uint32_t>(frame.entry - rdam_functions);
    if (!rdam_guard.active() || thread.slot == nullptr || rdam::probe::in_shared_child(thread))
        return kContinueUnwind;
    if (frame.entry != nullptr) rdam::probe::note_place(thread, frame.rbp);
    std::uint64_t* record = rdam::probe::take_record(thread, 16);
    if (record == nullptr) {
        rdam::probe::count_dropped(thread);
        return kContinueUnwind;
    }
    record[0] = rdam::probe::read_clock();
    std::atomic_ref<std::uint64_t>{record[1]}.store(
        rdam::shm::make_head(rdam::shm::RecordKind::unwound, 0, function) | std::uint64_t{0xfff}
                                                                                << RDAM_HEAD_CPU_SHIFT,
        std::memory_order_release);
    return kContinueUnwind;
}
}
