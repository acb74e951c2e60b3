// Only one thread of a trace at a time may decode chunks that expand to far more memory than their size in
// the file. Recorders write no such chunks.
#pragma once

#include <functional>
#include <mutex>

#include "tools/base/unmovable.h"

namespace rdam::trace {

/// The right to decode such chunks. Thread-safe. The destructor gives it back.
class ExpansionLock : private Unmovable {
  public:
    ExpansionLock() = default;
    ~ExpansionLock();

    /// Waits until nobody else in this process has the turn, or `stopped` returns true, which is checked now
    /// and then. False: `stopped` returned true. A thread that has the turn must end without waiting for
    /// another thread of a trace.
    bool take(const std::function<bool()>& stopped);
    bool has() const;

  private:
    mutable std::mutex mutex_;
    bool has_ = false;  // guarded
};

}  // namespace rdam::trace
