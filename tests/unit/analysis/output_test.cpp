// What people and programs read. Expected outputs are the files in golden/ (tests/unit/analysis/golden.h).
#include <algorithm>
#include <cmath>

#include "analyzer/output/comparison.h"
#include "analyzer/output/fields.h"
#include "analyzer/output/lives.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/symbols.h"
#include "analyzer/output/table.h"
#include "analyzer/output/text.h"
#include "tests/unit/analysis/golden.h"
#include "tests/unit/analysis/programs.h"
#include "tests/unit/catch.h"
#include "tools/base/printable.h"
#include "tools/base/units.h"

namespace rdam::test {

TEST_CASE("the table of a contended program", "[output][golden]") {
    const score::Report report = analyze(contended_program());
    check_golden("contended.txt", text_of(report));
    check_golden("contended-all.txt", text_of(report, {.threads = true, .sequences = true}));
    check_golden("contended-folded.txt",
                 text_of(analyze(contended_program(), {.sequences = {.deep_keys = true}}),
                         {.top = 1, .sequences = true}));
}

TEST_CASE("durations as histograms", "[output][golden]") {
    const score::Report report = analyze(contended_program(), {.bars = 10});
    for (const score::FunctionRow& row : report.functions) {
        CAPTURE(row.name);
        std::uint64_t calls = 0;
        for (const score::Bar& bar : row.bars)
            calls += bar.calls;
        CHECK(calls == row.outermost);
    }
    check_golden("contended-histogram.txt", text_of(report, {.histogram = true, .width = 130}));
}

TEST_CASE("patterns stand behind the functions, with their reservations", "[output][golden]") {
    score::Settings settings;
    settings.patterns = true;
    check_golden("patterns.txt", text_of(analyze(contended_program(), settings)));
}

TEST_CASE("callers stand by what they carry, each with its stacks", "[output][golden]") {
    check_golden("callers.txt", text_of(analyze(program_with_callers())));
}

TEST_CASE("a call that cannot be told from nothing is said to be so short", "[output]") {
    score::Scored row;
    CHECK(output::call_time_text(row, 0) == "0 ns");
    row.resolution_ns = 10.014;
    CHECK(output::call_time_text(row, 0) == "<10 ns");
    CHECK(output::call_time_text(row, 10.01) == "<10 ns");
    CHECK(output::call_time_text(row, 10.02) == "10.0 ns");
    row.resolution_ns = 1000;
    CHECK(output::call_time_text(row, 999) == "<1 µs");
    row.resolution_ns = 2.5;
    CHECK(output::call_time_text(row, 1) == "<2.50 ns");
}

TEST_CASE("what threads did with their lives is said where all of it is known", "[output]") {
    score::Report report = analyze(contended_program());
    report.duration_ns = 1000;
    report.threads = {{.tid = 1, .name = "one", .duration_ns = 1000},
                      {.tid = 2, .name = "two", .duration_ns = 1000}};
    report.threads[0].off_cpu = score::OffCpuRow{
        .blocked_ns = 500, .preempted_ns = 100, .recorder_ns = 50, .crowded_ns = 150, .switches = 4};
    report.threads[1].off_cpu.emplace();
    CHECK(output::thread_states(report).empty());
    report.switches.state = trace::SwitchInfo::State::recorded;
    const std::string said =
        "1.20 threads ran at a time on average; of their lives, threads ran for 60 %, waited for 25 % and "
        "were "
        "preempted for 15 %, by others for 5.0 %";
    CHECK(output::thread_states(report) == said);
    const std::string text = text_of(report, {.threads = true});
    CHECK(text.find("\n" + said + "\n") != std::string::npos);
    CHECK(text.find(
              "running  waiting  preempted  by others  by program  by recorder  events\n"
              "       1  one   1.00 µs     20 %     50 %       30 %       10 %        15 %        5.0 %") !=
          std::string::npos);
    report.left_out.threads = 1;
    CHECK(output::thread_states(report).empty());
    report.left_out.threads = 0;
    report.threads[0].off_cpu.reset();
    CHECK(output::thread_states(report).empty());
}

TEST_CASE("what went wrong is said in plain words", "[output][golden]") {
    score::Report report = analyze(troubled_program());
    report.damage = {
        .bad_header = true, .no_index = true, .bad_chunks = 1, .missing_chunks = 2, .skipped_bytes = 77};
    check_golden("troubled.txt", text_of(report, {.threads = true}));
}

TEST_CASE("what a budget for overhead left out is said", "[output][golden]") {
    const score::Report sampled = analyze(program_with_budget(3, 0));
    check_golden("sampled.txt", text_of(sampled, {.threads = true, .sequences = true}));
    check_golden("switched-off.txt", text_of(analyze(program_with_budget(0, 50000))));
    check_golden("sampled-switched-off.txt", text_of(analyze(program_with_budget(3, 50000))));
}

TEST_CASE("a program that called nothing", "[output][golden]") {
    Recording recording{2};
    recording.thread(1000, 2000);
    check_golden("nothing.txt", text_of(analyze(recording)));
}

TEST_CASE("with what calls were compared is said if it is not the usual", "[output]") {
    const auto plain = text_of(analyze(contended_program()));
    CHECK(plain.find("took longer than the fastest of their thread; look at") != std::string::npos);
    CHECK(plain.find("compared with") == std::string::npos);
    const score::Settings settings{
        .sequences = {.deep_keys = true},
        .rules = {.keys = {"elsewhere:*"}, .no_keys = {"pthread_mutex_lock:mutex"}, .ignore = {"elsewhere"}},
        .given = {.keys = {"pthread_mutex_lock:mutex"}, .ignore = {"__lll_lock_wait"}},
        .baseline = {.kind = score::Baseline::Kind::percentile, .fraction = 0.01},
        .rules_file = "my\nrdam.toml"};
    const score::Report report = analyze(contended_program(), settings);
    const std::string text = text_of(report);
    CHECK(text.find("\ncalls compared with percentile 1 of their thread; rules: my\\nrdam.toml; keys: "
                    "pthread_mutex_lock:mutex; ignored: __lll_lock_wait; deep keys\n") != std::string::npos);
    CHECK(text.find("took longer than percentile 1 of their thread; look at") != std::string::npos);
}

TEST_CASE("long lists of rules are cut short in a line, and several traces' are joined", "[output]") {
    score::Report a, b;
    a.comparison.rules.ignore = {"a", "b", "c"};
    b.comparison.rules.ignore = {"b", "d", "e", "f", "g", "h"};
    const score::Report* const both[] = {&a, &b};
    CHECK(output::settings_line(both) == "ignored: a, b, c, d, e and 3 more");
    CHECK(output::settings_line({}).empty());
}

TEST_CASE("nothing from a trace reaches the terminal as a control character", "[output]") {
    for (const bool color : {false, true}) {
        const std::string text =
            text_of(analyze(troubled_program()), {.threads = true, .sequences = true, .color = color});
        std::size_t escapes = 0;
        for (const char c : text) {
            const auto byte = static_cast<unsigned char>(c);
            if (byte == 0x1b) ++escapes;
            CHECK((byte >= 0x20 || byte == '\n' || byte == 0x1b));
        }
        CHECK((color ? escapes > 0 : escapes == 0));
        CHECK(text.find("\x1b[2J") == std::string::npos);
        CHECK(text.find("\x1b]") == std::string::npos);
        CHECK(text.find("\u202e") == std::string::npos);
    }
}

TEST_CASE("what left calls without an end is told as it may be with their recorder", "[output]") {
    score::Report report = analyze(contended_program());
    report.counts.abandoned_by_jump = 3;
    const auto told = [&] {
        const auto notes = output::notes(report);
        const auto found = std::ranges::find_if(
            notes, [](const std::string& note) { return note.find("longjmp") != std::string::npos; });
        return found == notes.end() ? std::string{} : *found;
    };
    CHECK(told() == "3 calls were left without a recorded end (longjmp, lost events): counted, not scored.");
    report.process.recorder = "EZTrace 2.0";
    CHECK(
        told() ==
        "3 calls have no end in the trace before that of the call around (overlapping states, longjmp, lost "
        "events): counted, not scored.");
}

TEST_CASE("Hints without context switches say so, once", "[output]") {
    using State = trace::SwitchInfo::State;
    score::Report report = analyze(contended_program());
    const auto told = [&](State state, const std::string& reason = {}) {
        report.switches = {.state = state, .reason = reason};
        std::string found;
        for (const std::string& note : output::notes(report))
            if (note.starts_with("Context switches")) found += note;
        return found;
    };
    CHECK(told(State::off).empty());
    report.functions[0].sample.calls.resize(score::kMinCalls);
    report.functions[0].sample.calls[0].lost_ns = 1;
    CHECK(told(State::recorded).empty());
    CHECK(told(State::off) ==
          "Context switches were not recorded (--switches off): waiting and preemption cannot be "
          "distinguished from slow work.");
    CHECK(
        told(State::not_told) ==
        "Context switches were not recorded: waiting and preemption cannot be distinguished from slow work.");
    CHECK_THAT(told(State::unavailable, "no such event"),
               Catch::StartsWith("Context switches were not recorded (no such event): "));
    report.switches_until_ns = 2e9;
    CHECK_THAT(
        told(State::stopped, "too many"),
        Catch::StartsWith("Context switches were recorded only up to 2.00 s (too many): after that, "));
}

TEST_CASE("what a sequence may be stands behind the sequences", "[output]") {
    const score::Report report = analyze(contended_program());
    const hints::Hints moon = {{.kind = hints::HintKind::phase, .text = "it was the moon"}};
    const std::string text = text_of(report, {.sequences = true}, {{.sequences = {moon}}});
    CHECK(text.find(": possible causes\n    it was the moon\n") != std::string::npos);
    CHECK(text_of(report, {}, {{.sequences = {moon}}}).find("the moon") == std::string::npos);
}

TEST_CASE("a hint has a long name of C++ as its line has room for", "[output]") {
    score::Report report = analyze(contended_program());
    const std::string name = "run<" + std::string(3000, 'x') + ">()";
    report.functions[0].name = name;
    const hints::Hint hint = {.kind = hints::HintKind::concurrent,
                              .text = "another thread is inside app:" + name + " then"};
    const std::string text = text_of(report, {}, {{.hints = {hint}}});
    CHECK(text.find(name) == std::string::npos);
    CHECK(text.find("another thread is inside app:run<…>() then\n") != std::string::npos);
}

TEST_CASE("words are broken between lines as wide as the terminal, names as wide as it leaves room",
          "[output]") {
    const std::string words = "one two three four five six seven eight nine ten";
    CHECK(output::paragraph(words, 0, "  ") == std::vector<std::string>{"  " + words});
    CHECK(output::paragraph(words, 40, "1. ") ==
          std::vector<std::string>{"1. one two three four five six seven", "   eight nine ten"});
    CHECK(output::paragraph("", 40) == std::vector<std::string>{""});
    output::Table table{{{.title = "n"}, {.title = "name", .left = true, .widest = 30}}};
    table.add({"1", std::string(50, 'a')});
    CHECK(table.lines(0, 80)[1] == "1  " + std::string(50, 'a'));
    CHECK(display_width(table.lines(0, 40)[1]) == 40);
    CHECK(display_width(table.lines()[1]) == 33);
}

TEST_CASE("only the top functions are shown when asked for", "[output]") {
    const score::Report report = analyze(contended_program());
    REQUIRE(report.functions.size() == 3);
    CHECK(text_of(report, {.top = 2}).find("… 1 more (--top 0 shows all)") != std::string::npos);
    CHECK(text_of(report, {.top = 0}).find("more (--top") == std::string::npos);
}

TEST_CASE("functions come by score, then lost time, then name", "[output]") {
    Recording recording{4};
    ThreadRecording& thread = recording.thread(1000, 2000);
    thread.call(1000, 3, 10)
        .call(1100, 2, 10)
        .call(1200, 2, 20)
        .call(1300, 1, 10)
        .call(1400, 1, 20)
        .call(1500, 0, 5);
    std::string order;
    for (const score::FunctionRow& function : analyze(recording).functions)
        order += function.name;
    CHECK(order == "bcad");
}

TEST_CASE("numbers as people read them", "[output]") {
    CHECK(output::human_time(0) == "0 ns");
    CHECK(output::human_time(41.26) == "41.3 ns");
    CHECK(output::human_time(0.4) == "0.40 ns");
    CHECK(output::human_time(999.6) == "1.00 µs");
    CHECK(output::human_time(1234) == "1.23 µs");
    CHECK(output::human_time(12.34e6) == "12.3 ms");
    CHECK(output::human_time(5e12) == "5000 s");
    CHECK(output::human_time(std::nan("")) == "?");
    CHECK(output::human_time(596.5) == "597 ns");
    CHECK(output::human_time(12.25) == "12.3 ns");
    CHECK(output::human_time(1.125) == "1.13 ns");
    CHECK(output::human_time(596.4996) == "597 ns");  // as from the 596.5 in JSON and on the page
    CHECK(output::human_time(0.0004) == "0 ns");
    CHECK(output::score_text(0.0625) == "0.063");
    CHECK(output::interval_text(0.3125, 0.8125) == "0.313–0.813");
    CHECK(output::grouped(0) == "0");
    CHECK(output::grouped(999) == "999");
    CHECK(output::grouped(1000) == "1,000");
    CHECK(output::grouped(1234567) == "1,234,567");
    CHECK(output::human_count(999) == "999");
    CHECK(output::human_count(12345678) == "12.3 M");
    CHECK(output::percent(0.013) == "1.3 %");
    CHECK(output::percent(0.0005) == "0.05 %");
    CHECK(output::percent(0.3) == "30 %");
    CHECK(output::percent(0) == "0.0 %");
    CHECK(output::counted(1, "call", "calls") == "1 call");
    CHECK(output::counted(2, "call", "calls") == "2 calls");
}

TEST_CASE("a command line can be typed again", "[output]") {
    CHECK(output::command_text({"./app", "a b", "it's", "", "x=1"}) == "./app 'a b' 'it'\\''s' '' x=1");
}

TEST_CASE("a frame says what is known of it", "[output]") {
    CHECK(output::frame_text({.function = "f", .file = "a.c", .line = 3}) == "f at a.c:3");
    CHECK(output::frame_text({.function = "f", .file = "a.c", .line = 3, .inlined = true}) ==
          "f at a.c:3 (inlined)");
    CHECK(output::frame_text({.function = "f", .file = "a.c"}) == "f at a.c");
    CHECK(output::frame_text({.function = "f", .module = "m", .offset = 0x1139}) == "f (m+0x1139)");
    CHECK(output::frame_text({.module = "m", .offset = 0x1139}) == "m+0x1139");
    CHECK(output::frame_text({.offset = 0x1139}) == "0x1139");
}

TEST_CASE("without the program's files frames are modules and offsets", "[output]") {
    trace::TraceInfo info;
    info.objects = {{.path = "/nonexistent/app", .build_id = {}, .base = 0x10000, .end = 0x20000}};
    trace::FunctionInfo function;
    function.name = "known";
    function.address = 0x100;
    function.size = 0x20;
    info.functions = {function};
    const auto symbols = output::make_symbols(info);
    const auto shown = [&](std::uint64_t address) {
        return output::frame_text(symbols->frames(address).front());
    };
    CHECK(shown(0x10110) == "known (app+0x110)");
    CHECK(shown(0x10120) == "known (app+0x120)");  // the call is the function's last instruction
    CHECK(shown(0x10121) == "app+0x121");
    CHECK(shown(0x500) == "0x500");
    CHECK(shown(0) == "0x0");
}

TEST_CASE("a file that is not the one that ran is said, once", "[output]") {
    trace::TraceInfo info;
    info.objects = {
        {.path = "/proc/self/exe", .build_id = "0123", .base = 0x10000, .end = 0x20000},
        {.path = "/nonexistent/lib.so", .build_id = {}, .base = 0x20000, .end = 0x30000},
        {.path = "[vdso]", .build_id = {}, .base = 0x30000, .end = 0x40000},
        {.path = "/nonexistent/never_asked_for.so", .build_id = {}, .base = 0x40000, .end = 0x50000}};
    const auto symbols = output::make_symbols(info);
    CHECK(symbols->remarks().empty());
    for (const std::uint64_t address : {0x10110, 0x10120, 0x20110, 0x20120, 0x30110, 0x60000})
        CHECK(symbols->frames(address).front().function.empty());
    const std::vector<std::string> remarks = symbols->remarks();
    REQUIRE(remarks.size() == 2);
    CHECK(remarks[0].starts_with("/proc/self/exe: is not the file that was recorded (build-id "));
    CHECK(remarks[1].starts_with("/nonexistent/lib.so: cannot be opened: "));
}

}  // namespace rdam::test
