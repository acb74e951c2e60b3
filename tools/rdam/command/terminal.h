// Messages to the user. They may contain names from traces, lists and command lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "tools/base/unmovable.h"

namespace rdam {

/// Writes "rdam: <message>" as one line to stderr, which may be closed. Control characters and bytes that are
/// not UTF-8 are shown escaped, so that no message can move the cursor or forge a second line.
void say(std::string_view message);

// One line on stderr that is overwritten, shown on a terminal after two seconds.

class ProgressLine : private Unmovable {
  public:
    /// `doing`: "analyzing"; lives as long as this. `total`: of events; 0: not known, so their number
    /// is shown.
    ProgressLine(std::string_view doing, std::uint64_t total);
    ~ProgressLine();

    /// Cheap enough for every batch of events.
    void update(std::uint64_t events);
    /// Throws std::runtime_error, too, if the user has interrupted the command meanwhile (Interruption).
    void update_or_stop(std::uint64_t events);

  private:
    std::string_view doing_;
    std::uint64_t total_;
    bool terminal_;
    bool shown_ = false;
    std::chrono::steady_clock::time_point next_;
};

}  // namespace rdam
