// Any text as rules of page policies: what is read keeps its limits, and fits no area that it should not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tools/study-native/memory/rules.h"

namespace {

void require(bool truth) {
    if (!truth) std::abort();
}

void check(const MemoryRule& rule) {
    require(rule.least > 0 && rule.least <= rule.most);
    require(std::memchr(rule.name, '\0', sizeof rule.name) != nullptr);
    const bool is_named = rule.subject == rule_variable || rule.subject == rule_function;
    require(is_named == (rule.name[0] != '\0'));
    if (rule.is_of_part) require(rule.subject == rule_variable && rule.from < rule.to);
    if (rule.policy == page_bind) require(rule.node_count > 0);
    for (unsigned i = 0; i < rule.node_count; ++i)
        require(rule.nodes[i] <= highest_node);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size);
    static MemoryRules rules;
    const char* wrong = nullptr;
    const bool is_read = parse_memory_rules(text.c_str(), &rules, &wrong);
    require(rules.count <= most_rules);
    require(wrong >= text.c_str() && wrong <= text.c_str() + text.size());
    // As symbols and names may be anything, too.
    const std::size_t half = text.find('=');
    if (half != std::string::npos && half <= most_rule_name)
        (void)is_symbol_of(text.c_str() + half + 1, text.substr(0, half).c_str());
    if (!is_read) return 0;
    for (unsigned i = 0; i < rules.count; ++i)
        check(rules.rules[i]);
    MemoryArea area{};
    for (area.bytes = 1; area.bytes < UINT64_MAX / 7; area.bytes *= 7) {
        const MemoryRule* const rule = rule_of_area(&rules, &area);
        require(rule == nullptr ||
                (rule->subject != rule_variable && area.bytes >= least_allocation(&rules)));
    }
    return 0;
}
