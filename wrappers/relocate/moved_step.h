// Which original instruction a piece of moved code stands for.
#pragma once

#include <cstdint>

namespace rdam {

/// From `code` on, up to the next step's, the moved code does what the original instruction does, and is in
/// that one's frame.
struct MovedStep {
    std::uint32_t code = 0;  ///< offset in the moved code
    std::uint32_t original =
        0;                     ///< offset of the instruction from the entry; of the last jump, where it goes
    std::uint32_t pushed = 0;  ///< bytes by which its stack is deeper than where the instruction begins
};

}  // namespace rdam
