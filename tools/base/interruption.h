// Handles Ctrl-C and similar signals while files are being written.
#pragma once

#include "tools/base/unmovable.h"

namespace rdam {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT are noted instead of ending the process; if one has
/// come, it ends the process when this goes out of scope, after everything declared behind it has tidied up.
/// One inside another leaves all that to it. Not thread-safe.
class Interruption : private Unmovable {
  public:
    Interruption();
    ~Interruption();

    static bool came();
};

}  // namespace rdam
