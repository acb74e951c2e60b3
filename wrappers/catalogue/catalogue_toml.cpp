// How catalogue.toml and programs.toml are read, when rdam is built.
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/catalogue/known_programs.h"
#include "wrappers/catalogue/signature.h"

namespace rdam {
namespace {

struct Parts {
    std::vector<CatalogueFunction> functions;
    std::vector<CatalogueFunction> refused_globs;
    std::vector<CallerTeller> caller_tellers;
};

constexpr std::array<std::string_view, 19> kGroupKeys = {
    "shared",        "fails-with", "barrier",          "waits",   "busy-waits", "by-design", "for-threads",
    "given-back-by", "woken-by",   "wakes-all",        "counts",  "futex",      "receives",  "sends",
    "runs",          "unlisted",   "also-with-prefix", "default", "functions"};

std::vector<std::string> names_in(const toml::table& table, std::string_view key) {
    std::vector<std::string> names;
    if (const auto* array = table[key].as_array())
        for (const auto& node : *array)
            names.push_back(node.value_or(std::string{}));
    return names;
}

Result<void> add_group(const toml::table& group, Parts& parts) {
    const auto* functions = group["functions"].as_table();
    if (functions == nullptr) return fail("a group has no functions");
    for (const auto& [key, value] : group) {
        const bool known = std::ranges::find(kGroupKeys, key.str()) != kGroupKeys.end();
        if (!known) return fail("a group has '{}', which means nothing", key.str());
    }
    const auto fails_with = group["fails-with"].value_or(std::string{});
    if (!fails_with.empty() && fails_with != "0" && fails_with != "not 0")
        return fail("a group fails with '{}', which is neither '0' nor 'not 0'", fails_with);
    const auto second = group["also-with-prefix"].value_or(std::string{});
    for (const auto& [key, value] : *functions) {
        const auto signature = value.value<std::string>();
        if (!signature) return fail("{}: the signature is not a string", key.str());
        auto function = parse_signature(key.str(), *signature);
        if (!function) return tl::unexpected(function.error());
        function->waits = group["waits"].value_or(false);
        function->busy_waits = group["busy-waits"].value_or(false);
        function->by_design = group["by-design"].value_or(std::string{});
        function->for_threads = group["for-threads"].value_or(false);
        function->barrier = group["barrier"].value_or(false);
        function->given_back_by = names_in(group, "given-back-by");
        function->woken_by = names_in(group, "woken-by");
        function->shared = group["shared"].value_or(false);
        function->zero_fails = fails_with == "0";
        function->other_fails = fails_with == "not 0";
        function->wakes_all = group["wakes-all"].value_or(false);
        function->counts = group["counts"].value_or(false);
        function->futex = group["futex"].value_or(false);
        function->receives = group["receives"].value_or(false);
        function->sends = group["sends"].value_or(false);
        function->runs = group["runs"].value_or(std::string{});
        function->unlisted = group["unlisted"].value_or(false);
        function->in_default_list = group["default"].value_or(false);
        if (!second.empty()) {
            parts.functions.push_back(*function);
            parts.functions.back().name.insert(0, second);
            parts.functions.back().in_default_list = false;
        }
        parts.functions.push_back(std::move(*function));
    }
    return {};
}

Result<void> add_refused(const toml::table& refused, Parts& parts) {
    const auto reason = refused["reason"].value_or(std::string{});
    const auto* names = refused["names"].as_array();
    if (reason.empty() || names == nullptr) return fail("a [[refuse]] lacks its reason or its names");
    for (const auto& node : *names) {
        CatalogueFunction function;
        function.name = node.value_or(std::string{});
        function.refuse = reason;
        if (function.name.empty()) return fail("a refused name ({}) is not a string", reason);
        const bool glob = function.name.find_first_of("*?[") != std::string::npos;
        (glob ? parts.refused_globs : parts.functions).push_back(std::move(function));
    }
    return {};
}

Result<void> add_caller_teller(const toml::table& table, Parts& parts) {
    CallerTeller teller{table["marker"].value_or(std::string{}), {}};
    const auto* names = table["names"].as_array();
    if (teller.marker.empty() || names == nullptr)
        return fail("a [[tells-caller]] lacks its marker or its names");
    for (const auto& node : *names)
        teller.names.push_back(node.value_or(std::string{}));
    parts.caller_tellers.push_back(std::move(teller));
    return {};
}

/// Aliases are looked up among `known`, which is sorted.
Result<void> add_aliases(const toml::table& aliases, const std::vector<CatalogueFunction>& known,
                         Parts& parts) {
    for (const auto& [key, value] : aliases) {
        CatalogueFunction wanted;
        wanted.name = value.value_or(std::string{});
        const auto found = std::ranges::lower_bound(known, wanted.name, {}, &CatalogueFunction::name);
        if (found == known.end() || found->name != wanted.name)
            return fail("alias {}: there is no function '{}'", key.str(), wanted.name);
        CatalogueFunction alias = *found;
        alias.name = key.str();
        alias.in_default_list = false;
        parts.functions.push_back(std::move(alias));
    }
    return {};
}

/// A partner may be called by another of its names.
void name_partners(const toml::table& aliases, Parts& parts) {
    for (CatalogueFunction& function : parts.functions)
        for (auto* const partners : {&function.given_back_by, &function.woken_by}) {
            const std::vector<std::string> named = *partners;
            for (const auto& [key, value] : aliases)
                if (std::ranges::find(named, value.value_or(std::string{})) != named.end())
                    partners->emplace_back(key.str());
        }
}

template <class Add>
Result<void> for_each_table(const toml::table& root, std::string_view name, Add add) {
    const auto* tables = root[name].as_array();
    if (tables == nullptr) return {};
    for (const auto& node : *tables) {
        const auto* table = node.as_table();
        if (table == nullptr) return fail("{} is not a list of tables", name);
        if (auto added = add(*table); !added) return added;
    }
    return {};
}

Result<void> collect(const toml::table& root, Parts& parts) {
    if (auto done = for_each_table(root, "group", [&](const auto& t) { return add_group(t, parts); }); !done)
        return done;
    if (const auto* aliases = root["alias"].as_table()) {
        auto known = parts.functions;
        std::ranges::sort(known, {}, &CatalogueFunction::name);
        if (auto done = add_aliases(*aliases, known, parts); !done) return done;
        name_partners(*aliases, parts);
    }
    if (auto done = for_each_table(root, "refuse", [&](const auto& t) { return add_refused(t, parts); });
        !done)
        return done;
    if (auto done =
            for_each_table(root, "tells-caller", [&](const auto& t) { return add_caller_teller(t, parts); });
        !done)
        return done;
    std::ranges::sort(parts.functions, {}, &CatalogueFunction::name);
    const auto twice = std::adjacent_find(parts.functions.begin(), parts.functions.end(),
                                          [](const auto& a, const auto& b) { return a.name == b.name; });
    if (twice != parts.functions.end()) return fail("'{}' stands there twice", twice->name);
    return {};
}

Result<Parts> parse_parts(std::string_view text, std::string_view origin) {
    try {
        const auto root = toml::parse(text, origin);
        Parts parts;
        if (auto done = collect(root, parts); !done)
            return fail("{}: {}; mend the file", origin, done.error().message);
        return parts;
    } catch (const toml::parse_error& error) {
        return fail("{}:{}: {}; mend the file", origin, error.source().begin.line, error.description());
    }
}

std::vector<std::string> sorted_names(const toml::table& root, std::string_view key) {
    std::vector<std::string> names = names_in(root, key);
    std::ranges::sort(names);
    return names;
}

}  // namespace

Result<Catalogue> Catalogue::parse(std::string_view text, std::string_view origin) {
    auto parts = parse_parts(text, origin);
    if (!parts) return tl::unexpected(parts.error());
    Catalogue catalogue;
    catalogue.functions_ = std::move(parts->functions);
    catalogue.refused_globs_ = std::move(parts->refused_globs);
    catalogue.caller_tellers_ = std::move(parts->caller_tellers);
    return catalogue;
}

Result<KnownPrograms> KnownPrograms::parse(std::string_view text, std::string_view origin) {
    try {
        const auto root = toml::parse(text, origin);
        KnownPrograms programs;
        programs.launchers_ = sorted_names(root, "launchers");
        programs.interpreters_ = sorted_names(root, "interpreters");
        programs.utilities_ = sorted_names(root, "utilities");
        if (const auto* strips = root["strips"].as_table())
            for (const auto& [key, value] : *strips)
                programs.strips_.emplace(key.str(), value.value_or(std::string{}));
        return programs;
    } catch (const toml::parse_error& error) {
        return fail("{}:{}: {}; mend the file", origin, error.source().begin.line, error.description());
    }
}

}  // namespace rdam
