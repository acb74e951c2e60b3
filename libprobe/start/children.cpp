#include "libprobe/start/children.h"

#include <sched.h>
#include <signal.h>

#include "libprobe/agent/adoption.h"
#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"
#include "libprobe/code/code_memory.h"
#include "libprobe/event/call_counts.h"
#include "libprobe/event/chunks.h"
#include "libprobe/event/sandbox.h"
#include "libprobe/start/threads.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif

extern "C" {
// What children.S does in place of libc's instructions, and where it goes on in libc.
void rdam_clone_site();
void rdam_clone3_site();
void rdam_vfork_site();
void rdam_syscall_site();
extern std::uint64_t rdam_clone_back;
extern std::uint64_t rdam_clone3_back;
extern std::uint64_t rdam_vfork_back;
extern std::uint64_t rdam_syscall_back;

// Called by children.S: around the system call `number`. `before` says whether the maker's thread has been
// parked.
std::uint64_t rdam_before_child(std::uint64_t number, std::uint64_t first, std::uint64_t second);
void rdam_in_child();
void rdam_after_child();
// Called around prctl and seccomp. `before` returns whether the call behind it is wanted.
std::uint64_t rdam_before_control(std::uint64_t number, std::uint64_t first, std::uint64_t second,
                                  std::uint64_t third);
void rdam_after_control(std::uint64_t result);
}

namespace rdam::probe {
namespace {

constexpr std::uint32_t kSiteSize = 7;

/// Five bytes that a jump can stand in for, and the system call instruction.
struct Site {
    const char* function;  ///< exported, and near the place
    std::uint8_t code[kSiteSize];
    std::uint32_t reach;  ///< bytes behind the function's entry in which the place is
    void (*instead)();
    std::uint64_t* back;
};

// clone3 is not exported: glibc has it right behind clone.
constexpr std::uint32_t kInside = 96;
constexpr std::uint32_t kBehind = 16 * 1024;
const Site kSites[] = {
    {"clone", {0xb8, 0x38, 0, 0, 0, 0x0f, 0x05}, kInside, rdam_clone_site, &rdam_clone_back},
    {"clone", {0xb8, 0xb3, 0x01, 0, 0, 0x0f, 0x05}, kBehind, rdam_clone3_site, &rdam_clone3_back},
    {"vfork", {0xb8, 0x3a, 0, 0, 0, 0x0f, 0x05}, kInside, rdam_vfork_site, &rdam_vfork_back},
    {"syscall", {0x4c, 0x8b, 0x4c, 0x24, 0x08, 0x0f, 0x05}, kInside, rdam_syscall_site, &rdam_syscall_back},
};

std::uint64_t find_site(const Site& site) {
    const auto entry = reinterpret_cast<std::uint64_t>(find_next(site.function));
    if (entry == 0) return 0;
    for (std::uint64_t at = entry; at < entry + site.reach; ++at) {
        const auto* code = reinterpret_cast<const std::uint8_t*>(at);
        std::uint32_t same = 0;
        while (same < kSiteSize && code[same] == site.code[same])
            ++same;
        if (same == kSiteSize) return at;
    }
    return 0;
}

bool redirect(std::uint64_t from, void (*to)()) {
    const std::uint64_t distance = reinterpret_cast<std::uint64_t>(to) - (from + 5);
    const auto displacement = static_cast<std::int32_t>(distance);
    if (static_cast<std::uint64_t>(std::int64_t{displacement}) != distance) return false;
    std::uint8_t jump[5] = {0xe9};
    copy_bytes(jump + 1, &displacement, sizeof displacement);
    return write_code(from, jump, sizeof jump);
}

/// The flags of the system call that makes a process; 0: it is another one.
std::uint64_t flags_of(std::uint64_t number, std::uint64_t first, std::uint64_t size) {
    if (number == SYS_vfork) return CLONE_VM | CLONE_VFORK;
    if (number == SYS_clone) return first;
    std::uint64_t flags = 0;
    if (number != SYS_clone3 || size < sizeof flags) return 0;
    if (read_memory(&flags, first, sizeof flags) == sizeof flags) return flags;
    // Not on the thread's stack, where libc has them, and under a filter nobody could say whether they are
    // there at all: the worst is assumed.
    return is_filtered() && first != 0 ? CLONE_VM : 0;
}

/// Whether the child does not go on on its maker's.
bool has_own_stack(std::uint64_t number, std::uint64_t first, std::uint64_t second) {
    if (number == SYS_clone) return second != 0;
    std::uint64_t stack = 0;
    constexpr std::uint64_t kStackInArguments = 40;
    return number == SYS_clone3 &&
           read_memory(&stack, first + kStackInArguments, sizeof stack) == sizeof stack && stack != 0;
}

bool is_on_stack(const ThreadState& thread) {
    const auto here = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    return here >= thread.stack.low && here < thread.stack.high;
}

/// From here on two tasks run on one thread's data, at the same time: neither can be recorded.
void give_up_thread(ThreadState& thread) {
    if (!rdam_guard.active() || thread.lent) return;
    const sys::BlockSignals blocked;
    end_thread(thread);
    thread.lent = true;
    Line line;
    (line << "thread " << sys::gettid()
          << " shares its thread-local storage with a process it created (clone): calls of either are no "
             "longer recorded")
        .print();
}

/// Nobody could start its agent.
void count_child(std::uint64_t flags) {
    if ((flags & CLONE_THREAD) == 0 && is_filtered() && rdam_guard.active() && !in_shared_child(rdam_thread))
        globals.control->filtered_forks.add(1);
}

void set_signals(int how, const std::uint64_t& set, std::uint64_t* before) {
    sys::call(SYS_rt_sigprocmask, how, sys::word(&set), sys::word(before), sizeof set);
}

}  // namespace

void watch_children() {
    bool all = true;
    for (const Site& site : kSites) {
        const std::uint64_t at = find_site(site);
        *site.back = at + kSiteSize;
        all = at != 0 && redirect(at, site.instead) && all;
    }
    if (all) return;
    Line line;
    (line << "calls that children of vfork and posix_spawn make before exec may appear in their parent's "
             "trace: this libc is unknown")
        .print();
}

}  // namespace rdam::probe

// Signals are blocked while the thread is parked: a handler of the maker's would not be recorded, and one of
// the child's begins with the child's mask.
std::uint64_t rdam_before_child(std::uint64_t number, std::uint64_t first, std::uint64_t second) {
    using namespace rdam::probe;
    const std::uint64_t flags = flags_of(number, first, second);
    if ((flags & CLONE_VM) == 0) count_child(flags);
    if ((flags & CLONE_VM) == 0 || (flags & CLONE_SETTLS) != 0) return 0;
    auto& thread = rdam_thread;
    if (in_shared_child(thread)) return 0;
    if ((flags & CLONE_VFORK) == 0) {
        give_up_thread(thread);
        return 0;
    }
    // Under a filter it is made where libc makes it, with nothing done behind it. That the maker goes on is
    // seen where the child has a stack of its own.
    const bool alone = is_filtered();
    if (alone && (!has_own_stack(number, first, second) || !is_on_stack(thread))) {
        give_up_thread(thread);
        return 0;
    }
    const std::uint64_t all = ~std::uint64_t{0};
    set_signals(SIG_BLOCK, all, &thread.vfork_signals);
    rdam_guard.lends.store(1);
    thread.vfork_filtered = rdam_filtering.filtered;
    thread.vfork_cursor = thread.cursor;
    // What the child calls is not the maker's, but is counted in its storage.
    if (thread.slot != nullptr) publish_calls(thread, *thread.slot);
    park(thread);
    thread.vfork_alone = alone;
    return alone ? 0 : 1;
}

void rdam_in_child() {
    rdam::probe::set_signals(SIG_SETMASK, rdam_thread.vfork_signals, nullptr);
}

void rdam_after_child() {
    auto& thread = rdam_thread;
    thread.cursor = thread.vfork_cursor;
    thread.vfork_cursor = 0;
    rdam_filtering.filtered = thread.vfork_filtered;
    rdam::probe::take_back_calls(thread);
    rdam::probe::set_signals(SIG_SETMASK, thread.vfork_signals, nullptr);
}

std::uint64_t rdam_before_control(std::uint64_t number, std::uint64_t first, std::uint64_t second,
                                  std::uint64_t third) {
    using namespace rdam::probe;
    if (number == SYS_prctl) before_prctl(first, second);
    rdam_thread.filter_call = filter_call(number, first, second, third);
    before_filter(rdam_thread, rdam_thread.filter_call);
    return rdam_thread.filter_call.effect != FilterCall::Effect::none ? 1 : 0;
}

void rdam_after_control(std::uint64_t result) {
    using namespace rdam::probe;
    after_filter(rdam_thread, rdam_thread.filter_call, static_cast<long>(result));
}
