// The page of `rdam report`: bounded in size, and no name from a trace is more than text in it.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "analyzer/output/html/report_html.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/ranking.h"
#include "tests/unit/catch.h"
#include "tests/unit/rounds.h"
#include "tools/base/printable.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::test {
namespace {

/// A run made by hand: what the page is made of.
struct PageCase {
    trace::TraceInfo info;
    hints::Analysis analysis;
    std::vector<views::Surroundings> around;
    std::string file = "app.rdam";

    PageCase(std::size_t functions, std::size_t threads, const std::string& name) {
        score::Report& report = analysis.report;
        info.clock.ticks_per_second = 1e9;
        report.process.command = {"./" + name};
        report.process.host = report.process.machine = name;
        report.duration_ns = 1e9;
        report.course.bin_ns = report.duration_ns / score::Course::kBins;
        for (std::size_t t = 0; t < threads; ++t)
            report.threads.push_back(
                {.number = static_cast<std::uint32_t>(t), .tid = 100, .name = name, .duration_ns = 1e9});
        for (std::size_t f = 0; f < functions; ++f)
            add_function(name + std::to_string(f));
        score::rank(report.functions);
        report.paths.nodes.emplace_back();
        for (std::uint32_t f = 0; f < functions; ++f)
            report.paths.nodes.push_back(
                {.parent = f / 3, .function = f, .calls = 5, .self_ns = 10, .lost_self_ns = 7});
    }

    void add_function(const std::string& name) {
        const auto number = static_cast<std::uint32_t>(info.functions.size());
        trace::FunctionInfo function;
        function.name = function.module = function.source = name;
        trace::ParameterInfo parameter;
        parameter.name = name;
        function.parameters = {parameter};
        info.functions.push_back(function);
        score::FunctionRow& row = analysis.report.functions.emplace_back();
        row.function = number;
        row.name = row.shown = row.module = row.source = name;
        analysis.report.names.push_back(name);
        row.rdam = 0.9 / (1 + number);
        row.occurrences = row.outermost = 5;
        row.lost_ns = 1000;
        row.threads = {{{.rdam = 0.5, .occurrences = 5, .lost_ns = 1000}, 0}};
        hints::FunctionHints& found = analysis.functions.emplace_back();
        constexpr std::uint32_t kDetailed = 100;  // no page has details of more
        if (number >= kDetailed) return;
        found.hints = {
            {.kind = hints::HintKind::parameter, .text = name + " explains it", .parameter = name}};
        found.explained = {{.name = name, .explains = 0.5}};
        row.sequences.resize(1);
        row.sequences[0].name = name;
        row.callers = {{.address = 0x1234, .calls = 5}};
        row.sample.words_per_call = 1;
        score::ScoredCall call;
        call.end = 1000;
        call.duration_ns = call.lost_ns = 1000;
        row.sample.calls = {call};
        row.sample.words = {7};
    }

    void add_window(std::size_t slices) {
        views::Surroundings& window = around.emplace_back();
        window.call_end = 1000;
        window.end = 2000;
        for (std::size_t t = 0; t < std::min<std::size_t>(analysis.report.threads.size(), 16); ++t) {
            views::Lane& lane = window.lanes.emplace_back();
            lane.thread = t;
            for (std::size_t i = 0; i < slices; ++i)
                lane.slices.push_back({.begin = i,
                                       .end = i + 1,
                                       .function = static_cast<std::uint32_t>(i % info.functions.size())});
        }
    }
};

/// Empty: there is no page in this build.
std::string page_of(const PageCase& run, std::span<const score::DiffRow> diff = {}) {
    if (!output::page_is_there()) {
        std::cout << "skipped: built without Chart.js, there is no page\n";
        return {};
    }
    output::TraceSymbols symbols{run.info};
    output::PageInput input;
    input.runs.push_back({run.file, run.analysis, run.info, symbols, run.around});
    if (!diff.empty()) input.runs.push_back({run.file, run.analysis, run.info, symbols, run.around});
    input.diff = diff;
    const auto page = output::report_html(input);
    if (!page) FAIL(page.error().message);
    CHECK(page->size() <= output::kMaxBytes);
    return *page;
}

std::string between(const std::string& page, const std::string& begin, const std::string& end) {
    const std::size_t from = page.find(begin);
    REQUIRE(from != std::string::npos);
    const std::size_t to = page.find(end, from);
    REQUIRE(to != std::string::npos);
    return page.substr(from + begin.size(), to - from - begin.size());
}

std::string data_of(const std::string& page) {
    return between(page, "<script type=\"application/json\" id=\"data\">", "</script>");
}

std::ptrdiff_t number_of(const std::string& text, char character) {
    return std::ranges::count(text, character);
}

/// Every text in it, keys included.
void texts_of(const nlohmann::json& json, std::vector<std::string>& texts) {
    if (json.is_string()) texts.push_back(json.get<std::string>());
    for (const auto& [key, value] : json.items())
        if (json.is_object() || json.is_array()) {
            if (json.is_object()) texts.push_back(key);
            texts_of(value, texts);
        }
}

}  // namespace

TEST_CASE("no name from a trace is markup, script or an odd character of the page", "[page]") {
    const std::string mild(40, 'x');
    for (const std::string& name :
         {std::string{"</script><img src=x onerror=alert(1)>"}, std::string{"<!--<script>"},
          std::string{"]]>\"'&amp;`${x}"},
          std::string{"a\xe2\x80\xa8"
                      "b\xe2\x80\xa9"
                      "c"},
          std::string{"\xff\xfe\xc0\xaf"}, std::string{"\xe2\x80\xae\xe2\x81\xa6zza"},
          std::string{"\n\r\t\x1b[31m\x7f\\u003c\\"}, std::string("nul\0nul", 7),
          std::string{"\xed\xa0\x80\xf4\x90\x80\x80"}}) {
        PageCase run{3, 2, name};
        run.file = name;
        run.analysis.report.remarks = {name};
        run.analysis.report.never_called = {name};
        run.analysis.report.functions[0].by_design = name;
        run.add_window(5);
        const std::vector<score::DiffRow> diff =
            score::compare_reports(run.analysis.report, run.analysis.report);
        const std::string page = page_of(run, diff);
        if (page.empty()) return;
        INFO(printable(name));
        const std::string data = data_of(page);
        CHECK(data.find('<') == std::string::npos);
        CHECK(printable(data) == data);
        std::string shown_text = between(page, "<main id=\"static\">", "</main>");
        std::erase(shown_text, '\n');
        CHECK(printable(shown_text) == shown_text);
        const nlohmann::json json = nlohmann::json::parse(data);
        const nlohmann::json& function = json.at("runs").at(0).at("functions").at(0);
        CHECK(function.at("name") == printable(name + "0"));
        CHECK(function.at("details").at("source") == printable(name + "0"));
        std::vector<std::string> texts;
        texts_of(json, texts);
        CHECK(std::ranges::all_of(texts, [](const std::string& text) { return printable(text) == text; }));
        // As many tags and quotes as with a harmless name.
        PageCase harmless{3, 2, mild};
        harmless.file = mild;
        harmless.analysis.report.remarks = {mild};
        harmless.analysis.report.never_called = {mild};
        harmless.analysis.report.functions[0].by_design = mild;
        harmless.add_window(5);
        const std::string other =
            page_of(harmless, score::compare_reports(harmless.analysis.report, harmless.analysis.report));
        for (const char character : {'<', '>', '"', '\''}) {
            const auto shown = [&](const std::string& whole) {
                return number_of(between(whole, "<main id=\"static\">", "</main>"), character) +
                       number_of(between(whole, "<title>", "</title>"), character);
            };
            INFO(character);
            CHECK(shown(page) == shown(other));
        }
        CHECK(number_of(page, '<') == number_of(other, '<'));
    }
}

TEST_CASE("the page says with what calls were compared", "[page]") {
    PageCase run{1, 1, "f"};
    if (page_of(run).empty()) return;
    const auto baseline = [&] {
        return nlohmann::json::parse(data_of(page_of(run)))["runs"][0]["score"].get<std::string>();
    };
    CHECK(baseline().ends_with("took longer than the fastest of their thread"));
    run.analysis.report.comparison = {.baseline = {.kind = score::Baseline::Kind::process},
                                      .rules = {.ignore = {"write", "<read>"}},
                                      .rules_file = "rdam.toml"};
    CHECK(baseline().ends_with("took longer than the fastest of the process"));
    const std::string page = page_of(run);
    for (const char* text :
         {"<dt>Calls compared with</dt><dd>the fastest of the process</dd>",
          "<dt>Rules</dt><dd>rdam.toml</dd>", "<dt>Ignored</dt><dd>write, &lt;read&gt;</dd>",
          "took longer than the fastest of the process. Functions are ranked"})
        CHECK(page.find(text) != std::string::npos);
}

TEST_CASE("the page of very many functions says what it leaves out", "[page]") {
    constexpr std::size_t kFunctions = rounds(200'000U);
    const PageCase run{kFunctions, 2, "f"};
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json data = nlohmann::json::parse(data_of(page)).at("runs").at(0);
    const std::size_t shown = data.at("functions").size();
    CHECK(shown >= 100);
    CHECK(data.at("left_out") == kFunctions - shown);
    CHECK(data.at("functions").at(0).at("rank") == 1);
    // What small paths weigh is with the others.
    const auto sum = [&](const char* column) {
        double all = 0;
        for (const nlohmann::json& each : data.at("icicle").at(column))
            all += each.get<double>();
        return all;
    };
    CHECK(sum("lost") == 7.0 * kFunctions);
    CHECK(sum("time") == 10.0 * kFunctions);
    CHECK(sum("calls") == 5.0 * kFunctions);
    const auto& parents = data.at("icicle").at("parent");
    CHECK(parents.size() < 20'000);
    for (std::size_t i = 1; i < parents.size(); ++i)
        if (parents[i].get<std::size_t>() >= i) FAIL("a path comes before its parent");
}

TEST_CASE("above the outermost functions of the icicle are those that call them, once each", "[page]") {
    PageCase run{4, 1, "f"};
    std::vector<score::PathNode>& nodes = run.analysis.report.paths.nodes;
    // The first two are below the root, and the third calls the fourth.
    nodes = {{},
             {.function = 0, .caller = 0x10, .calls = 1, .self_ns = 10, .lost_self_ns = 1},
             {.function = 0, .caller = 0x10, .calls = 2, .self_ns = 20, .lost_self_ns = 2},
             {.function = 1, .caller = 0x10, .calls = 4, .self_ns = 40, .lost_self_ns = 4},
             {.function = 0, .caller = 0x20, .calls = 8, .self_ns = 80, .lost_self_ns = 8},
             {.parent = 4, .function = 2, .calls = 16, .self_ns = 160, .lost_self_ns = 16},
             {.function = 3, .calls = 32, .self_ns = 320, .lost_self_ns = 32}};
    const nlohmann::json data = nlohmann::json::parse(data_of(page_of(run))).at("runs").at(0).at("icicle");
    CHECK(data.at("parent") == nlohmann::json::array({0, 0, 1, 1, 0, 4, 5, 0}));
    CHECK(data.at("callers") == nlohmann::json::array({1, 4}));
    CHECK(data.at("calls") == nlohmann::json::array({0, 0, 3, 4, 0, 8, 16, 32}));
    CHECK(data.at("names").at(data.at("name").at(1).get<std::size_t>()) == "0x10");
}

TEST_CASE("very many sequences, slices and points of a function leave a page of bounded size", "[page]") {
    PageCase run{30, 20, "f"};
    score::FunctionRow& row = run.analysis.report.functions[0];
    row.sequences.resize(rounds(200'000U), row.sequences[0]);
    row.callers.resize(50'000, row.callers[0]);
    row.threads.resize(50'000, row.threads[0]);
    auto& explained = run.analysis.functions[0].explained;
    explained.resize(1000, explained[0]);
    row.sample.calls.resize(rounds(200'000U), row.sample.calls[0]);
    row.sample.words.resize(rounds(200'000U), 7);
    for (int i = 0; i < 12; ++i)
        run.add_window(4000);
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json data = nlohmann::json::parse(data_of(page)).at("runs").at(0);
    CHECK(data.at("functions").at(0).at("details").at("sequences").size() > 0);
    CHECK(data.at("timelines").size() == 12);
}

TEST_CASE("the page of very many threads sums up those that it does not show", "[page]") {
    constexpr std::uint32_t kThreads = 5000;
    PageCase run{3, kThreads, "worker"};
    for (std::uint32_t t = 0; t < kThreads; ++t)
        for (std::uint32_t bin = 0; bin < score::Course::kBins; bin += 16)
            run.analysis.report.course.cells.push_back({.thread = t,
                                                        .function = bin % 3,
                                                        .bin = bin,
                                                        .calls = 1,
                                                        .time_ns = 5,
                                                        .lost_ns = 1 + t / 1000.0});
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json heat = nlohmann::json::parse(data_of(page)).at("runs").at(0).at("heat");
    const std::size_t rows = heat.at("rows").size();
    REQUIRE(rows == 65);
    CHECK(heat.at("rows").at(rows - 1) == "4,936 other threads");
    CHECK(heat.at("others") == 4936);
    double others = 0;
    for (const nlohmann::json& cell : heat.at("cells")) {
        CHECK(cell.at(0).get<std::size_t>() < rows);
        if (cell.at(0) == rows - 1) others += cell.at(3).get<double>();
    }
    double expected = 0;
    for (std::uint32_t t = 0; t < 4936; ++t)
        expected += 12 * (1 + t / 1000.0);
    CHECK(others == Approx(expected).epsilon(0.001));
}

TEST_CASE("the heat map sums up apart what waits by design, however many functions there are", "[page]") {
    PageCase run{60, 1, "f"};
    for (std::uint32_t f = 0; f < 60; ++f) {
        if (f % 2 == 0) run.analysis.report.functions[f].by_design = "until there is work";
        run.analysis.report.course.cells.push_back(
            {.thread = 0, .function = f, .bin = f, .calls = 1, .time_ns = 10, .lost_ns = 10});
    }
    score::rank(run.analysis.report.functions);
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json data = nlohmann::json::parse(data_of(page)).at("runs").at(0);
    double by_design = 0, others = 0;
    for (const nlohmann::json& cell : data.at("heat").at("cells")) {
        const auto place = cell.at(2).get<std::int64_t>();
        if (place == -2 || (place >= 0 && data.at("functions").at(place).at("standing") == "by_design"))
            by_design += cell.at(3).get<double>();
        else
            others += cell.at(3).get<double>();
    }
    CHECK(by_design == 300);
    CHECK(others == 300);
}

TEST_CASE("short lanes leave their room to the long ones, and what has none is counted", "[page]") {
    PageCase run{3, 4, "f"};
    run.add_window(2000);
    run.around[0].lanes[0].slices.resize(300);
    run.around[0].lanes[1].slices.resize(200);
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json lanes =
        nlohmann::json::parse(data_of(page)).at("runs").at(0).at("timelines").at(0).at("lanes");
    std::size_t slices = 0, left_out = 0;
    for (const nlohmann::json& lane : lanes) {
        slices += lane.at("slices").size();
        left_out += lane.at("left_out").get<std::size_t>();
    }
    CHECK(lanes.at(0).at("left_out") == 0);
    CHECK(lanes.at(1).at("left_out") == 0);
    CHECK(slices + left_out == 4500);
    CHECK(slices >= 1500);
    CHECK(slices <= 1502);
}

TEST_CASE("of too many times off the processor a lane has the longest, and the rest are counted", "[page]") {
    PageCase run{1, 1, "f"};
    run.add_window(5);
    constexpr std::uint64_t kOff = 4000;
    run.around[0].end = 100'000;
    for (std::uint64_t i = 0; i < kOff; ++i)
        run.around[0].lanes[0].off.push_back({.out = 10 * i, .in = 10 * i + 1 + (i + 1 == kOff ? 8 : 0)});
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json lane =
        nlohmann::json::parse(data_of(page)).at("runs").at(0).at("timelines").at(0).at("lanes").at(0);
    CHECK(lane.at("off").size() + lane.at("off_left_out").get<std::size_t>() == kOff);
    CHECK(lane.at("off").size() < kOff);
    CHECK(lane.at("off").at(0) == nlohmann::json::parse("[39990, 39999, 0]"));
}

TEST_CASE("a lane says who had the processor, and what a call lost where it is known", "[page]") {
    PageCase run{1, 2, "f"};
    run.add_window(5);
    views::Surroundings& window = run.around[0];
    window.end = 100'000;
    views::Lane& lane = window.lanes[0];
    lane.slices[0] = {.begin = 10, .end = 500};
    lane.slices[1] = {.begin = 600, .end = 900};
    lane.slices[2] = {.begin = 10, .end = 500, .calls = 2};
    score::ScoredCall call;
    call.begin = 10;
    call.end = 500;
    call.lost_ns = 123;
    run.analysis.report.functions[0].sample.calls = {call};
    lane.off = {{.out = 1000, .in = 2000, .preempted = true},
                {.out = 3000, .in = 4000, .preempted = true},
                {.out = 5000, .in = 6000, .preempted = true, .by_recorder = true},
                {.out = 7000, .in = 8000, .preempted = true, .by_program = true},
                {.out = 8000, .in = 9000, .preempted = true}};
    lane.meanwhile = {
        {.processor = 1, .thread = 1, .ticks = 700}, {.processor = 1}, {.processor = 1}, {.processor = 1}};
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json timeline =
        nlohmann::json::parse(data_of(page)).at("runs").at(0).at("timelines").at(0);
    const nlohmann::json& seen = timeline.at("lanes").at(0);
    CHECK(timeline.at("names").at(seen.at("off").at(0).at(3).get<std::size_t>()) == "100 f");
    CHECK(seen.at("off").at(0).at(4) == 700.0);
    CHECK(seen.at("off").at(1).at(3) == -1);
    CHECK(seen.at("off").at(2).at(3) == -2);
    CHECK(seen.at("off").at(3).at(3) == -3);
    CHECK(seen.at("off").at(4).at(3) == -4);
    CHECK(seen.at("slices").at(0).at(6) == 123.0);
    CHECK(seen.at("slices").at(1).size() == 6);
    CHECK(seen.at("slices").at(2).size() == 6);
}

TEST_CASE("the stack of the caller that lost most stands first", "[page]") {
    PageCase run{1, 1, "f"};
    score::FunctionRow& row = run.analysis.report.functions[0];
    row.lost_ns = 1000;
    row.callers = {{.address = 2, .calls = 10, .lost_ns = 900, .share = 0.9},
                   {.address = 1, .calls = 1000, .lost_ns = 100, .share = 0.1}};
    row.stacks = {{.samples = 50, .calls = 1000, .caller = 1, .frames = {0x1000}},
                  {.samples = 2, .calls = 8, .caller = 2, .frames = {0x2000}},
                  {.samples = 1, .calls = 2, .caller = 2, .frames = {0x3000}}};
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json stacks = nlohmann::json::parse(data_of(page))
                                      .at("runs")
                                      .at(0)
                                      .at("functions")
                                      .at(0)
                                      .at("details")
                                      .at("stacks");
    REQUIRE(stacks.size() == 3);
    const double shares[] = {0.72, 0.18, 0.1}, calls[] = {8, 2, 1000};
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(stacks.at(i).at("share").get<double>() == Approx(shares[i]));
        CHECK(stacks.at(i).at("calls") == calls[i]);
    }
}

TEST_CASE("callers, stacks and frames beyond the page's are counted", "[page]") {
    PageCase run{1, 1, "f"};
    score::FunctionRow& row = run.analysis.report.functions[0];
    row.callers.resize(30, row.callers[0]);
    score::StackRow stack;
    stack.samples = 1;
    for (std::uint64_t i = 0; i < 100; ++i)
        stack.frames.push_back(0x1000 + i);
    stack.truncated = true;
    row.stacks.resize(20, stack);
    row.stacks[1].frames.resize(3);
    row.stacks[1].truncated = false;
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json details =
        nlohmann::json::parse(data_of(page)).at("runs").at(0).at("functions").at(0).at("details");
    CHECK(details.at("callers").size() == 12);
    CHECK(details.at("callers_in_all") == 30);
    CHECK(details.at("stacks").size() == 12);
    CHECK(details.at("stacks_in_all") == 20);
    CHECK(details.at("stacks").at(0).at("frames").size() == 40);
    CHECK(details.at("stacks").at(0).at("more") == 60);
    CHECK(details.at("stacks").at(0).at("truncated") == true);
    CHECK_FALSE(details.at("stacks").at(1).contains("more"));
    CHECK_FALSE(details.at("stacks").at(1).contains("truncated"));
}

TEST_CASE("without a script, groups stand apart as with one, and marks are explained", "[page]") {
    PageCase run{3, 1, "f"};
    run.analysis.report.functions[0].by_design = "until there is work";
    run.analysis.report.functions[1].floor = 0.95;
    run.analysis.functions[1].hints.clear();
    score::rank(run.analysis.report.functions);
    const std::string page = page_of(run);
    if (page.empty()) return;
    const std::string shown = between(page, "<main id=\"static\">", "</main>");
    const nlohmann::json standings = nlohmann::json::parse(data_of(page)).at("runs").at(0).at("standings");
    for (const char* each : {"by_design", "at_floor"})
        CHECK(shown.find(standings.at(each).get<std::string>()) != std::string::npos);
    CHECK(standings.at("at_floor") == "Constant work would score as much as these functions.");
    CHECK(shown.find("°: a function that always") != std::string::npos);
    run.analysis.report.functions[1].rdam = run.analysis.report.functions[1].lost_ns = 0;
    const std::string idle = between(page_of(run), "<main id=\"static\">", "</main>");
    CHECK(idle.find("These functions lost nothing.") != std::string::npos);
    CHECK(idle.find("Constant work") == std::string::npos);
}

TEST_CASE("names that nobody can read are shortened in the page, and cost no rows", "[page]") {
    constexpr std::size_t kLength = 20'000;
    PageCase run{60, 3, "ns::" + std::string(kLength, 'n') + "<" + std::string(kLength, 'a') + ">"};
    run.add_window(100);
    const std::string page = page_of(run, score::compare_reports(run.analysis.report, run.analysis.report));
    if (page.empty()) return;
    const nlohmann::json json = nlohmann::json::parse(data_of(page));
    std::vector<std::string> texts;
    texts_of(json, texts);
    CHECK(std::ranges::all_of(texts, [](const std::string& text) { return display_width(text) <= 4000; }));
    const nlohmann::json& data = json.at("runs").at(0);
    CHECK(data.at("functions").size() == 60);
    std::set<std::string> names;
    for (const nlohmann::json& function : data.at("functions"))
        names.insert(function.at("name"));
    // Their ends tell them apart.
    CHECK(names.size() == 60);
    CHECK(display_width(*names.begin()) <= 2 * 400 + 1);
    const std::string hint = data.at("functions").at(0).at("details").at("hints").at(0);
    CHECK(hint.ends_with(" explains it"));
}

TEST_CASE("what has no order is plotted by its commonest values, and what has one as points", "[page]") {
    PageCase run{1, 1, "f"};
    trace::FunctionInfo& function = run.info.functions[0];
    const auto pointer = static_cast<std::uint8_t>(ValueKind::pointer);
    function.parameters = {{.name = "object", .kind = pointer, .word = 0, .key = false, .type = {}},
                           {.name = "lock", .kind = pointer, .word = 1, .key = true, .type = {}},
                           {.name = "other", .kind = pointer, .word = 2, .key = false, .type = {}},
                           {.name = "count", .word = 3, .key = true, .type = {}}};
    function.result = {{.name = "return", .type = {}}};
    using Of = hints::Variable::Of;
    score::FunctionRow& row = run.analysis.report.functions[0];
    run.analysis.functions[0].explained = {
        {.name = "object", .explains = 0.5, .variable = {Of::parameter, 0}},
        {.name = "other", .explains = 0.1, .variable = {Of::parameter, 2}},
        {.name = "caller", .explains = 0.2, .variable = {Of::caller}},
        {.name = "return value", .explains = 0.3, .variable = {Of::result}},
        {.name = "calls inside", .explains = 0.3, .variable = {Of::calls_inside}},
        {.name = "calls of g inside", .explains = 0.3, .variable = {Of::repeats, 0}},
        {.name = "keys of calls inside", .explains = 0.3, .variable = {Of::keys_inside}}};
    row.sample = {};
    row.sample.words_per_call = 4;
    row.sample.repeated = {0};
    for (std::uint64_t i = 0; i < 40; ++i) {
        score::ScoredCall call;
        call.duration_ns = i % 2 == 0 ? 1000.0 + static_cast<double>(i) : 10;
        call.weight = 3;
        call.caller = 0x1000 + i % 2;
        call.result = i;
        call.returned = i < 30;
        call.inside = 7;
        row.sample.calls.push_back(call);
        row.sample.repeats.push_back(static_cast<std::uint32_t>(i));
        // Two objects and one that is seen once; always the same lock; never the same other.
        for (const std::uint64_t word : {i == 1 ? 0xff : 0xa0 + i % 2, std::uint64_t{0xb0}, 0xc0 + i, i})
            row.sample.words.push_back(word);
    }
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json plots = nlohmann::json::parse(data_of(page))
                                     .at("runs")
                                     .at(0)
                                     .at("functions")
                                     .at(0)
                                     .at("details")
                                     .at("parameters");
    REQUIRE(plots.size() == 9);
    CHECK(plots[0].at("values") ==
          nlohmann::json::parse(R"([{"value": "0xa0", "calls": 60, "min": 1000, "median": 1018, "p99": 1038},
                                    {"value": "0xa1", "calls": 57, "min": 10, "median": 10, "p99": 10},
                                    {"others": 1, "calls": 3, "min": 10, "median": 10, "p99": 10}])"));
    CHECK(plots[1].at("values").empty());
    CHECK(plots[2].at("values").size() == 2);
    CHECK(plots[3].at("points").size() == 30);
    CHECK(plots[4].at("points")[0] == nlohmann::json::parse("[7, 1000]"));
    CHECK(plots[5].at("points")[3] == nlohmann::json::parse("[3, 10]"));
    CHECK_FALSE(plots[6].contains("points"));
    CHECK_FALSE(plots[6].contains("values"));
    CHECK(plots[7].at("key") == true);
    CHECK(plots[7].at("values").empty());
    CHECK(plots[8].at("name") == "count");
    CHECK(plots[8].at("points").size() == 40);
}

TEST_CASE("very long names leave a page with fewer rows", "[page]") {
    const PageCase run{2500, 4, std::string(300, 'n')};
    const std::string page = page_of(run);
    if (page.empty()) return;
    const nlohmann::json data = nlohmann::json::parse(data_of(page)).at("runs").at(0);
    CHECK(data.at("functions").size() >= 1);
    CHECK(data.at("functions").size() < 2000);
    CHECK(data.at("functions").size() + data.at("left_out").get<std::size_t>() == 2500);
}

}  // namespace rdam::test
