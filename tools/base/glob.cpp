#include "tools/base/glob.h"

#include <optional>

namespace rdam {
namespace {

struct SetMatch {
    bool matches;
    std::size_t length;  // of the `[...]` in the pattern
};

/// nullopt when `pattern` (which begins with `[`) has no closing bracket: then it is an ordinary character.
std::optional<SetMatch> match_set(std::string_view pattern, char c) {
    std::size_t at = 1;
    const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
    if (negated) ++at;
    bool found = false;
    for (bool first = true; at < pattern.size(); first = false) {
        if (pattern[at] == ']' && !first) return SetMatch{found != negated, at + 1};
        const auto byte = static_cast<unsigned char>(c);
        const auto low = static_cast<unsigned char>(pattern[at]);
        const bool range = at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']';
        const auto high = range ? static_cast<unsigned char>(pattern[at + 2]) : low;
        found = found || (low <= byte && byte <= high);
        at += range ? 3 : 1;
    }
    return std::nullopt;
}

/// How much of `pattern` (not empty, not beginning with `*`) matches the character c; 0: it does not.
std::size_t match_one(std::string_view pattern, char c) {
    if (pattern[0] == '?') return 1;
    if (pattern[0] == '[') {
        if (const auto set = match_set(pattern, c)) return set->matches ? set->length : 0;
    }
    return pattern[0] == c ? 1 : 0;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view name) {
    if (pattern == name) return true;
    // Only the last star is ever gone back to, which keeps the time at pattern × name at worst.
    std::size_t p = 0;
    std::size_t n = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_name = 0;
    while (n < name.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_name = n;
            continue;
        }
        const auto used = p < pattern.size() ? match_one(pattern.substr(p), name[n]) : 0;
        if (used > 0) {
            p += used;
            ++n;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            n = ++star_name;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace rdam
