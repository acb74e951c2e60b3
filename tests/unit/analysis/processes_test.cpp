// Several traces at once, and two that are compared: what comes of their reports, and how it is printed.
// Expected outputs are the files in golden/ (tests/unit/analysis/golden.h).
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/output/comparison.h"
#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "analyzer/report/compare_reports.h"
#include "analyzer/report/merge_reports.h"
#include "analyzer/report/shared_settings.h"
#include "tests/unit/analysis/golden.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"

namespace rdam::test {
namespace {

constexpr std::uint32_t kSolve = 0, kSend = 1, kOnce = 2;

/// A process of a made-up run of 1 ms in which every tenth call of `solve` takes `extra` ns longer.
Recording process(std::uint32_t pid, const std::string& run, std::uint64_t extra) {
    Recording recording{3};
    trace::TraceInfo& info = recording.info;
    info.process.pid = pid;
    info.process.run = run;
    info.process.command = {"/opt/bin/solver", "-n", "2"};
    info.process.executable = "/opt/bin/solver";
    const char* names[] = {"solve", "send", "once"};
    for (std::size_t f = 0; f < 3; ++f) {
        info.functions[f].name = names[f];
        info.functions[f].module = f == kSend ? "libmpi.so" : "solver";
        info.functions[f].source = "solver.c:" + std::to_string(10 * f);
    }
    ThreadRecording& thread = recording.thread(1000, 1001000);
    std::uint64_t now = 1000;
    for (std::uint64_t i = 0; i < 100; ++i) {
        thread.call(now + 100, kSolve, 1000 + (i % 10 == 3 ? extra : 0)).call(now + 8000, kSend, 200 + i % 3);
        now += 9900;
    }
    return recording;
}

score::FunctionRow function(const std::string& name, double rdam, double low, double high) {
    score::FunctionRow row;
    row.name = name;
    row.module = "app";
    row.shown = row.name;
    row.rdam = rdam;
    row.rdam_low = low;
    row.rdam_high = high;
    row.rdam_all = rdam / 2;
    row.lost_ns = rdam * 1e6;
    row.occurrences = 1000;
    row.outermost = 1000;
    row.median_ns = 123.4;
    return row;
}

score::Report report_with(std::vector<score::FunctionRow> rows, const std::string& executable = "/bin/app") {
    score::Report report;
    report.process.executable = executable;
    report.process.command = {executable};
    report.process.clean_end = true;
    report.duration_ns = report.threads_ns = 1e6;
    report.functions = std::move(rows);
    return report;
}

struct Several {
    explicit Several(std::vector<score::Report> all) : reports(std::move(all)) {
        for (std::size_t i = 0; i < reports.size(); ++i)
            files.push_back("trace." + std::to_string(i) + ".bin");
    }

    output::Processes shown() const { return {overall, files, reports, unreadable, findings}; }
    std::string text(const output::TextOptions& options = {}) const {
        return output::processes_text(shown(), options);
    }
    std::string json(const output::JsonOptions& options = {}) const {
        output::ProcessesJson writer{options};
        const trace::TraceInfo nothing;
        output::TraceSymbols symbols{nothing};
        for (const score::Report& report : reports)
            writer.add({report}, symbols);
        return writer.finish(shown());
    }
    /// Of the next process: it lost most in its first function, or there is a verdict.
    void find(std::size_t process, bool found) {
        hints::Analysis analysis{reports[process]};
        if (found)
            analysis.findings.all.push_back({.row = 0, .called = 0, .losers = "a thread"});
        else
            analysis.findings.verdict = "nothing";
        const trace::TraceInfo nothing;
        output::TraceSymbols symbols{nothing};
        findings.add(analysis, symbols);
    }

    std::vector<score::Report> reports;
    std::vector<std::string> files;
    std::vector<output::UnreadableTrace> unreadable;
    output::SharedFindings findings;
    score::OverallReport overall = score::merge_reports(reports);
};

Several three_processes() {
    Recording third = process(300, "run-1", 0);
    third.info.process.clean_end = false;
    third.thread(1000, 1001000).call(2000, kOnce, 10);
    Several several{
        {analyze(process(100, "run-1", 20000)), analyze(process(200, "run-1", 5000)), analyze(third)}};
    several.unreadable.push_back({"trace.3.bin\x1b[2J", "trace.3.bin is not a trace"});
    return several;
}

}  // namespace

TEST_CASE("the tables of several processes", "[processes][golden]") {
    const Several several = three_processes();
    check_golden("processes.txt", several.text());
    const auto json = nlohmann::json::parse(several.json({.top = 2}));
    CHECK(json["overall"] == nlohmann::json::parse(R"({"processes": 3, "runs": 1, "threads_ns": 4000000.0,
        "unreadable": [{"file": "trace.3.bin\u001b[2J", "error": "trace.3.bin is not a trace"}]})"));
    REQUIRE(json["functions"].size() == 2);
    auto solve = json["functions"][0];
    REQUIRE(solve["processes"].size() == 3);
    CHECK(solve["processes"][1] == nlohmann::json::parse(R"({"process": 1, "pid": 200, "rdam": 0.05,
        "rdam_low": 0.020717593440429116, "rdam_high": 0.07928240655957088, "occurrences": 100,
        "median_ns": 1003.0, "lost_ns": 50000.0})"));
    solve.erase("processes");
    CHECK(solve == nlohmann::json::parse(R"({"name": "solve", "module": "solver", "file": "", "rdam": 0.2,
        "rdam_low": 0.08241762809121428, "rdam_high": 0.31758237190878574, "floor": 0.0, "rank": 1,
        "by_design": "", "rdam_all": 0.0625, "rdam_self": 0.0625, "occurrences": 300, "sampled": false,
        "lost_ns": 250000.0, "lower_bound": false, "minimum_alone": false, "affected_processes": 2})"));
    REQUIRE(json["processes"].size() == 3);
    CHECK(json["processes"][1]["file"] == "trace.1.bin");
    CHECK(json["processes"][1]["run"] == "run-1");
    CHECK(json["processes"][1]["functions"].size() == 2);
}

TEST_CASE("over all a score is the highest, lost time and occurrences are sums", "[processes]") {
    const Several several = three_processes();
    REQUIRE(several.overall.functions.size() == 3);
    CHECK(several.overall.runs == 1);
    const score::OverallFunction& solve = several.overall.functions[0];
    CHECK(solve.name == "solve");
    CHECK(solve.rdam == row(several.reports[0], "solve").rdam);
    CHECK(solve.rdam_low == row(several.reports[0], "solve").rdam_low);
    CHECK(solve.occurrences == 300);
    CHECK(solve.lost_ns == 10 * 20000 + 10 * 5000);
    CHECK(solve.rdam_all == Approx(250000 / 4e6));
    CHECK(solve.rdam_self == Approx(250000 / 4e6));
    REQUIRE(solve.processes.size() == 3);
    CHECK(solve.processes[0].process == 0);
    CHECK(solve.processes[1].process == 1);
    CHECK(solve.processes[1].rdam == row(several.reports[1], "solve").rdam);
}

TEST_CASE("a finding of several processes is told once, of the process that lost most by it", "[processes]") {
    Several several{{report_with({function("f", 0.3, 0.2, 0.4)}), report_with({function("g", 0.2, 0.2, 0.4)}),
                     report_with({function("f", 0.5, 0.4, 0.6)}),
                     report_with({function("f", 0.4, 0.3, 0.5)})}};
    CHECK(several.text().find("Findings") == std::string::npos);
    for (std::size_t i = 0; i < 4; ++i)
        several.find(i, true);
    const std::string text = several.text();
    CHECK_THAT(text,
               Catch::Contains("  1. f: a thread lost 500 µs, 50 % of its life") &&
                   Catch::Contains(
                       "     in #3, which lost most by it, and in 2 other processes: 1.20 ms in all\n") &&
                   Catch::Contains("  2. g: ") && Catch::Contains("     in #2 alone\n"));
    CHECK(text.find("f: a thread lost 400") == std::string::npos);
    CHECK(text.find("Findings") < text.find("process  "));
    const auto json = nlohmann::json::parse(several.json());
    CHECK(json["findings"] == nlohmann::json::parse(R"([{"process": 2, "finding": 0, "processes": [0, 2, 3],
        "lost_ns": 1200000.0}, {"process": 1, "finding": 0, "processes": [1], "lost_ns": 200000.0}])"));
    CHECK_FALSE(json.contains("verdict"));

    // A lock of another program is another lock.
    Several two{{report_with({function("f", 0.3, 0.2, 0.4)}),
                 report_with({function("f", 0.5, 0.4, 0.6)}, "/bin/other")}};
    two.find(0, true);
    two.find(1, true);
    CHECK_THAT(two.text(), Catch::Contains("  1. f: a thread lost 500 µs") &&
                               Catch::Contains("  2. f: a thread lost 300 µs"));

    Several calm{{report_with({function("f", 0.1, 0.1, 0.1)}), report_with({function("f", 0.1, 0.1, 0.1)})}};
    calm.find(0, false);
    calm.find(1, false);
    CHECK_THAT(
        calm.text(),
        Catch::Contains("  In none of 2 processes did a recorded function lose 20 % of a thread's life"));
    CHECK(nlohmann::json::parse(calm.json()).contains("verdict"));
}

TEST_CASE("before and after: how long, and a change of counts is not the same", "[processes]") {
    score::Report before = report_with({function("f", 0.3, 0.25, 0.35), function("g", 0.1, 0.1, 0.1)});
    score::Report after = report_with({function("f", 0.32, 0.28, 0.36), function("g", 0.1, 0.1, 0.1)});
    before.functions[0].occurrences = 161'668;
    after.functions[0].occurrences = 875;
    after.duration_ns = 5e5;
    const auto rows = score::compare_reports(before, after);
    const output::Diff diff{{"old.bin", before}, {"new.bin", after}, rows};
    const std::string text = output::diff_text(diff, {});
    CHECK_THAT(text, Catch::Contains("before: old.bin: ") && Catch::Contains("after: new.bin: ") &&
                         Catch::Contains("The run took 1.00 ms before and 500 µs after: 0.50 × as long.\n") &&
                         Catch::Contains("~ same, 0.0054 × the calls  f "));
    CHECK(text.find("The run took") == 0);
    // Calls say nothing of throughput.
    CHECK(text.find("second") == std::string::npos);
    const auto json = nlohmann::json::parse(output::diff_json(diff, 0))["diff"][0];
    CHECK(json["calls_factor"].get<double>() == Approx(875.0 / 161'668));
    CHECK(json["change_low"].get<double>() == Approx(0.02 - std::hypot(0.04, 0.05)));
    CHECK(json["change_high"].get<double>() == Approx(0.02 + std::hypot(0.04, 0.05)));
}

TEST_CASE("a process that lived less than 1 % of the longest of its run sets no score", "[processes]") {
    score::Report main = report_with({function("f", 0.1, 0.1, 0.1)});
    score::Report brief = report_with({function("f", 0.9, 0.8, 1.0)});
    brief.duration_ns = 0.009 * main.duration_ns;
    CHECK(score::merge_reports(std::vector{main, brief}).functions[0].rdam == 0.9);  // each its own run
    CHECK(score::merge_reports(std::vector{main, brief}).runs == 2);
    main.process.run = brief.process.run = "r";
    const score::OverallReport overall = score::merge_reports(std::vector{main, brief});
    CHECK(overall.functions[0].rdam == 0.1);
    CHECK(overall.functions[0].occurrences == 2000);
    CHECK(overall.short_lived == std::vector<bool>{false, true});
    CHECK(overall.runs == 1);
    CHECK(overall.runs_named);
    brief.duration_ns = 0.011 * main.duration_ns;
    CHECK(score::merge_reports(std::vector{main, brief}).functions[0].rdam == 0.9);
}

TEST_CASE("processes that set no score are shown on demand only", "[processes]") {
    std::vector<score::Report> reports(3, report_with({function("f", 0.1, 0.1, 0.1)}));
    for (std::uint32_t i = 0; i < reports.size(); ++i) {
        reports[i].process.pid = 100 + i;
        reports[i].process.run = "r";
    }
    reports[1].duration_ns /= 1000;
    reports[1].dropped = 7;
    const Several several{std::move(reports)};
    const std::string text = several.text();
    CHECK(text.find("3 processes of 1 run\n") == 0);
    CHECK(text.find("#2") == std::string::npos);
    CHECK(text.find("lost while recording") == std::string::npos);
    CHECK(text.find(" … 1 more, short-lived: it does not set the score (--top 0 shows all)\n") !=
          std::string::npos);
    const std::string all = several.text({.top = 0});
    CHECK(all.find(" #2  101  app ") != std::string::npos);
    CHECK(all.find("short-lived: does not set the score\n") != std::string::npos);
    CHECK(all.find("note: #2: 7 events were lost while recording") != std::string::npos);
    CHECK(all.find("--top 0 shows all") == std::string::npos);
}

TEST_CASE("a process goes by its title, or the name of its first thread, if it has one of its own",
          "[processes]") {
    std::vector<score::Report> reports(4, report_with({function("f", 0.1, 0.1, 0.1)}));
    for (std::uint32_t i = 0; i < reports.size(); ++i) {
        reports[i].process.pid = 100 + i;
        reports[i].threads.push_back({.tid = 100 + i, .name = "app"});
    }
    reports[1].process.title = "server: writer\x1b[2J";
    reports[2].threads[0].name = "collector";
    reports[3].threads[0].tid = 7;
    reports[3].threads[0].name = "worker";
    const std::string text = Several{std::move(reports)}.text();
    CHECK(text.find(" 100  app  ") != std::string::npos);
    CHECK(text.find(" 101  server: writer\\x1b[2J  ") != std::string::npos);
    CHECK(text.find(" 102  collector: app  ") != std::string::npos);
    CHECK(text.find(" 103  app  ") != std::string::npos);
}

TEST_CASE("what differs in its figures only is said once of all processes, added up", "[processes]") {
    std::vector<score::Report> reports(3, report_with({function("f", 0.1, 0.1, 0.1)}));
    for (score::Report& report : reports) {
        report.never_called = {"app:g", "app:h"};
        report.functions[0].sampled = report.functions[0].windowed = report.functions[0].counted = true;
    }
    reports[0].functions[0].windows_cover = 0.1;
    reports[1].functions[0].windows_cover = 0.2;
    reports[2].functions[0].windows_cover = 0.15;
    reports[1].functions.push_back(function("g", 0, 0, 0));
    reports[1].never_called = {"app:h"};
    reports[0].dropped = 3;
    reports[2].dropped = 4;
    reports[2].unwritten = 1;
    const std::string text = Several{std::move(reports)}.text();
    CHECK(text.find("note: #1, #3: 7 events were lost while recording") != std::string::npos);
    CHECK(text.find("note: #3: 1 event was started but never written") != std::string::npos);
    CHECK(text.find("note: all: 1 function was sampled in windows that cover 10 % to 20 % of the run: f. ") !=
          std::string::npos);
    CHECK(text.find("note: Never called, or not while they were recorded: app:h.\n") != std::string::npos);
    CHECK(text.find("app:g.") == std::string::npos);
}

TEST_CASE("what a short-lived process has called has been called", "[processes]") {
    std::vector<score::Report> reports(2, report_with({function("f", 0.1, 0.1, 0.1)}));
    for (score::Report& report : reports)
        report.process.run = "r";
    reports[0].never_called = {"app:g"};
    reports[1].duration_ns /= 1000;
    reports[1].functions.push_back(function("g", 0, 0, 0));
    CHECK(Several{std::move(reports)}.text().find("Never called") == std::string::npos);
}

TEST_CASE("of many processes the table shows those with the highest scores", "[processes]") {
    std::vector<score::Report> reports;
    for (int i = 0; i < 12; ++i) {
        const double rdam = i == 11 ? 0.9 : 0.01 * i;
        reports.push_back(report_with({function("f", rdam, rdam, rdam)}));
    }
    const std::string text = Several{std::move(reports)}.text();
    CHECK(text.find("Scores in the 8 highest-scoring processes (4 more: --json has them)") !=
          std::string::npos);
    CHECK(text.find("  #5     #6     #7     #8     #9    #10    #11    #12\n") != std::string::npos);
    CHECK(text.find("12 processes\n") == 0);  // nobody knows whether of one run
}

TEST_CASE("of a thousand processes there is a summary, and the extremes", "[processes]") {
    std::vector<score::Report> reports;
    for (int i = 0; i < 1000; ++i) {
        const double rdam = i == 500 ? 0.9 : 0;
        reports.push_back(
            report_with({function("f", rdam, rdam, rdam)}, i < 3 ? "/usr/bin/make" : "/usr/bin/cc1"));
        reports.back().duration_ns = 1e6 + i;
        reports.back().events = i == 600 ? 1000 : 10;
    }
    const Several several{std::move(reports)};
    const std::string text = several.text();
    CHECK(text.find("10,990 events; lives from 1.00 ms to 1.00 ms, median 1.00 ms\n"
                    "997 × cc1, 3 × make\n") != std::string::npos);
    CHECK(text.find(" … 987 more processes (--top 0 shows all)\n") != std::string::npos);
    for (const char* extreme : {" #501 ", " #601 ", " #1000 ", " #997 "})
        CHECK(text.find(extreme) != std::string::npos);
    CHECK(text.find(" #700 ") == std::string::npos);
    const std::string all = several.text({.top = 0});
    CHECK(all.find(" #700 ") != std::string::npos);
    CHECK(all.find("lives from") == std::string::npos);
}

TEST_CASE("the summary of many processes counts the short-lived ones, too", "[processes]") {
    std::vector<score::Report> reports;
    for (int i = 0; i < 30; ++i) {
        reports.push_back(report_with({function("f", 0.1, 0.1, 0.1)}, "/usr/bin/cc1"));
        reports.back().process.run = "r";
        reports.back().duration_ns = i < 2 ? 1e3 : 1e9;
        reports.back().events = 10;
    }
    const std::string text = Several{std::move(reports)}.text();
    CHECK(text.find("300 events; lives from 1.00 µs to 1.00 s, median 1.00 s\n"
                    "30 × cc1\n") != std::string::npos);
    CHECK(text.find(" … 2 more, short-lived: ") != std::string::npos);
}

TEST_CASE("many short-lived processes are summed up though few others are listed", "[processes]") {
    std::vector<score::Report> reports;
    for (int i = 0; i < 302; ++i) {
        reports.push_back(
            report_with({function("f", 0.1, 0.1, 0.1)}, i < 300 ? "/usr/bin/dd" : "/usr/bin/bash"));
        reports.back().process.run = "r";
        reports.back().duration_ns = i < 300 ? 1e3 : 1e9;
        reports.back().events = 10;
    }
    const std::string text = Several{reports}.text();
    CHECK(text.find("3,020 events; lives from 1.00 µs to 1.00 s, median 1.00 µs\n300 × dd, 2 × bash\n"
                    "The processes that set the scores:\n") != std::string::npos);
    reports.erase(reports.begin() + 5, reports.begin() + 300);
    CHECK(Several{std::move(reports)}.text().find("lives from") == std::string::npos);
}

TEST_CASE("waiting by design does not decide which of many processes are shown", "[processes]") {
    std::vector<score::Report> reports;
    for (int i = 0; i < 12; ++i) {
        const double waits = i < 8 ? 0.9 : 0.1, works = i < 8 ? 0.01 : 0.2;
        reports.push_back(
            report_with({function("f", works, works, works), function("w", waits, waits, waits)}));
        reports.back().functions[1].by_design = "for requests or answers";
    }
    const std::string text = Several{std::move(reports)}.text();
    CHECK(text.find("  #9    #10    #11    #12\n") != std::string::npos);
}

TEST_CASE("static functions of one name are told apart by their files", "[processes][diff]") {
    score::FunctionRow one = function("init", 0.3, 0.3, 0.3), other = function("init", 0.2, 0.2, 0.2);
    one.source = "one.c:12";
    other.source = "other.c:7";
    const score::Report a = report_with({one, other});
    one.source = "one.c:13";
    const score::Report b = report_with({other, one});
    const score::OverallReport overall = score::merge_reports(std::vector{a, b});
    REQUIRE(overall.functions.size() == 2);
    CHECK(overall.functions[0].file == "one.c");
    CHECK(overall.functions[0].occurrences == 2000);
    const auto rows = score::compare_reports(a, b);
    REQUIRE(rows.size() == 2);
    for (const score::DiffRow& row : rows)
        CHECK(row.change == 0);
}

TEST_CASE("what got better or worse", "[diff][golden]") {
    score::FunctionRow estimate = function("sampled", 0.05, 0.04, 0.06);
    estimate.sampled = estimate.lower_bound = true;
    score::Report a =
        report_with({function("healed", 0.4, 0.38, 0.42), function("noise", 0.2, 0.1, 0.3),
                     function("gone", 0.01, 0.01, 0.01), function("b\x1b[1m", 0.001, 0, 0.002), estimate});
    score::Report b = report_with({function("healed", 0.1, 0.08, 0.12), function("noise", 0.3, 0.25, 0.35),
                                   function("sampled", 0.25, 0.2, 0.3), function("new", 0.02, 0.02, 0.02)});
    a.never_called = {"app:new"};
    b.never_called = {"app:gone"};
    b.process.clean_end = false;
    const auto rows = score::compare_reports(a, b);
    const output::Diff diff{{"old.bin", a}, {"new.bin", b}, rows};
    check_golden("diff.txt", output::diff_text(diff, {}));
    const auto json = nlohmann::json::parse(output::diff_json(diff, 2));
    CHECK(json["a"]["file"] == "old.bin");
    CHECK(json["b"]["clean_end"] == false);
    REQUIRE(json["diff"].size() == 2);
    auto sampled = json["diff"][1];
    // The figures of each side have the keys of any function (json_test.cpp).
    sampled.merge_patch(nlohmann::json::parse(R"({"name": "sampled", "module": "app", "file": "",
        "verdict": "worse", "change": 0.2, "scored": true, "recorded_in_both": true,
        "a": {"rdam": 0.05, "rdam_low": 0.04, "rdam_high": 0.06, "rdam_all": 0.025, "occurrences": 1000,
              "median_ns": 123.4, "lost_ns": 50000.0, "sampled": true, "windowed": false,
              "lower_bound": true, "minimum_alone": false},
        "b": {"rdam": 0.25, "rdam_low": 0.2, "rdam_high": 0.3, "rdam_all": 0.125, "occurrences": 1000,
              "median_ns": 123.4, "lost_ns": 250000.0, "sampled": false, "windowed": false,
              "lower_bound": false, "minimum_alone": false}})"));
    CHECK(json["diff"][1] == sampled);
    CHECK(output::diff_text(diff, {.top = 2}).find("… 4 more (--top 0 shows all)") != std::string::npos);

    std::string verdicts;
    for (const score::DiffRow& row : rows)
        verdicts += row.name + " " + output::verdict_name(row.verdict) + ", ";
    CHECK(verdicts == "healed better, sampled worse, noise same, new only_b, gone only_a, b\x1b[1m only_a, ");
    CHECK(rows[4].recorded_in_both);
    CHECK_FALSE(rows[5].recorded_in_both);
    CHECK(rows[5].change == 0);
}

TEST_CASE("what was not recorded to the end is not compared", "[diff]") {
    const score::FunctionRow whole = function("f", 0.434, 0.4, 0.45);
    score::FunctionRow part = function("f", 0.008, 0.007, 0.009);
    part.switched_off_ns = 4.2e6;
    for (const bool first : {false, true}) {
        const score::Report a = report_with({first ? part : whole}), b = report_with({first ? whole : part});
        const auto rows = score::compare_reports(a, b);
        REQUIRE(rows.size() == 1);
        CHECK_FALSE(rows[0].scored);
        CHECK(rows[0].verdict == score::DiffVerdict::same);
        CHECK(rows[0].change == 0);
        CHECK(output::diff_text({{"a.bin", a}, {"b.bin", b}, rows}, {}).find("not scored") !=
              std::string::npos);
    }
}

TEST_CASE("the program itself may have another file name in the other recording", "[diff]") {
    score::FunctionRow old = function("f", 0.2, 0.2, 0.2), renamed = old, library = old;
    old.module = "app-1.0";
    renamed.module = "app-1.1";
    const auto rows =
        score::compare_reports(report_with({old}, "/x/app-1.0"), report_with({renamed}, "/y/app-1.1"));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].verdict == score::DiffVerdict::same);
    library.module = "lib.so.2";
    CHECK(score::compare_reports(report_with({old}, "/x/app-1.0"), report_with({library}, "/y/app-1.1"))
              .size() == 2);
    score::Report without = report_with({}, "/y/app-1.1");
    CHECK_FALSE(score::compare_reports(report_with({old}, "/x/app-1.0"), without)[0].recorded_in_both);
    without.never_called = {"app-1.1:f"};
    CHECK(score::compare_reports(report_with({old}, "/x/app-1.0"), without)[0].recorded_in_both);
}

TEST_CASE("names that one of several traces lacks are left out there", "[processes]") {
    Recording first{2}, second{3};
    first.thread(0, 10);
    second.thread(0, 10);
    second.info.threads[0].tid = 77;
    score::Settings settings{.given = {.ignore = {"a", "c"}}};
    settings.selection.threads = {"77"};
    settings.selection.functions = {"c", "b"};
    score::SharedSettings shared{settings};
    shared.look_at(first.info);
    CHECK(shared.all_found().error().message == "c: the trace has no such function; similar: a, b");
    shared.look_at(second.info);
    CHECK(shared.all_found());
    CHECK(shared.for_trace(first.info).given.ignore == std::vector<std::string>{"a"});
    CHECK(shared.for_trace(second.info).given.ignore == std::vector<std::string>{"a", "c"});
    CHECK(analyze(first, shared.for_trace(first.info)).threads.empty());
    CHECK(analyze(second, shared.for_trace(second.info)).threads.size() == 1);
}

}  // namespace rdam::test
