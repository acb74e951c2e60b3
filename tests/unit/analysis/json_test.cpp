// The report for programs: its keys are those of docs/json.md, and its values those of the report.
#include "analyzer/output/json.h"

#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "analyzer/report/compare_reports.h"
#include "tests/unit/analysis/golden.h"
#include "tests/unit/analysis/programs.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

using Json = nlohmann::json;
using Keys = std::set<std::string>;

Json parsed(const score::Report& report, const output::JsonOptions& options = {}) {
    return Json::parse(json_of(report, options));
}

/// Those of `object` that `wanted` has, to be compared with it.
Json part(const Json& object, const Json& wanted) {
    Json found = Json::object();
    for (const auto& [key, value] : wanted.items())
        if (object.contains(key)) found[key] = object[key];
    return found;
}

/// The words in code in `text` that may be keys.
Keys words_in(const std::string& text) {
    static const std::regex word("`(\\w+)(?:\\[\\])?`");
    Keys words;
    for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
        words.insert((*at)[1]);
    return words;
}

/// Where docs/json.md has the keys of an object: in the first column of a section's tables; or in one row,
/// behind its first column; or ("text") in the section beside its tables.
struct Place {
    std::string heading;
    std::string row = {};

    auto operator<=>(const Place&) const = default;
};

Keys documented(const Place& place) {
    std::ifstream page{RDAM_SOURCE_ROOT "/docs/json.md"};
    Keys keys;
    bool inside = false;
    for (std::string line; std::getline(page, line);) {
        const bool heading = line.starts_with("#");
        if (heading) inside = line.starts_with(place.heading);
        if (!inside || heading) continue;
        const bool in_table = line.starts_with("| ");
        const std::size_t column = line.find(" | ");
        const std::string first = line.substr(0, column);
        if (place.row == "text" ? !in_table : place.row.empty() && in_table) {
            keys.merge(words_in(first));
        } else if (in_table && !place.row.empty() && first.find("`" + place.row + "`") != std::string::npos) {
            keys.merge(words_in(line.substr(column)));
        }
    }
    return keys;
}

const std::string kOfTrace = "## `trace`", kOfThreads = "## `threads[]`", kOfWaits = "## `waits`",
                  kOfFindings = "## `findings[]`", kOfFunctions = "## `functions[]`", kOfHints = "### hints",
                  kOfSeveral = "## Several traces", kOfOverall = "### `functions[]` of several traces",
                  kOfCauses = "## `causes`", kOfDiff = "## Two traces compared";

const std::map<std::string, Place> kPlaces{
    {"trace", {kOfTrace}},
    {"trace.recording", {"### recording", "text"}},
    {"trace.agent", {kOfTrace, "agent"}},
    {"trace.comparison", {kOfTrace, "comparison"}},
    {"trace.nodes", {kOfTrace, "nodes[]"}},
    {"trace.switches", {"### switches and counters"}},
    {"trace.counters", {"### switches and counters"}},
    {"threads", {kOfThreads, "text"}},
    {"threads.off_cpu", {kOfThreads}},
    {"threads.waits_most_for", {kOfThreads, "text"}},
    {"waits", {kOfWaits, "text"}},
    {"waits.edges", {kOfWaits}},
    {"waits.ends", {kOfWaits}},
    {"findings", {kOfFindings}},
    {"findings.object", {kOfFindings, "object"}},
    {"findings.place", {kOfFindings, "place"}},
    {"findings.partner", {kOfHints}},
    {"findings.cause", {kOfHints}},
    {"findings.work", {kOfHints}},
    {"patterns", {"## `patterns[]`"}},
    {"functions", {kOfFunctions}},
    {"functions.waits", {kOfFunctions, "waits"}},
    {"functions.bars", {kOfFunctions, "bars[]"}},
    {"functions.threads", {kOfFunctions, "threads[]"}},
    {"functions.sequences", {kOfFunctions, "sequences[]"}},
    {"functions.sequences.hints", {kOfHints}},
    {"functions.stacks", {kOfFunctions, "stacks[]"}},
    {"functions.processors", {kOfFunctions, "processors[]"}},
    {"functions.migrations", {kOfFunctions, "migrations"}},
    {"functions.migrations.between_nodes", {kOfFunctions, "migrations"}},
    {"functions.callers", {kOfFunctions, "callers[]"}},
    {"functions.callers.stacks", {kOfFunctions, "stacks[]"}},
    {"functions.off_cpu", {kOfFunctions, "off_cpu"}},
    {"functions.explained", {kOfFunctions, "explained[]"}},
    {"functions.hints", {kOfHints}},
    {"causes", {kOfCauses}},
    {"causes.reports", {kOfCauses, "reports[]"}},
    {"causes.functions", {kOfCauses, "functions[]"}},
    {"causes.functions.shares", {kOfCauses, "functions[].shares[]"}},
    {"causes.not_recorded", {kOfCauses, "not_recorded[]"}},
    {"overall", {kOfSeveral, "overall"}},
    {"overall.unreadable", {kOfSeveral, "overall"}},
    {"shared", {kOfSeveral, "findings[]"}},
    {"processes", {kOfSeveral, "processes[]"}},
    {"several", {kOfOverall}},
    {"several.processes", {kOfOverall, "processes[]"}},
    {"diff", {kOfDiff}},
    {"diff.a", {kOfFunctions}},
    {"diff.b", {kOfFunctions}},
};

using Printed = std::map<Place, Keys>;

/// Adds the keys of `json`, which stands at `path`, and of all that is inside it.
void collect(const std::string& path, const Json& json, Printed& printed) {
    if (json.is_array()) {
        for (const Json& each : json)
            collect(path, each, printed);
    }
    if (!json.is_object()) return;
    INFO(path);
    REQUIRE(kPlaces.contains(path));
    for (const auto& [key, value] : json.items()) {
        printed[kPlaces.at(path)].insert(key);
        collect(path + "." + key, value, printed);
    }
}

/// Of all or one of several objects of a single trace; `own` are the keys that it has beside.
void collect_report(const Json& json, const Keys& own, Printed& printed) {
    for (const auto& [key, value] : json.items()) {
        if (own.contains(key)) {
            printed[kPlaces.at("processes")].insert(key);
        } else {
            collect(key, value, printed);
        }
    }
}

hints::WaitGraph full_graph() {
    hints::WaitGraph graph;
    graph.recorded = true;
    graph.of_blocked = 0.5;
    graph.edges.push_back({.waiters = "thread 100 (worker)",
                           .owners = "thread 101 (worker)",
                           .waiter_tids = {100},
                           .owner_tids = {101},
                           .kind = "mutex",
                           .object = 0x5000,
                           .variable = "lock",
                           .object_name = "the mutex lock",
                           .inside = "worker",
                           .inside_from = "main at app.c:5",
                           .ended_from = "flush at app.c:9",
                           .ended_from_share = 0.75,
                           .meanwhile = {}});
    graph.ends.push_back({.threads = "thread 101 (worker)",
                          .tids = {101},
                          .share = 1,
                          .through = 0.5,
                          .waiting = 0.5,
                          .preempted = 0.1,
                          .inside = "worker",
                          .inside_share = 0.9,
                          .meanwhile = {}});
    graph.of_threads = {{.owners = "thread 101 (worker)", .share = 0.5}};
    return graph;
}

/// A report that has all that a report may have.
hints::Analysis full_analysis() {
    score::Report report = analyze(contended_program(),
                                   {.rules = {.split_by_context = {"worker"}}, .patterns = true, .bars = 10});
    report.process.nodes = {{0, {0, 1}}, {3, {2}}};
    report.process.recorder = "EZTrace 2.0";
    report.switches = {.state = trace::SwitchInfo::State::stopped, .reason = "too many", .missing = {1, 2}};
    report.counters = {.state = trace::CounterInfo::State::counted, .reason = "none"};
    report.agent.told = true;
    report.comparison.rules_file = "rdam.toml";
    report.left_out = {.since_ns = 0.0, .until_ns = 1e6, .part = true};
    report.threads[0].fiber = 1;
    report.threads[0].off_cpu.emplace();
    score::FunctionRow& row = report.functions[0];
    row.no_score = row.windowed = row.threads[0].few_windows = true;
    row.waits = 1;
    row.switched_off_ns = 1;
    row.sample.calls = {score::ScoredCall{{.enter_cpu = 0, .leave_cpu = 2}}};
    const hints::Hints found = {{.kind = hints::HintKind::concurrent,
                                 .text = "another thread is inside",
                                 .parameter = "mutex",
                                 .explains = 0.5,
                                 .rdam_with_key = 0.1,
                                 .concurrent_function = "worker",
                                 .concurrent_thread = 100,
                                 .thread = 101}};
    const hints::Finding finding{.row = 0,
                                 .called = 1,
                                 .losers = "thread 100 (worker)",
                                 .loser_tids = {100},
                                 .object = "mutex lock",
                                 .place = 0x5000,
                                 .partner = found[0],
                                 .partner_name = "thread 100 (worker)",
                                 .cause = found[0],
                                 .work = found[0]};
    return {std::move(report),
            {{.hints = found,
              .off_share = hints::OffShare{},
              .explained = {{.name = "mutex"}},
              .sequences = {found}}},
            full_graph(),
            {.all = {finding}}};
}

std::string several_json(const std::vector<score::Report>& reports) {
    score::OverallReport overall = score::merge_reports(reports);
    overall.functions[0].processes[0].few_windows = true;
    const std::vector<std::string> files(reports.size(), "trace.bin");
    const output::UnreadableTrace unreadable{"a.bin", "a.bin is not a trace"};
    output::ProcessesJson writer{output::JsonOptions{}};
    const trace::TraceInfo nothing;
    output::TraceSymbols symbols{nothing};
    output::SharedFindings findings;
    for (const score::Report& report : reports) {
        writer.add({report}, symbols);
        findings.add({report, {}, {}, {.all = {{.row = 0, .called = 0, .losers = "thread 100"}}}}, symbols);
    }
    return writer.finish({overall, files, reports, {&unreadable, 1}, findings});
}

std::string causes_json(const hints::Analysis& analysis) {
    const causes::CrossCheck check{
        .reports = std::vector<causes::CauseReport>(1),
        .functions = {{.name = "worker", .module = "app", .causes = std::vector<causes::CauseShare>(1)}},
        .not_recorded = std::vector<causes::NotRecorded>(1)};
    const trace::TraceInfo nothing;
    output::TraceSymbols symbols{nothing};
    return output::to_json(analysis, symbols, {}, check);
}

}  // namespace

TEST_CASE("the keys are those of docs/json.md, no more and no fewer", "[json]") {
    const hints::Analysis analysis = full_analysis();
    const score::Report& report = analysis.report;
    Printed printed;
    collect_report(Json::parse(causes_json(analysis)), {}, printed);
    const Json several = Json::parse(several_json({report, report}));
    collect("overall", several["overall"], printed);
    collect("shared", several["findings"], printed);
    collect("several", several["functions"], printed);
    for (const Json& process : several["processes"])
        collect_report(process, {"file", "run", "short_lived"}, printed);
    const auto rows = score::compare_reports(report, report);
    Json diff = Json::parse(output::diff_json({{"a.bin", report}, {"b.bin", report}, rows}, 0));
    collect("diff", diff["diff"], printed);
    for (const char* side : {"a", "b"}) {
        CHECK(diff[side]["file"] == std::string{side} + ".bin");
        diff[side].erase("file");
        collect("trace", diff[side], printed);
    }
    for (const auto& [path, place] : kPlaces) {
        CAPTURE(path, place.heading, place.row);
        const Keys keys = documented(place);
        CHECK_FALSE(keys.empty());
        for (const std::string& key : keys) {
            CAPTURE(key);
            CHECK(printed[place].contains(key));
        }
        for (const std::string& key : printed[place]) {
            CAPTURE(key);
            // The page has the ends of an interval with the score that it is of.
            const std::string score = key.substr(0, key.rfind('_'));
            const bool end = score.starts_with("rdam") && (key == score + "_low" || key == score + "_high");
            CHECK((keys.contains(key) || (end && keys.contains(score))));
        }
    }
}

TEST_CASE("what has nothing to say is left out", "[json]") {
    const Json json = parsed(analyze(contended_program()));
    CHECK_FALSE(json.contains("patterns"));
    for (const char* key : {"agent", "counters", "nodes", "recorder", "since_ns", "until_ns", "cut_off"})
        CHECK_FALSE(json["trace"].contains(key));
    for (const char* key : {"bars", "processors", "migrations", "off_cpu", "explained", "waits",
                            "windows_cover", "switched_off_ns", "no_score"})
        CHECK_FALSE(json["functions"][0].contains(key));
}

TEST_CASE("a trace, its threads and a function", "[json][golden]") {
    score::Report report = analyze(contended_program());
    report.functions = {report.functions[1]};
    check_golden("contended.json", json_of(report));
}

TEST_CASE("a pattern", "[json]") {
    const Json patterns = parsed(analyze(contended_program(), {.patterns = true}))["patterns"];
    REQUIRE(patterns.size() == 16);
    const Json wanted = Json::parse(R"({"thread": 101, "length": 10, "occurrences": 10, "rdam": 0.054055,
        "rdam_low": 0.03268875740119007, "rdam_high": 0.11163964247880992, "min_ns": 28194.0,
        "median_ns": 33002.0, "lost_ns": 54055.0, "lower_bound": true, "minimum_alone": false,
        "name": "worker[pthread_mutex_lock[__lll_lock_wait]] worker[pthread_mutex_lock]×9"})");
    CHECK(part(patterns[0], wanted) == wanted);
    CHECK(patterns[0]["calls"] == std::vector<std::string>(10, "worker"));
}

TEST_CASE("callers and stacks", "[json]") {
    const Json json = parsed(analyze(program_with_callers()))["functions"][0];
    const Json stacks = Json::parse(R"json([
        {"count": 1, "frames": ["start at app.c:7 (inlined)", "main at app.c:12", "libc.so.6+0x3000"],
         "calls_estimated": 40, "truncated": false},
        {"count": 3, "frames": ["worker at app.c:42", "start at app.c:7 (inlined)", "main at app.c:12"],
         "calls_estimated": 30, "truncated": false},
        {"count": 1, "frames": ["worker at app.c:42", "libc.so.6+0x3000"],
         "calls_estimated": 10, "truncated": true}])json");
    CHECK(json["stacks"] == stacks);
    REQUIRE(json["callers"].size() == 6);
    const Json& most = json["callers"][0];
    CHECK(most["count"] == 40);
    CHECK(most["frames"] == Json::array({"worker at app.c:42"}));
    CHECK(most["lost_ns"] == 40680.0);
    CHECK(most["share"] == 40680.0 / 44880);
    CHECK(most["stacks"] == Json::array({stacks[1], stacks[2]}));
}

TEST_CASE("a sample, and a function that was switched off", "[json]") {
    const Json sampled = parsed(analyze(program_with_budget(3, 0)))["functions"][0];
    const Json wanted =
        Json::parse(R"({"name": "next_token", "rdam": 0.04126656255137682, "rdam_all": 0.1296675,
        "rdam_flat": 0.141666, "occurrences": 760, "occurrences_error": 66.93280212272605, "recorded": 200,
        "sampled": true, "rdam_error": 0.050199718724311594, "mean_ns": 521.23, "mean_error_ns": 83.43,
        "lost_ns": 259335.0, "lost_error_ns": 67350.008, "lower_bound": true})");
    CHECK(part(sampled, wanted) == wanted);
    CHECK(sampled["hints"][0]["kind"] == "sampled");
    const Json off = parsed(analyze(program_with_budget(0, 50000)))["functions"];
    CHECK(off[1]["name"] == "next_token");
    CHECK(off[1]["switched_off_ns"] == 49000.0);
}

TEST_CASE("a damaged trace, and names that mean harm", "[json]") {
    const std::string text = json_of(analyze(troubled_program()));
    for (const char c : text)
        CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
    const Json json = Json::parse(text);
    const Json wanted = Json::parse(R"({"dropped": 1234, "clean_end": false, "calls": 6, "abandoned": 4,
        "arguments": ["./evil\u001b[2J", "\ufffd\ufffd"], "never_called": ["app:c"]})");
    CHECK(part(json["trace"], wanted) == wanted);
    CHECK(json["trace"]["notes"].size() == 12);
    const Json unknown = Json::parse(R"({"name": "b\u202egnp.exe", "module": "lib\ufffd.so", "rdam": null,
        "rdam_high": null, "rdam_self": null, "lost_ns": null, "occurrences": 3, "unscored": 3,
        "open_ns": 110.0, "no_score": "no call was seen to end"})");
    CHECK(part(json["functions"][1], unknown) == unknown);
    CHECK(json["functions"][1]["threads"][0]["rdam"].is_null());
}

TEST_CASE("numbers are finite", "[json]") {
    score::Report report = analyze(contended_program());
    report.functions[0].rdam = std::numeric_limits<double>::quiet_NaN();
    report.functions[0].min_ns = std::numeric_limits<double>::infinity();
    const std::string text = json_of(report);
    CHECK(text.find("NaN") == std::string::npos);
    CHECK(text.find("null") == std::string::npos);
    CHECK(Json::parse(text)["functions"][0]["min_ns"] == 0);
}

TEST_CASE("--top is about the ranks", "[json]") {
    CHECK(parsed(analyze(contended_program()), {.top = 2})["functions"].size() == 2);
    Recording recording{2};
    recording.thread(1000, 2000);
    const Json json = parsed(analyze(recording));
    CHECK(json["functions"] == Json::array());
    CHECK(json["trace"]["never_called"] == Json::array({"app:a", "app:b"}));
}

TEST_CASE("where a function's calls ran", "[json]") {
    score::Report report = analyze(contended_program());
    const auto function = [&] { return parsed(report)["functions"][0]; };
    CHECK_FALSE(function().contains("processors"));
    // What the sample stands for is twice as much.
    report.functions[0].outermost = 16;
    report.functions[0].lost_ns = 2000;
    score::Sample& sample = report.functions[0].sample;
    const auto add_call = [&](double lost_ns, double weight, std::uint16_t enter_cpu,
                              std::uint16_t leave_cpu) {
        score::ScoredCall call{{.weight = weight, .enter_cpu = enter_cpu, .leave_cpu = leave_cpu}};
        call.lost_ns = lost_ns;
        sample.calls.push_back(call);
    };
    add_call(100, 2, trace::kNoCpu, 0);
    CHECK_FALSE(function().contains("processors"));
    add_call(50, 4, 1, 1);
    add_call(500, 1, 2, 1);
    add_call(100, 1, 1, 0);
    CHECK(function()["processors"] == Json::parse(R"([
        {"processor": 2, "calls": 2, "lost_ns": 1000.0, "share": 0.5},
        {"processor": 1, "calls": 10, "lost_ns": 600.0, "share": 0.3}])"));
    CHECK(function()["migrations"] == Json::parse(R"({"calls": 4, "lost_ns": 1200.0, "share": 0.6})"));
    report.process.nodes = {{0, {0, 1}}, {3, {2}}};
    CHECK(function()["processors"][0]["node"] == 3);
    CHECK(function()["processors"][1]["node"] == 0);
    CHECK(function()["migrations"]["between_nodes"] ==
          Json::parse(R"({"calls": 2, "lost_ns": 1000.0, "share": 0.5})"));
    CHECK(parsed(report)["trace"]["nodes"] ==
          Json::parse(R"([{"node": 0, "processors": [0, 1]}, {"node": 3, "processors": [2]}])"));
}

TEST_CASE("what calls were compared with", "[json]") {
    score::Report report = analyze(contended_program());
    report.comparison = {.baseline = {.kind = score::Baseline::Kind::percentile, .fraction = 0.01},
                         .rules = {.keys = {"pthread_mutex_lock:mutex"}, .ignore = {"__lll_lock_wait"}},
                         .deep_keys = true,
                         .rules_file = "my\nrdam.toml"};
    CHECK(parsed(report)["trace"]["comparison"] == Json::parse(R"({
        "baseline": "p1", "keys": ["pthread_mutex_lock:mutex"], "no_keys": [], "split_by_context": [],
        "ignore": ["__lll_lock_wait"], "given_back_by": [], "woken_by": [], "deep_keys": true, "fold_loops": false, "rules_file": "my\nrdam.toml"})"));
}

}  // namespace rdam::test
