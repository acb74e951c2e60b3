#include "tools/base/similar_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>
#include <vector>

#include "libprobe/format/settings.h"
#include "tools/base/demangle.h"
#include "tools/base/printable.h"

namespace rdam {

namespace {

constexpr std::size_t kMaxNames = 3;

/// What people remember of a name: the last component, without arguments.
std::string_view core_of(std::string_view name) {
    const std::string_view component = last_component(name.substr(0, name.find('(', 1)));
    return component.starts_with("operator") ? component : component.substr(0, component.find('<'));
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// So many edits are a mistyped name, more another one.
std::size_t max_edits(std::string_view name) {
    constexpr std::size_t kShort = 4;
    return name.size() < kShort ? 1 : std::max<std::size_t>(2, name.size() / 3);
}

}  // namespace

SimilarNames::SimilarNames(std::string_view wanted)
    : wanted_{familiar_name(wanted)}, component_{core_of(wanted_)}, limit_{max_edits(wanted_)} {}

/// Smaller is nearer; nothing from limit_ + 2 on counts.
std::size_t SimilarNames::distance_to(std::string_view name) const {
    const std::string_view component = core_of(name);
    if (equal_but_for_case(component, component_)) return 0;
    std::size_t distance = edit_distance(wanted_, name, limit_) + 1;
    if (component.size() != name.size()) {
        const std::size_t limit = max_edits(component_);
        const std::size_t edits = edit_distance(component_, component, limit);
        if (edits <= limit) distance = std::min(distance, edits + 1);
    }
    return distance;
}

void SimilarNames::consider(std::string_view name, const std::string& shown) {
    const bool spelled_out = name.find("std::") != std::string_view::npos;
    const std::size_t distance = spelled_out ? distance_to(familiar_name(name)) : distance_to(name);
    if (distance >= limit_ + 2) return;
    best_.insert({distance, shown});
    if (best_.size() > kMaxNames) best_.erase(std::prev(best_.end()));
}

std::vector<std::string> SimilarNames::names() const {
    std::vector<std::string> names;
    names.reserve(best_.size());
    for (const Near& near : best_)
        names.push_back(near.shown);
    return names;
}

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    const std::size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
    if (gap > limit) return limit + 1;
    std::vector<std::size_t> above(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t column = 0; column <= b.size(); ++column)
        last[column] = column;
    for (std::size_t line = 1; line <= a.size(); ++line) {
        row[0] = line;
        std::size_t smallest = row[0];
        for (std::size_t column = 1; column <= b.size(); ++column) {
            const std::size_t replace = last[column - 1] + (a[line - 1] == b[column - 1] ? 0 : 1);
            row[column] = std::min({last[column] + 1, row[column - 1] + 1, replace});
            const bool swapped =
                line > 1 && column > 1 && a[line - 1] == b[column - 2] && a[line - 2] == b[column - 1];
            if (swapped) row[column] = std::min(row[column], above[column - 2] + 1);
            smallest = std::min(smallest, row[column]);
        }
        if (smallest > limit) return limit + 1;
        std::swap(above, last);
        std::swap(last, row);
    }
    return std::min(last[b.size()], limit + 1);
}

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
constexpr std::array<std::string_view, 6> kOwn{"RDAM_RUN",        "RDAM_STRICT",   "RDAM_PROGRAM",
                                               "RDAM_PIN_PLACES", "RDAM_PIN_ROOT", "RDAM_REGIONS_FILE"};

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
