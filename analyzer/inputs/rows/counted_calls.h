// How often the rows of a thread have called the functions of which only a sample was recorded.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::inputs {

/// A thread counts its calls, whatever the stack. Not thread-safe.
class CountedCalls {
  public:
    explicit CountedCalls(const trace::TraceInfo& info);

    /// A call was recorded.
    void see(std::uint32_t thread, std::uint32_t row, const trace::Event& enter) {
        if (enter.function < counted_.size() && counted_[enter.function]) [[unlikely]]
            note(thread, row, enter);
    }

    /// Gives the rows, of which the first are the threads, what the threads have counted: to each what it has
    /// recorded of a function, and of the rest a part like that which it has recorded of the sample. The sums
    /// stay as they are.
    void divide(const trace::TraceInfo& info, std::vector<trace::ThreadInfo>& rows) const;

  private:
    struct Recorded {
        std::uint64_t all = 0;
        std::uint64_t sampled = 0;  ///< after the function has begun to be sampled
    };
    using ByRow = std::unordered_map<std::uint32_t, Recorded>;

    static std::uint64_t key(std::uint32_t thread, std::uint32_t function) {
        return std::uint64_t{thread} << 32U | function;
    }
    void note(std::uint32_t thread, std::uint32_t row, const trace::Event& enter);

    std::vector<bool> counted_;                          // by function
    std::vector<std::uint64_t> since_;                   // by function
    std::unordered_map<std::uint64_t, ByRow> recorded_;  // by key()
};

}  // namespace rdam::inputs
