// Whether a thread waits for the agent: when the agent may use the processors like the program, and when it
// must keep out of the program's way.
#pragma once

#include <cstdint>

#include "libprobe/format/shared.h"

namespace rdam::agent {

/// What the shared memory tells about waiting threads.
struct Demand {
    bool starting = false;      ///< the program waits for its plan, or soon for the file
    bool late_plan = false;     ///< a thread is in dlopen and waits for a plan
    bool ending = false;        ///< the program has ended, or waits for the trace to be written
    std::uint32_t waiters = 0;  ///< threads that wait for room
    double used = 0;  ///< the part of the buffer that is not free, or as much if many threads have ended; of
                      ///< a large buffer kPlenty counts as all of it
};

/// `ended`: the process is gone, or another program.
Demand look_at(const shm::Control& control, bool ended);

/// Not thread-safe.
class Urgency {
  public:
    /// A buffer that is three quarters full is urgent until half of it is free.
    static constexpr double kNearlyFull = 0.75;
    static constexpr double kRoomAgain = 0.5;
    /// Chunks in addition to those that live threads write to. If there are more, memory that has not been
    /// used yet costs the program more time than the agent does.
    static constexpr std::uint32_t kPlenty = 256;

    /// Whether a thread waits, or soon will.
    bool update(const Demand& demand);

  private:
    bool filling_ = false;
};

}  // namespace rdam::agent
