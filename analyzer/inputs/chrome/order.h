// Puts the calls of a thread into the order in which they began.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzer/inputs/chrome/collected.h"

namespace rdam::inputs::chrome {

struct MarkCounts {
    std::uint64_t unmatched = 0;  ///< an "E" without a "B"
    std::uint64_t open = 0;       ///< a "B" without an "E"
};

/// Makes calls of a thread's marks, by time. An "E" with a name ends the innermost call of that name.
MarkCounts match_marks(Thread& thread, std::vector<Value>& values);

/// By begin; of those that begin together the longer ones first. Of equal ones that which was written first
/// is around the others.
void sort_calls(Thread& thread);

}  // namespace rdam::inputs::chrome
