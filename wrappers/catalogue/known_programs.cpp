#include "wrappers/catalogue/known_programs.h"

#include <fnmatch.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdlib>

#include "wrappers/catalogue/builtin_text.h"
#include "wrappers/support/file_name.h"

namespace rdam {
namespace {

std::vector<std::string> sorted_names(const toml::table& root, std::string_view key) {
    std::vector<std::string> names;
    if (const auto* array = root[key].as_array())
        for (const auto& node : *array)
            names.push_back(node.value_or(std::string{}));
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

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

const KnownPrograms& KnownPrograms::builtin() {
    static const KnownPrograms programs = [] {
        auto parsed = parse(builtin_programs_text(), "programs.toml");
        // A unit test parses the same text: a build that passed its tests cannot get here.
        if (!parsed) std::abort();
        return std::move(*parsed);
    }();
    return programs;
}

bool KnownPrograms::is_launcher(std::string_view program) const {
    return std::binary_search(launchers_.begin(), launchers_.end(), file_name(program), std::less<>{});
}

bool KnownPrograms::is_interpreter(std::string_view program) const {
    const std::string name(file_name(program));
    return std::any_of(interpreters_.begin(), interpreters_.end(),
                       [&](const std::string& glob) { return fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

bool KnownPrograms::is_utility(std::string_view program) const {
    return std::binary_search(utilities_.begin(), utilities_.end(), file_name(program), std::less<>{});
}

std::string KnownPrograms::how_it_strips(std::string_view program) const {
    const auto found = strips_.find(file_name(program));
    return found == strips_.end() ? std::string{} : found->second;
}

}  // namespace rdam
