#include "tools/rdam/screen/ranking.h"

#include "analyzer/output/fields.h"
#include "tests/unit/catch.h"
#include "tests/unit/screen/characters.h"

namespace rdam::screen {
namespace {

score::FunctionRow row(const char* name, double score, double lost_ns, std::uint64_t occurrences) {
    score::FunctionRow out;
    out.name = name;
    out.module = "app";
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
              " score         95 %  function                          calls   median     lost",
              "≥0.743  0.372–0.743  app:lock                    123,456,789  1.20 µs   2.00 s",
              " 0.060  0.030–0.060  app:evil\\x1b[2J\\n                     5  1.20 µs   3.00 s",
              " 0.001  0.001–0.001  app:parse                        4.00 G  1.20 µs  1.00 ms"});
}

TEST_CASE("of a ranking in fewer columns the score, the name and the loss are left") {
    test::use_utf8();
    CHECK(shown(report(), 40) == std::vector<std::string>{" score  function                  lost",
                                                          "≥0.743  app:lock                2.00 s",
                                                          " 0.060  app:evil\\x1b[2J\\n       3.00 s",
                                                          " 0.001  app:parse              1.00 ms"});
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
