// Sockets by the names of a run's starter (libprobe/format/starter.h).
#pragma once

#include "libprobe/format/starter.h"

namespace rdam {

/// Closed on exec; accepting does not wait. A file is for its user alone; it stays until somebody removes it.
/// -1: it cannot be, or somebody else has the name. For processes with one thread.
int listen_at(const starter::Name& name);

/// Closed on exec. -1: nobody listens.
int connect_to(const starter::Name& name);

}  // namespace rdam
