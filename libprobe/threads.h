// Threads' beginnings and ends.
#pragma once

namespace rdam::probe {

/// Called once, before anything is patched. `create` and `set_specific` are libc's pthread_create and
/// pthread_setspecific.
void prepare_threads(void* create, void* set_specific);

/// dlsym(RTLD_NEXT, name).
void* find_next(const char* name);

}  // namespace rdam::probe
