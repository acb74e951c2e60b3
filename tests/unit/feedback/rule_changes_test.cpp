#include <random>
#include <string>
#include <vector>

#include "analyzer/report/score_trace.h"
#include "analyzer/sequences/keys.h"
#include "tests/unit/catch.h"
#include "tools/rdam/screen/session.h"

using namespace rdam;
using Names = std::vector<std::string>;

namespace {

/// lock(mutex, flags), a key and none; two functions `init`, of two modules; two that only their address
/// tells apart.
trace::TraceInfo made_info() {
    trace::TraceInfo info;
    const auto add = [&](const std::string& module, const std::string& name, bool key) {
        trace::FunctionInfo& function = info.functions.emplace_back();
        function.module = module;
        function.name = name;
        function.enter_words = 2;
        function.parameters.resize(2);
        function.parameters[0].name = "mutex";
        function.parameters[0].key = key;
        function.parameters[1].name = "flags";
        function.parameters[1].word = 1;
    };
    add("libc.so.6", "lock", true);
    add("app", "init", false);
    add("libx.so", "init", false);
    add("app", "helper", false);
    add("app", "helper", false);
    return info;
}

/// Whether that is a key with these rules alone.
bool is_key(const trace::TraceInfo& info, const score::NamedRules& rules, std::uint32_t function,
            std::uint16_t parameter) {
    const auto resolved = score::resolve(info, {.rules = rules});
    REQUIRE(resolved);
    for (const sequences::KeyWord& key : resolved->keys[function])
        if (key.parameter == parameter) return true;
    return false;
}

}  // namespace

TEST_CASE("a rule has the shortest name that is the function's own", "[rules]") {
    const trace::TraceInfo info = made_info();
    CHECK(screen::rule_name(info, 0) == "lock");
    CHECK(screen::rule_name(info, 1) == "app:init");
    CHECK(screen::rule_name(info, 2) == "libx.so:init");
    CHECK(screen::rule_name(info, 3) == "app:helper");
}

TEST_CASE("what is so by default needs no rule", "[rules]") {
    const trace::TraceInfo info = made_info();
    score::NamedRules rules;
    screen::set_key(info, 0, 0, false, rules);
    CHECK(rules.no_keys == Names{"lock:mutex"});
    screen::set_key(info, 0, 0, true, rules);
    CHECK(rules == score::NamedRules{});
    screen::set_key(info, 0, 1, true, rules);
    CHECK(rules.keys == Names{"lock:flags"});
    screen::set_key(info, 0, 1, false, rules);
    CHECK(rules == score::NamedRules{});
}

TEST_CASE("rules about several keep what they say of the others", "[rules]") {
    const trace::TraceInfo info = made_info();
    score::NamedRules rules{.keys = {"init:*", "elsewhere:x"}};
    screen::set_key(info, 1, 0, false, rules);
    CHECK(rules.keys == Names{"app:init:flags", "libx.so:init:mutex", "libx.so:init:flags", "elsewhere:x"});
    CHECK(rules.no_keys.empty());

    score::NamedRules none{.no_keys = {"lock:*"}};
    screen::set_key(info, 0, 0, true, none);
    CHECK(none.no_keys == Names{"lock:flags"});
    CHECK(none.keys.empty());
    CHECK(is_key(info, none, 0, 0));

    score::NamedRules ignore{.ignore = {"init", "elsewhere"}};
    screen::set_ignored(info, 2, false, ignore);
    CHECK(ignore.ignore == Names{"app:init", "elsewhere"});
    screen::set_ignored(info, 2, true, ignore);
    CHECK(ignore.ignore == Names{"app:init", "elsewhere", "libx.so:init"});
}

TEST_CASE("namesakes that no name tells apart go together", "[rules]") {
    const trace::TraceInfo info = made_info();
    score::NamedRules rules;
    screen::set_key(info, 3, sequences::kCallerKey, true, rules);
    CHECK(rules.split_by_context == Names{"app:helper"});
    screen::set_key(info, 4, sequences::kCallerKey, false, rules);
    CHECK(rules == score::NamedRules{});
    screen::set_key(info, 3, 1, true, rules);
    CHECK(is_key(info, rules, 4, 1));
    screen::set_key(info, 4, 1, false, rules);
    CHECK(rules == score::NamedRules{});
}

TEST_CASE("any change makes it so, and nothing else", "[rules]") {
    const trace::TraceInfo info = made_info();
    std::mt19937_64 random{3};
    const Names entries = {"lock:mutex",     "lock:flags", "lock:*",           "init:*",     "init:mutex",
                           "app:init:flags", "helper:*",   "app:helper:mutex", "other:thing"};
    const auto some = [&] {
        Names list;
        for (const std::string& entry : entries)
            if (random() % 3 == 0) list.push_back(entry);
        return list;
    };
    for (int round = 0; round < 3000; ++round) {
        score::NamedRules rules{.keys = some(), .no_keys = some()};
        const score::NamedRules before = rules;
        const auto function = static_cast<std::uint32_t>(random() % info.functions.size());
        const auto parameter = static_cast<std::uint16_t>(random() % 2);
        const bool wanted = random() % 2 == 0;
        screen::set_key(info, function, parameter, wanted, rules);
        for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
            for (std::uint16_t p = 0; p < 2; ++p) {
                const bool same = p == parameter && (f == function || (f >= 3 && function >= 3));
                CHECK(is_key(info, rules, f, p) == (same ? wanted : is_key(info, before, f, p)));
            }
        }
    }
}

TEST_CASE("the command line becomes a part of the rules", "[rules]") {
    const trace::TraceInfo info = made_info();
    const score::Settings settings{.rules = {.keys = {"init:*"}, .no_keys = {"lock:*"}, .ignore = {"gone"}},
                                   .given = {.keys = {"lock:flags"},
                                             .no_keys = {"init:mutex"},
                                             .split_by_context = {"lock"},
                                             .ignore = {"helper"}}};
    const score::NamedRules rules = screen::combined_rules(info, settings);
    const auto both = score::resolve(info, settings);
    const auto one = score::resolve(info, {.rules = rules});
    REQUIRE((both && one));
    for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
        REQUIRE(both->keys[f].size() == one->keys[f].size());
        for (std::size_t k = 0; k < both->keys[f].size(); ++k)
            CHECK(both->keys[f][k].parameter == one->keys[f][k].parameter);
    }
    CHECK(both->ignored == one->ignored);
    CHECK(rules.ignore == Names{"gone", "helper"});
}
