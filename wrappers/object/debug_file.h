// Where the symbols of a stripped object are: the separate debug file and the embedded mini debug data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wrappers/object/elf_image.h"

namespace rdam {

/// Where distributions put debug files. Tests name another one.
inline constexpr const char* kDebugRoot = "/usr/lib/debug";

/// The separate debug file of `object`, looked for as gdb does: `<root>/.build-id/xx/yyyy.debug`, then the
/// name of .gnu_debuglink beside the object, in `.debug/` beside it and in `<root>/<directory of the
/// object>/`. A file is taken only if it belongs: same build-id, or, where one of them has none, the CRC of
/// .gnu_debuglink.
std::optional<ElfImage> find_debug_file(const ElfImage& object, const std::string& debug_root);

/// All places that are searched for debug information of the object at `path`, whether or not there is a
/// file: those of find_debug_file(), and of the file that several debug files share (dwz), if any.
std::vector<std::string> debug_places(const std::string& path, const std::string& debug_root = kDebugRoot);

/// The symbol table embedded in .gnu_debugdata (xz). None: there is none, or it is damaged or absurdly large.
std::optional<ElfImage> read_mini_debug(const ElfImage& object);

}  // namespace rdam
