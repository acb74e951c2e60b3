#include "libprobe/agent/adoption.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstddef>
#include <string_view>

#include "libprobe/base/filter.h"
#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/chunks.h"
#include "libprobe/event/sandbox.h"

namespace rdam::probe {
namespace {

// What /proc shows of the processes from which this one descends.

/// So many are looked at.
inline constexpr int kMaxAncestors = 64;

/// A file of a process, from its beginning; what cannot be read is empty.
template <std::size_t Size>
std::string_view read_file_of(std::uint32_t pid, std::string_view name, char (&text)[Size]) {
    constexpr std::string_view kBegin = "/proc/";
    constexpr std::size_t kMaxName = 16;
    char path[kBegin.size() + 21 + kMaxName] = {};
    char number[21];
    put_number(number, pid);
    const std::size_t digits = text_size(number);
    copy_bytes(path, kBegin.data(), kBegin.size());
    copy_bytes(path + kBegin.size(), number, digits);
    copy_bytes(path + kBegin.size() + digits, name.data(), name.size());
    const long fd = sys::call(SYS_open, sys::word(path), O_RDONLY | O_CLOEXEC);
    if (sys::failed(fd)) return {};
    const long size = sys::call(SYS_read, fd, sys::word(text), Size);
    sys::call(SYS_close, fd);
    return {text, size > 0 ? static_cast<std::size_t>(size) : 0};
}

/// The decimal number that begins there; 0: none does.
std::uint64_t number_at(std::string_view text) {
    std::uint64_t number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') break;
        number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return number;
}

/// 0: it has none, or /proc does not say.
std::uint32_t parent_of(std::uint32_t pid) {
    // pid (name) state parent
    constexpr std::string_view kState = ") S ";
    char buffer[512];
    const std::string_view text = read_file_of(pid, "/stat", buffer);
    std::size_t at = text.size();
    while (at > 0 && text[at - 1] != ')')
        --at;
    if (at == 0 || at + kState.size() - 1 > text.size()) return 0;
    return static_cast<std::uint32_t>(number_at(text.substr(at - 1 + kState.size())));
}

/// The soft limit RLIMIT_LOCKS of a process, which everybody may read. 0: it is unlimited, or /proc does not
/// say.
std::uint64_t lock_limit_of(std::uint32_t pid) {
    constexpr std::string_view kName = "Max file locks";
    char buffer[4096];
    std::string_view text = read_file_of(pid, "/limits", buffer);
    while (!text.empty() && !text.starts_with(kName))
        text.remove_prefix(1);
    if (text.empty()) return 0;
    text.remove_prefix(kName.size());
    while (text.starts_with(' '))
        text.remove_prefix(1);
    return number_at(text);
}

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

/// The thread's name, for when it cannot be asked for. The kernel has just read it.
void keep_name(ThreadState& thread, std::uint64_t name) {
    const auto* from = reinterpret_cast<const char*>(name);
    for (std::size_t i = 0; i + 1 < sizeof thread.name && (i == 0 || thread.name[i - 1] != '\0'); ++i)
        thread.name[i] = from[i];
    if (thread.slot == nullptr || !rdam_guard.active() || in_shared_child(thread)) return;
    // The begin is published at once: nobody can ask a killed process for it.
    const sys::BlockSignals blocked;
    if (!blocked.nested()) tell_begin(thread);
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
    // Under a filter nothing can be told to others, nor can they start an agent.
    if (static_cast<int>(option) == PR_SET_CHILD_SUBREAPER && argument != 0 && !is_filtered() && mark())
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
    const auto number = static_cast<std::uint64_t>(option);
    before_prctl(number, first);
    const FilterCall filter = filter_call(SYS_prctl, number, first, second);
    before_filter(rdam_thread, filter);
    if (real_prctl != nullptr) {
        const int result = real_prctl(option, first, second, third, fourth);
        after_filter(rdam_thread, filter, result);
        if (result == 0 && option == PR_SET_NAME) keep_name(rdam_thread, first);
        return result;
    }
    const auto word = [](unsigned long value) { return static_cast<long>(value); };
    const long result =
        rdam::sys::kernel(SYS_prctl, option, word(first), word(second), word(third), word(fourth));
    after_filter(rdam_thread, filter, result);
    if (!rdam::sys::failed(result)) return static_cast<int>(result);
    errno = static_cast<int>(-result);
    return -1;
}
