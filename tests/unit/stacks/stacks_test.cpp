// Call paths as folded stacks and for speedscope: read back, they weigh what the report says.
#include "analyzer/export/stacks.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

namespace rdam::exports {
namespace {

class StringSink final : public Sink {
  public:
    Result<void> write(std::string_view bytes) override {
        text.append(bytes);
        return {};
    }
    std::string text;
};

trace::TraceInfo info_of(const std::vector<std::string>& names) {
    trace::TraceInfo info;
    for (const std::string& name : names) {
        trace::FunctionInfo function;
        function.name = name;
        function.source = "dir/" + std::string(1, 'a') + ".c:12";
        info.functions.push_back(function);
    }
    return info;
}

/// root → 0 → 1 → 0, and root → 2
score::Report small_report() {
    score::Report report;
    report.process.command = {"./app", "x\ny"};
    report.paths.nodes = {{},
                          {.parent = 0, .function = 0, .calls = 2, .self_ns = 100.4, .lost_self_ns = 7},
                          {.parent = 1, .function = 1, .calls = 3, .self_ns = 50, .lost_self_ns = 0.2},
                          {.parent = 2, .function = 0, .calls = 4, .self_ns = 30, .lost_self_ns = 5},
                          {.parent = 0, .function = 2, .calls = 1, .self_ns = 0, .lost_self_ns = 11}};
    return report;
}

std::map<std::string, std::uint64_t> parse_folded(const std::string& text) {
    std::map<std::string, std::uint64_t> stacks;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = text.find('\n', at);
        REQUIRE(end != std::string::npos);
        const std::string line = text.substr(at, end - at);
        const std::size_t space = line.rfind(' ');
        REQUIRE(space != std::string::npos);
        CHECK(stacks.emplace(line.substr(0, space), std::stoull(line.substr(space + 1))).second);
        at = end + 1;
    }
    return stacks;
}

std::map<std::string, std::uint64_t> folded(const score::Report& report, const trace::TraceInfo& info,
                                            PathWeight weight) {
    StringSink sink;
    REQUIRE(write_folded(report, info, {.weight = weight}, sink));
    return parse_folded(sink.text);
}

nlohmann::json speedscope(const score::Report& report, const trace::TraceInfo& info, PathWeight weight) {
    StringSink sink;
    REQUIRE(write_speedscope(report, info, {.weight = weight}, sink));
    return nlohmann::json::parse(sink.text);
}

/// What speedscope's schema demands of a file of sampled profiles.
void check_schema(const nlohmann::json& file) {
    CHECK(file.at("$schema") == "https://www.speedscope.app/file-format-schema.json");
    const nlohmann::json& frames = file.at("shared").at("frames");
    for (const nlohmann::json& frame : frames) {
        CHECK(frame.at("name").is_string());
        for (const auto& [key, value] : frame.items()) {
            const bool number = key == "line" || key == "col";
            CHECK((key == "name" || key == "file" ? value.is_string() : number && value.is_number()));
        }
    }
    REQUIRE(!file.at("profiles").empty());
    CHECK(file.at("activeProfileIndex").get<std::size_t>() < file.at("profiles").size());
    CHECK(file.at("name").is_string());
    for (const nlohmann::json& profile : file.at("profiles")) {
        CHECK(profile.at("type") == "sampled");
        CHECK(profile.at("name").is_string());
        CHECK((profile.at("unit") == "nanoseconds" || profile.at("unit") == "none"));
        REQUIRE(profile.at("samples").size() == profile.at("weights").size());
        std::uint64_t sum = profile.at("startValue").get<std::uint64_t>();
        for (const nlohmann::json& weight : profile.at("weights"))
            sum += weight.get<std::uint64_t>();
        CHECK(profile.at("endValue") == sum);
        for (const nlohmann::json& sample : profile.at("samples"))
            for (const nlohmann::json& frame : sample)
                CHECK(frame.get<std::size_t>() < frames.size());
    }
}

}  // namespace

TEST_CASE("folded stacks weigh what their paths do", "[stacks]") {
    const trace::TraceInfo info = info_of({"main", "work", "lock"});
    const score::Report report = small_report();
    using Stacks = std::map<std::string, std::uint64_t>;
    CHECK(folded(report, info, PathWeight::lost) == Stacks{{"main", 7}, {"main;work;main", 5}, {"lock", 11}});
    CHECK(folded(report, info, PathWeight::time) ==
          Stacks{{"main", 100}, {"main;work", 50}, {"main;work;main", 30}});
    CHECK(folded(report, info, PathWeight::calls) ==
          Stacks{{"main", 2}, {"main;work", 3}, {"main;work;main", 4}, {"lock", 1}});
}

TEST_CASE("names cannot break folded stacks or speedscope's file", "[stacks]") {
    const trace::TraceInfo info = info_of({"a;b\n</script>", "\xff\"x\" 5", ""});
    const score::Report report = small_report();
    const auto stacks = folded(report, info, PathWeight::calls);
    CHECK(stacks.size() == 4);
    CHECK(stacks.contains("a\\x3bb\\n</script>;\\xff\"x\" 5"));
    CHECK(stacks.contains("(no name)"));
    const nlohmann::json file = speedscope(report, info, PathWeight::calls);
    check_schema(file);
    CHECK(file.at("activeProfileIndex") == 2);
}

TEST_CASE("speedscope's file has the three weights, and each frame once", "[stacks]") {
    const trace::TraceInfo info = info_of({"main", "work", "lock"});
    const nlohmann::json file = speedscope(small_report(), info, PathWeight::lost);
    check_schema(file);
    const nlohmann::json& frames = file.at("shared").at("frames");
    CHECK(frames.size() == 3);
    CHECK(frames.at(0).at("file") == "dir/a.c");
    CHECK(frames.at(0).at("line") == 12);
    REQUIRE(file.at("profiles").size() == 3);
    const nlohmann::json& lost = file.at("profiles").at(0);
    CHECK(lost.at("name") == "lost time");
    CHECK(lost.at("endValue") == 23);
    REQUIRE(lost.at("samples").size() == 3);
    std::vector<std::string> names;
    for (const nlohmann::json& frame : lost.at("samples").at(1))
        names.push_back(frames.at(frame.get<std::size_t>()).at("name"));
    CHECK(names == std::vector<std::string>{"main", "work", "main"});
}

TEST_CASE("the lightest stacks are merged where there are too many", "[stacks]") {
    score::PathTree tree;
    tree.nodes.emplace_back();
    tree.nodes.push_back({.parent = 0, .function = 0, .calls = 10});
    for (std::uint32_t i = 0; i < 100; ++i)
        tree.nodes.push_back({.parent = 1, .function = i + 1, .calls = 1.0 + i});
    const auto stacks = weighted_stacks(tree, PathWeight::calls, 12);
    std::uint64_t sum = 0, merged = 0;
    for (const Stack& stack : stacks) {
        sum += stack.weight;
        if (stack.merged) merged += stack.weight;
        if (stack.merged) CHECK(stack.node == 1);
    }
    CHECK(sum == 10 + 5050);
    CHECK(merged == 90 * 91 / 2);
    CHECK(stacks.size() == 1 + 1 + 10);
}

}  // namespace rdam::exports
