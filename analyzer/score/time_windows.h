// All calls of all threads in windows of time that are the same for every thread. They show what ran at the
// same time.
//
// Time is cut into windows; a hash of their number alone decides which of them are kept. A thread with too
// many calls keeps half of its windows. Two threads have in common the windows of the one that keeps fewer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rdam::samples {

/// The windows that are kept: of 2^shift ticks each.
struct Windows {
    unsigned shift = 0;
    std::uint64_t limit = UINT64_MAX;

    bool all() const { return limit == UINT64_MAX; }
    /// Window number tsc >> shift.
    bool keeps(std::uint64_t number) const { return all() || number * 0x9e3779b97f4a7c15 <= limit; }
};

/// A call that reaches into such a window. Times in ticks.
struct WindowCall {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t duration = 0;  ///< net (calls::Call)
    std::uint32_t function = 0;
    std::uint32_t group = 0;  ///< mining::GroupId in its thread
    bool outermost = true;
};

/// For one thread. Not thread-safe.
class WindowSample {
  public:
    /// Keeps at most `most` calls; 0: none.
    WindowSample(std::size_t most, unsigned shift) : most_(most), windows_{.shift = shift} {}

    /// Whether the call is kept for now.
    bool offer(const WindowCall& call) { return most_ > 0 && reaches_in(call) && keep(call); }

    /// For each call that is kept: number(group) instead of its group.
    template <class Number>
    void set_groups(const Number& number) {
        for (WindowCall& call : calls_)
            call.group = number(call.group);
    }

    /// The same calls with other groups, numbers[group]. UINT32_MAX: the call is left out. No further calls
    /// can be offered to the result.
    WindowSample renumbered(std::span<const std::uint32_t> numbers) const;

    const Windows& windows() const { return windows_; }
    std::span<const WindowCall> calls() const { return calls_; }  ///< in the order in which they ended

  private:
    bool reaches_in(const WindowCall& call) const {
        const std::uint64_t first = call.begin >> windows_.shift;
        const std::uint64_t last = call.end >> windows_.shift;
        return windows_.keeps(first) || (first != last && reaches_in_behind(first, last));
    }
    bool reaches_in_behind(std::uint64_t first, std::uint64_t last) const;
    bool keep(const WindowCall& call);

    std::size_t most_;
    Windows windows_;
    std::vector<WindowCall> calls_;
};

/// Windows of about a millisecond, or longer if the run is so long that there would be too many.
unsigned window_shift(double ticks_per_second, std::uint64_t run_ticks);

}  // namespace rdam::samples
