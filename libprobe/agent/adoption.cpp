#include "libprobe/agent/adoption.h"

#include <errno.h>
#include <linux/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "libprobe/agent/ancestors.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/sys.h"

namespace rdam::probe {
namespace {

using Prctl = int(int, ...);
Prctl* real_prctl = nullptr;

constexpr std::uint32_t kFirstProcess = 1;

/// The mark of a program further out stays: it gets what this one leaves behind. Nothing leaves the namespace
/// of a process 1. False: nothing has changed.
bool mark() {
    const RunMark before = own_mark();
    const std::uint32_t own = sys::getpid();
    if (before.adopter != 0 && own != kFirstProcess) return false;
    return set_mark({own, before.token});
}

/// A descendant that has just looked for the mark in vain is about to make its agent an orphan, which takes
/// it some milliseconds.
void let_descendants_finish() {
    constexpr long kMilliseconds = 50;
    const bool childless =
        sys::call(SYS_waitid, P_ALL, 0, 0, WEXITED | WNOHANG | WNOWAIT | __WALL) == -ECHILD;
    const std::uint32_t nothing = 0;
    if (!childless) sys::futex_wait(&nothing, nothing, kMilliseconds);
}

}  // namespace

RunMark own_mark() {
    rlimit limit{};
    sys::call(SYS_prlimit64, 0, RLIMIT_LOCKS, 0, sys::word(&limit));
    return run_mark::mark_in(limit.rlim_cur);
}

bool set_mark(RunMark mark) {
    rlimit limit{};
    sys::call(SYS_prlimit64, 0, RLIMIT_LOCKS, 0, sys::word(&limit));
    limit.rlim_cur = run_mark::limit_of(mark);
    return sys::call(SYS_prlimit64, 0, RLIMIT_LOCKS, sys::word(&limit), 0) == 0;
}

bool adopts_orphans() {
    int subreaper = 0;
    sys::call(SYS_prctl, PR_GET_CHILD_SUBREAPER, sys::word(&subreaper));
    return subreaper != 0 || sys::getpid() == kFirstProcess;
}

void watch_adoption() {
    real_prctl = reinterpret_cast<Prctl*>(find_next("prctl"));
    if (adopts_orphans()) mark();
}

void before_prctl(std::uint64_t option, std::uint64_t argument) {
    if (static_cast<int>(option) == PR_SET_CHILD_SUBREAPER && argument != 0 && mark())
        let_descendants_finish();
}

std::uint32_t adopter_above() {
    const std::uint32_t own = sys::getpid();
    std::uint32_t pid = own;
    std::uint32_t adopter = own_mark().adopter;
    for (int i = 0; i < kMaxAncestors && pid > 0 && (adopter == 0 || adopter == own); ++i) {
        pid = parent_of(pid);
        adopter = pid == 0 ? 0 : run_mark::mark_in(lock_limit_of(pid)).adopter;
    }
    return adopter == own ? 0 : adopter;
}

}  // namespace rdam::probe

// Not declared as <sys/prctl.h> does: of an argument that is not there the register is handed on as it is.
extern "C" __attribute__((visibility("default"))) int prctl(int option, unsigned long first,
                                                            unsigned long second, unsigned long third,
                                                            unsigned long fourth) {
    using namespace rdam::probe;
    before_prctl(static_cast<std::uint64_t>(option), first);
    if (real_prctl != nullptr) return real_prctl(option, first, second, third, fourth);
    const auto word = [](unsigned long value) { return static_cast<long>(value); };
    const long result =
        rdam::sys::call(SYS_prctl, option, word(first), word(second), word(third), word(fourth));
    if (!rdam::sys::failed(result)) return static_cast<int>(result);
    errno = static_cast<int>(-result);
    return -1;
}
