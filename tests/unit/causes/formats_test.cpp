// Each format's sample, as the reports that are made of it; and which file is of which format.
#include "analyzer/causes/formats.h"

#include <fmt/format.h>

#include <map>

#include "tests/unit/catch.h"
#include "tests/unit/causes/cause_text.h"

using namespace rdam;
using namespace rdam::test;

TEST_CASE("each sample is known by exactly one format") {
    const std::map<std::string, std::string> formats = {
        {"cache-misses.txt", "perf report --stdio"},
        {"c2c.txt", "perf c2c report --stdio"},
        {"c2c-peer.txt", "perf c2c report --stdio"},
        {"lock-report.txt", "perf lock report or contention"},
        {"lock-contention.txt", "perf lock report or contention"},
        {"profile.coz", "Coz's profile.coz"},
        {"callgrind.out", "callgrind.out"},
        {"drd.txt", "DRD or Helgrind messages"},
        {"helgrind.txt", "DRD or Helgrind messages"},
        {"drd.xml", "DRD or Helgrind --xml=yes"},
    };
    for (const auto& [file, name] : formats) {
        INFO(file);
        const std::string text = sample(file);
        std::string found;
        for (const causes::Format& format : causes::formats())
            if (format.is_it(text)) found += format.name;
        CHECK(found == name);
    }
}

TEST_CASE("perf report: a report for each event, of which time has no say; addresses are left out") {
    CHECK(text_of(sample_reports("cache-misses.txt")) ==
          "perf report, cycles: 100 % (work)\n"
          "70.10% 71.20% 70.1  app:update(int)\n"
          "4.00% 4.00% 4  [kernel.kallsyms]:clear_page_erms\n"
          "0.00% 99.10% 0  app:main\n"
          "perf report, cache-misses: 100 %\n"
          "60.00% 60.00% 60  libc.so.6:__memmove_avx_unaligned_erms\n"
          "12.25% 12.25% 12.25  app:scan\n"
          "7.50% 7.50% 7.5  [kernel.kallsyms]:clear_page_erms\n"
          "1.50% 61.50% 1.5  app:update(int)\n"
          "0.00% 98.00% 0  app:main\n");
}

TEST_CASE("perf report: the same function in several threads is one row") {
    const auto reports = causes::parse_causes(
        "# Samples: 10 of event 'anon group { cache-misses, cycles }'\n"
        "# Overhead  Command  Shared Object  Symbol\n"
        "# ........  .......  .............  ......\n"
        "    40.00%  one      app            [.] f\n"
        "    35.00%  two      app            [.] f\n",
        "tool.txt");
    REQUIRE(reports.has_value());
    CHECK(text_of(*reports) ==
          "perf report, cache-misses: 100 %\n"
          "75.00% 75.00% 75  app:f\n");
}

TEST_CASE("perf report: events of a group that share a table have a report each") {
    const auto reports = causes::parse_causes(
        "# Samples: 10 of events 'anon group { cpu-clock:u, cpu/event=0x2e,umask=0x41/, page-faults }'\n"
        "#\n"
        "#                 Children                      Self  Command  Symbol\n"
        "# ........................  ........................  .......  ......\n"
        "#\n"
        "    40.00%  50.00%   0.00%    40.00%   30.00%   0.00%  one      [.] f\n"
        "            |\n"
        "            ---main\n"
        "    35.00%  10.00%  70.00%    15.00%   10.00%  70.00%  two      [.] g\n",
        "tool.txt");
    REQUIRE(reports.has_value());
    CHECK(text_of(*reports) ==
          "perf report, cpu-clock:u: 100 % (work)\n"
          "40.00% 40.00% 40  f\n"
          "15.00% 35.00% 15  g\n"
          "perf report, cpu/event=0x2e,umask=0x41/: 100 %\n"
          "30.00% 50.00% 30  f\n"
          "10.00% 10.00% 10  g\n"
          "perf report, page-faults: 100 %\n"
          "70.00% 70.00% 70  g\n"
          "0.00% 0.00% 0  f\n");
}

TEST_CASE("perf report: source lines beside functions") {
    const auto reports = causes::parse_causes(
        "# Samples: 10 of event 'cpu-clock'\n"
        "# Overhead  Symbol            Source:Line                     IPC   [IPC Coverage]\n"
        "# ........  ................  ..............................  ....................\n"
        "    40.00%  [.] ns::f(int)    f.cc:12                         -      -\n"
        "    20.00%  [.] ns::f(int)    f.cc:14                         -      -\n"
        "    10.00%  [.] ns::f(int)    ns::f+12                        -      -\n"
        "     9.00%  [.] g             ??:0                            -      -\n"
        "     8.00%  [.] g             a_name_that_is_cut_off_by.cc:1  -      -\n"
        "     7.00%  [.] g             :7                              -      -\n"
        "     6.00%  [.] g             g.cc:99999999999                -      -\n",
        "tool.txt");
    REQUIRE(reports.has_value());
    CHECK(text_of(*reports) ==
          "perf report, cpu-clock: 100 % (work)\n"
          "70.00% 70.00% 70  ns::f(int)\n"
          "30.00% 30.00% 30  g\n");
    std::string lines;
    for (const causes::LineShare& line : reports->front().lines)
        lines += fmt::format("{} {}:{} {:.2f}\n", line.function, line.file, line.line, line.share);
    CHECK(lines == "ns::f(int) f.cc:12 0.40\nns::f(int) f.cc:14 0.20\n");
}

TEST_CASE("perf c2c: the percentages of a cache line are shares of that line's loads") {
    // Of line 0: 75 % of 400 and half of 1200, so 900; with all 400 of line 1 1300 of 2000.
    CHECK(text_of(sample_reports("c2c.txt")) ==
          "perf c2c, HITM: 2000 loads\n"
          "45.00% 45.00% 900  app:update(int) app.cc:12\n"
          "29.00% 29.00% 580  app:a_very_long_nam app.cc:40\n"
          "20.00% 20.00% 400  app:update(int) app.cc:13\n"
          "6.00% 6.00% 120  [kernel.kallsyms]:try_to_wake_up core.c:4100\n");
}

TEST_CASE("perf c2c: where HITM is not known the loads from a peer's cache count") {
    CHECK(text_of(sample_reports("c2c-peer.txt")) ==
          "perf c2c, peer loads: 800 loads\n"
          "75.00% 75.00% 600  app:scan app.cc:60\n"
          "25.00% 25.00% 200  app:other app.cc:71\n");
}

TEST_CASE("perf lock report: the share of the time waited") {
    CHECK(text_of(sample_reports("lock-report.txt")) ==
          "perf lock, lock waits: 4.012e+06 ns\n"
          "99.70% 99.70% 4e+06  futex_wait\n"
          "0.30% 0.30% 12000  &rq->__lock (a)\n"
          "0.00% 0.00% 0  idle_mutex\n");
}

TEST_CASE("perf lock report: older versions write the unit into the titles, and have fewer columns") {
    const auto oldest = causes::parse_causes(
        "                Name   acquired  contended total wait (ns)   max wait (ns)   min wait (ns)\n\n"
        " &mm->page_table_...        500          3           30000           20000            1000\n"
        "           &fs->lock         64          1           10000           10000           10000\n",
        "tool.txt");
    REQUIRE(oldest.has_value());
    CHECK(text_of(*oldest) ==
          "perf lock, lock waits: 40000 ns\n"
          "75.00% 75.00% 30000  &mm->page_table_...\n"
          "25.00% 25.00% 10000  &fs->lock\n");
    const auto chosen = causes::parse_causes(
        "                Name   acquired  contended   avg wait (ns)\n\n"
        "  pick_a_lock_nam...          9          6            3600\n"
        "        another_lock          3          2            2700\n",
        "tool.txt");
    REQUIRE(chosen.has_value());
    CHECK(text_of(*chosen) ==
          "perf lock, lock waits: 8 waits\n"
          "75.00% 75.00% 6  pick_a_lock_nam...\n"
          "25.00% 25.00% 2  another_lock\n");
}

TEST_CASE("perf lock contention: a row is its caller's own, and of all in its call stack once") {
    CHECK(text_of(sample_reports("lock-contention.txt")) ==
          "perf lock, lock waits: 8.5e+06 ns\n"
          "70.59% 70.59% 6e+06  update_blocked\n"
          "23.53% 23.53% 2e+06  tick_do\n"
          "0.00% 70.59% 0  scan\n");
}

TEST_CASE("perf lock contention: without times the number of waits counts") {
    const auto reports = causes::parse_causes(
        " contended         type   caller\n\n"
        "         3        mutex   f+0x10\n"
        "         1        mutex   g+0x10\n",
        "tool.txt");
    REQUIRE(reports.has_value());
    CHECK(text_of(*reports) ==
          "perf lock, lock waits: 4 waits\n"
          "75.00% 75.00% 3  f\n"
          "25.00% 25.00% 1  g\n");
}

TEST_CASE("perf lock contention -l: by the lock, whose name may be missing") {
    const auto reports = causes::parse_causes(
        " contended   total wait     max wait     avg wait            address   symbol\n\n"
        "         3     30.00 us     12.00 us     10.00 us   ffff8881033b4198   tasklist_lock\n"
        "         1     10.00 us     10.00 us     10.00 us   ffff88810a5b4198\n",
        "tool.txt");
    REQUIRE(reports.has_value());
    CHECK(text_of(*reports) ==
          "perf lock, lock waits: 40000 ns\n"
          "75.00% 75.00% 30000  tasklist_lock\n");
}

TEST_CASE("Coz: how much of a line's speed-up the program sees, or loses") {
    const auto reports = sample_reports("profile.coz");
    CHECK(text_of(reports) ==
          "coz, Coz: 1 speed-up per speed-up\n"
          "50.00% 50.00% 0.5  /home/me/app/app.cc:12\n"
          "25.00% 25.00% 0.25  app.cc:40\n"
          "20.00% 20.00% -0.2  /home/me/app/app.cc:60\n");
    CHECK_FALSE(reports[0].adds_up);
}

TEST_CASE("callgrind: a report for each event; calls count for the caller, recursion once") {
    CHECK(text_of(sample_reports("callgrind.out")) ==
          "callgrind, Ir: 1000 events (work)\n"
          "62.00% 62.00% 620  /usr/lib/libc.so.6:memmove\n"
          "20.00% 80.00% 200  /home/me/app:update(int)\n"
          "15.00% 100.00% 150  /usr/lib/libc.so.6:(below main)\n"
          "3.00% 85.00% 30  /home/me/app:main\n"
          "callgrind, D1mr: 100 events\n"
          "89.00% 89.00% 89  /usr/lib/libc.so.6:memmove\n"
          "10.00% 90.00% 10  /home/me/app:update(int)\n"
          "1.00% 96.00% 1  /home/me/app:main\n"
          "0.00% 100.00% 0  /usr/lib/libc.so.6:(below main)\n"
          "callgrind, DLmr: 10 events\n"
          "80.00% 80.00% 8  /usr/lib/libc.so.6:memmove\n"
          "20.00% 100.00% 2  /usr/lib/libc.so.6:(below main)\n"
          "0.00% 80.00% 0  /home/me/app:main\n"
          "0.00% 80.00% 0  /home/me/app:update(int)\n");
}

TEST_CASE("callgrind: with --dump-instr a position has two numbers") {
    const auto reports = causes::parse_causes(
        "# callgrind format\ncreator: callgrind-3.19.0\npositions: instr line\nevents: Ir Bim\n"
        "fn=f\n0x401000 10 5 1\n+4 * 5 2\n",
        "tool.txt");
    REQUIRE(reports.has_value());
    CHECK(text_of(*reports) ==
          "callgrind, Ir: 10 events (work)\n"
          "100.00% 100.00% 10  f\n"
          "callgrind, Bim: 3 events\n"
          "100.00% 100.00% 3  f\n");
}

TEST_CASE(
    "DRD: conflicting accesses by the function that makes them, locks by those that take and release them") {
    CHECK(text_of(sample_reports("drd.txt")) ==
          "DRD, conflicts: 2 errors\n"
          "50.00% 100.00% 1  scan\n"
          "50.00% 50.00% 1  /home/me/libx.so:operator()(int) const\n"
          "DRD, held locks: 12 ms\n"
          "100.00% 100.00% 12  update(int)\n"
          "100.00% 100.00% 12  work\n"
          "0.00% 100.00% 0  pthread_mutex_lock\n"
          "0.00% 100.00% 0  pthread_mutex_unlock\n"
          "0.00% 100.00% 0  start_thread\n");
}

TEST_CASE("DRD with -s: errors are printed again with how often they occurred") {
    const std::string conflict =
        "==1== Conflicting load by thread 2 at 0x10c080 size 8\n==1==    at 0x1092E6: scan "
        "(app.cc:60)\n==1== \n";
    const std::string held =
        "==1== Acquired at:\n==1==    at 0x1092E6: update (app.cc:7)\n"
        "==1== Lock on mutex 0x10c0a0 was held during 2 ms (threshold: 1 ms).\n"
        "==1==    at 0x1092E6: update (app.cc:9)\n==1== \n";
    const std::string summary = "==1== ERROR SUMMARY: 13 errors from 2 contexts (suppressed: 8 from 4)\n";
    const auto reports =
        causes::parse_causes("==1== drd, a thread error detector\n" + conflict + held + summary +
                                 "==1== \n==1== 1 errors in context 1 of 2:\n" + conflict +
                                 "==1== \n==1== 12 errors in context 2 of 2:\n" + held + summary,
                             "tool.txt");
    REQUIRE(reports.has_value());
    CHECK(text_of(*reports) ==
          "DRD, conflicts: 1 errors\n"
          "100.00% 100.00% 1  scan\n"
          "DRD, held locks: 24 ms\n"
          "100.00% 100.00% 24  update\n");
}

TEST_CASE("Helgrind: both sides of a race") {
    CHECK(text_of(sample_reports("helgrind.txt")) ==
          "Helgrind, conflicts: 1 errors\n"
          "100.00% 100.00% 1  scan\n"
          "100.00% 100.00% 1  update(int)\n"
          "0.00% 100.00% 0  work\n");
}

TEST_CASE("DRD in XML: repeated errors count as often as they occurred") {
    CHECK(text_of(sample_reports("drd.xml")) ==
          "DRD, conflicts: 4 errors\n"
          "75.00% 75.00% 3  /home/me/app:ns::box<int>::get() const\n"
          "25.00% 25.00% 1  /home/me/app:scan\n"
          "DRD, held locks: 20 ms\n"
          "100.00% 100.00% 20  /home/me/app:update(int)\n"
          "100.00% 100.00% 20  /home/me/app:work\n"
          "0.00% 100.00% 0  pthread_mutex_lock\n");
}
