// The personality routine of the trampolines: a call that ends by an exception, by cancellation or by
// pthread_exit gets its leave event here.
#include <cstdint>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/chunks/chunks.h"
#include "libprobe/clock/clock.h"
#include "libprobe/event/shadow_frames.h"

namespace {

// From the ABI's unwind.h, which belongs to the compiler and not to libc.
constexpr int kCleanupPhase = 2;
constexpr int kContinueUnwind = 8;
constexpr int kRegisterRbp = 6;

using rdam::probe::FunctionEntry;
using rdam::probe::ShadowFrame;

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
struct TakenFrame {
    FunctionEntry* entry = nullptr;
    std::uint64_t rbp = 0;  ///< as the trampoline had it
};

/// The frame that is being unwound, by its rbp. Its ShadowFrame goes back.
TakenFrame take_frame(rdam::probe::ThreadState& thread, std::uint64_t rbp) {
    if (ShadowFrame* shadow = rdam::probe::as_shadow_frame(thread, rbp); shadow != nullptr) {
        FunctionEntry* entry = as_entry(reinterpret_cast<std::uint64_t>(shadow->entry));
        if (entry == nullptr) return {};
        const std::uint64_t below_return_address = shadow->place - sizeof(std::uint64_t);
        // The unwinder has yet to read the frame: it is used again only when the free ones have run out.
        shadow->entry = nullptr;
        shadow->resume = thread.shadow_dead;
        thread.shadow_dead = shadow;
        return {entry, below_return_address};
    }
    std::uint64_t entry = 0;
    return {read_word(rbp + RDAM_FRAME_ENTRY, entry) ? as_entry(entry) : nullptr, rbp};
}

/// With a budget: the outermost call's end is its tree's. False: nothing of the call is recorded.
bool end_tree(rdam::probe::ThreadState& thread, const TakenFrame& frame) {
    if ((thread.tree & ~std::uint64_t{1}) == frame.rbp) thread.tree = 0;
    return frame.entry != rdam_functions + rdam::shm::kInnermostFunction;
}

}  // namespace

extern "C" {

// Weak: a program that unwinds has it, in libgcc_s or, linked statically, out of our sight.
__attribute__((weak)) std::uint64_t _Unwind_GetGR(void* context, int index);

__attribute__((visibility("hidden"))) int rdam_personality(int, int actions, std::uint64_t, void*,
                                                           void* context) {
    if ((actions & kCleanupPhase) == 0) return kContinueUnwind;
    const rdam::sys::BlockSignals blocked;
    auto& thread = rdam_thread;
    std::uint32_t function = rdam::shm::kInnermostFunction;
    std::uint64_t rbp = 0;
    bool known = true;
    if (_Unwind_GetGR != nullptr) {
        rbp = _Unwind_GetGR(context, kRegisterRbp);
    } else {
        // libgcc's context begins with the addresses where the registers are kept. Of another unwinder's
        // nothing of ours is found there.
        std::uint64_t place = 0;
        known = read_word(reinterpret_cast<std::uint64_t>(context) + kRegisterRbp * sizeof place, place) &&
                read_word(place, rbp);
    }
    if (known)
        if (const TakenFrame frame = take_frame(thread, rbp); frame.entry != nullptr) {
            function = static_cast<std::uint32_t>(frame.entry - rdam_functions);
            if (!end_tree(thread, frame)) return kContinueUnwind;
        }
    if (!rdam_guard.active() || thread.slot == nullptr || rdam::probe::in_shared_child(thread))
        return kContinueUnwind;
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
