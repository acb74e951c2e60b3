// Any bytes as a rules file: what is read stays as it is when nothing changes, and says what it should when
// something does.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "analyzer/settings/rules.h"

namespace {

using rdam::rules::Rules;

void check(bool good, const char* what) {
    if (good) return;
    std::fprintf(stderr, "%s\n", what);
    std::abort();
}

/// A layout may be too odd to be kept: then nothing is changed. What comes out is as it was wanted.
void change(std::string_view text, const Rules& wanted) {
    const auto changed = rdam::rules::rewrite_rules(text, wanted, "fuzz");
    if (!changed) return;
    const auto again = rdam::rules::parse_rules(*changed, "again");
    check(again.has_value(), "what was written cannot be read");
    const auto unchanged = rdam::rules::rewrite_rules(*changed, wanted, "again");
    check(unchanged && *unchanged == *changed, "what was written is not what was wanted");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto rules = rdam::rules::parse_rules(text, "fuzz");
    if (!rules || size > 4096) return 0;
    const auto same = rdam::rules::rewrite_rules(text, *rules, "fuzz");
    check(same && *same == text, "a file changes though nothing is to be changed");
    Rules more = *rules;
    more.named.keys.emplace_back("added:n");
    more.named.ignore.emplace_back("added");
    more.threshold = 0.5;
    change(text, more);
    Rules less = *rules;
    if (!less.named.keys.empty()) less.named.keys.erase(less.named.keys.begin());
    if (!less.named.ignore.empty()) less.named.ignore.pop_back();
    less.baseline.reset();
    change(text, less);
    change(text, {});
    return 0;
}
