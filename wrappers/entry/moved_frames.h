// The unwind table of moved instructions: exceptions that they raise, and walks of the stack that interrupt
// them, find the frame that the function had at the original ones.
#pragma once

#include <cstdint>
#include <vector>

#include "wrappers/entry/relocate.h"
#include "wrappers/object/object_file.h"

namespace rdam {

/// The most bytes that describe_frames() appends.
inline constexpr std::size_t kMaxDescription = 1024;

/// Appends to `moved.code` a frame description for its instructions, a description of its kind before it
/// (CIE), and before that where exceptions land; sets `moved.description`. `entry` is the function's
/// link-time address. Nothing is appended where the object describes no frames there, or in a way that is not
/// understood.
void describe_frames(const ObjectFile& file, std::uint64_t entry, MovedPrologue& moved);

/// Where exceptions enter a function other than at its entry, by address.
std::vector<std::uint64_t> entered_by_exceptions(const ObjectFile& file, std::uint64_t entry);

}  // namespace rdam
