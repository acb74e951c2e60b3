// The rest of a loop of rdam.h: the iterations after the last full group. It is a call to the loop's region
// that contains a call to the region "loop's rest", which gives the number of iterations; it is compared
// only with rests of the same length.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::mining {

class LoopRests {
  public:
    explicit LoopRests(const trace::TraceInfo& info) {
        for (const trace::FunctionInfo& function : info.functions)
            tells_.push_back(function.name == "loop's rest" && function.module == "region" &&
                             function.parameters.size() == 1 &&
                             function.parameters.front().name == "iterations");
        any_ = std::ranges::find(tells_, true) != tells_.end();
    }

    /// How many calls this one represents in the sequence of the call around it.
    std::uint32_t repeats(const trace::Event& enter) const {
        if (!any_ || !tells_[enter.function] || enter.words.empty()) return 1;
        return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(enter.words.front(), 1, UINT32_MAX));
    }

  private:
    std::vector<bool> tells_;  // by function
    bool any_ = false;
};

}  // namespace rdam::mining
