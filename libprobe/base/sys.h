// System calls without libc: a libc function may be on the user's list, and the recorder must not call what
// it wraps. Every function returns the kernel's value: ≥ 0, or −errno. In a thread under a filter (filter.h)
// none enters the kernel: −EPERM.
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>

#include "libprobe/base/filter.h"

namespace rdam::sys {

inline constexpr std::uint64_t kPage = 4096;

/// Enters the kernel, whatever filters there are.
inline long kernel(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    long result = 0;
    register long r10 asm("r10") = d;
    register long r8 asm("r8") = e;
    register long r9 asm("r9") = f;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                 : "rcx", "r11", "memory");
    return result;
}

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
    if (!probe::begin_calls()) return -EPERM;
    const long result = kernel(number, a, b, c, d, e, f);
    probe::end_calls();
    return result;
}

template <class T>
inline long word(T* pointer) {
    return reinterpret_cast<long>(pointer);
}

/// Sleeps while *address == expected, at most `milliseconds`. The word may be in memory shared between
/// processes.
inline long futex_wait(const void* address, std::uint32_t expected, long milliseconds) {
    const long timeout[2] = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    return call(SYS_futex, word(address), FUTEX_WAIT, expected, word(timeout));
}

inline long futex_wake(const void* address, int count) {
    return call(SYS_futex, word(address), FUTEX_WAKE, count);
}

inline std::uint32_t gettid() {
    return static_cast<std::uint32_t>(call(SYS_gettid));
}
inline std::uint32_t getpid() {
    return static_cast<std::uint32_t>(call(SYS_getpid));
}

inline long write(int fd, const void* data, std::size_t size) {
    return call(SYS_write, fd, word(data), static_cast<long>(size));
}

inline long mmap(std::uint64_t hint, std::size_t size, int protection, int flags, int fd, long offset) {
    return call(SYS_mmap, static_cast<long>(hint), static_cast<long>(size), protection, flags, fd, offset);
}

inline bool failed(long result) {
    return result < 0 && result > -4096;
}

/// Blocks every signal for the time it lives: a handler must not see the recorder's bookkeeping half done.
/// In a thread under a filter signals come, and a handler that comes then finds nested() and must leave all
/// as it is.
class BlockSignals {
  public:
    BlockSignals() : calls_(probe::begin_calls()) {
        if (calls_) {
            const std::uint64_t all = ~std::uint64_t{0};
            kernel(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, word(&all), word(&before_), sizeof all);
        } else {
            nested_ = rdam_filtering.busy != 0;
            ++rdam_filtering.busy;
        }
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    ~BlockSignals() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (calls_) {
            kernel(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, word(&before_), 0, sizeof before_);
            probe::end_calls();
        } else {
            --rdam_filtering.busy;
        }
    }
    BlockSignals(const BlockSignals&) = delete;
    BlockSignals& operator=(const BlockSignals&) = delete;

    /// The thread was interrupted in the middle of its bookkeeping.
    bool nested() const { return nested_; }

  private:
    std::uint64_t before_ = 0;
    bool calls_;
    bool nested_ = false;
};

}  // namespace rdam::sys
