#include "wrappers/find/entry_resolver.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tools/base/demangle.h"
#include "tools/base/files.h"
#include "tools/base/glob.h"
#include "wrappers/find/name_query.h"
#include "wrappers/object/inlined_copies.h"

namespace rdam {
namespace {

void append(std::vector<Candidate>& all, std::vector<Candidate> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void say(std::string& remarks, std::string_view remark) {
    if (!remarks.empty()) remarks += "; ";
    remarks += remark;
}

/// The exported name of a function that its users know: of `__write` and `write`, the latter.
std::string best_exported_name(const ObjectFile& file, std::uint64_t address, const std::string& found) {
    const auto underscores = [](std::string_view name) {
        return std::min(name.find_first_not_of('_'), name.size());
    };
    std::string best = found;
    for (const Symbol& symbol : file.at(address)) {
        const bool current = symbol.exported && (symbol.version.empty() || symbol.default_version);
        if (current && underscores(symbol.name) < underscores(best)) best = symbol.name;
    }
    return best;
}

/// Several names of one function are one candidate.
void drop_repeated(std::vector<Candidate>& candidates) {
    std::set<std::pair<std::size_t, std::uint64_t>> known;
    std::erase_if(candidates, [&](const Candidate& candidate) {
        return !known.emplace(candidate.object, candidate.address).second;
    });
}

}  // namespace

bool EntryResolver::comes_from(std::size_t object, const Symbol& symbol, std::string_view source_file) {
    const auto is_it = [&](std::string_view file) {
        const bool with_directory = source_file.find('/') != std::string_view::npos;
        return glob_match(source_file, with_directory ? file : file_name(file));
    };
    if (is_it(symbol.source_file)) return true;
    // Global functions, and all of a program made by link-time optimisation, have no file in the symbol
    // table.
    DwarfFile* dwarf = objects_.dwarf(object);
    if (dwarf == nullptr) return false;
    const DwarfFunction* function = dwarf->function_starting_at(symbol.address, symbol.name);
    if (function == nullptr) return false;
    const std::string declared_at = declaration_of(function->die);
    return is_it(declared_at.substr(0, declared_at.rfind(':')));
}

void EntryResolver::follow_ifunc(Candidate& candidate, const Symbol& symbol) {
    const std::uint64_t resolver = objects_.loaded(candidate.object).base + symbol.address;
    const std::uint64_t chosen = request_.resolve_ifunc ? request_.resolve_ifunc(resolver) : 0;
    const auto place = chosen == 0 ? std::nullopt : objects_.locate(chosen);
    if (!request_.resolve_ifunc) {
        candidate.refusal =
            "its implementation is chosen (IFUNC) after the library has been inspected: list the "
            "implementation itself";
        return;
    }
    if (!place) {
        candidate.refusal = chosen == 0
                                ? "its implementation is chosen when the program starts (IFUNC), and the "
                                  "choice could not be determined"
                                : "its implementation (IFUNC) lies outside all files, in the kernel's vdso";
        return;
    }
    candidate.object = place->object;
    candidate.address = place->address;
    for (const Symbol& implementation : objects_.file(place->object)->at(place->address)) {
        if (implementation.kind != SymbolKind::function || implementation.name == symbol.name) continue;
        say(candidate.remark, fmt::format("its implementation here is {}", implementation.name));
        break;
    }
}

Candidate EntryResolver::candidate_for(std::size_t object, const Symbol& symbol, MatchKind kind,
                                       const NameQuery& query) {
    Candidate candidate{object, symbol.address, std::string{symbol.name}, {}, {}, kind == MatchKind::glob};
    if (kind == MatchKind::clone) {
        candidate.remark = fmt::format("as {}, the compiler's copy of {}: the file has no other",
                                       display_name(symbol.name), query.name());
    } else if (kind == MatchKind::copy) {
        candidate.remark = fmt::format("with {}, the compiler's copy", display_name(symbol.name));
    } else if (kind == MatchKind::body) {
        candidate.remark =
            fmt::format("as {}, to which {} only jumps", display_name(symbol.name), query.name());
    }
    if (!symbol.is_code()) {
        candidate.refusal = "is data, not a function";
    } else if (symbol.kind == SymbolKind::ifunc) {
        follow_ifunc(candidate, symbol);
    }
    return candidate;
}

std::vector<Candidate> EntryResolver::search_object(const NameQuery& query, std::size_t object,
                                                    std::string_view source_file, bool as_glob) {
    std::vector<Candidate> candidates;
    const ObjectFile* file = objects_.file(object);
    if (file == nullptr) return candidates;
    for (const SymbolMatch& match : as_glob ? query.find_in(*file) : query.find_spelled_out(*file)) {
        const Symbol& symbol = file->symbols()[match.symbol];
        if (!source_file.empty() && !comes_from(object, symbol, source_file)) continue;
        candidates.push_back(candidate_for(object, symbol, match.kind, query));
        const std::string& excluded = objects_.why_excluded(object);
        if (!excluded.empty()) candidates.back().refusal = excluded;
    }
    drop_repeated(candidates);
    return candidates;
}

std::vector<Candidate> EntryResolver::search(const NameQuery& query, const std::vector<std::size_t>& where,
                                             std::string_view source_file, std::size_t globbed) {
    std::vector<Candidate> usable;
    std::vector<Candidate> excluded;
    for (const std::size_t object : where) {
        auto found = search_object(query, object, source_file, object < globbed);
        append(objects_.why_excluded(object).empty() ? usable : excluded, std::move(found));
    }
    drop_repeated(usable);
    // The dynamic linker has private copies of common functions: no news while the real one was found.
    return usable.empty() ? excluded : usable;
}

std::vector<Candidate> EntryResolver::search_substitutes(const NameQuery& query,
                                                         const std::vector<std::size_t>& where) {
    if (query.is_glob() || query.version() == "plt") return {};
    // Only glibc is known to name its internals after what it exports.
    std::vector<std::size_t> libraries;
    std::vector<std::size_t> stripped;
    for (const std::size_t object : where) {
        const ObjectFile* file = objects_.file(object);
        if (file == nullptr || !is_c_library(*file)) continue;
        libraries.push_back(object);
        if (file->symbol_source() == SymbolSource::exported_only) stripped.push_back(object);
    }
    const auto try_names = [&](const std::vector<std::string>& names, const std::vector<std::size_t>& objects,
                               bool variant) {
        for (const std::string& name : names) {
            auto candidates = search(NameQuery{name}, objects, {});
            std::erase_if(candidates, [](const Candidate& candidate) { return !candidate.refusal.empty(); });
            if (candidates.empty()) continue;
            for (Candidate& candidate : candidates) {
                candidate.name =
                    best_exported_name(*objects_.file(candidate.object), candidate.address, name);
                say(candidate.remark,
                    fmt::format("as {}, {}: only debug symbols know {}", candidate.name,
                                variant ? "whose implementation it may be" : "the exported function",
                                query.name()));
            }
            return candidates;
        }
        return std::vector<Candidate>{};
    };
    if (auto found = try_names(variant_bases(query.name()), libraries, true); !found.empty()) return found;
    return try_names(exported_candidates(query.name()), stripped, false);
}

std::vector<Candidate> EntryResolver::search_inlined(const NameQuery& query,
                                                     const std::vector<std::size_t>& where) {
    std::vector<Candidate> candidates;
    if (query.is_glob() || !query.version().empty()) return candidates;
    for (const std::size_t object : where) {
        if (!objects_.why_excluded(object).empty() || !objects_.may_describe(object, query.name())) continue;
        DwarfFile* dwarf = objects_.dwarf(object);
        if (dwarf == nullptr) continue;
        for (const auto& [function, copies] : find_inlined_by_name(*dwarf, query.name())) {
            Candidate candidate{object, 0, function.name, {}, {}};
            candidate.refusal = fmt::format(
                "{}: in {}", copies.count == 1 ? "only an inlined copy exists" : "only inlined copies exist",
                fmt::join(copies.containers, ", "));
            candidates.push_back(std::move(candidate));
        }
    }
    return candidates;
}

std::string EntryResolver::why_nothing(const ListEntry& entry, const std::vector<std::size_t>& where) {
    const NameQuery query{entry.name};
    if (query.version() == "plt") {
        return fmt::format("is the stub through which a module calls {0}: list {0} itself", query.name());
    }
    if (entry.scope.empty() && query.is_glob() && request_.has_executable) {
        return fmt::format(
            "{} has no such function; a pattern without a module matches only its own functions: for a "
            "library's, write module:{}",
            objects_.module_name(0), entry.name);
    }
    std::string reason;
    // A pattern for modules may happen to match one that cannot be looked into, such as the vdso.
    const bool none_readable = std::ranges::none_of(
        where, [&](const std::size_t object) { return objects_.file(object) != nullptr; });
    for (const std::size_t object : where) {
        const ObjectFile* file = objects_.file(object);
        const std::string& excluded = objects_.why_excluded(object);
        if (none_readable && !excluded.empty() && !entry.scope.empty()) say(reason, excluded);
        if (file == nullptr || entry.scope.empty()) continue;
        if (std::ranges::binary_search(file->imports(), query.name())) {
            say(reason, fmt::format("{} calls it but does not contain it: list {} without module",
                                    objects_.module_name(object), query.name()));
        }
    }
    if (!reason.empty()) return reason;
    if (where.size() == 1) {
        const std::string name = objects_.module_name(where.front());
        const ObjectFile* file = objects_.file(where.front());
        const bool stripped = file != nullptr && file->symbol_source() == SymbolSource::exported_only;
        return stripped
                   ? fmt::format(
                         "{} has no such symbol, and only its exported ones are known: it is stripped", name)
                   : fmt::format("{} has no such symbol", name);
    }
    return fmt::format("none of the {} loaded objects has such a symbol", where.size());
}

Resolution EntryResolver::resolve(const ListEntry& entry) {
    const NameQuery query{entry.name};
    std::vector<std::size_t> where;
    std::string source_file;
    for (std::size_t index = 0; index < objects_.size(); ++index) {
        if (entry.scope.empty() || objects_.is_named(index, entry.scope)) where.push_back(index);
    }
    if (where.empty()) {
        source_file = entry.scope;
        for (std::size_t index = 0; index < objects_.size(); ++index)
            where.push_back(index);
    }
    // A glob means the program's own functions: those of libc should not be wrapped unasked.
    const bool own_globs = entry.scope.empty() && query.is_glob();
    const std::size_t own_objects = request_.has_executable ? 1 : 0;
    if (own_globs && query.matches_everything() && !where.empty()) where.resize(own_objects);

    Resolution resolution;
    resolution.candidates = search(query, where, source_file, own_globs ? own_objects : SIZE_MAX);
    if (resolution.candidates.empty() && source_file.empty()) {
        resolution.candidates = search_substitutes(query, where);
    }
    if (resolution.candidates.empty() && source_file.empty()) {
        resolution.candidates = search_inlined(query, where);
    }
    if (!resolution.candidates.empty()) return resolution;
    resolution.reason =
        source_file.empty()
            ? why_nothing(entry, where)
            : fmt::format(
                  "no loaded object is called {0}, and no local function {1} comes from a source file {0}",
                  source_file, entry.name);
    return resolution;
}

}  // namespace rdam
