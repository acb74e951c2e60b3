#include "libprobe/agent/births.h"

#include <sys/mman.h>

#include "libprobe/base/runtime.h"
#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"
#include "libprobe/event/chunk_pool.h"

namespace rdam::probe {
namespace {

using shm::BirthState;

/// The agent asks the starter, which may take this long for a crowd of children.
constexpr std::uint32_t kMaxWaits = 10000 / kWaitMilliseconds;

shm::Birth* take_place(shm::Births& births) {
    for (shm::Birth& birth : births.children) {
        BirthState free = BirthState::none;
        if (birth.state_futex.compare_exchange_strong(free, BirthState::writing)) return &birth;
    }
    return nullptr;
}

BirthState await(const shm::Births& births, shm::Birth& birth) {
    constexpr auto kAsked = static_cast<std::uint32_t>(BirthState::asked);
    for (std::uint32_t i = 0; i < kMaxWaits && birth.state_futex.load() == BirthState::asked; ++i)
        if (sys::futex_wait(&birth.state_futex, kAsked, kWaitMilliseconds) < 0 && !is_held(births)) break;
    // It may have been answered just now.
    return birth.state_futex.exchange(BirthState::none);
}

}  // namespace

void begin_births() {
    globals.inherited.births = &shm::births_of(*globals.control);
}

bool ask_parents_agent(int fd) {
    shm::Births* const births = globals.inherited.births;
    if (births == nullptr || !is_held(*births)) return false;
    shm::Birth* const birth = take_place(*births);
    if (birth == nullptr) return false;
    birth->pid = sys::getpid();
    birth->memory = fd;
    birth->nonce = globals.control->nonce;
    birth->state_futex.store(BirthState::asked);
    births->called_futex.fetch_add(1);
    sys::futex_wake(&births->called_futex, 1);
    return await(*births, *birth) == BirthState::started;
}

void leave_births() {
    if (globals.inherited.births == nullptr) return;
    sys::call(SYS_munmap, sys::word(globals.inherited.births), static_cast<long>(shm::kBirthsSize));
    globals.inherited.births = nullptr;
}

}  // namespace rdam::probe
