#include "wrappers/object/name_index.h"

#include <algorithm>
#include <tuple>

#include "wrappers/object/demangle.h"

namespace rdam {
NameIndex::NameIndex(const std::vector<Symbol>& symbols) {
    for (std::uint32_t index = 0; index < symbols.size(); ++index) {
        const Symbol& symbol = symbols[index];
        if (!symbol.is_code()) continue;
        all_pieces_.add(symbol.name);
        const CloneParts parts = split_clone(symbol.name);
        if (!parts.suffix.empty() && parts.suffix.find(".cold") == std::string_view::npos)
            clones_.push_back({parts.base, index});
        if (!looks_mangled(symbol.name)) continue;
        mangled_.push_back(index);
        pieces_.add(symbol.name);
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
    return !mangled_.empty() && pieces_.may_contain(token);
}

}  // namespace rdam
