// Where a function is entered other than at its first byte, and how much room there is after its last and
// before its first byte.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "wrappers/object/object_file.h"

namespace rdam {

/// Addresses within the first plan::kMaxMoved bytes of functions that something outside of the function jumps
/// to, calls, or names, and addresses in the padding before them that anything jumps to or calls. Found by
/// one pass over the object's code for all functions together.
class EntryPoints {
  public:
    /// `functions`: extents of the functions in question.
    static EntryPoints scan(const ObjectFile& file, std::vector<CodeRange> functions);

    /// Ascending; never the first byte itself. Only for functions that were given to scan().
    std::vector<std::uint64_t> inside(const CodeRange& function) const;

  private:
    std::map<std::uint64_t, std::vector<std::uint64_t>> found_;  // by the function's first address
};

/// How many bytes behind the function are nops or int3, up to whatever comes next, or between the end of its
/// section and the next one; at most 64.
std::uint32_t padding_behind(const ObjectFile& file, const CodeRange& function);

/// The bytes between the end of whatever precedes the function in its section and its first, whatever they
/// are. Where what precedes is so short that a patch of its own spills into them, those behind that patch.
/// Empty where the end of what precedes is not known. A view into `file`.
std::span<const std::uint8_t> padding_before(const ObjectFile& file, const CodeRange& function);

/// How many bytes before the function at `address` a 5-byte jump can be placed: the closest place that a
/// 2-byte jump at the entry reaches. `padding` ends at the entry and begins where an instruction does.
///
/// Control flow may run through the padding into the function, and `entries` may lead into it. So the jump
/// begins where one of the padding's instructions does, and is always executed as a whole. Nothing if there
/// is no such place, or if the padding has anything other than nops and int3.
std::optional<std::uint8_t> room_for_jump(std::span<const std::uint8_t> padding, std::uint64_t address,
                                          std::span<const std::uint64_t> entries);

}  // namespace rdam
