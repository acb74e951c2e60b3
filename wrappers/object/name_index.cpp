#include "wrappers/object/name_index.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "wrappers/object/demangle.h"

namespace rdam {
namespace {

constexpr std::size_t kPiece = 4;
constexpr unsigned kHashBits = 18;

std::size_t hash_of_piece(const char* text) {
    std::uint32_t piece = 0;
    std::memcpy(&piece, text, kPiece);
    constexpr std::uint32_t kGoldenRatio = 2654435769U;
    return (piece * kGoldenRatio) >> (32 - kHashBits);
}

}  // namespace

NameIndex::NameIndex(const std::vector<Symbol>& symbols) : pieces_(std::size_t{1} << kHashBits) {
    for (std::uint32_t index = 0; index < symbols.size(); ++index) {
        const Symbol& symbol = symbols[index];
        if (!symbol.is_code()) continue;
        const CloneParts parts = split_clone(symbol.name);
        if (!parts.suffix.empty() && parts.suffix.find(".cold") == std::string_view::npos)
            clones_.push_back({parts.base, index});
        if (!looks_mangled(symbol.name)) continue;
        mangled_.push_back(index);
        for (std::size_t at = 0; at + kPiece <= symbol.name.size(); ++at)
            pieces_[hash_of_piece(symbol.name.data() + at)] = true;
    }
    std::sort(clones_.begin(), clones_.end(), [](const Clone& a, const Clone& b) {
        return std::tie(a.base, a.symbol) < std::tie(b.base, b.symbol);
    });
}

std::span<const NameIndex::Clone> NameIndex::clones_of(std::string_view base) const {
    const auto begin =
        std::lower_bound(clones_.begin(), clones_.end(), base,
                         [](const Clone& clone, std::string_view name) { return clone.base < name; });
    auto end = begin;
    while (end != clones_.end() && end->base == base)
        ++end;
    return {begin, end};
}

bool NameIndex::may_contain(std::string_view token) const {
    if (mangled_.empty()) return false;
    for (std::size_t at = 0; at + kPiece <= token.size(); ++at)
        if (!pieces_[hash_of_piece(token.data() + at)]) return false;
    return true;
}

}  // namespace rdam
