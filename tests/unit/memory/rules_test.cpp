#include "tools/study-native/memory/rules.h"

#include <string>

#include "tests/unit/catch.h"

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

MemoryRules rules_of(const std::string& text) {
    MemoryRules rules;
    const char* wrong = nullptr;
    INFO(text);
    REQUIRE(parse_memory_rules(text.c_str(), &rules, &wrong));
    return rules;
}

MemoryArea variable(const char* name, std::uint64_t bytes) {
    MemoryArea area{};
    area.variable = name;
    area.is_static = true;
    area.bytes = bytes;
    return area;
}

MemoryArea allocation(std::uint64_t bytes, std::uint64_t functions = 0) {
    MemoryArea area{};
    area.bytes = bytes;
    area.functions = functions;
    return area;
}

/// The number of the rule that fits; -1: none.
long fitting(const MemoryRules& rules, const MemoryArea& area) {
    const MemoryRule* const rule = rule_of_area(&rules, &area);
    return rule == nullptr ? -1 : rule - rules.rules;
}

}  // namespace

TEST_CASE("a policy alone is for every large area", "[rules]") {
    const MemoryRules rules = rules_of("cyclic");
    REQUIRE(rules.count == 1);
    CHECK(rules.rules[0].policy == page_cyclic);
    CHECK(fitting(rules, allocation(kMiB)) == 0);
    CHECK(fitting(rules, variable("u", kMiB)) == 0);
    CHECK(fitting(rules, allocation(kMiB - 1)) == -1);
    CHECK(least_allocation(&rules) == kMiB);
}

TEST_CASE("the first rule that fits decides", "[rules]") {
    const MemoryRules rules =
        rules_of("u=cyclic,rhs=bind_block,@make_grid=random,64M..=interleave,2M..4M=skew_mapp,..64K=local");
    REQUIRE(rules.count == 6);
    CHECK(fitting(rules, variable("u", 8)) == 0);
    CHECK(fitting(rules, variable("rhs", 128 * kMiB)) == 1);
    CHECK(fitting(rules, variable("v", 128 * kMiB)) == 3);
    CHECK(fitting(rules, allocation(128 * kMiB, 1 << 2)) == 2);
    CHECK(fitting(rules, allocation(128 * kMiB)) == 3);
    CHECK(fitting(rules, allocation(64 * kMiB)) == 3);
    CHECK(fitting(rules, allocation(64 * kMiB - 1)) == -1);
    CHECK(fitting(rules, allocation(4 * kMiB)) == 4);
    CHECK(fitting(rules, allocation(65536)) == 5);
    CHECK(fitting(rules, allocation(65537)) == -1);
    CHECK(fitting(rules, allocation(4095)) == -1);
    CHECK(least_allocation(&rules) == 4096);
}

TEST_CASE("rules for variables look at no allocation", "[rules]") {
    const MemoryRules rules = rules_of("u=cyclic");
    CHECK(fitting(rules, allocation(kMiB * kMiB)) == -1);
    CHECK(least_allocation(&rules) == UINT64_MAX);
}

TEST_CASE("a part of a variable has a rule of its own", "[rules]") {
    const MemoryRules rules =
        rules_of("cvar[0..1200K]=cyclic,cvar[1200K..]=bind_block,fields[..4096]=random,cvar=interleave");
    REQUIRE(rules.count == 4);
    for (unsigned i = 0; i < 3; ++i)
        CHECK(rules.rules[i].is_of_part);
    CHECK(std::string(rules.rules[0].name) == "cvar");
    CHECK(rules.rules[0].from == 0);
    CHECK(rules.rules[0].to == 1200 * 1024);
    CHECK(rules.rules[1].from == 1200 * 1024);
    CHECK(rules.rules[1].to == UINT64_MAX);
    CHECK(rules.rules[2].from == 0);
    CHECK(rules.rules[2].to == 4096);
    CHECK_FALSE(rules.rules[3].is_of_part);
    CHECK(fitting(rules, variable("cvar_", 4 * kMiB)) == 3);
    CHECK(fitting(rules, variable("fields_", 4 * kMiB)) == -1);
}

TEST_CASE("every policy has its word", "[rules]") {
    const std::pair<const char*, PagePolicy> words[] = {{"first-touch", page_first_touch},
                                                        {"local", page_first_touch},
                                                        {"interleave", page_interleave},
                                                        {"bind:3", page_bind},
                                                        {"bind_block", page_bind_block},
                                                        {"cyclic", page_cyclic},
                                                        {"skew_mapp", page_skew_mapp},
                                                        {"prime_mapp", page_prime_mapp},
                                                        {"random", page_random}};
    for (const auto& [word, policy] : words)
        CHECK(rules_of(word).rules[0].policy == policy);
}

TEST_CASE("bind names nodes", "[rules]") {
    const MemoryRules rules = rules_of("u=bind:0+3+1023");
    REQUIRE(rules.rules[0].node_count == 3);
    CHECK(rules.rules[0].nodes[0] == 0);
    CHECK(rules.rules[0].nodes[1] == 3);
    CHECK(rules.rules[0].nodes[2] == 1023);
}

TEST_CASE("what is no rule is refused where it begins", "[rules]") {
    for (const std::string wrong : {"",
                                    "cyclc",
                                    "=cyclic",
                                    "u=",
                                    "u",
                                    "bind",
                                    "bind:",
                                    "bind:x",
                                    "bind:1024",
                                    "bind:1+",
                                    "bind:1+1",
                                    "bind:-1",
                                    "..=cyclic",
                                    "4M..2M=cyclic",
                                    "0..=cyclic",
                                    "4095..=cyclic",
                                    "..1=cyclic",
                                    "1T..=cyclic",
                                    "1KK..=cyclic",
                                    "x..2M=cyclic",
                                    "99999999999999999999..=cyclic",
                                    "u[]=cyclic",
                                    "u[..]=cyclic",
                                    "u[2M..1M]=cyclic",
                                    "u[1M..1M]=cyclic",
                                    "[0..1M]=cyclic",
                                    "u[0..1M=cyclic",
                                    "u0..1M]=cyclic",
                                    "@u[0..1M]=cyclic",
                                    "u[0..1M]x=cyclic",
                                    "@=cyclic",
                                    "a b=cyclic",
                                    "cyclic ",
                                    " cyclic",
                                    "CYCLIC"}) {
        for (const std::string before : {"", "v=random,"}) {
            const std::string text = before + wrong;
            MemoryRules rules;
            const char* at = nullptr;
            INFO("'" << text << "'");
            CHECK_FALSE(parse_memory_rules(text.c_str(), &rules, &at));
            CHECK(at == text.c_str() + before.size());
        }
    }
}

TEST_CASE("names and lists have their limits", "[rules]") {
    MemoryRules rules;
    const char* at = nullptr;
    CHECK(parse_memory_rules((std::string(most_rule_name, 'u') + "=cyclic").c_str(), &rules, &at));
    CHECK_FALSE(parse_memory_rules((std::string(most_rule_name + 1, 'u') + "=cyclic").c_str(), &rules, &at));
    std::string many = "cyclic";
    for (int i = 1; i < most_rules; ++i)
        many += ",cyclic";
    CHECK(parse_memory_rules(many.c_str(), &rules, &at));
    CHECK_FALSE(parse_memory_rules((many + ",cyclic").c_str(), &rules, &at));
}

TEST_CASE("a name of the source stands for the symbols that compilers make of it", "[rules]") {
    // gcc's and clang's symbols of C, Fortran and C++
    for (const char* symbol : {"u", "u_", "u.0", "u.1234", "__fields_MOD_u", "_ZL1u", "_ZN12_GLOBAL__N_11uE"})
        CHECK(is_symbol_of(symbol, "u"));
    for (const char* symbol :
         {"", "v", "uu", "u1", "U", "u__", "_u", "__fields_MOD_uu", "_ZL2uu", "_ZN4grid1uE", "__fields_MOD_"})
        CHECK_FALSE(is_symbol_of(symbol, "u"));
    for (const char* symbol :
         {"make_grid", "make_grid.constprop.0", "_Z9make_gridi", "_ZL9make_gridiPd", "make_grid_"})
        CHECK(is_symbol_of(symbol, "make_grid"));
    CHECK_FALSE(is_symbol_of("_Z10make_gridsi", "make_grid"));
    for (const char* symbol : {"_ZN4grid1uE", "_ZNK4grid1uEv", "_ZNL4grid1uE"})
        CHECK(is_symbol_of(symbol, "grid::u"));
    for (const char* symbol : {"_ZN4grid1uIdE", "_ZN4grid", "_ZN4grid2uuE", "grid::", "u"})
        CHECK_FALSE(is_symbol_of(symbol, "grid::u"));
    for (const char* name : {"::u", "grid::", "::", ":::", ""})
        CHECK_FALSE(is_symbol_of("_ZN4grid1uE", name));
}
