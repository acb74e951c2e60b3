#include "tools/agent/memory/measured_once.h"

#include <sys/mman.h>

#include <atomic>
#include <new>

namespace rdam::agent {
namespace {

struct Measurement {
    enum State : std::uint32_t { none, being_written, whole };

    std::atomic<std::uint32_t> state;
    shm::Measured measured;
};

/// By clock, without and with a budget for overhead.
struct Measurements {
    Measurement each[shm::kClocks][2];
};

Measurements* of_run = nullptr;

/// Probes that count instructions are others, and a thread may have a counter or not.
Measurement* place_for(const StartFacts& start) {
    if (of_run == nullptr || start.settings[settings::Id::counters] != 0) return nullptr;
    const bool with_budget = start.settings[settings::Id::max_overhead] != 0;
    return &of_run->each[static_cast<std::size_t>(start.clock)][with_budget ? 1 : 0];
}

}  // namespace

void share_measurements() {
    void* memory =
        mmap(nullptr, sizeof(Measurements), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) of_run = new (memory) Measurements{};
}

void hand_on_measurement(const SharedMemory& shared) {
    const Measurement* known = place_for(shared.start());
    if (known == nullptr || known->state.load(std::memory_order_acquire) != Measurement::whole) return;
    shm::Control& control = shared.control();
    control.measured = known->measured;
    control.measured_check = shm::check_of(&known->measured, sizeof known->measured, 0);
}

void keep_measurement(const SharedMemory& shared) {
    Measurement* place = place_for(shared.start());
    std::uint32_t none = Measurement::none;
    if (place == nullptr || !place->state.compare_exchange_strong(none, Measurement::being_written)) return;
    place->measured = shared.measured();
    place->state.store(Measurement::whole, std::memory_order_release);
}

}  // namespace rdam::agent
