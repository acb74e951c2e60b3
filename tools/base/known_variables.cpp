#include "tools/base/known_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "libprobe/format/settings.h"
#include "tools/base/printable.h"
#include "tools/base/similar_names.h"

namespace rdam {
namespace {

constexpr std::string_view kPrefix = "RDAM_";

/// The settings of a recording, and of `rdam export`.
constexpr auto kDocumented = [] {
    std::array<std::string_view, settings::kCount + 1> names;
    for (const settings::Setting& each : settings::kTable)
        names[static_cast<std::size_t>(each.id)] = each.variable;
    names.back() = "RDAM_PYTHON";
    return names;
}();

/// Variables that parts of rdam set for one another.
constexpr std::array<std::string_view, 8> kOwn{"RDAM_RUN",        "RDAM_STRICT",      "RDAM_PROGRAM",
                                               "RDAM_PIN_PLACES", "RDAM_PIN_MAIN",    "RDAM_PIN_CHILDREN",
                                               "RDAM_PIN_ROOT",   "RDAM_REGIONS_FILE"};

std::string_view nearest(std::string_view name) {
    constexpr std::size_t kFarthest = 3;
    std::size_t least = kFarthest + 1;
    std::string_view best;
    for (const std::string_view each : kDocumented) {
        const std::size_t distance = edit_distance(name, each, kFarthest);
        if (distance >= least) continue;
        least = distance;
        best = each;
    }
    return best;
}

bool is_known(std::string_view name) {
    return std::ranges::find(kDocumented, name) != kDocumented.end() ||
           std::ranges::find(kOwn, name) != kOwn.end();
}

}  // namespace

std::span<const std::string_view> documented_variables() {
    return kDocumented;
}

std::vector<std::string> unknown_variables(const char* const* environment) {
    std::vector<std::string> lines;
    for (; *environment != nullptr; ++environment) {
        std::string_view name{*environment};
        name = name.substr(0, name.find('='));
        if (!name.starts_with(kPrefix) || is_known(name)) continue;
        const std::string_view near = nearest(name);
        lines.push_back(fmt::format(
            "{}: unknown variable{}; it has no effect", printable(name),
            near.empty() ? ": man rdam-record lists them" : fmt::format(", the nearest is {}", near)));
    }
    return lines;
}

}  // namespace rdam
