// Lines as babeltrace2 2.0.4 prints them of LTTng 2.13. Those of the kernel are made by hand after LTTng's documentation, as
// its modules were not at hand.
#include "analyzer/inputs/lttng/lttng.h"

#include <string>
#include <vector>

#include "analyzer/inputs/lttng/event_text.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/inputs/read_back.h"
#include "tests/unit/inputs/text_file.h"

using namespace rdam;
using rdam::inputs::lttng::each_field;
using rdam::inputs::lttng::text_line;
using rdam::test::contains;
using rdam::test::read_back;

namespace {

using LttngLines = std::vector<std::string>;

/// "THREAD TID: EVENTS" of each thread, and the times off the processors.
LttngLines threads_of_lttng(std::string_view text) {
    const test::TextFile file{text};
    const auto reader = inputs::lttng::read(file.path(), {});
    if (!reader) return {reader.error().message};
    LttngLines all;
    for (std::uint32_t thread = 0; thread < reader->info().threads.size(); ++thread) {
        const trace::ThreadInfo& info = reader->info().threads[thread];
        all.push_back(
            fmt::format("{} {}: {}", info.name, info.tid, fmt::join(read_back(*reader, thread), "; ")));
        const auto off = reader->off_cpu(thread);
        for (const trace::OffCpu& each : *off)
            all.push_back(fmt::format("off {} {}{}", each.out - 1, each.in - each.out,
                                      each.preempted ? " preempted" : ""));
    }
    return all;
}

LttngLines fields_of(std::string_view text) {
    LttngLines all;
    each_field(text, [&](std::string_view name, std::string_view value) {
        all.push_back(fmt::format("{}={}", name, value));
    });
    return all;
}

constexpr const char* kContext = R"({ cpu_id = 1 }, { vtid = 8, vpid = 7, procname = "a: {b" })";

}  // namespace

TEST_CASE("babeltrace2's lines are cut into time, event and fields, whatever the clock's form") {
    const auto line = text_line(R"([1796077921.287135048] vm prov:ev: { cpu_id = 1 }, { n = 2 })");
    REQUIRE(line);
    CHECK(line->time == 1796077921287135048);
    CHECK(line->provider == "prov");
    CHECK(line->event == "ev");
    CHECK(text_line("[22:31:06.660561042] (+0.5) vm sched_switch: { cpu_id = 1 }")->time == 81066660561042);
    CHECK(text_line("[1970-01-02 00:00:01.000000002] (+0.1) x: { }")->time == 86401000000002);
    for (const char* none : {"", "[", "[1] x: {", "[1.5] x: { }", "[22:31:06.660561042] x",
                             "[99999999999999999999.000000000] x: {",
                             "[2026-13-40 00:00:01.000000002] x: { }", "1.000000000 x: { }"})
        CHECK(!text_line(none));
    CHECK(
        fields_of(
            R"({ a = 1, s = "x, y = 2 } \" z", e = ( "READ" : container = 3 ), l = [ [0] = 1 ], o = { b = 2 }, )"
            R"(debug_info = { bin = "app+0x1", func = "f+0" } }, { c = -0x5 })") ==
        LttngLines{"a=1", R"(s="x, y = 2 } \" z")", "e=3", R"(bin="app+0x1")", R"(func="f+0")", "c=-0x5"});
}

TEST_CASE("functions, pairs of any name and locks of LTTng are calls") {
    std::string text;
    const auto add = [&](int at, const std::string& event, const std::string& fields,
                         const std::string& context = kContext) {
        text += fmt::format("[5.{:09}] vm {}: {}, {}\n", at, event, context, fields);
    };
    const std::string with_name =
        R"({ cpu_id = 1 }, { vtid = 8, vpid = 7, procname = "app", ip = 5, debug_info = { bin = "app+0x1283", func = "ns::f(int, long)+0", src = "a.c:7" } })";
    add(1, "lttng_ust_cyg_profile:func_exit", "{ addr = 0xA1, call_site = 0x1 }");
    add(2, "lttng_ust_cyg_profile:func_entry", "{ addr = 0xA1, call_site = 0x1 }", with_name);
    add(3, "lttng_ust_cyg_profile:func_entry", "{ addr = 0xA2, call_site = 0x1 }");
    add(4, "app:load_begin", R"({ file = "x y", n = 3 })");
    add(5, "app:note", "{ n = 3 }");
    add(6, "app:load_end", "{ ok = 1 }");
    add(7, "lttng_ust_pthread:pthread_mutex_lock_req", "{ mutex = 0x7FC488452880 }");
    add(9, "lttng_ust_pthread:pthread_mutex_lock_acq", "{ mutex = 0x7FC488452880, status = 0 }");
    add(10, "lttng_ust_cyg_profile_fast:func_exit", "{ }");
    add(12, "lttng_ust_cyg_profile:func_exit", "{ addr = 0xA1, call_site = 0x1 }", with_name);
    CHECK(inputs::lttng::recognizes(text));
    CHECK(threads_of_lttng(text) == LttngLines{"app 8: 5000000002 ns::f(int, long)(); 5000000003 0xA2(); "
                                               "5000000004 load(1,3); 5000000006 /load 1; "
                                               "5000000007 pthread_mutex_lock(140482076551296); 5000000009 "
                                               "/pthread_mutex_lock 0; 5000000010 /0xA2; "
                                               "5000000012 /ns::f(int, long)"});
    const test::TextFile file{text};
    const auto reader = inputs::lttng::read(file.path(), {});
    REQUIRE(reader);
    for (const trace::FunctionInfo& function : reader->info().functions) {
        CHECK(function.any_name == (function.name == "load"));
        if (function.name == "load") CHECK(function.module == "app");
        if (function.name == "ns::f(int, long)") CHECK(function.module == "app");
        if (function.name == "pthread_mutex_lock") CHECK(function.waits);
    }
    CHECK(reader->info().process.recorder == "LTTng");
    CHECK(reader->info().process.pid == 7);
}

TEST_CASE("what a program calls its values does not change whose the event is") {
    const std::string text =
        R"([1.000000001] h app:job_begin: { cpu_id = 0 }, { vpid = 10, vtid = 11, procname = "app" }, { tid = 5, pid = 6, procname = "x", addr = 7, next_tid = 8 }
[1.000000002] h app:job_end: { cpu_id = 0 }, { vpid = 10, vtid = 11, procname = "app" }, { ret = 1 }
[1.000000003] h syscall_entry_kill: { cpu_id = 0 }, { pid = 10, tid = 11, procname = "app" }, { pid = 999, sig = 9 }
[1.000000004] h syscall_exit_kill: { cpu_id = 0 }, { pid = 10, tid = 11, procname = "app" }, { ret = 0 }
)";
    const test::TextFile file{text};
    const auto reader = inputs::lttng::read(file.path(), {});
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 1);
    CHECK(reader->info().threads[0].name == "app");
    CHECK(reader->info().threads[0].tid == 11);
    CHECK(reader->info().process.pid == 10);
    // A text is a number of it.
    CHECK(read_back(*reader, 0) == LttngLines{"1000000001 job(5,6,1,7,8)", "1000000002 /job 1",
                                              "1000000003 kill(999,9)", "1000000004 /kill 0"});
}

TEST_CASE("an end of LTTng's functions is that of its address, and none if that is not open") {
    std::string text;
    int at = 0;
    for (const auto& [event, address] : std::vector<std::pair<std::string, std::string>>{{"entry", "0x10"},
                                                                                         {"exit", "0x40"},
                                                                                         {"entry", "0x20"},
                                                                                         {"entry", "0x30"},
                                                                                         {"exit", "0x20"},
                                                                                         {"exit", "0x30"},
                                                                                         {"entry", "0x30"},
                                                                                         {"exit", "0x30"},
                                                                                         {"exit", "0x10"}})
        text +=
            fmt::format("[5.{:09}] vm lttng_ust_cyg_profile:func_{}: {}, {{ addr = {}, call_site = 0x1 }}\n",
                        ++at, event, kContext, address);
    CHECK(threads_of_lttng(text) ==
          LttngLines{"a: {b 8: 5000000001 0x10(); 5000000003 0x20(); 5000000004 0x30(); "
                     "5000000005 /0x20; 5000000007 0x30(); 5000000008 /0x30; 5000000009 /0x10"});
    const test::TextFile file{text};
    const auto reader = inputs::lttng::read(file.path(), {});
    REQUIRE(reader);
    CHECK(test::has_remark(*reader, "Events that belong to no probe were passed over: 2"));
}

TEST_CASE("as many functions as a large program has are read") {
    constexpr std::size_t kFunctions = 8000;
    std::string text;
    for (std::size_t number = 0; number < 2 * kFunctions; ++number)
        text += fmt::format("[5.{:09}] vm lttng_ust_cyg_profile:func_{}: {}, {{ addr = {:#X} }}\n", number,
                            number < kFunctions ? "entry" : "exit", kContext, number);
    const test::TextFile file{text};
    const auto reader = inputs::lttng::read(file.path(), {});
    REQUIRE(reader);
    CHECK(reader->info().functions.size() == kFunctions);
    CHECK(reader->events() == 2 * kFunctions);
}

TEST_CASE("system calls of LTTng are calls of whoever runs on the processor, and switches times off it") {
    const std::string text =
        "[22:31:06.000000001] (+0.5) vm sched_switch: { cpu_id = 1 }, { prev_comm = \"swapper/1\", "
        "prev_tid = 0, prev_prio "
        "= 20, prev_state = ( \"TASK_RUNNING\" : container = 0 ), next_comm = \"app\", next_tid = 8, "
        "next_prio = 20 }\n"
        "[22:31:06.000000002] (+0.000000001) vm syscall_entry_read: { cpu_id = 1 }, { fd = 3, count = 832 }\n"
        "[22:31:06.000000003] (+0.000000001) vm sched_switch: { cpu_id = 1 }, { prev_comm = \"app\", "
        "prev_tid = 8, prev_prio = 20, "
        "prev_state = 1, next_comm = \"x\", next_tid = 9, next_prio = 20 }\n"
        "[22:31:06.000000004] (+0.000000001) vm sched_switch: { cpu_id = 0 }, { prev_comm = \"y\", prev_tid "
        "= 10, prev_prio = 20, "
        "prev_state = 0, next_comm = \"app\", next_tid = 8, next_prio = 20 }\n"
        "[22:31:06.000000007] (+0.000000001) vm syscall_exit_read: { cpu_id = 0 }, { ret = 832, buf = 140 "
        "}\n";
    CHECK(threads_of_lttng(text) ==
          LttngLines{"app 8: 81066000000002 read(3,832); 81066000000007 /read 832", "off 81066000000003 1"});
}

TEST_CASE("a text of LTTng without pairs, or that is cut or hostile, is refused in one line") {
    const auto error = [](std::string_view text) {
        const auto lines = threads_of_lttng(text);
        return lines.front();
    };
    CHECK(contains(error("[5.000000001] vm app:note: { cpu_id = 1 }, { n = 1 }\n"),
                   "begin and end a call; record pairs"));
    CHECK(contains(error("[5.000000001] vm app:f_begin: { cpu_id = 1 }, { vtid = 1 }, { n = 1"),
                   "begin and end a call"));
    CHECK(contains(
        error("[5.000000001] vm app:" + std::string(1 << 20U, 'f') + "_end: { cpu_id = 1 }, { vtid = 1 }\n"),
        "begin and end a call"));
    CHECK(contains(error("[5.000000001] x: " + std::string(1 << 20U, '{')), "begin and end a call"));
    CHECK(contains(error(""), "begin and end a call"));
}
