// The join of a made-up trace with reports: verdicts, what was not recorded, and how all of it is printed.
#include "analyzer/causes/cross_check.h"

#include <nlohmann/json.hpp>

#include "analyzer/output/json.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/text.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

using namespace rdam;
using namespace rdam::test;
using causes::CauseReport;
using causes::CauseRow;
using causes::CauseVerdict;

namespace {

/// a loses 0.4 of its thread's life, b 0.3, c and d nothing; e is never called.
Recording recording() {
    Recording recording{5};
    ThreadRecording& thread = recording.thread(0, 1'000'000);
    std::uint64_t now = 0;
    for (int i = 0; i < 100; ++i) {
        thread.call(now, 0, i == 0 || i % 2 == 0 ? 100 : 8100);
        thread.call(now + 8200, 1, i % 2 == 0 ? 100 : 6100 - 100);
        now += 9500;
    }
    for (int i = 0; i < 40; ++i) {
        thread.call(now, 2, 50);
        thread.call(now + 60, 3, 50);
        now += 120;
    }
    return recording;
}

class NoLines : public causes::FunctionLines {
  public:
    std::vector<std::uint32_t> find(std::string_view /*file*/, std::uint32_t /*line*/) override { return {}; }
};

/// Lines 1 to 9 of app.c are a's, 10 to 19 b's, and so on; line 5 is inlined into d as well.
class TenLinesEach : public causes::FunctionLines {
  public:
    std::vector<std::uint32_t> find(std::string_view file, std::uint32_t line) override {
        if (file != "app.c" || line >= 50) return {};
        if (line == 5) return {0, 3};
        return {line / 10};
    }
};

CauseReport report(const std::string& label, std::vector<CauseRow> rows) {
    CauseReport report{
        .tool = "tool", .label = label, .unit = "events", .file = label + ".txt", .rows = std::move(rows)};
    report.total = 1000;
    return report;
}

CauseRow row(const std::string& function, double share, double with_callees = 0) {
    CauseRow row;
    row.function = function;
    row.share = share;
    row.with_callees = std::max(share, with_callees);
    row.absolute = 1000 * share;
    return row;
}

CauseRow line(std::uint32_t number, double share) {
    CauseRow row;
    row.file = "app.c";
    row.line = number;
    row.share = row.with_callees = share;
    return row;
}

struct Checked {
    Recording trace = recording();
    score::Report scores = analyze(trace);
    causes::CrossCheck check;

    explicit Checked(std::vector<CauseReport> reports) {
        TenLinesEach lines;
        check = causes::cross_check(std::move(reports), scores, trace.info, lines);
    }

    const causes::CheckedFunction& of(const std::string& name) const {
        for (const causes::CheckedFunction& function : check.functions)
            if (function.name == name) return function;
        FAIL("no row of " << name);
        return check.functions.front();
    }
};

}  // namespace

TEST_CASE("an effect and a cause agree, each alone is said, and so is neither") {
    const Checked checked{{report("misses", {row("a", 0.6), row("c", 0.3), row("d", 0.01)})}};
    CHECK(checked.of("a").verdict == CauseVerdict::agree);
    CHECK(checked.of("b").verdict == CauseVerdict::effect_only);
    CHECK(checked.of("c").verdict == CauseVerdict::cause_only);
    CHECK(checked.of("d").verdict == CauseVerdict::neither);
    std::string order;
    for (const causes::CheckedFunction& function : checked.check.functions)
        order += function.name;
    CHECK(order == "abcd");
}

TEST_CASE("the bound of a cause is kCause, that of an effect the usual one") {
    CHECK(causes::kEffect == score::kWorthALook);
    const Checked at{{report("misses", {row("a", causes::kCause), row("c", causes::kCause)})}};
    CHECK(at.of("a").verdict == CauseVerdict::agree);
    CHECK(at.of("c").verdict == CauseVerdict::cause_only);
    const Checked below{{report("misses", {row("a", 0.0499), row("c", 0.0499)})}};
    CHECK(below.of("a").verdict == CauseVerdict::effect_only);
    CHECK(below.of("c").verdict == CauseVerdict::neither);
}

TEST_CASE("a cause in what a function calls explains its effect, and is none of its own without one") {
    const Checked checked{{report("misses", {row("a", 0, 0.9), row("c", 0, 0.9)})}};
    CHECK(checked.of("a").verdict == CauseVerdict::agree);
    CHECK(checked.of("c").verdict == CauseVerdict::neither);
}

TEST_CASE("where the program works is shown and decides nothing") {
    auto time = report("cycles", {row("a", 0.9), row("c", 0.1)});
    time.disturbs = false;
    const Checked checked{{time}};
    CHECK(checked.of("a").verdict == CauseVerdict::effect_only);
    CHECK(checked.of("c").verdict == CauseVerdict::neither);
    CHECK(checked.of("a").causes[0].share == Approx(0.9));
}

TEST_CASE("one of several reports is enough") {
    const Checked checked{{report("misses", {}), report("locks", {row("b", 0.5)})}};
    CHECK(checked.of("a").verdict == CauseVerdict::effect_only);
    CHECK(checked.of("b").verdict == CauseVerdict::agree);
}

TEST_CASE("lines belong to the functions that contain them; of Coz's the one that matters most counts") {
    const std::vector<CauseRow> lines = {line(11, 0.4), line(12, 0.3), line(5, 0.2), line(77, 0.1)};
    auto adding = report("HITM", lines);
    auto coz = report("Coz", lines);
    coz.adds_up = false;
    const Checked checked{{adding, coz}};
    CHECK(checked.of("b").causes[0].share == Approx(0.7));
    CHECK(checked.of("b").causes[1].share == Approx(0.4));
    CHECK(checked.of("a").causes[0].share == Approx(0.2));
    CHECK(checked.of("d").causes[0].share == Approx(0.2));
    REQUIRE(checked.check.not_recorded.size() == 2);
    CHECK(checked.check.not_recorded[1].report == 1);
    CHECK(checked.check.not_recorded[1].row.line == 77);
}

TEST_CASE("a function whose name was cut off is found by its line") {
    auto cut_off = row("a_very_long_nam", 0.4);
    cut_off.file = "app.c";
    cut_off.line = 12;
    const Checked checked{{report("HITM", {cut_off})}};
    CHECK(checked.of("b").verdict == CauseVerdict::agree);
    CHECK(checked.check.not_recorded.empty());
}

TEST_CASE("a function of the list that was never called has a row if it has a cause") {
    CHECK(Checked{{report("misses", {row("e", 0.5)})}}.of("e").verdict == CauseVerdict::cause_only);
    CHECK(Checked{{report("misses", {row("e", 0.5)})}}.of("e").row == nullptr);
    CHECK(Checked{{report("misses", {row("e", 0.01)})}}.check.functions.size() == 4);
}

TEST_CASE("what is not on the list is no row, and is named if it is much") {
    const Checked checked{{report("misses", {row("other", 0.5), row("little", 0.04)})}};
    CHECK(checked.check.functions.size() == 4);
    REQUIRE(checked.check.not_recorded.size() == 1);
    CHECK(checked.check.not_recorded[0].row.function == "other");
}

TEST_CASE("a function that a selection left out is not said to be not recorded") {
    const Recording trace = recording();
    score::Settings settings;
    settings.selection.functions = {"b"};
    const score::Report scores = analyze(trace, settings);
    NoLines lines;
    const auto check = causes::cross_check({report("misses", {row("a", 0.9)})}, scores, trace.info, lines);
    CHECK(check.functions.size() == 1);
    CHECK(check.not_recorded.empty());
}

TEST_CASE("the table for people") {
    auto time = report("cycles", {row("a", 0.5), row("x\x1b[31m", 0.4)});
    time.disturbs = false;
    const Checked checked{{report("misses", {row("a", 0.612, 0.7), row("c", 0.3), row("evil\x1b[31m", 0.06),
                                             row("f", 0.055), row("g", 0.054), row("h", 0.053)}),
                           time, report("misses", {row("c", 0.02)}), report("locks", {})}};
    CHECK(output::causes_text(checked.check, {}) ==
          "Causes and effects\n score    lost  function       misses  cycles  verdict\n 0.400  400 µs  a     "
          "    61 % (70 %)    50 %  effect and cause agree\n 0.295  295 µs  b                   -       -  "
          "effect without known cause: look further\n 0.000    0 ns  c                30 %       -  cause "
          "without effect: leave it\n 0.000    0 ns  d                   -       -\n\neffect: a score of "
          "0.20 or more. cause: 5.0 % or more of what a tool counted; in parentheses: including callees."
          "\nmisses: tool, misses.txt\n  not recorded: evil\\x1b[31m 6.0 %, f 5.5 %, g 5.4 %, 1 "
          "more\ncycles: tool, cycles.txt; shows where the program works, not what disturbs it: not part of "
          "the verdict\nmisses #2: tool, misses.txt; less than 5.0 % in every recorded function\nlocks: "
          "tool, locks.txt; found nothing\n");
}

TEST_CASE("the table goes as far as --top") {
    const Checked checked{{report("misses", {row("a", 0.6)})}};
    const std::string text = output::causes_text(checked.check, {.top = 1});
    CHECK(text.find("  a ") != std::string::npos);
    CHECK(text.find("  b ") == std::string::npos);
    CHECK(text.find("… 3 more (--top 0 shows all)") != std::string::npos);
}

TEST_CASE("JSON has all of it beside the report") {
    const Checked checked{{report("misses", {row("a", 0.6, 0.7), row("e", 0.1), row("x", 0.2)})}};
    output::TraceSymbols symbols{checked.trace.info};
    const auto json = nlohmann::json::parse(output::to_json({checked.scores}, symbols, {}, checked.check));
    CHECK(json["functions"].size() == 4);
    const auto& causes = json["causes"];
    CHECK(causes["effect_from"] == 0.2);
    CHECK(causes["cause_from"] == 0.05);
    CHECK(causes["reports"] == nlohmann::json::parse(R"([{"tool": "tool", "label": "misses", "unit": "events",
        "file": "misses.txt", "total": 1000.0, "disturbs": true}])"));
    const auto& a = causes["functions"][0];
    CHECK(a["name"] == "a");
    CHECK(a["module"] == "app");
    CHECK(a["verdict"] == "agree");
    CHECK(a["text"] == "effect and cause agree");
    CHECK(a["called"] == true);
    CHECK(a["rdam"] == json["functions"][0]["rdam"]);
    CHECK(a["shares"] ==
          nlohmann::json::parse(R"([{"share": 0.6, "with_callees": 0.7, "absolute": 600.0}])"));
    CHECK(causes["functions"][2]["name"] == "e");
    CHECK(causes["functions"][2]["called"] == false);
    CHECK(causes["functions"][2]["verdict"] == "cause_only");
    CHECK(causes["not_recorded"] ==
          nlohmann::json::parse(R"([{"report": 0, "name": "x", "module": "", "file": "",
        "line": 0, "share": 0.2, "absolute": 200.0}])"));
}

TEST_CASE("A function's hottest line comes from the first report that counts work and tells lines") {
    const Recording trace = recording();
    const score::Report scores = analyze(trace);
    CauseReport misses = report("cache-misses", {});
    misses.lines = {{"a", "", "wrong.c", 1, 0.9}};
    CauseReport none = report("cycles", {});
    none.disturbs = false;
    CauseReport time = report("cpu-clock", {});
    time.disturbs = false;
    time.lines = {{"a", "", "a.c", 3, 0.10},
                  {"a", "", "a.c", 4, 0.15},
                  {"a", "", "a.c", 3, 0.20},
                  {"b", "other.so", "b.c", 7, 0.30},
                  {"nobody", "", "n.c", 7, 0.05}};
    const causes::HotLines hot = causes::hot_lines({misses, none, time}, trace.info);
    for (const score::FunctionRow& row : scores.functions) {
        INFO(row.name);
        REQUIRE(hot.contains(row.function) == (row.name == "a"));
        if (row.name != "a") continue;
        CHECK(hot.at(row.function).file == "a.c");
        CHECK(hot.at(row.function).line == 3);
        CHECK(hot.at(row.function).share == Approx(0.30 / 0.45));
        score::FunctionRow few = row;
        few.few_occurrences = true;
        few.module = "app";
        few.markable = false;
        CHECK(output::lower_bound_advice(few, hot) == output::lower_bound_advice());
        few.markable = true;
        CHECK_THAT(output::lower_bound_advice(few, hot),
                   Catch::Contains("the inner loop of a around a.c:3, the line with 67 % of its samples"));
        score::FunctionRow sample = few;
        sample.sampled = true;
        CHECK(output::inner_loop_advice(sample, hot).empty());
        few.source = "a.c:1";
        CHECK_THAT(output::inner_loop_advice(few, hot),
                   Catch::Contains("#include <rdam/rdam.h>: RDAM_BEGIN(\"a loop\");"));
        for (const char* source : {"a.f90:1", "a.F:1", "a.b.FOR:2"}) {
            few.source = source;
            CHECK_THAT(output::inner_loop_advice(few, hot),
                       Catch::Contains("rdam.f90: call rdam_begin('a loop') at"));
        }
    }
    CHECK(causes::hot_lines({misses, none}, trace.info).empty());
}
