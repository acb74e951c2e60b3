// Threads' beginnings and ends.
#pragma once

namespace rdam::probe {

/// Called once, before anything is patched.
void prepare_threads();

/// dlsym(RTLD_NEXT, name).
void* find_next(const char* name);

}  // namespace rdam::probe
