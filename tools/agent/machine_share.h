// How much of a thread's time the machine takes by itself: interrupts, and the host of a virtual machine.
#pragma once

#include <cstdint>
#include <stop_token>
#include <thread>
#include <vector>

namespace rdam::agent {

/// A spin of some milliseconds on each processor. Reads the clock over and over: where two readings lie far
/// apart something else ran. Time in which the kernel let another thread run is none of the machine's and
/// does not count.
class MachineShare {
  public:
    /// Begins at once, on threads of its own; no processors: nothing is measured.
    explicit MachineShare(const std::vector<std::uint32_t>& processors);
    MachineShare(const MachineShare&) = delete;
    MachineShare& operator=(const MachineShare&) = delete;

    /// Waits for the end of it, 15 ms after its beginning at the latest; who does not ask does not wait. Of
    /// the processors' time, 0…1; 0: not known, for they had too much else to do.
    double result();

  private:
    /// Nanoseconds.
    struct Spin {
        std::int64_t taken = 0;
        std::int64_t all = 0;
    };

    static Spin spin_on(std::uint32_t processor, const std::stop_token& stop);

    std::vector<Spin> spins_;
    std::vector<std::jthread> threads_;
};

}  // namespace rdam::agent
