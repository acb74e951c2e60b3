// Handles Ctrl-C and similar signals while files are being written.
#pragma once

namespace rdam {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT are noted instead of ending the process; if one has
/// come, it ends the process when this goes out of scope, after everything declared behind it has tidied up.
/// One at a time.
class Interruption {
  public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    static bool came();
};

}  // namespace rdam
