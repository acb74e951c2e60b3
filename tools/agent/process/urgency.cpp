#include "tools/agent/process/urgency.h"

#include <algorithm>

namespace rdam::agent {
namespace {

/// `taken` counts what has been taken from `all`. The two are read one after the other, so the difference may
/// be negative.
std::uint32_t left(std::uint32_t all, std::uint32_t taken) {
    const auto difference = static_cast<std::int32_t>(all - taken);
    return static_cast<std::uint32_t>(std::max(difference, 0));
}

/// Chunks that threads write to, that are on their way to us, or that we hold.
std::uint32_t used_chunks(const shm::Control& control) {
    const std::uint32_t given_back = control.given_back.load();
    // Each chunk that comes back or is taken again counts once.
    const auto changes = static_cast<std::uint32_t>(control.free_chunks.load() >> 32U);
    const std::uint32_t free = left(given_back, changes - given_back);
    return left(std::min(control.fresh_chunks.hear().value, control.chunks), free);
}

}  // namespace

Demand look_at(const shm::Control& control, bool ended) {
    const std::uint32_t unheard = left(control.threads_ended.load(), control.threads_done.load());
    constexpr double kMaxEnded = shm::kManyEnded / Urgency::kNearlyFull;
    constexpr std::uint32_t kChunksOfThread = 2;
    const std::uint32_t live = left(control.threads_started.load(), control.threads_ended.load());
    const double chunks = std::clamp<std::uint32_t>(
        control.chunks, 1, Urgency::kPlenty + kChunksOfThread * std::min(live, shm::kMaxThreads));
    return {.starting = control.file_futex.load() == 0,
            .late_plan = control.late_asked.load() != control.late_answered_futex.load(),
            .ending = ended || control.process_state.load() == shm::ProcessState::ending,
            .waiters = control.waiters.load(),
            .used = std::max(used_chunks(control) / chunks, unheard / kMaxEnded)};
}

bool Urgency::update(const Demand& demand) {
    const double enough = filling_ ? kRoomAgain : kNearlyFull;
    filling_ = demand.waiters > 0 || demand.used >= enough;
    return demand.starting || demand.late_plan || demand.ending || filling_;
}

}  // namespace rdam::agent
