// Threads' beginnings and ends.
#pragma once

namespace rdam::probe {

/// Called once, before anything is patched.
void prepare_threads();

}  // namespace rdam::probe
