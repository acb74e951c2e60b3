// Inlined copies of functions, which no recorder sees.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/piece_filter.h"
#include "wrappers/object/dwarf_file.h"

namespace rdam {

struct InlinedCopies {
    std::uint32_t count = 0;
    std::vector<std::string>
        containers;        ///< names of the functions they are in, each once, at most kMaxContainers
    bool complete = true;  ///< false: the debug information is too large to be searched to its end
};

inline constexpr std::size_t kMaxContainers = 8;

/// A function in the source: the same one in all units that include its header, but a different one for each
/// static function of the same name elsewhere.
struct SourceFunction {
    std::string name;         ///< linkage name, without clone suffix
    std::string declared_at;  ///< "file.c:12"; empty: anywhere

    friend auto operator<=>(const SourceFunction&,
                            const SourceFunction&) = default;  // NOLINT(modernize-use-nullptr): there is none
};

/// Searches the debug information for the copies of all `functions`. Functions without any are not in
/// the result. Only units that describe one of the functions as inlined are searched, and at most some ten
/// million entries.
std::map<SourceFunction, InlinedCopies> find_inlined_copies(DwarfFile& dwarf,
                                                            const std::vector<SourceFunction>& functions);

/// The names in an object's debug information, which are read in a small part of the time that all of it
/// takes.
class DebugStrings {
  public:
    /// `object` must outlive the strings.
    explicit DebugStrings(const ObjectFile& object);
    /// False: find_inlined_by_name() finds nothing.
    bool may_name(std::string_view name) const;

  private:
    std::string_view text_;  // empty: not known
    PieceFilter pieces_;
};

/// Finds the inlined copies of a function without code of its own, by the name a person gives it: linkage
/// name, or demangled with or without parameter list. Only copies that were found count.
std::map<SourceFunction, InlinedCopies> find_inlined_by_name(DwarfFile& dwarf, std::string_view name);

}  // namespace rdam
