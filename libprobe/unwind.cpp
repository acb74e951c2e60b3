// The personality routine of the trampolines: a call that ends by an exception, by cancellation or by pthread_exit gets
// its leave event here.
#include <cstdint>

#include "libprobe/chunks.h"
#include "libprobe/runtime.h"
#include "libprobe/sys.h"

namespace {

// Of the ABI's unwind.h, which is the compiler's and not libc's.
constexpr int kCleanupPhase = 2;
constexpr int kContinueUnwind = 8;
constexpr int kRegisterRbp = 6;

/// Returns the entry of the frame being unwound and gives its SideFrame back, if that can be told.
rdam::probe::FunctionEntry* frame_entry(std::uint64_t rbp) {
    using rdam::probe::FunctionEntry;
    const auto candidate = [](FunctionEntry* entry) {
        return entry >= rdam_functions && entry < rdam_functions + rdam::probe::globals.functions ? entry : nullptr;
    };
    auto& thread = rdam_thread;
    const auto side = reinterpret_cast<std::uint64_t>(thread.side);
    const bool in_pool = rbp >= side && rbp < side + sizeof thread.side;
    if (in_pool) {
        auto& frame = *reinterpret_cast<rdam::probe::SideFrame*>(rbp);
        FunctionEntry* entry = candidate(frame.entry);
        // The unwinder has yet to read the frame: it is used again only when the free ones have run out.
        frame.resume = thread.side_dead;
        thread.side_dead = &frame;
        return entry;
    }
    return candidate(*reinterpret_cast<FunctionEntry**>(rbp + RDAM_FRAME_ENTRY));
}

}  // namespace

extern "C" {

// Weak: a program that unwinds has them, in libgcc_s or, linked statically, out of our sight.
__attribute__((weak)) std::uint64_t _Unwind_GetGR(void* context, int index);

__attribute__((visibility("hidden"))) int rdam_personality(int, int actions, std::uint64_t, void*, void* context) {
    if ((actions & kCleanupPhase) == 0) return kContinueUnwind;
    const rdam::sys::BlockSignals blocked;
    auto& thread = rdam_thread;
    std::uint32_t function = rdam::shm::kInnermostFunction;
    if (_Unwind_GetGR != nullptr)
        if (const auto* entry = frame_entry(_Unwind_GetGR(context, kRegisterRbp)); entry != nullptr)
            function = static_cast<std::uint32_t>(entry - rdam_functions);
    if (rdam_guard.active.load() == 0 || thread.slot == nullptr) return kContinueUnwind;
    std::uint64_t* slot = rdam::probe::take_slot(thread, 16);
    if (slot == nullptr) {
        rdam::probe::count_dropped(thread);
        return kContinueUnwind;
    }
    slot[0] = rdam::probe::read_clock();
    std::atomic_ref<std::uint64_t>{slot[1]}.store(
        rdam::shm::make_head(rdam::shm::SlotKind::unwound, 0, function) | std::uint64_t{0xfff} << RDAM_HEAD_CPU_SHIFT,
        std::memory_order_release);
    return kContinueUnwind;
}
}
