// From an address to the function and the source line it belongs to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tools/base/result.h"
#include "wrappers/object/dwarf_file.h"
#include "wrappers/object/object_file.h"

namespace rdam {

struct SourceFrame {
    std::string function;  ///< demangled, without parameter list; empty: unknown
    std::string file;      ///< as the compiler saw it; empty: unknown
    std::uint32_t line = 0;
};

/// One address. `inlined` are the functions that were compiled into `outermost` at this place, the innermost
/// first; each frame's file and line say where execution is within it.
struct SourceLocation {
    std::vector<SourceFrame> inlined;
    SourceFrame outermost;
    std::uint64_t offset = 0;  ///< from the start of `outermost`
};

struct SourceLine {
    std::string file;  ///< as the compiler saw it
    std::uint32_t line = 0;
    auto operator<=>(const SourceLine&) const = default;  // NOLINT(modernize-use-nullptr): there is none
};

/// Look-ups of one object's addresses. Results are remembered, so repeated ones cost a hash look-up.
/// Thread-compatible: one thread at a time.
class Symbolizer {
  public:
    /// `build_id` is that of the object when the addresses were taken (hex; empty: not known, any file will
    /// do). Errors: no such file, not ELF, or a file with another build-id, whose symbols would be wrong.
    static Result<Symbolizer> open(const std::string& path, const std::string& build_id,
                                   const std::string& debug_root = kDebugRoot);

    /// `address` is link-time. Of a return address ask for the byte before it, which belongs to the call.
    /// An unknown address yields empty names. The reference is valid as long as the symbolizer.
    const SourceLocation& locate(std::uint64_t address);

    /// The source lines of the code from `begin` to before `end`, including those of inlined functions; each
    /// once, in order. Empty without debug information.
    std::vector<SourceLine> lines_between(std::uint64_t begin, std::uint64_t end);

  private:
    explicit Symbolizer(ObjectFile object) : object_{std::move(object)}, dwarf_{DwarfFile::open(object_)} {}
    SourceLocation look_up(std::uint64_t address);
    void add_source(std::uint64_t address, SourceLocation& location);

    ObjectFile object_;
    std::optional<DwarfFile> dwarf_;
    std::unordered_map<std::uint64_t, SourceLocation> known_;
};

}  // namespace rdam
