// How a fork child that cannot reach the run's starter gets its agent: by its parent's agent, which stands
// where the parent stood when it began (format/births.h).
#pragma once

#include <cstdint>

#include "libprobe/format/shared.h"

namespace rdam::probe {

/// `use(begin, size)` for the parts of a process's shared memory, `size` bytes, around the page of births.
template <typename Use>
void for_all_but_births(std::uint64_t memory, std::uint64_t size, const Use& use) {
    constexpr std::uint64_t kBehind = shm::kBirthsOffset + shm::kBirthsSize;
    use(memory, shm::kBirthsOffset);
    use(memory + kBehind, size - kBehind);
}

/// This process has an agent: what it forks from now on may ask that.
void begin_births();

/// In a fork child, with its shared memory in `fd`. False: it cannot, or there is no such agent. Seconds at
/// most.
bool ask_parents_agent(int fd);

/// In a fork child, which has an agent or gets none: gives its parent's page back.
void leave_births();

}  // namespace rdam::probe
