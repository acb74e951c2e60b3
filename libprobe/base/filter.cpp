#include "libprobe/base/filter.h"

#include "libprobe/base/state.h"
#include "libprobe/base/sys.h"

extern "C" {
constinit __thread rdam::probe::Filtering rdam_filtering = {};
constinit std::atomic<std::uint32_t> rdam_some_filtered;
constinit std::atomic<std::uint32_t> rdam_all_filtered;
constinit std::atomic<std::uint32_t> rdam_calling;
}

namespace rdam::probe {
namespace {

/// The agent has seen a filter that the program set up unnoticed, by an instruction of its own.
bool is_filter_seen() {
    const shm::Control* const control = globals.control;
    return control != nullptr && rdam_guard.active() &&
           control->filter_seen.load(std::memory_order_relaxed) == shm::kFilterSeen;
}

}  // namespace

// A signal handler may come between any two of these: what it opens it closes again.
bool begin_calls() {
    Filtering& own = rdam_filtering;
    rdam_calling.fetch_add(1);
    if (own.calling == 0) {
        if (rdam_all_filtered.load() == 0 && is_filter_seen()) rdam_all_filtered.store(1);
        if (may_be_under_filter()) {
            rdam_calling.fetch_sub(1);
            return false;
        }
        own.known = 1;
    }
    ++own.calling;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return true;
}

void end_calls() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --rdam_filtering.calling;
    rdam_calling.fetch_sub(1);
}

void filter_all() {
    constexpr int kRounds = 1000;
    constexpr long kMillisecond = 1;
    rdam_all_filtered.store(1);
    const std::uint32_t own = rdam_filtering.calling;
    for (int i = 0; i < kRounds; ++i) {
        const std::uint32_t now = rdam_calling.load();
        if (now <= own) return;
        sys::kernel(SYS_sched_yield);
        if (i >= kRounds / 2) {
            const long timeout[2] = {0, kMillisecond * 1000000};
            sys::kernel(SYS_futex, sys::word(&rdam_calling), FUTEX_WAIT, now, sys::word(timeout));
        }
    }
}

void forget_callers() {
    rdam_calling.store(rdam_filtering.calling);
}

}  // namespace rdam::probe
