// The bins of time in which calls are merged.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/views/visit.h"

namespace rdam::formats {

/// Time in equal parts.
class Bins {
  public:
    Bins(const trace::TickRange& span, std::size_t count)
        : span_(span),
          count_(count),
          length_(static_cast<double>(span.end - span.begin) / static_cast<double>(count)),
          per_tick_(1 / length_) {}

    std::size_t count() const { return count_; }
    double length() const { return length_; }
    std::size_t of(std::uint64_t tsc) const {
        const double at = static_cast<double>(tsc - std::min(tsc, span_.begin)) * per_tick_;
        return std::min(static_cast<std::size_t>(at), count_ - 1);
    }
    std::uint64_t begin(std::size_t bin) const {
        return span_.begin + static_cast<std::uint64_t>(length() * static_cast<double>(bin));
    }

  private:
    trace::TickRange span_;
    std::size_t count_;
    double length_, per_tick_;
};

/// The time in each function, of one bin after the other.
class FunctionTimes {
  public:
    explicit FunctionTimes(std::size_t functions) : times_(functions, kNone) {}

    void add(std::uint32_t function, double time) {
        double& sum = times_[function];
        if (sum == kNone) {
            there_.push_back(function);
            sum = 0;
        }
        sum += time;
    }
    /// The function with most time, of equal ones the first. Nothing is known afterwards.
    std::uint32_t take_most() {
        std::ranges::sort(there_);
        const std::uint32_t most =
            *std::ranges::max_element(there_, {}, [&](std::uint32_t function) { return times_[function]; });
        for (const std::uint32_t function : there_)
            times_[function] = kNone;
        there_.clear();
        return most;
    }

  private:
    static constexpr double kNone = -1;

    std::vector<double> times_;         // by function
    std::vector<std::uint32_t> there_;  // those with a time
};

}  // namespace rdam::formats
