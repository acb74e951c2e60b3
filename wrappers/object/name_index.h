// Which symbols of an object may match a name that is not spelled as in the symbol table.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "tools/base/piece_filter.h"
#include "wrappers/object/symbol.h"

namespace rdam {

/// The characters of `text`, those with the same six low bits taken for one. What contains a text has all
/// of its characters.
constexpr std::uint64_t letters_of(std::string_view text) {
    std::uint64_t letters = 0;
    for (const char c : text)
        letters |= std::uint64_t{1} << (static_cast<unsigned char>(c) & 63U);
    return letters;
}

/// Immutable once built; its views refer to the same memory as those of the symbols.
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

    /// Code that a glob may mean: no label, no cold part.
    struct Named {
        std::uint32_t symbol = 0;
        bool mangled = false;
        std::uint64_t letters = 0;  ///< of the name as it stands in the symbol table
    };
    const std::vector<Named>& named() const { return named_; }  ///< by symbol
    /// The letters of all demangled forms, by index into named(); 0 for what is not mangled. Demangles every
    /// name the first time. Safe for several threads.
    std::span<const std::uint64_t> demangled_letters() const;

    /// Code whose name is mangled, ascending.
    const std::vector<std::uint32_t>& mangled() const { return mangled_; }
    /// False: no mangled name contains `token`.
    bool may_contain(std::string_view token) const;
    /// False: no name of code in the symbol table contains `piece`.
    bool may_be_named(std::string_view piece) const { return all_pieces_.may_contain(piece); }

  private:
    struct Demangled {
        std::once_flag once;
        std::vector<std::uint64_t> letters;
    };

    std::vector<Clone> clones_;
    std::vector<Named> named_;
    std::vector<std::string_view> names_;  // as named_
    std::unique_ptr<Demangled> demangled_ = std::make_unique<Demangled>();
    std::vector<std::uint32_t> mangled_;
    PieceFilter pieces_;      // of the mangled names
    PieceFilter all_pieces_;  // of all names of code
};

}  // namespace rdam
