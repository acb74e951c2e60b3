#include "wrappers/object/name_index.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "tools/base/demangle.h"

namespace rdam {
NameIndex::NameIndex(const std::vector<Symbol>& symbols) {
    for (std::uint32_t index = 0; index < symbols.size(); ++index) {
        const Symbol& symbol = symbols[index];
        if (!symbol.is_code()) continue;
        all_pieces_.add(symbol.name);
        const CloneParts parts = split_clone(symbol.name);
        const bool cold = parts.suffix.find(".cold") != std::string_view::npos;
        const bool mangled = looks_mangled(symbol.name);
        if (!parts.suffix.empty() && !cold) clones_.push_back({parts.base, index});
        if (!cold && symbol.kind != SymbolKind::label) {
            named_.push_back({index, mangled, letters_of(symbol.name)});
            names_.push_back(symbol.name);
        }
        if (!mangled) continue;
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

std::span<const std::uint64_t> NameIndex::demangled_letters() const {
    std::call_once(demangled_->once, [&] {
        demangled_->letters.resize(named_.size());
        for (std::size_t at = 0; at < named_.size(); ++at) {
            if (!named_[at].mangled) continue;
            const DemangledName name = demangle(names_[at]);
            for (const std::string* text : {&name.brief, &name.signature, &name.full, &name.hashed})
                demangled_->letters[at] |= letters_of(*text);
        }
    });
    return demangled_->letters;
}

bool NameIndex::may_contain(std::string_view token) const {
    return !mangled_.empty() && pieces_.may_contain(token);
}

}  // namespace rdam
