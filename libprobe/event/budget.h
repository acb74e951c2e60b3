// The budget for overhead: what recording may take of each thread's own time (docs/recorder.md, "The
// budget"). A thread looks at what it has spent whenever it packs its records. Functions whose calls cost
// more than it has are recorded in windows of time from then on (tools/agent/sampling/window_sampler.h).
#pragma once

#include <cstdint>

#include "libprobe/base/state.h"
#include "libprobe/format/packer.h"
#include "libprobe/format/shared.h"

namespace rdam::probe {

bool has_budget();

/// Functions are complete or marked (`~`) from the start: of the plan that is being applied.
void begin_budget(const shm::PlannedFunction* functions, std::uint32_t count);

/// The function's calls are recorded whatever they cost.
void exempt(std::uint32_t function);

/// A thread begins, or ends: a new one may spend what another one has not, or there would be much for many
/// short threads.
void open_account(ThreadState& thread);
void close_account(ThreadState& thread);

/// The calling thread has recorded what is in `packer`. Signals are blocked.
void spend(ThreadState& thread, const pack::Packer& packer);
/// Besides, the recorder held it for so many ticks. Where it did not wait for room, what is longer than any
/// change of chunk takes is somebody else's time on its processor.
void spend_pause(ThreadState& thread, std::uint64_t ticks, bool waited);

/// In a fork child: all functions but the marked ones are complete again.
void forget_budget();

}  // namespace rdam::probe
