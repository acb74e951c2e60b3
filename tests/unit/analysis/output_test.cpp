// What people and programs read. Expected outputs are the files in golden/ (tests/unit/analysis/golden.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "analyzer/output/json/json.h"
#include "analyzer/output/symbols.h"
#include "analyzer/output/text/text.h"
#include "analyzer/output/units.h"
#include "analyzer/output/wording/comparison.h"
#include "analyzer/output/wording/notes.h"
#include "tests/unit/analysis/golden.h"
#include "tests/unit/analysis/recording.h"
#include "tests/unit/catch.h"
#include "wrappers/plan/planner.h"

namespace rdam::test {
namespace {

constexpr std::uint32_t kWorker = 0, kLock = 1, kWait = 2;

/// A made-up program with sources: 0x1000 lies in worker, 0x2000 in a function that was inlined into main.
class MadeUpSymbols : public output::Symbols {
  public:
    std::vector<output::StackFrame> frames(std::uint64_t address) override {
        if (address == 0x1000) {
            return {{.function = "worker", .file = "app.c", .line = 42, .module = "app", .offset = 0x1000}};
        }
        if (address == 0x2000) {
            return {{.function = "start", .file = "app.c", .line = 7, .inlined = true, .module = "app"},
                    {.function = "main", .file = "app.c", .line = 12, .module = "app"}};
        }
        return {{.module = "libc.so.6", .offset = address}};
    }
};

void contend(ThreadRecording& thread, std::uint64_t number) {
    std::uint64_t now = 1000;
    for (std::uint64_t i = 0; i < 100; ++i) {
        const std::uint64_t mutex = i % 2 == 0 ? 0x7f00 : 0x7f80;
        const std::uint64_t waited = number == 1 && i % 10 == 0 ? 20000 + i * 100 : 0;
        thread.enter(now + 100, kWorker, {0}, 0x2000)
            .enter(now + 500, kLock, {mutex}, 0x1000, i == 0 ? 1 : 0);
        now += 540;
        if (waited > 0) thread.enter(now, kWait, {mutex}, 0x4000).leave(now + waited, kWait);
        now += waited + 60 + i % 7;
        thread.leave(now, kLock);
        now += 300 + (number + 1) * i;
        thread.leave(now, kWorker);
    }
}

/// Two threads that take a lock; the second one waits for it now and then.
Recording contended_program() {
    Recording recording{3, 1};
    trace::TraceInfo& info = recording.info;
    info.process.command = {"./app", "-t", "2", "two words"};
    info.process.rdam_version = "0.1.0";
    info.clock.probe_ticks = 40;
    info.clock.probe_inner_ticks = 20;
    const char* names[] = {"worker", "pthread_mutex_lock", "__lll_lock_wait"};
    for (std::size_t f = 0; f < 3; ++f)
        info.functions[f].name = names[f];
    info.functions[kLock].module = info.functions[kWait].module = "libc.so.6";
    trace::ParameterInfo& mutex = info.functions[kLock].parameters[0];
    mutex.name = "mutex";
    mutex.kind = static_cast<std::uint8_t>(ValueKind::pointer);
    mutex.key = true;
    info.stacks = {{.function = kLock, .caller = 0x1000, .frames = {0x1000, 0x2000, 0x3000}}};
    for (std::uint64_t t = 0; t < 2; ++t)
        contend(recording.thread(1000, 1001000), t);
    return recording;
}

/// With a budget for overhead: `parse` is called often and soon sampled, and calls `next_token`; `log` is
/// rare; `recover` may have been called where nobody looked.
Recording program_with_budget(std::uint8_t rate, std::uint64_t switched_off) {
    constexpr std::uint32_t kParse = 0, kToken = 1, kLog = 2;
    Recording recording{4};
    trace::TraceInfo& info = recording.info;
    info.process.max_overhead = 0.1;
    info.clock.probe_ticks = 40;
    info.clock.probe_inner_ticks = 20;
    const char* names[] = {"parse", "next_token", "log", "recover"};
    for (std::size_t f = 0; f < 4; ++f)
        info.functions[f].name = names[f];
    info.functions[kToken].switched_off = switched_off;
    for (std::uint64_t number = 0; number < 2; ++number) {
        ThreadRecording& thread = recording.thread(1000, 1001000);
        std::uint64_t now = 1000;
        for (std::uint64_t i = 0; i < 100; ++i) {
            const bool late = i >= 60;
            thread.tree(late ? rate : std::uint8_t{0}).enter(now, kParse, {}, 0x2000);
            const std::uint64_t disturbed = i % 9 == number ? 3000 : i % 5;
            if (switched_off == 0 || now < switched_off) thread.call(now + 100, kToken, 200 + disturbed);
            now += 500 + disturbed;
            thread.leave(now, kParse);
            now += late ? (std::uint64_t{500} << rate) : 500;
            if (i % 50 == 0) thread.tree(0).call(now, kLog, 400 + i);
            now += 500;
        }
    }
    return recording;
}

/// `step` is called from six places; at one of them it is disturbed, at another a little.
Recording program_with_callers() {
    constexpr std::uint64_t kPlaces[] = {0x1000, 0x2000, 0x4000, 0x5000, 0x6000, 0x7000};
    Recording recording{1};
    recording.info.functions[0].name = "step";
    recording.info.stacks = {{.function = 0, .caller = 0x1000, .frames = {0x1000, 0x2000}},
                             {.function = 0, .caller = 0x1000, .frames = {0x1000, 0x3000}, .truncated = true},
                             {.function = 0, .caller = 0x2000, .frames = {0x2000, 0x3000}}};
    ThreadRecording& thread = recording.thread(1000, 1001000);
    std::uint64_t now = 1000;
    for (std::uint64_t i = 0; i < 240; ++i) {
        const std::uint64_t place = i % 6;
        const std::uint32_t stack = i % 60 == 0 ? 1 + (i == 60) : i == 1 ? 3 : 0;
        const std::uint64_t disturbed = place == 0 ? 900 + i : place == 2 ? 100 : place == 3 ? 5 : 0;
        thread.enter(now, 0, {}, kPlaces[place], stack).leave(now + 200 + disturbed, 0);
        now += 3000;
    }
    return recording;
}

/// Everything that can go wrong, and names that mean harm.
Recording troubled_program() {
    Recording recording{3};
    trace::TraceInfo& info = recording.info;
    info.process.command = {"./evil\x1b[2J", "\xff\xfe"};
    info.process.clean_end = false;
    info.dropped = 1234;
    info.functions[0].name = "a\x1b]0;title\x07";
    info.functions[1].name = "b\u202egnp.exe";
    info.functions[1].module = "lib\xff.so";
    info.answers.resize(3);
    info.answers[0].entry = "nosuch";
    info.answers[0].verdict = static_cast<std::uint8_t>(ListVerdict::not_found);
    info.answers[0].reason = "nearest: no_such\r\n";
    info.answers[1].entry = "memcpy";
    info.answers[1].verdict = static_cast<std::uint8_t>(ListVerdict::refused);
    info.answers[1].function = "libc.so.6:memcpy";
    info.answers[1].reason = "shorter than the patch";
    info.answers[2].entry = "a";
    info.answers[2].verdict = static_cast<std::uint8_t>(ListVerdict::wrapped);
    info.remarks = {"Remark \x1b[31mof the recorder."};
    ThreadRecording& thread = recording.thread(1000, 0);
    info.threads[0].name = "\x9bthread";
    info.threads[0].unwritten = 1;
    thread.leave(1000, 1).enter(1010, 0).enter(1020, 1).leave(1100, 0);
    thread.enter(1200, 0, {}, 0x1b).leave(1190, 0).enter(1300, 1).gap().enter(1400, 1);
    thread.pause(1500, 1400).tail_enter(1510, 0);
    return recording;
}

std::string text_of(const score::Report& report, const output::TextOptions& options = {}) {
    MadeUpSymbols symbols;
    return output::to_text(report, symbols, options);
}

std::string json_of(const score::Report& report, const output::JsonOptions& options = {}) {
    MadeUpSymbols symbols;
    return output::to_json(report, symbols, options);
}

}  // namespace

TEST_CASE("the table of a contended program", "[output][golden]") {
    const score::Report report = analyze(contended_program());
    check_golden("contended.txt", text_of(report));
    check_golden("contended-all.txt", text_of(report, {.threads = true, .sequences = true}));
    check_golden("contended-folded.txt",
                 text_of(analyze(contended_program(), {.sequences = {.deep_keys = true}}),
                         {.top = 1, .sequences = true}));
    check_golden("contended.json", json_of(report));
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
    CHECK(json_of(report).find("\"bars\": [") != std::string::npos);
    CHECK(json_of(analyze(contended_program())).find("\"bars\"") == std::string::npos);
}

TEST_CASE("patterns stand behind the functions, with their reservations", "[output][golden]") {
    score::Settings settings;
    settings.patterns = true;
    const score::Report report = analyze(contended_program(), settings);
    check_golden("patterns.txt", text_of(report));
    check_golden("patterns.json", json_of(report));
}

TEST_CASE("callers stand by what they carry, each with its stacks", "[output][golden]") {
    const score::Report report = analyze(program_with_callers());
    check_golden("callers.txt", text_of(report));
    check_golden("callers.json", json_of(report));
}

TEST_CASE("what went wrong is said in plain words", "[output][golden]") {
    score::Report report = analyze(troubled_program());
    report.damage = {
        .bad_header = true, .no_index = true, .bad_chunks = 1, .missing_chunks = 2, .skipped_bytes = 77};
    check_golden("troubled.txt", text_of(report, {.threads = true}));
    check_golden("troubled.json", json_of(report));
}

TEST_CASE("what a budget for overhead left out is said", "[output][golden]") {
    const score::Report sampled = analyze(program_with_budget(3, 0));
    check_golden("sampled.txt", text_of(sampled, {.threads = true, .sequences = true}));
    check_golden("sampled.json", json_of(sampled));
    const score::Report switched_off = analyze(program_with_budget(0, 50000));
    check_golden("switched-off.txt", text_of(switched_off));
    check_golden("switched-off.json", json_of(switched_off));
    check_golden("sampled-switched-off.txt", text_of(analyze(program_with_budget(3, 50000))));
}

TEST_CASE("a program that called nothing", "[output][golden]") {
    Recording recording{2};
    recording.thread(1000, 2000);
    check_golden("nothing.txt", text_of(analyze(recording)));
    check_golden("nothing.json", json_of(analyze(recording)));
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
    CHECK(nlohmann::json::parse(json_of(report))["trace"]["comparison"] == nlohmann::json::parse(R"({
        "baseline": "p1", "keys": ["pthread_mutex_lock:mutex"], "no_keys": [], "split_by_context": [],
        "ignore": ["__lll_lock_wait"], "deep_keys": true, "fold_loops": false, "rules_file": "my\nrdam.toml"})"));
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

TEST_CASE("JSON says where a function's calls ran", "[output]") {
    score::Report report = analyze(contended_program());
    const auto function = [&] { return nlohmann::json::parse(json_of(report))["functions"][0]; };
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
    CHECK(function()["processors"] == nlohmann::json::parse(R"([
        {"processor": 2, "calls": 2, "lost_ns": 1000.0, "share": 0.5},
        {"processor": 1, "calls": 10, "lost_ns": 600.0, "share": 0.3}])"));
    CHECK(function()["migrations"] ==
          nlohmann::json::parse(R"({"calls": 4, "lost_ns": 1200.0, "share": 0.6})"));
    report.process.nodes = {{0, {0, 1}}, {3, {2}}};
    CHECK(function()["processors"][0]["node"] == 3);
    CHECK(function()["processors"][1]["node"] == 0);
    CHECK(function()["migrations"]["between_nodes"] ==
          nlohmann::json::parse(R"({"calls": 2, "lost_ns": 1000.0, "share": 0.5})"));
    CHECK(nlohmann::json::parse(json_of(report))["trace"]["nodes"] ==
          nlohmann::json::parse(R"([{"node": 0, "processors": [0, 1]}, {"node": 3, "processors": [2]}])"));
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
    report.functions[0].hints.push_back({.kind = score::HintKind::no_parameter, .text = "nothing"});
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
    score::Report report = analyze(contended_program());
    report.functions[0].sequences[0].hints = {{.kind = score::HintKind::phase, .text = "it was the moon"}};
    const std::string text = text_of(report, {.sequences = true});
    CHECK(text.find(": possible causes\n    it was the moon\n") != std::string::npos);
    CHECK(text_of(report, {}).find("the moon") == std::string::npos);
}

TEST_CASE("a hint has a long name of C++ as its line has room for", "[output]") {
    score::Report report = analyze(contended_program());
    const std::string name = "run<" + std::string(3000, 'x') + ">()";
    report.functions[0].name = name;
    report.functions[0].hints = {
        {.kind = score::HintKind::concurrent, .text = "another thread is inside app:" + name + " then"}};
    const std::string text = text_of(report, {});
    CHECK(text.find(name) == std::string::npos);
    CHECK(text.find("another thread is inside app:run<…>() then\n") != std::string::npos);
}

TEST_CASE("JSON has the keys of the contract and finite numbers only", "[output]") {
    score::Report report = analyze(contended_program());
    report.functions[0].rdam = std::numeric_limits<double>::quiet_NaN();
    report.functions[0].min_ns = std::numeric_limits<double>::infinity();
    const std::string text = json_of(report);
    CHECK(text.find("NaN") == std::string::npos);
    CHECK(text.find("null") == std::string::npos);
    const auto json = nlohmann::json::parse(text);
    const auto has = [](const nlohmann::json& object, std::initializer_list<const char*> keys) {
        for (const char* key : keys) {
            INFO(key);
            CHECK(object.contains(key));
        }
    };
    has(json, {"trace", "threads", "functions"});
    has(json["trace"], {"command", "duration_ns", "events", "dropped", "probe_cost_ns", "perturbation"});
    has(json["threads"][0], {"tid", "name", "duration_ns", "events"});
    const auto& function = json["functions"][0];
    has(function,
        {"name", "module", "rdam", "rdam_all", "rdam_self", "rdam_flat", "occurrences", "min_ns", "median_ns",
         "p99_ns", "max_ns", "lost_ns", "lower_bound", "threads", "sequences", "stacks", "hints"});
    has(function["threads"][0], {"tid", "rdam", "occurrences", "lost_ns"});
    CHECK_FALSE(json.contains("patterns"));
    has(function["sequences"][0], {"id", "name", "rdam", "occurrences", "min_ns", "lost_ns"});
    for (const auto& each : json["functions"]) {
        for (const auto& stack : each["stacks"])
            has(stack, {"count", "frames"});
    }
}

TEST_CASE("only the top functions are shown when asked for", "[output]") {
    const score::Report report = analyze(contended_program());
    REQUIRE(report.functions.size() == 3);
    CHECK(nlohmann::json::parse(json_of(report, {.top = 2}))["functions"].size() == 2);
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
