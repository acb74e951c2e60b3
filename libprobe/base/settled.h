// What is settled before the program runs, and must not change by a stray write of the program's: the table
// and the addresses that the trampolines jump through (settled.S), and the pages of the shared memory that
// the agent alone writes. They are read-only in the program.
#pragma once

#include "libprobe/format/shared.h"

namespace rdam::probe {

/// While one of these lives its thread may write to the table. One thread at a time: others wait. Signals are
/// blocked.
class OpenTable {
  public:
    OpenTable();
    ~OpenTable();
    OpenTable(const OpenTable&) = delete;
    OpenTable& operator=(const OpenTable&) = delete;

    /// False: the kernel refuses. Nothing may be written.
    bool writable() const { return writable_; }

  private:
    bool writable_ = false;
};

/// In a fork child: the thread that had the table open may be one of its parent's others.
void forget_open_table();

/// The gates, the request and the plan are read-only from now on: the agent has mappings of its own.
void close_shared_areas(shm::Control& control);
/// The request area may be written to, or no longer. False: it may not.
bool open_request_area(shm::Control& control, bool open);

}  // namespace rdam::probe
