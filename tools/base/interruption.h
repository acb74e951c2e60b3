// Handles Ctrl-C and similar signals while files are being written.
#pragma once

#include "tools/base/unmovable.h"

namespace rdam {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT are noted instead of ending the process; if one has
/// come, it ends the process when this goes out of scope, after everything declared behind it has tidied up.
/// One inside another leaves all that to it. Not thread-safe.
class Interruption : private Unmovable {
  public:
    enum class Told { here, elsewhere };
    /// Whether a line on standard error says so then, or the user learns it from somebody else.
    explicit Interruption(Told told = Told::elsewhere);
    ~Interruption();

    static bool came();

  private:
    Told told_;
};

}  // namespace rdam
