// Where exceptions land that moved code throws.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libprobe/format/plan.h"
#include "wrappers/entry/frame_description.h"
#include "wrappers/entry/relocate.h"

namespace rdam::unwinding {

struct LandingTable {
    Bytes bytes;
    std::vector<plan::Fixup> fixups;  ///< code_offset is in MovedPrologue::code
};

/// The part of a function's language-specific data that concerns its moved instructions, for their place:
/// call sites, with the actions and types that they need, in the form that gcc's and LLVM's personality
/// routines of all languages read ("Itanium C++ ABI: Exception Handling", level II; gcc's
/// unwind-c-common.h). The landing pads are the function's own. `position` is where in the moved code it is
/// to be, `entry` is the function's link-time address, from which the steps' originals count. Nothing: the
/// data is not understood, or needs too much room.
std::optional<LandingTable> landing_table(const ObjectFile& file, const FrameDescription& description,
                                          std::uint64_t entry, const MovedPrologue& moved,
                                          std::uint32_t position);

/// The landing pads of the function that `description` is of, by address. Those of damaged data are none.
std::vector<std::uint64_t> landing_pads(const ObjectFile& file, const FrameDescription& description);

}  // namespace rdam::unwinding
