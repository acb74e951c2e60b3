// What the agent has to know of the process, gathered once before anything is patched.
#pragma once

#include <cstddef>

namespace rdam::probe {

/// Builds a shm::Request (with its texts) in private memory, where a fork child finds it again.
/// Uses dl_iterate_phdr, so it must run before libc is patched. False when it does not fit.
bool gather_request(int argc, char** argv);

/// Copies the request to the area of the shared memory.
void hand_over_request(void* area);

/// The path that librdam.so was loaded from.
const char* own_path();

}  // namespace rdam::probe
