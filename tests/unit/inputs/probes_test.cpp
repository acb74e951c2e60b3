// The lines are as perf 6.1, trace-cmd 3.1 and the kernel 6.18 print them.
#include "analyzer/inputs/probes/probes.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/inputs/probes/event_line.h"
#include "analyzer/inputs/probes/survey.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/inputs/read_back.h"
#include "tests/unit/inputs/text_file.h"

using namespace rdam;
using namespace rdam::inputs::probes;
using rdam::test::contains;
using rdam::test::has_remark;
using rdam::test::read_back;
using Lines = std::vector<std::string>;

namespace {

Result<trace::TraceReader> read_text(std::string_view text) {
    const test::TextFile file{text};
    return inputs::probes::read(file.path(), {});
}

std::string error_of(std::string_view text) {
    const auto reader = read_text(text);
    return reader ? std::string{"read"} : reader.error().message;
}

/// "pid tid thread cpu time event|rest".
std::string parts_of(std::string_view line) {
    const auto event = event_line(line);
    if (!event) return "none";
    return fmt::format("{} {} {} {} {} {}|{}", event->pid, event->tid, event->thread, event->cpu, event->time,
                       event->event, event->rest);
}

Lines values_of(std::string_view text) {
    Lines lines;
    each_value(text, [&](const ProbeValue& value) {
        const std::string form{"dhtu"[static_cast<std::size_t>(value.form)]};
        lines.push_back(fmt::format(
            "{} {} {}", value.name, form,
            value.form == ValueForm::text ? std::string{value.text} : std::to_string(value.bits)));
    });
    return lines;
}

constexpr std::string_view kPerf =
    R"(         work er 14960 [000]   790.047258:         probe_app:outer: (55b430df81a4) n=0
         work er 14960 [000]   790.047305:         probe_app:inner: (55b430df8179) n=0 s_string="abc def"
         work er 14960 [001]   790.047430: probe_app:inner__return: (55b430df8179 <- 55b430df81b8) arg1=0x61
             app 14954 [000]   790.047642:         probe_app:outer: (55b430df81a4) n=-2
             app 14954 [000]   790.047650: probe_app:outer__return: (55b430df81a4 <- 55b430df8282) ret=0x13f
         work er 14960 [000]   790.047469: probe_app:outer__return: (55b430df81a4 <- 55b430df8213) ret=0x13b
)";

}  // namespace

TEST_CASE("the lines of perf, trace-cmd and ftrace are cut into their parts") {
    CHECK(
        parts_of("         work er 14960 [000]   790.047258:         probe_app:outer: (55b430df81a4) n=0") ==
        "0 14960 work er 0 790047258000 probe_app:outer|(55b430df81a4) n=0");
    CHECK(parts_of("work er 14954/14960 [012]   790.047258918: probe_app:outer: (55b430df81a4)") ==
          "14954 14960 work er 12 790047258918 probe_app:outer|(55b430df81a4)");
    CHECK(parts_of("app 14954   790.047258: probe_app:outer: (55b430df81a4)") ==
          "0 14954 app 65535 790047258000 probe_app:outer|(55b430df81a4)");
    CHECK(parts_of("             app-17687 [001]   925.631969: outer:                (55da23eda1a4) n=0") ==
          "0 17687 app 1 925631969000 outer|(55da23eda1a4) n=0");
    CHECK(parts_of("    a-b 1.5: c-17687   [001] DBZff   925.631969: outer: (0x55da23eda1a4) n=0") ==
          "0 17687 a-b 1.5: c 1 925631969000 outer|(0x55da23eda1a4) n=0");
    CHECK(parts_of("           <...>-17687   (  17680) [001] DBZff   925.631969: outer: (0x55da23eda1a4)") ==
          "17680 17687  1 925631969000 outer|(0x55da23eda1a4)");
    CHECK(
        parts_of(
            "app-17687 [001]   925.632070: (+2)     outer_ret:            (55da23eda1a4 <- 55da23eda26e)") ==
        "0 17687 app 1 925632070000 outer_ret|(55da23eda1a4 <- 55da23eda26e)");
    for (const char* none :
         {"", "# tracer: nop", "cpus=2", "\t            11a4 outer+0x0 (/tmp/app)", "CPU 0 is empty",
          "app 1 [000] 99999999999.5: a: b", "app [000] 1.5: a: b", "1.5: a: b"})
        CHECK(parts_of(none) == "none");
}

TEST_CASE("the values of a probe are numbers and texts, with quotes and blanks in them") {
    CHECK(values_of(R"( n=-1 p=0xff s="abc def" q="x"y" a={97,98} big=18446744073709551615 bad=(fault))") ==
          Lines{"n d 18446744073709551615", "p h 255", "s t abc def", "q t x\"y", "a t {97,98}",
                "big d 18446744073709551615", "bad u 0"});
    CHECK(values_of(R"(s="never ends)") == Lines{"s t never ends"});
    CHECK(values_of("no value").empty());
}

TEST_CASE("the name of a return probe leads to that of the function") {
    for (const char* name : {"f__return", "f__return_12", "f_ret", "f_return", "f_exit", "f__exit"})
        CHECK(without_return(name) == "f");
    CHECK(without_return("f_1") == "f_1");
}

TEST_CASE("pairs of perf's probes are calls, with parameters and results") {
    const auto reader = read_text(kPerf);
    REQUIRE(reader);
    const trace::TraceInfo& info = reader->info();
    REQUIRE(info.threads.size() == 2);
    CHECK(info.threads[0].name == "work er");
    CHECK(info.threads[0].tid == 14960);
    CHECK(read_back(*reader, 0) == Lines{"790047258000 outer(0)", "790047305000 inner(0,1)",
                                         "790047430000 /inner 97", "790047469000 /outer 315"});
    CHECK(read_back(*reader, 1) ==
          Lines{fmt::format("790047642000 outer({})", inputs::put_value(std::int64_t{-2})),
                "790047650000 /outer 319"});
    CHECK(info.functions.at(0).module == "app");
    CHECK(info.clock.step_ticks == 1000);
    CHECK(info.process.recorder == "perf");
    CHECK(info.process.command == std::vector<std::string>{"app"});
    CHECK(info.remarks.empty());
}

TEST_CASE("ftrace prints the function's address last, and any names make a pair by it") {
    const auto reader = read_text(R"(# tracer: nop
#
             app-17687   [001] DBZff   925.631969: begins: (0x55da23eda1a4) n=0
             app-17687   [001] DBZff   925.632070: is_over: (0x55da23eda26e <- 0x55da23eda1a4) arg1=0x13b
)");
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"925631969000 begins(0)", "925632070000 /begins 315"});
    CHECK(reader->info().process.recorder == "ftrace");
}

TEST_CASE("nanoseconds are the step of a clock that is printed with them") {
    const auto reader =
        read_text("app 1/2 [000] 5.000000001: p:f: (a)\napp 1/2 [000] 5.000000004: p:f__return: (a <- b)\n");
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"5000000001 f()", "5000000004 /f"});
    CHECK(reader->info().clock.step_ticks == 1);
    CHECK(reader->info().process.pid == 1);
}

TEST_CASE("a second return probe of a function, and probes alone, are passed over and named") {
    const auto reader = read_text(R"(app 2 [000] 5.000001: p:f: (a) n=1
app 2 [000] 5.000002: p:f_1: (a <- b) arg1=0x1
app 2 [000] 5.000003: p:f__return: (a <- b) ret=0x1
app 2 [000] 5.000004: p:g: (c)
app 2 [000] 5.000005: cycles: 55d0 main (app)
)");
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"5000001000 f(1)", "5000003000 /f 1"});
    CHECK(has_remark(*reader, "Probes that are not one of a pair were passed over: p:f_1, p:g."));
    CHECK(has_remark(*reader, "Events that belong to no probe were passed over: 1."));
}

TEST_CASE("context switches are times off the processors") {
    const std::string calls = "app 2 [000] 5.000001: p:f: (a)\napp 2 [001] 5.000090: p:f__return: (a <- b)\n";
    const auto intervals = [&](const std::string& switches) {
        const auto reader =
            read_text("app 2 [000] 5.000000: p:g: (a)\n" + calls.substr(0, calls.find('\n') + 1) + switches +
                      calls.substr(calls.find('\n') + 1));
        REQUIRE(reader);
        const auto off = reader->off_cpu(0);
        REQUIRE(off);
        Lines lines;
        for (const trace::OffCpu& each : *off)
            lines.push_back(fmt::format("{} {} {} {}", each.out - 1, each.in - 1, each.preempted, each.cpu));
        return lines;
    };
    CHECK(intervals(
              "app 2 [000] 5.000010: sched:sched_switch: prev_comm=a b prev_pid=2 prev_prio=120 "
              "prev_state=R+ ==> "
              "next_comm=perf next_pid=7 next_prio=120\n"
              "x 8 [001] 5.000020: sched:sched_switch: prev_comm=x prev_pid=8 prev_prio=120 prev_state=S ==> "
              "next_comm=a b next_pid=2 next_prio=120\n") == Lines{"5000010000 5000020000 true 1"});
    CHECK(intervals("app-2 [000] 5.000010: sched_switch:         app:2 [120] S ==> x:y:7 [115]\n"
                    "x-7 [001] 5.000020: sched_switch:         x:y:7 [120] D|K ==> app:2 [115]\n") ==
          Lines{"5000010000 5000020000 false 1"});
    CHECK(
        intervals(
            "app 2 [000] 5.000010: sched:sched_switch: prev_comm=a prev_pid=2 prev_prio=120 prev_state=S ==> "
            "next_comm=perf next_pid=7 next_prio=120\n")
            .empty());
}

TEST_CASE("events out of the order of time are sorted, with a remark") {
    const auto reader =
        read_text("app 2 [000] 5.000004: p:f__return: (a <- b)\napp 2 [000] 5.000001: p:f: (a)\n");
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"5000001000 f()", "5000004000 /f"});
    CHECK(has_remark(*reader, "sorted"));
}

TEST_CASE("calls that are open where events were lost are not trusted") {
    for (const char* lost :
         {"CPU:1 [LOST 12 EVENTS]\n", "[LOST 12 EVENTS]\n", "CPU:1 [12 EVENTS DROPPED]\n"}) {
        const auto reader = read_text(std::string{"app-2 [000] 5.000001: f: (a)\n"} + lost +
                                      "app-2 [000] 5.000004: f_ret: (a <- b)\n");
        REQUIRE(reader);
        CHECK(read_back(*reader, 0) == Lines{"5000001000 f()"});
        CHECK(reader->info().dropped == 12);
        CHECK(has_remark(*reader, "has lost events"));
    }
}

TEST_CASE("lines that are nothing that a tool writes are counted in a remark") {
    const std::string call = "app-2 [000] 5.000001: f: (a)\n",
                      back = "app-2 [000] 5.000004: f_ret: (a <- b)\n";
    const std::string beside = "cpus=2\n# comment\n\n\t    7f0012 main+0x3 (app)\n => f\n";
    const auto clean = read_text(call + beside + back);
    REQUIRE(clean);
    CHECK(clean->info().remarks.empty());
    const auto spoiled = read_text(call + "app-2 [000] 5.00\n" + beside + "?\n" + back);
    REQUIRE(spoiled);
    CHECK(has_remark(*spoiled, "2 lines could not be read as events, and passed over; the first is line 2."));
}

TEST_CASE("a text without any event says so") {
    const std::string header = "# ========\n# captured on    : today\n# ========\n#\n";
    CHECK(recognizes(header));
    CHECK_FALSE(recognizes("# a comment of somebody\n"));
    CHECK(contains(error_of(header), "has no call: there is no event in it; record those of `perf probe"));
    CHECK(contains(
        error_of(header + std::string{"app 7 [000] 1.000001: sched:sched_switch: prev_comm=app prev_pid=7 "
                                      "prev_prio=1 prev_state=S ==> next_comm=b next_pid=8 next_prio=1\n"}),
        "there is no event in it but context switches;"));
}

TEST_CASE("switches of which only one half was recorded are the reason why there are none") {
    const auto reader = read_text(
        "app 2 [000] 5.000001: p:f: (a)\n"
        "app 2 [000] 5.000010: sched:sched_switch: prev_comm=a prev_pid=2 prev_prio=120 prev_state=S ==> "
        "next_comm=perf next_pid=7 next_prio=120\n"
        "app 2 [001] 5.000090: p:f__return: (a <- b)\n");
    REQUIRE(reader);
    CHECK(contains(reader->info().switches.reason, "when 1 of 1 times off the processors ended"));
    CHECK(reader->info().remarks.empty());
}

TEST_CASE("a text without a pair of probes is refused, with what is missing") {
    CHECK(contains(error_of("app 2 [000] 5.000001: p:f: (a)\napp 2 [000] 5.000002: p:g: (b)\n"),
                   "no pair of probes: p:f and 1 other probe have no probe of the return"));
    CHECK(contains(error_of("app 2 [000] 5.000001: p:f__return: (a <- b)\n"),
                   "p:f__return has no probe of the call"));
    CHECK(contains(
        error_of("u  6253  2260.781818: probe_u:th:  5600ddb6f2ac th\n"
                 "u  6253  2260.781831: probe_u:th__return:  5600ddb6f1d9 th\n"),
        "the field `trace` is missing, which tells calls from returns: `perf script --ns -F comm,pid"));
    CHECK(contains(error_of("u  6253  2260.781818: mine:th:  5600ddb6f2ac th\n"
                            "u  6253  2260.781831: mine:th__return:  5600ddb6f1d9 th\n"),
                   "the field `trace` is missing"));
    CHECK(contains(error_of("app 2 [000] 5.000001: cycles: 55d0 main (app)\n"),
                   "no pair of probes: it has 1 event, and none is a probe's"));
}

TEST_CASE("the text of probes is recognized, other text is not") {
    CHECK(recognizes(kPerf));
    CHECK(
        recognizes("# tracer: nop\n#\n app-17687   [001] DBZff   925.631969: outer: (0x55da23eda1a4) n=0\n"));
    CHECK(recognizes("cpus=2\n app-17687 [001]   925.631969: outer:   (55da23eda1a4) n=0\n"));
    CHECK_FALSE(recognizes("# a note\n1.5: something (x)\n"));
    CHECK_FALSE(recognizes("Samples: 12\n   10.5%  app  libc.so  [.] read\n"));
    CHECK_FALSE(recognizes(""));
}

namespace {

/// Made by hand after the kernel's documentation (Documentation/trace/ftrace.rst) and its source, as the kernel
/// here has no such tracer.
constexpr std::string_view kGraph = R"(# tracer: function_graph
#
#     TIME        CPU  TASK/PID         DURATION                  FUNCTION CALLS
#      |          |     |    |           |   |                     |   |   |   |
    10.000001 |   0)      u-6253    |               |        } /* vfs_write */
    10.000001 |   0)      u-6253    |               |  vfs_read() {
    10.000001 |   0)      u-6253    |   0.512 us    |    rw_verify_area();
    10.000001 |   0)      u-6253    |   0.400 us    |    nf_hook [nf_tables](a=1);
    10.000003 |   1)    <idle>-0    |   ==========> |
    10.000003 |   1)    <idle>-0    |               |  tick() {
    10.000005 |   0)      u-6253    |               |    /* sched_switch: prev_comm=u prev_pid=6253 prev_prio=120 prev_state=S ==> next_comm=v next_pid=9 next_prio=120 */
 ------------------------------------------
   0)    u-6253    =>     v-9
 ------------------------------------------

    10.000009 |   0)      v-9       |               |    /* sched_switch: prev_comm=v prev_pid=9 prev_prio=120 prev_state=R ==> next_comm=u next_pid=6253 next_prio=120 */
    10.000013 |   0)      u-6253    |  d..1. | + 12.345 us   |  } /* vfs_read ret=0x5 */
    10.000013 |   1)    <idle>-0    | ! 10.000 us   |  }
)";

/// "THREAD: EVENTS" of each thread, and the times off the processors.
Lines threads_of(std::string_view text) {
    const auto reader = read_text(text);
    if (!reader) return {reader.error().message};
    Lines all;
    for (std::uint32_t thread = 0; thread < reader->info().threads.size(); ++thread) {
        all.push_back(fmt::format("{}: {}", reader->info().threads[thread].name,
                                  fmt::join(read_back(*reader, thread), "; ")));
        const auto off = reader->off_cpu(thread);
        for (const trace::OffCpu& each : *off)
            all.push_back(fmt::format("off {} {}{}", each.out - 1, each.in - each.out,
                                      each.preempted ? " preempted" : ""));
    }
    return all;
}

}  // namespace

TEST_CASE("function_graph's lines are calls as long as it prints") {
    CHECK(threads_of(kGraph) ==
          Lines{"u: 10000001000 vfs_read(); 10000001000 rw_verify_area(); 10000001512 /rw_verify_area; "
                "10000001512 nf_hook(); 10000001912 /nf_hook; 10000013345 /vfs_read",
                "off 10000005000 4000", "<idle>: 10000003000 tick(); 10000013000 /tick"});
    const auto reader = read_text(kGraph);
    REQUIRE(reader);
    CHECK(has_remark(*reader, "One call began before the text does"));
    CHECK(reader->info().functions[2].module == "nf_tables");
    CHECK(reader->info().process.recorder == "ftrace");

    CHECK(threads_of(
              "CPU 0 is empty\ncpus=2\n"
              "  u-6253  [001]  2260.781818123: funcgraph_entry:                   |  vfs_read() {\n"
              "  u-6253  [001]  2260.781820123: funcgraph_entry:        0.512 us   |    rw_verify_area();\n"
              "  u-6253  [001]  2260.781830123: funcgraph_exit:         12.000 us  |  }\n"
              "  u-6253  [001]  2260.791818123: funcgraph_entry:                   |  vfs_read() {\n"
              "  u-6253  [001]  2260.791838123: funcgraph_exit:       ! 120.000 us |  }\n") ==
          Lines{"u: 2260781818123 vfs_read(); 2260781820123 rw_verify_area(); 2260781820635 /rw_verify_area; "
                "2260781830123 /vfs_read; 2260791818123 vfs_read(); 2260791838123 /vfs_read"});
}

TEST_CASE("an end of function_graph that tells its function ends that one, and none if it is not open") {
    constexpr std::string_view kText = R"(# tracer: function_graph
#
  100.000000 |   0)  app-10  |               |  outer() {
  100.000010 |   0)  app-10  |   0.500 us    |    leaf();
  100.000012 |   0)  app-10  |   1.500 us    |    } /* lost */
  100.000013 |   0)  app-10  |   1.500 us    |    } /* leaf */
  100.000020 |   0)  app-10  |               |    f [mod]() {
  100.000022 |   0)  app-10  |               |      its_end_is_lost() {
  100.000023 |   0)  app-10  |   2.000 us    |      } /* f */
  100.000025 |   0)  app-10  |   5.000 us    |    } /* f [mod] ret=0x0 */
  100.000030 |   0)  app-10  |               |    g() {
  100.000032 |   0)  app-10  |   2.000 us    |    } /* ret=0x1 */
  100.000040 |   0)  app-10  | + 40.000 us   |  } /* outer = 0x5 */
)";
    CHECK(threads_of(kText) ==
          Lines{"app: 100000000000 outer(); 100000010000 leaf(); 100000010500 /leaf; 100000020000 f(); "
                "100000022000 its_end_is_lost(); 100000025000 /f; "
                "100000030000 g(); 100000032000 /g; 100000040000 /outer"});
    const auto reader = read_text(kText);
    REQUIRE(reader);
    CHECK(has_remark(*reader, "3 calls began before the text does"));
}

TEST_CASE("function_graph without times or processes is refused with what to switch on") {
    for (const std::string_view text : {"# tracer: function_graph\n#\n 0)               |  sys_open() {\n 0) "
                                        "  1.382 us    |    f();\n 0)   2.478 us   "
                                        " |  }\n",
                                        "  360.774522 |   1)   0.541 us    |  func();\n",
                                        " 0)    sh-4802   |   0.541 us    |  func();\n"}) {
        CHECK(recognizes(text));
        CHECK(contains(error_of(text), "funcgraph-abstime"));
    }
}

TEST_CASE("marks of a program are calls of its threads") {
    const std::string text =
        "# tracer: nop\n#\n"
        " app-100 [001] .....  1.000001: tracing_mark_write: E|100\n"
        " app-100 [001] .....  1.000002: tracing_mark_write: B|100|one|two: x\n"
        " app-101 [000] .....  1.000003: tracing_mark_write: B|100|read\n"
        " app-100 [001] .....  1.000004: tracing_mark_write: C|100|count|3\n"
        " app-100 [001] .....  1.000005: tracing_mark_write: E|100\n"
        " app-101 [000] .....  1.000006: tracing_mark_write: E\n";
    CHECK(recognizes(text));
    CHECK(threads_of(text) == Lines{"app: 1000002000 one|two: x(); 1000005000 /one|two: x",
                                    "app: 1000003000 read(); 1000006000 /read"});
    const auto reader = read_text(text);
    REQUIRE(reader);
    CHECK(reader->info().process.pid == 100);
    CHECK(reader->info().functions[1].any_name);
    CHECK(has_remark(*reader, "One call began before the text does"));
    CHECK(threads_of("a-1 [000] 1.000001000: print: tracing_mark_write: B|1|f\n"
                     "a-1 [000] 1.000003000: print: tracing_mark_write: E|1\n") ==
          Lines{"a: 1000001000 f(); 1000003000 /f"});
    CHECK(threads_of("a 1 [000] 1.000001000: ftrace:print: ffffffff812: B|1|f\n"
                     "a 1 [000] 1.000003000: ftrace:print: ffffffff812: E|1\n") ==
          Lines{"a: 1000001000 f(); 1000003000 /f"});
}

TEST_CASE("what is lost among marks and steps ends those that are open") {
    const std::string text =
        " app-100 [001] .....  1.000002: tracing_mark_write: B|100|f\n"
        "CPU:1 [LOST 3 EVENTS]\n"
        " app-100 [001] .....  1.000005: tracing_mark_write: E|100\n"
        " app-100 [001] .....  1.000006: tracing_mark_write: B|100|f\n"
        " app-100 [001] .....  1.000007: tracing_mark_write: E|100\n";
    CHECK(threads_of(text) == Lines{"app: 1000002000 f(); gap; 1000006000 f(); 1000007000 /f"});
}
