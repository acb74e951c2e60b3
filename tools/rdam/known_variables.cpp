#include "tools/rdam/known_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "tools/rdam/generate.h"
#include "wrappers/support/edit_distance.h"

namespace rdam {
namespace {

constexpr std::string_view kPrefix = "RDAM_";

/// Those of the manual, and those that parts of rdam set for one another.
std::set<std::string_view> known_variables() {
    std::set<std::string_view> known{"RDAM_RUN", "RDAM_STRICT", "RDAM_PROGRAM"};
    for (const Subcommand& subcommand : subcommands()) {
        if (subcommand.hidden) continue;
        for (const Prose::Item& item : prose_for(subcommand.name).environment)
            if (item.term.starts_with(kPrefix)) known.insert(item.term);
    }
    return known;
}

std::string nearest(std::string_view name, const std::set<std::string_view>& known) {
    constexpr std::size_t kFarthest = 3;
    std::size_t least = kFarthest + 1;
    std::string_view best;
    for (const std::string_view each : known) {
        const std::size_t distance = edit_distance(name, each, kFarthest);
        if (distance >= least) continue;
        least = distance;
        best = each;
    }
    return std::string{best};
}

}  // namespace

std::vector<std::string> unknown_variables(const char* const* environment) {
    const auto known = known_variables();
    std::vector<std::string> lines;
    for (; *environment != nullptr; ++environment) {
        std::string_view name{*environment};
        name = name.substr(0, name.find('='));
        if (!name.starts_with(kPrefix) || known.contains(name)) continue;
        const std::string near = nearest(name, known);
        lines.push_back(
            fmt::format("{}: there is no such variable{}; it has no effect", name,
                        near.empty() ? ": man rdam-record lists them" : ", the nearest is " + near));
    }
    return lines;
}

}  // namespace rdam
