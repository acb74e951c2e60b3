#include "libprobe/event/shadow_frames.h"

#include <signal.h>
#include <sys/resource.h>

#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/chunks/chunks.h"

namespace rdam::probe {
namespace {

constexpr std::uint64_t kShareOfStack = 8;
/// How many calls go without a frame before one is looked for again, from so many that are there.
constexpr std::size_t kPassShare = 16;

bool holds(const Stack& stack, std::uint64_t address) {
    return address >= stack.low && address < stack.high;
}

/// The blocks get larger: few are enough for a recursion that fills a stack of 8 MB.
std::size_t block_bytes(std::uint32_t block) {
    constexpr std::uint32_t kOfOneSize = 8;
    return kSideBlock << (block / kOfOneSize);
}

std::size_t block_frames(std::uint32_t block) {
    return block_bytes(block) / sizeof(ShadowFrame);
}

/// What is known when all shadow frames are in use.
struct Exhaustion {
    std::uint64_t place =
        0;  ///< where the return address of the call that begins now is; 0: it has none of its own
    std::uint64_t below = 0;  ///< no call that is being set up has its place below this
    Stack stack;              ///< the thread's, if it runs on it; else empty
};

bool on_signal_stack() {
    stack_t stack{};
    return sys::call(SYS_sigaltstack, 0, sys::word(&stack)) != 0 || (stack.ss_flags & SS_ONSTACK) != 0;
}

/// Whether the call of a shadow frame is over although the frame was not given back: it was left by longjmp.
/// A call has ended if another call now has its return address at the same place, and if it is further down
/// the same stack. Otherwise the word at that place decides: it leads back to the trampoline during the call,
/// and to the caller before the call, if a signal has come in between.
bool is_over(const ShadowFrame& frame, const Exhaustion& now, bool look) {
    if (frame.place == 0) return false;  // taken by what a signal has interrupted
    if (frame.place == now.place) return true;
    if (holds(now.stack, frame.place)) return frame.place < now.below;
    if (!look) return false;
    std::uint64_t word = 0;
    // The stack may be gone: then its calls are, too.
    if (read_memory(&word, frame.place, sizeof word) != sizeof word) return true;
    return !in_trampolines(word) && (word != frame.return_address || frame.place < now.below);
}

/// Of several calls with their return address at the same place, only the last can still be in progress.
bool is_superseded(const ShadowFrame& frame, const ShadowFrame* frames, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if (frame.place != 0 && frames[i].place == frame.place && frames[i].order > frame.order) return true;
    return false;
}

void give_back(ThreadState& thread, ShadowFrame& frame) {
    frame.place = 0;
    frame.rbp = reinterpret_cast<std::uint64_t>(thread.shadow_free);
    thread.shadow_free = &frame;
}

std::size_t reclaim(ThreadState& thread, ShadowFrame* frames, std::size_t count, const Exhaustion& now,
                    bool look) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        ShadowFrame& frame = frames[i];
        const bool superseded = look && !holds(now.stack, frame.place) && is_superseded(frame, frames, count);
        if (!superseded && !is_over(frame, now, look)) continue;
        give_back(thread, frame);
        ++found;
    }
    return found;
}

/// Takes back the shadow frames that were jumped over. True if that was worth it.
bool reclaim_all(ThreadState& thread, std::uint64_t return_address, std::uint64_t place) {
    // Looking at a stack word costs a system call, and at one another's place the square of their number.
    constexpr std::uint32_t kLookedAt = 1;
    const std::uint64_t below = on_signal_stack() ? 0 : place;
    // A tail call shares its place with the call that it stands in for.
    const Exhaustion now{.place = in_trampolines(return_address) ? 0 : place,
                         .below = below,
                         .stack = holds(thread.stack, below) ? thread.stack : Stack{}};
    std::size_t found = reclaim(thread, thread.shadow, kShadowFrames, now, true);
    for (std::uint32_t i = 0; i < thread.shadow_block_count; ++i)
        found += reclaim(thread, thread.shadow_blocks[i], block_frames(i), now, i < kLookedAt);
    return found >= kShadowFrames / 2;
}

void reclaim_unwound(ThreadState& thread) {
    while (ShadowFrame* const dead = thread.shadow_dead) {
        thread.shadow_dead = static_cast<ShadowFrame*>(dead->resume);
        give_back(thread, *dead);
    }
}

void add_frames(ThreadState& thread, ShadowFrame* frames, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        frames[i].rbp = reinterpret_cast<std::uint64_t>(i + 1 < count ? &frames[i + 1] : thread.shadow_free);
    thread.shadow_free = frames;
}

bool add_block(ThreadState& thread) {
    const std::uint32_t block = thread.shadow_block_count;
    if (block == kMaxShadowBlocks) return false;
    auto* const frames = static_cast<ShadowFrame*>(map_private(block_bytes(block)));
    if (frames == nullptr) return false;
    thread.shadow_blocks[thread.shadow_block_count++] = frames;
    add_frames(thread, frames, block_frames(block));
    return true;
}

/// There are no frames left, nor any to be had: a recursion of a million calls must not look for one in each.
void pass_some(ThreadState& thread) {
    std::size_t all = kShadowFrames;
    for (std::uint32_t i = 0; i < thread.shadow_block_count; ++i)
        all += block_frames(i);
    thread.shadow_pass = static_cast<std::uint32_t>(all / kPassShare);
}

}  // namespace

void watch_stack(ThreadState& thread, const Stack& stack) {
    thread.stack = stack;
    thread.stack_limit = stack.high - (stack.high - stack.low) / kShareOfStack;
}

Stack stack_of(std::uint64_t address, std::uint64_t size) {
    const std::uint64_t high = (address + sys::kPage - 1) & ~(sys::kPage - 1);
    return size == 0 || size > high ? Stack{} : Stack{.low = high - size, .high = high};
}

Stack first_stack(char** environment) {
    rlimit limit{};
    sys::call(SYS_prlimit64, 0, RLIMIT_STACK, 0, sys::word(&limit));
    return stack_of(reinterpret_cast<std::uint64_t>(environment),
                    limit.rlim_cur == RLIM_INFINITY ? 0 : limit.rlim_cur);
}

ShadowFrame* as_shadow_frame(ThreadState& thread, std::uint64_t address) {
    const auto within = [address](const ShadowFrame* frames, std::size_t bytes) {
        const auto first = reinterpret_cast<std::uint64_t>(frames);
        return address >= first && address < first + bytes && (address - first) % sizeof(ShadowFrame) == 0;
    };
    bool found = within(thread.shadow, sizeof thread.shadow);
    for (std::uint32_t i = 0; i < thread.shadow_block_count && !found; ++i)
        found = within(thread.shadow_blocks[i], block_bytes(i));
    return found ? reinterpret_cast<ShadowFrame*>(address) : nullptr;
}

bool in_trampolines(std::uint64_t address) {
    return address >= reinterpret_cast<std::uint64_t>(rdam_trampolines_begin) &&
           address < reinterpret_cast<std::uint64_t>(rdam_trampolines_end);
}

void release_shadow_frames(ThreadState& thread) {
    thread.shadow_free = nullptr;
    thread.shadow_dead = nullptr;
    thread.shadow_ready = false;
    while (thread.shadow_block_count > 0) {
        const std::uint32_t last = --thread.shadow_block_count;
        sys::call(SYS_munmap, sys::word(thread.shadow_blocks[last]), static_cast<long>(block_bytes(last)));
    }
}

}  // namespace rdam::probe

rdam::probe::ShadowFrame* rdam_slow_shadow(rdam::probe::FunctionEntry*, std::uint64_t return_address,
                                           std::uint64_t place) {
    using namespace rdam::probe;
    const rdam::sys::BlockSignals blocked;
    ThreadState& thread = rdam_thread;
    if (thread.shadow_free != nullptr) return thread.shadow_free;
    if (thread.lent) return nullptr;
    reclaim_unwound(thread);
    if (thread.shadow_free != nullptr) return thread.shadow_free;
    if (!thread.shadow_ready) {
        thread.shadow_ready = true;
        add_frames(thread, thread.shadow, kShadowFrames);
    } else if (thread.shadow_pass > 0) {
        --thread.shadow_pass;
    } else if (!reclaim_all(thread, return_address, place) && !add_block(thread) &&
               thread.shadow_free == nullptr) {
        pass_some(thread);
    }
    if (thread.shadow_free == nullptr) count_dropped(thread);
    return thread.shadow_free;
}
