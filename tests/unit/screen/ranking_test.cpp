#include "tools/rdam/screen/ranking.h"

#include <set>

#include "analyzer/output/fields.h"
#include "analyzer/report/ranking.h"
#include "tests/unit/catch.h"
#include "tests/unit/screen/characters.h"

namespace rdam::screen {
namespace {

score::FunctionRow row(const char* name, double score, double lost_ns, std::uint64_t occurrences) {
    score::FunctionRow out;
    out.name = name;
    out.module = "app";
    out.shown = out.name;
    out.rdam = score;
    out.rdam_low = score / 2;
    out.rdam_high = score;
    out.occurrences = occurrences;
    out.outermost = occurrences;
    out.min_ns = 41.25;
    out.median_ns = 1200;
    out.p99_ns = 2e6;
    out.lost_ns = lost_ns;
    return out;
}

score::Report report() {
    score::Report out;
    out.process.command = {"./app", "two words"};
    out.duration_ns = 3.01e9;
    out.events = 12345;
    out.threads.resize(2);
    out.functions = {row("lock", 0.743, 2e9, 123456789), row("evil\x1b[2J\n", 0.06, 3e9, 5),
                     row("parse", 0.001, 1e6, 4000000000)};
    out.functions[0].lower_bound = true;
    return out;
}

std::vector<std::string> shown(const score::Report& report, std::size_t width, Order order = Order::score,
                               const std::string& filter = {}) {
    const Content content = ranking_content({report, {}}, order, filter, width);
    std::vector<std::string> out{plain_text(content.columns)};
    for (const Line& each : content.lines)
        out.push_back(plain_text(each));
    return out;
}

}  // namespace

TEST_CASE("a ranking in 80 columns") {
    test::use_utf8();
    CHECK(shown(report(), 80) ==
          std::vector<std::string>{
              "score↓         95 %  function                          calls   median     lost",
              "≥0.743  0.372–0.743  lock                        123,456,789  1.20 µs   2.00 s",
              " 0.060  0.030–0.060  evil\\x1b[2J\\n                         5  1.20 µs   3.00 s",
              " 0.001  0.001–0.001  parse                            4.00 G  1.20 µs  1.00 ms"});
}

TEST_CASE("of a ranking in fewer columns the score, the name and the loss are left") {
    test::use_utf8();
    CHECK(shown(report(), 40) == std::vector<std::string>{"score↓  function                  lost",
                                                          "≥0.743  lock                    2.00 s",
                                                          " 0.060  evil\\x1b[2J\\n           3.00 s",
                                                          " 0.001  parse                  1.00 ms"});
    for (const std::size_t width : {40U, 41U, 60U, 80U, 100U, 132U, 300U})
        for (const std::string& text : shown(report(), width))
            CHECK(columns(text) == width - kCursorWidth);
    for (const output::Field<score::FunctionRow>& field : output::function_fields())
        CHECK_THAT(shown(report(), 132)[0], Catch::Contains(std::string{field.title}));
}

TEST_CASE("scores that are worth a look stand out") {
    const score::Report all = report();
    const Content content = ranking_content({all, {}}, Order::score, {}, 80);
    CHECK(content.lines[0].front().look == Look::alarming);
    CHECK(content.lines[1].front().look == Look::notable);
    CHECK(content.lines[2].front().look == Look::plain);
    CHECK(content.choices == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("groups stand below lines of their own, which the cursor leaves out") {
    test::use_utf8();
    score::Report all = report();
    all.functions[0].by_design = "for a thread's end";
    all.functions[2].rdam = all.functions[2].rdam_low = 0;
    all.functions[2].lost_ns = 0;
    score::rank(all.functions);
    const Content content = ranking_content({all, {}}, Order::score, {}, 80);
    CHECK(plain_text(content.lines[1]) == " waiting by design:");
    CHECK(plain_text(content.lines[3]) == " nothing lost:");
    CHECK(content.choices == std::vector<std::size_t>{0, 2, 4});
    CHECK(ranking_content({all, {}}, Order::lost, {}, 80).lines.size() == 3);
    CHECK_THAT(shown(all, 132, Order::lost)[0], Catch::Contains("lost↓"));
    CHECK_THAT(shown(all, 132, Order::name)[0], Catch::Contains("function↑"));
}

TEST_CASE("names that differ in the middle can be told apart") {
    test::use_utf8();
    score::Report all = report();
    for (std::size_t i = 0; i < 3; ++i)
        all.functions[i].shown =
            "name_space::" + std::string(40, 'a' + static_cast<char>(i)) + "::a_class::method";
    for (const std::size_t width : {40U, 80U}) {
        const std::vector<std::string> lines = shown(all, width);
        const auto name = [&](std::size_t i) { return lines[i].substr(lines[i].find("name")); };
        CHECK(std::set<std::string>{name(1), name(2), name(3)}.size() == 3);
        CHECK(std::ranges::none_of(lines,
                                   [&](const auto& each) { return columns(each) + kCursorWidth > width; }));
    }
}

TEST_CASE("findings stand above the ranking, in two lines each at most") {
    test::use_utf8();
    const score::Report all = report();
    const Content content = ranking_content(
        {all,
         {},
         0,
         0,
         "",
         {"one", std::string(50, 'a') + " " + std::string(60, 'b') + " " + std::string(70, 'c')}},
        Order::score, {}, 80);
    REQUIRE(content.head.size() == 6);
    CHECK(plain_text(content.head[3]) == "one");
    CHECK(plain_text(content.head[5]) == std::string(60, 'b') + " …");
}

TEST_CASE("functions in another order, and some of them") {
    const score::Report all = report();
    const auto names = [&](Order order, const char* filter) {
        std::string out;
        for (const score::FunctionRow* each : ranked(all, order, filter))
            out += each->name.substr(0, 1);
        return out;
    };
    CHECK(names(Order::score, "") == "lep");
    CHECK(names(Order::lost, "") == "elp");
    CHECK(names(Order::occurrences, "") == "ple");
    CHECK(names(Order::name, "") == "elp");
    CHECK(names(Order::score, "L") == "le");
    CHECK(names(Order::score, "APP:E") == "e");
    CHECK(names(Order::score, "pp:p") == "p");
    Order order = Order::score;
    for (int i = 0; i < 4; ++i)
        order = next(order);
    CHECK(order == Order::score);
    CHECK(shown(all, 80, Order::score, "nobody")[1] == "no function name contains this: nobody");
    CHECK(shown({}, 80)[1] == "no calls to wrapped functions are left");
}

TEST_CASE("the settings that made the scores are said") {
    test::use_utf8();
    const score::Report all = report();
    score::Settings settings;
    CHECK(plain_text(settings_line({all, settings})) == "calls against the fastest of their thread");
    settings.sequences = {.deep_keys = true, .fold_loops = true};
    settings.baseline = {score::Baseline::Kind::percentile, 0.005};
    CHECK(plain_text(settings_line({all, settings, 2, 1})) ==
          "calls against percentile 0.5 of their thread · loops folded · deep keys · 2 ignored (I) · 1 note "
          "(n)");
}

}  // namespace rdam::screen
