// Only one thread of a trace at a time may decode chunks that expand to far more memory than their size in
// the file. Recorders write no such chunks.
#pragma once

#include <functional>
#include <mutex>

namespace rdam::trace {

/// Thread-safe. Given back when it is destroyed.
class Turn {
  public:
    Turn() = default;
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    Turn(Turn&&) = delete;
    Turn& operator=(Turn&&) = delete;

    /// Waits until nobody else in this process has the turn, or `stopped` is true, which is asked now and
    /// then. False: it has stopped. Who has it must end without waiting for another thread of a trace.
    bool take(const std::function<bool()>& stopped);
    bool has() const;

  private:
    mutable std::mutex mutex_;
    bool has_ = false;  // guarded
};

}  // namespace rdam::trace
