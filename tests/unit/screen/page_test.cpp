#include "tools/rdam/screen/page.h"

#include <algorithm>

#include "tests/unit/catch.h"
#include "tests/unit/screen/characters.h"

namespace rdam::screen {
namespace {

class NoSymbols : public output::Symbols {
  public:
    std::vector<output::StackFrame> frames(std::uint64_t address) override {
        return {{.function = "caller\x07", .file = "app.c", .line = static_cast<std::uint32_t>(address)}};
    }
};

screen::FunctionPage page() {
    screen::FunctionPage out;
    score::FunctionRow& row = out.row;
    row.name = "deliver";
    row.module = "depots";
    row.rdam = 0.597;
    row.rdam_low = 0.409;
    row.rdam_high = 0.789;
    row.occurrences = row.outermost = 60;
    row.lost_ns = 2.06e6;
    row.min_ns = 1000;
    row.median_ns = 10000;
    row.p99_ns = row.max_ns = 1e6;
    out.hints.hints = {
        {.kind = hints::HintKind::parameter, .text = "`parcels` explains 94 % of the variation\x1b"}};
    row.threads = {
        {{.rdam = 0.597, .rdam_low = 0.4, .rdam_high = 0.8, .occurrences = 60, .lost_ns = 2e6}, 0}};
    row.sequences = {{{.rdam = 0.1,
                       .rdam_low = 0,
                       .rdam_high = 0.2,
                       .occurrences = 60,
                       .lost_ns = 4000,
                       .min_ns = 1000,
                       .median_ns = 2000},
                      0,
                      "deliver(parcels=1)[drive]",
                      25,
                      0}};
    row.scored_sequences = 3;
    row.single_sequences = 1;
    row.callers = {{.address = 25, .calls = 40, .lost_ns = 1e6, .share = 0.5},
                   {.address = 33, .calls = 20, .share = 0.5}};
    row.stacks = {{.samples = 1, .calls = 40, .caller = 25, .frames = {25, 7}, .truncated = true}};
    out.keys = {{.name = "parcels", .parameter = 0, .explains = 0.94, .rdam_with_key = 0.0271},
                {.name = "caller", .parameter = 1, .is_key = true}};
    for (int i = 0; i < 30; ++i)
        out.bars.push_back({1000.0 * (i + 1), 1000.0 * (i + 2), static_cast<std::uint64_t>(i % 10)});
    return out;
}

struct Shown {
    Content content;
    std::vector<std::string> lines;
    bool has(const std::string& text) const { return std::ranges::find(lines, text) != lines.end(); }
};

Shown shown(const screen::FunctionPage& page, Tab tab, std::size_t width) {
    score::Report report;
    report.threads = {{.tid = 42, .name = "main\n"}};
    NoSymbols symbols;
    const score::Settings settings;
    Shown out{page_content({page, report, settings, symbols}, tab, width), {}};
    for (const Line& line : out.content.lines)
        out.lines.push_back(plain_text(line));
    return out;
}

}  // namespace

TEST_CASE("the overview has the numbers, the keys and the hints") {
    test::use_utf8();
    const Shown seen = shown(page(), Tab::overview, 80);
    CHECK(plain_text(seen.content.head[0]) == "depots:deliver");
    CHECK(plain_text(seen.content.head[1]) == "[overview] sequences  threads  callers ");
    CHECK(seen.lines[0] == "score 0.597  95 % 0.409–0.789  60 calls  lost 2.06 ms  min 1.00 µs");
    CHECK(seen.lines[1] == "median 10.0 µs  p99 1.00 ms  max 1.00 ms");
    REQUIRE(seen.content.choices.size() == 2);
    CHECK(seen.lines[seen.content.choices[0]] == "[ ] parcels  explains   94 %, score as a key 0.027");
    CHECK(seen.lines[seen.content.choices[1]] == "[x] caller   a key");
    CHECK(seen.has("· `parcels` explains 94 % of the variation\\x1b"));
}

TEST_CASE("a caller that has nearly all of the loss is not said to explain nothing") {
    test::use_utf8();
    screen::FunctionPage lone = page();
    lone.row.callers[0].share = 0.97;
    lone.keys[1] = {
        .name = "caller", .parameter = sequences::kCallerKey, .explains = 0, .rdam_with_key = 0.597};
    const auto line_of_caller = [](const screen::FunctionPage& of) {
        const Shown seen = shown(of, Tab::overview, 80);
        return seen.lines[seen.content.choices[1]];
    };
    CHECK(line_of_caller(lone) == "[ ] caller   one has 97 % of the loss, score as a key 0.597");
    lone.row.callers[0].share = 0.5;
    CHECK(line_of_caller(lone) == "[ ] caller   explains  0.0 %, score as a key 0.597");
    lone.row.callers[0].share = 0.95;
    lone.keys[1].explains = 0.8;
    CHECK(line_of_caller(lone) == "[ ] caller   explains   80 %, score as a key 0.597");
}

TEST_CASE("below the threshold hints are no findings") {
    screen::FunctionPage quiet = page();
    quiet.row.rdam = 0.01;
    quiet.hints.hints.clear();
    const Shown seen = shown(quiet, Tab::overview, 80);
    CHECK(seen.has("(scores below 0.2 need little explanation)"));
    CHECK(seen.has("  nothing stands out"));
}

TEST_CASE("sequences, threads and callers are listed in full") {
    test::use_utf8();
    const Shown sequences = shown(page(), Tab::sequences, 80);
    CHECK(sequences.has("deliver(parcels=1)[drive] called from caller\\x07 at app.c:25"));
    CHECK(sequences.has("  score 0.100  0.000–0.200  60 calls  min 1.00 µs  median 2.00 µs"));
    CHECK(sequences.has("… 2 more"));
    CHECK(sequences.has("1 sequence occurs only once in a thread: no score"));
    const Shown threads = shown(page(), Tab::threads, 80);
    CHECK(threads.lines.back() == "0.597  0.400–0.800      42  main\\n     60  2.00 ms");
    const Shown callers = shown(page(), Tab::callers, 80);
    CHECK(callers.has("50 % of the lost time, 40 of 60 calls"));
    CHECK(callers.has("  caller\\x07 at app.c:7"));
    CHECK(callers.has("  …"));
    CHECK(callers.has("50 % of the lost time, 20 of 60 calls; no stack was sampled"));
    CHECK(callers.has("  caller\\x07 at app.c:33"));
}

TEST_CASE("a page fits every width") {
    test::use_utf8();
    screen::FunctionPage bare;
    for (const std::size_t width : {40U, 57U, 80U, 200U})
        for (const Tab tab : {Tab::overview, Tab::sequences, Tab::threads, Tab::callers})
            for (screen::FunctionPage each : {page(), bare}) {
                each.bars.resize(std::min(each.bars.size(), bars_for(width)));
                for (const std::string& text : shown(each, tab, width).lines)
                    CHECK(columns(text) <= width - kCursorWidth);
            }
}

TEST_CASE("a distribution is drawn upright over its marks") {
    test::use_utf8();
    const std::vector<score::Bar> bars{{1, 2, 16},    {2, 4, 0},           {4, 8, 1},    {8, 16, 8},
                                       {16, 32, 0},   {32, 64, 0},         {64, 128, 0}, {128, 256, 0},
                                       {256, 512, 0}, {512, 1024, 1000000}};
    const auto text = [&](const std::vector<score::Bar>& of, const std::vector<Mark>& marks) {
        std::vector<std::string> out;
        for (const Line& line : drawn(of, marks, 2))
            out.push_back(plain_text(line));
        return out;
    };
    // What is rare beside the rest is seen.
    CHECK(text(bars, {{"min", 1}, {"max", 1023}}) ==
          std::vector<std::string>{"         █", "▁ ▁▁     █", "┬────────┬", "min    max"});
    auto even = bars;
    even.back().calls = 16;
    // A name that has no room is left out, its mark is not.
    CHECK(text(even, {{"min", 1}, {"max", 1023}, {"median", 5}, {"p99", 0.5}}) ==
          std::vector<std::string>{"█        █", "█ ▁█     █", "┬─┬──────┬", "min    max", "  median"});
    CHECK(text({}, {{"min", 1}}).empty());
    CHECK(text({{5, 5, 3}}, {{"m", 5}}) == std::vector<std::string>{"█", "█", "┬", "m"});
}

}  // namespace rdam::screen
