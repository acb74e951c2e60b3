#include "wrappers/lookup/nearest_names.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "wrappers/support/edit_distance.h"
#include "wrappers/text/demangle.h"

namespace rdam {
namespace {

constexpr std::size_t kMaxNames = 3;
constexpr std::size_t kMaxDemangled = 30000;

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

/// Smaller is nearer; nothing above the limit counts.
class Ranking {
  public:
    explicit Ranking(std::string_view wanted)
        : wanted_{wanted}, component_{core_of(wanted)}, limit_{max_edits(wanted)} {}

    std::size_t too_far() const { return limit_ + 2; }

    std::size_t operator()(std::string_view name) const {
        if (equal_but_for_case(core_of(name), component_)) return 0;
        std::size_t distance = edit_distance(wanted_, name, limit_) + 1;
        const std::string_view component = core_of(name);
        if (component.size() != name.size()) {
            const std::size_t limit = max_edits(component_);
            const std::size_t edits = edit_distance(component_, component, limit);
            if (edits <= limit) distance = std::min(distance, edits + 1);
        }
        return distance;
    }

  private:
    std::string_view wanted_;
    std::string_view component_;
    std::size_t limit_;
};

struct Near {
    std::size_t distance = 0;
    std::string name;

    auto operator<=>(const Near&) const = default;  // NOLINT(modernize-use-nullptr): there is none
};

void consider(std::set<Near>& best, std::size_t distance, const std::string& name) {
    best.insert({distance, name});
    if (best.size() > kMaxNames) best.erase(std::prev(best.end()));
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view wanted, ObjectSet& objects,
                                       const std::vector<std::size_t>& where) {
    const Ranking rank{wanted};
    std::set<Near> best;
    std::size_t demangled = 0;
    for (const std::size_t index : where) {
        const ObjectFile* file = objects.file(index);
        if (file == nullptr || !objects.why_excluded(index).empty()) continue;
        std::string_view previous;
        for (const Symbol& symbol : file->symbols()) {
            if (!symbol.is_code() || symbol.name == previous) continue;
            previous = symbol.name;
            std::string name{symbol.name};
            if (looks_mangled(symbol.name)) {
                if (++demangled > kMaxDemangled) continue;
                name = display_name(symbol.name);
            }
            const std::size_t distance = rank(name);
            if (distance < rank.too_far()) consider(best, distance, objects.module_name(index) + ":" + name);
        }
    }
    std::vector<std::string> names;
    names.reserve(best.size());
    for (const Near& near : best)
        names.push_back(near.name);
    return names;
}

}  // namespace rdam
