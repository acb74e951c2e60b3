// Which symbols of an object may answer to a name that is not written as in the symbol table.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "wrappers/object/piece_filter.h"
#include "wrappers/object/symbol.h"

namespace rdam {

/// Immutable once built; the views point to where those of the symbols do.
class NameIndex {
  public:
    NameIndex() = default;
    explicit NameIndex(const std::vector<Symbol>& symbols);

    /// A compiler's copy of a function: code with a suffix, cold parts left out.
    struct Clone {
        std::string_view base;
        std::uint32_t symbol = 0;
    };
    const std::vector<Clone>& clones() const { return clones_; }  ///< by base, then symbol
    std::span<const Clone> clones_of(std::string_view base) const;

    /// Code whose name is mangled, ascending.
    const std::vector<std::uint32_t>& mangled() const { return mangled_; }
    /// False: no mangled name contains `token`.
    bool may_contain(std::string_view token) const;
    /// False: no name of code, as it stands in the symbol table, contains `piece`.
    bool may_be_named(std::string_view piece) const { return all_pieces_.may_contain(piece); }

  private:
    std::vector<Clone> clones_;
    std::vector<std::uint32_t> mangled_;
    PieceFilter pieces_;      // of the mangled names
    PieceFilter all_pieces_;  // of all names of code
};

}  // namespace rdam
