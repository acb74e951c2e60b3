#include "tools/trace/expansion_lock.h"

#include <malloc.h>

#include <chrono>
#include <semaphore>

namespace rdam::trace {
namespace {

// A mutex would have to be given back by the thread that took it.
std::binary_semaphore& only_turn() {
    static std::binary_semaphore turn{1};
    return turn;
}

}  // namespace

ExpansionLock::~ExpansionLock() {
    if (!has_) return;
    // What was freed is kept for this thread otherwise, and the next one takes as much again.
    malloc_trim(0);
    only_turn().release();
}

bool ExpansionLock::take(const std::function<bool()>& stopped) {
    constexpr std::chrono::milliseconds kPatience{20};
    for (;;) {
        const std::lock_guard guard{mutex_};
        if (has_) return true;
        if (stopped()) return false;
        has_ = only_turn().try_acquire_for(kPatience);
    }
}

bool ExpansionLock::has() const {
    const std::lock_guard guard{mutex_};
    return has_;
}

}  // namespace rdam::trace
