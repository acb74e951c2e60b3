// Threads' beginnings and ends.
#pragma once

namespace rdam::probe {

/// Called once, before anything is patched.
void prepare_threads();

/// Starts the recorder if that is still to come. The dynamic linker initializes one library before all
/// others; if the program has one that is to be that (`-z initfirst`), our constructor is the last, and
/// threads may run before. Code must not be changed while they do.
void start_before_threads();

}  // namespace rdam::probe
