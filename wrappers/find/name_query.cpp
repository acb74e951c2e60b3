#include "wrappers/find/name_query.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "tools/base/demangle.h"
#include "tools/base/glob.h"

namespace rdam {

namespace {

/// Words that the mangling abbreviates, or that only demanglers write.
constexpr std::array<std::string_view, 47> kUnspelled{
    "std",      "string",    "wstring",  "basic_string",  "allocator",    "istream",  "ostream",
    "iostream", "operator",  "char",     "wchar_t",       "bool",         "int",      "short",
    "long",     "unsigned",  "signed",   "float",         "double",       "void",     "const",
    "volatile", "auto",      "decltype", "anonymous",     "namespace",    "lambda",   "unnamed",
    "type",     "nullptr_t", "__int128", "guard",         "variable",     "for",      "vtable",
    "typeinfo", "thunk",     "virtual",  "non",           "clone",        "char16_t", "char32_t",
    "char8_t",  "new",       "delete",   "basic_istream", "basic_ostream"};

/// std::string and its streams are spelled out when demangled verbosely, and abbreviated when mangled.
bool is_unspelled(std::string_view word) {
    return word.starts_with("char_traits") || word.starts_with("basic_iostream") ||
           std::ranges::find(kUnspelled, word) != kUnspelled.end();
}

bool is_identifier(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string lower_case(std::string_view text) {
    std::string result{text};
    for (char& c : result)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return result;
}

/// Whether a copy with this suffix does a function's work where the function itself is not called. Parts are
/// called by it, cold ones are jumped to, and the bodies of parallel regions are functions of their own.
bool is_called_instead(std::string_view suffix) {
    constexpr std::array<std::string_view, 10> kSuffixes{".constprop", ".isra",  ".specialized", ".llvm",
                                                         ".lto_priv",  ".actor", ".resume",      ".destroy",
                                                         ".cleanup",   ".cfi"};
    return suffix.find(".cold") == std::string_view::npos &&
           std::ranges::any_of(kSuffixes, [&](std::string_view known) {
               return suffix.starts_with(known) &&
                      (suffix.size() == known.size() || suffix[known.size()] == '.');
           });
}

/// The letters of a glob without `[` that stand for themselves.
std::uint64_t literal_letters(std::string_view glob) {
    std::string literal{glob};
    std::erase_if(literal, [](char c) { return c == '*' || c == '?'; });
    return letters_of(literal);
}

/// The longest literal part of a glob without `[`.
std::string longest_literal(std::string_view glob) {
    std::string_view longest;
    while (!glob.empty()) {
        const auto literal = glob.substr(0, glob.find_first_of("*?"));
        if (literal.size() > longest.size()) longest = literal;
        glob.remove_prefix(std::min(literal.size() + 1, glob.size()));
    }
    return std::string{longest};
}

}  // namespace

std::string required_token(std::string_view demangled) {
    std::string_view best;
    for (std::size_t index = 0; index < demangled.size();) {
        if (!is_identifier(demangled[index])) {
            ++index;
            continue;
        }
        std::size_t end = index;
        while (end < demangled.size() && is_identifier(demangled[end]))
            ++end;
        const std::string_view word = demangled.substr(index, end - index);
        const bool is_number = std::isdigit(static_cast<unsigned char>(word.front())) != 0;
        if (!is_number && word.size() > best.size() && !is_unspelled(word)) best = word;
        index = end;
    }
    return std::string{best};
}

NameQuery::NameQuery(std::string_view name) {
    const std::size_t at = name.find('@', 1);
    if (at != std::string_view::npos) {
        const std::size_t begin = name.find_first_not_of('@', at);
        if (begin != std::string_view::npos) version_ = name.substr(begin);
        name = name.substr(0, at);
    }
    name_ = name;
    normalized_ = normalized_name(name_);
    is_glob_ = name_.find_first_of("*?[") != std::string::npos;
    // Bracket expressions of a glob are not identifiers; the text before the parameters is enough to filter
    // by.
    const bool has_brackets = is_glob_ && name_.find('[') != std::string::npos;
    if (is_glob_ && !has_brackets) {
        piece_ = longest_literal(name_);
        letters_ = literal_letters(name_);
    }
    token_ = has_brackets ? std::string{} : required_token(name_.substr(0, name_.find('(', 1)));
}

bool NameQuery::matches_everything() const {
    return is_glob_ && name_.find_first_not_of("*?") == std::string::npos;
}

std::vector<SymbolMatch> NameQuery::by_linkage_name(const ObjectFile& object, std::string_view name,
                                                    MatchKind kind) const {
    std::vector<SymbolMatch> matches;
    bool has_default = false;
    for (const std::uint32_t index : object.named(name)) {
        const Symbol& symbol = object.symbols()[index];
        if (!version_.empty() && symbol.version != version_) continue;
        has_default = has_default || symbol.default_version;
        matches.push_back({index, kind});
    }
    if (has_default && version_.empty()) {
        std::erase_if(matches, [&](const SymbolMatch& match) {
            const Symbol& symbol = object.symbols()[match.symbol];
            return !symbol.version.empty() && !symbol.default_version;
        });
    }
    return matches;
}

/// "Stdlib.List.map_12", as perf prints it: linkage names write a point as two underscores, and what is no
/// identifier in hexadecimal digits. OCaml 5 leaves the last point as it is.
std::vector<SymbolMatch> NameQuery::by_ocaml_name(const ObjectFile& object) const {
    const bool module = !name_.empty() && name_[0] >= 'A' && name_[0] <= 'Z';
    if (!module || name_.find('.') == std::string::npos) return {};
    std::string linkage = "caml";
    std::size_t last_point = 0;
    bool in_module = true;  // behind a point
    for (const char c : name_) {
        if (c == '.' && in_module) {
            last_point = linkage.size();
            linkage += "__";
        } else if (is_identifier(c) || c == '\'') {
            linkage += c;
        } else {
            linkage += fmt::format("${:02x}", static_cast<unsigned char>(c));
            in_module = false;
        }
    }
    auto matches = by_linkage_name(object, linkage, MatchKind::demangled_name);
    if (!matches.empty()) return matches;
    return by_linkage_name(object, linkage.replace(last_point, 2, "."), MatchKind::demangled_name);
}

std::vector<SymbolMatch> NameQuery::by_fortran_name(const ObjectFile& object) const {
    const std::string lower = lower_case(name_);
    if (auto matches = by_linkage_name(object, lower + "_", MatchKind::fortran_name); !matches.empty()) {
        return matches;
    }
    const std::size_t colons = lower.find("::");
    if (colons == std::string::npos) return {};
    return by_linkage_name(object,
                           fmt::format("__{}_MOD_{}", lower.substr(0, colons), lower.substr(colons + 2)),
                           MatchKind::fortran_name);
}

/// Clones of the whole name or, for mangled names, of its demangled form.
std::vector<SymbolMatch> NameQuery::by_clone(const ObjectFile& object) const {
    std::vector<SymbolMatch> matches;
    const NameIndex& index = object.names();
    for (const NameIndex::Clone& clone : index.clones_of(name_))
        matches.push_back({clone.symbol, MatchKind::clone});
    if (index.may_contain(token_)) {
        for (const NameIndex::Clone& clone : index.clones()) {
            if (clone.base == name_ || !looks_mangled(clone.base)) continue;
            if (clone.base.find(token_) == std::string_view::npos) continue;
            const DemangledName base = demangle(clone.base);
            if (normalized_ == normalized_name(base.brief) ||
                normalized_ == normalized_name(base.signature) || normalized_ == normalized_name(base.full))
                matches.push_back({clone.symbol, MatchKind::clone});
        }
    }
    std::ranges::sort(matches, {}, &SymbolMatch::symbol);
    return matches;
}

bool NameQuery::is_demangled_as(std::string_view mangled, bool as_glob) const {
    if (mangled.find(token_) == std::string_view::npos) return false;
    const DemangledName demangled = demangle(mangled);
    for (const std::string* text :
         {&demangled.brief, &demangled.signature, &demangled.full, &demangled.hashed}) {
        if (text->empty()) continue;
        if (as_glob ? glob_match(name_, *text) || glob_match(name_, familiar_name(*text))
                    : normalized_ == normalized_name(*text))
            return true;
    }
    return false;
}

/// Functions in C++ with the name of one in C, which no class or namespace can be around.
std::vector<SymbolMatch> NameQuery::by_overload(const ObjectFile& object) const {
    std::vector<SymbolMatch> matches;
    if (!std::ranges::all_of(name_, is_identifier) || !object.names().may_contain(token_)) return matches;
    const std::string global = fmt::format("_Z{}{}", name_.size(), name_);
    const std::string local = fmt::format("_ZL{}{}", name_.size(), name_);
    for (const std::uint32_t index : object.names().mangled()) {
        const std::string_view mangled = object.symbols()[index].name;
        if ((mangled.starts_with(global) || mangled.starts_with(local)) && is_demangled_as(mangled, false))
            matches.push_back({index, MatchKind::demangled_name});
    }
    return matches;
}

/// For globs: there may be thousands of them, and demangling every name for each would take too long.
std::vector<SymbolMatch> NameQuery::by_demangled_form(const ObjectFile& object, bool as_glob) const {
    std::vector<SymbolMatch> matches;
    const NameIndex& names = object.names();
    const auto letters = names.demangled_letters();
    for (std::size_t at = 0; at < letters.size(); ++at) {
        const NameIndex::Named& named = names.named()[at];
        if (named.mangled && has_letters(letters[at]) &&
            is_demangled_as(object.symbols()[named.symbol].name, as_glob))
            matches.push_back({named.symbol, MatchKind::demangled_name});
    }
    return matches;
}

std::vector<SymbolMatch> NameQuery::by_demangled_name(const ObjectFile& object) const {
    std::vector<SymbolMatch> matches;
    if (!object.names().may_contain(token_)) return matches;
    if (is_glob_) return by_demangled_form(object, false);
    for (const std::uint32_t index : object.names().mangled()) {
        if (is_demangled_as(object.symbols()[index].name, false))
            matches.push_back({index, MatchKind::demangled_name});
    }
    return matches;
}

std::vector<SymbolMatch> NameQuery::by_glob(const ObjectFile& object) const {
    std::vector<SymbolMatch> matches;
    const auto& symbols = object.symbols();
    const NameIndex& names = object.names();
    const bool plain = names.may_be_named(piece_);
    const bool demangled = names.may_contain(token_);
    if (!plain && !demangled) return matches;
    if (plain) {
        for (const NameIndex::Named& named : names.named())
            if (has_letters(named.letters) && glob_match(name_, symbols[named.symbol].name))
                matches.push_back({named.symbol, MatchKind::glob});
    }
    if (!demangled) return matches;
    for (const SymbolMatch& match : by_demangled_form(object, true))
        matches.push_back({match.symbol, MatchKind::glob});
    std::ranges::sort(matches, {}, &SymbolMatch::symbol);
    // Not std::ranges::unique: clang 14 cannot compile the subrange that libstdc++ 12 returns.
    const auto same = [](const SymbolMatch& a, const SymbolMatch& b) { return a.symbol == b.symbol; };
    matches.erase(std::unique(matches.begin(), matches.end(), same), matches.end());
    return matches;
}

std::vector<SymbolMatch> NameQuery::find_in(const ObjectFile& object) const {
    auto matches = find_spelled_out(object);
    const bool code = std::ranges::any_of(
        matches, [&](const SymbolMatch& match) { return object.symbols()[match.symbol].is_code(); });
    if (code || !is_glob_ || !version_.empty()) return matches;
    auto by_pattern = by_glob(object);
    return by_pattern.empty() ? matches : by_pattern;
}

/// The copies beside the function itself that are called in its place: what compilers made for some of its
/// callers, and the bodies of coroutines. What clang checks indirect calls for (CFI) is called by its name
/// only through a jump, so the body stands for both.
void NameQuery::add_copies(const ObjectFile& object, std::vector<SymbolMatch>& matches) const {
    constexpr std::string_view kChecked = ".cfi";
    std::set<std::string_view> checked;
    std::vector<SymbolMatch> copies;
    for (const SymbolMatch& copy : by_clone(object)) {
        const Symbol& symbol = object.symbols()[copy.symbol];
        const CloneParts parts = split_clone(symbol.name);
        if (!is_called_instead(parts.suffix)) continue;
        if (parts.suffix == kChecked) checked.insert(parts.base);
        copies.push_back({copy.symbol, parts.suffix == kChecked ? MatchKind::body : MatchKind::copy});
    }
    std::erase_if(matches, [&](const SymbolMatch& match) {
        return checked.contains(object.symbols()[match.symbol].name);
    });
    for (const SymbolMatch& copy : copies) {
        const bool known = std::ranges::any_of(
            matches, [&](const SymbolMatch& match) { return match.symbol == copy.symbol; });
        if (!known) matches.push_back(copy);
    }
}

std::vector<SymbolMatch> NameQuery::find_spelled_out(const ObjectFile& object) const {
    auto matches = by_linkage_name(object, name_, MatchKind::linkage_name);
    const auto is_code = [&](const SymbolMatch& match) { return object.symbols()[match.symbol].is_code(); };
    std::vector<SymbolMatch> data;
    if (std::ranges::none_of(matches, is_code)) std::swap(data, matches);
    std::erase_if(matches, [&](const SymbolMatch& match) { return !is_code(match); });
    if (version_.empty()) {
        const auto more = matches.empty() ? by_demangled_name(object) : by_overload(object);
        matches.insert(matches.end(), more.begin(), more.end());
        if (matches.empty()) matches = by_fortran_name(object);
        if (matches.empty()) matches = by_ocaml_name(object);
        if (matches.empty())
            matches = by_clone(object);
        else
            add_copies(object, matches);
    }
    return matches.empty() ? data : matches;
}

namespace {

/// What all spellings of a name have in common.
std::string core_of(std::string_view linkage_name) {
    const CloneParts parts = split_clone(linkage_name);
    std::string name = display_name(parts.base, true);
    if (looks_mangled(parts.base)) return name;
    name.erase(0, name.find_first_not_of('_'));
    name.erase(name.find_last_not_of('_') + 1);
    for (char& c : name)
        c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return name;
}

}  // namespace

bool is_c_library(const ObjectFile& file) {
    constexpr std::array<std::string_view, 9> kNames{
        "libc.", "libm.", "libmvec.", "libpthread.", "librt.", "libdl.", "libresolv.", "libanl.", "libutil."};
    return std::ranges::any_of(kNames,
                               [&](std::string_view name) { return file.soname().starts_with(name); });
}

std::vector<std::string> folded_names(const ObjectFile& file, std::uint64_t address,
                                      std::string_view linkage_name) {
    std::vector<std::string> names;
    if (is_c_library(file)) return names;
    const auto symbols = file.at(address);
    const auto own = std::ranges::find(symbols, linkage_name, &Symbol::name);
    if (own == symbols.end()) return names;
    std::set<std::string> known{core_of(linkage_name)};
    for (const Symbol& symbol : symbols) {
        const bool weak = symbol.binding == SymbolBinding::weak;
        if (symbol.kind != SymbolKind::function || weak != (own->binding == SymbolBinding::weak)) continue;
        // Names with two underscores are a library's own for what it exports under others.
        if (symbol.name.starts_with("__") && !looks_mangled(symbol.name)) continue;
        if (!known.insert(core_of(symbol.name)).second) continue;
        std::string name = display_name(symbol.name);
        names.push_back(name == display_name(linkage_name) ? display_name(symbol.name, true) : name);
    }
    return names;
}

}  // namespace rdam
