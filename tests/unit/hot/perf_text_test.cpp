// The columns of a report, and what is refused.
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/perf/report_text.h"

using namespace rdam;

namespace {

PerfReport parsed(std::string_view text) {
    auto report = parse_perf_text(text, "report.txt");
    INFO(text);
    REQUIRE(report.has_value());
    return std::move(*report);
}

std::string parse_error_of(std::string_view text) {
    const auto report = parse_perf_text(text, "report.txt");
    REQUIRE_FALSE(report.has_value());
    return report.error().message;
}

}  // namespace

TEST_CASE("fixed columns are cut where the dots stand") {
    const auto report = parsed(
        "# Samples: 2K of event 'cpu-clock'\n"
        "#\n"
        "# Symbol                      Samples  Overhead  Shared Object\n"
        "# ..........................  .......  ........  .............\n"
        "#\n"
        "  [.] std::map<int, A>::find      344    15.34%  my app\n"
        "  [k] do_syscall_64                35     1.56%  [kernel.kallsyms]\n");
    CHECK(report.event == "cpu-clock");
    REQUIRE(report.rows.size() == 2);
    CHECK(report.rows[0].symbol == "std::map<int, A>::find");
    CHECK(report.rows[0].self == Approx(15.34));
    CHECK(report.rows[0].module == "my app");
    CHECK(report.rows[0].level == '.');
    CHECK(report.rows[1].level == 'k');
    CHECK(report.rows[0].children == report.rows[0].self);
}

TEST_CASE("Self counts where Children are printed too, in fixed columns and with a separator") {
    for (const auto* text : {"# Children      Self  Command  Symbol\n"
                             "# ........  ........  .......  ......\n"
                             "    60.95%     1.69%  app      [.] f\n",
                             "# Children;    Self;Command;Symbol\n"
                             " 60.95%  ; 1.69%  ;app    ;[.] f\n",
                             "# Children,Self,Command,Symbol\r\n60.95,1.69,app,[.] f\r\n"}) {
        const auto report = parsed(text);
        REQUIRE(report.rows.size() == 1);
        CHECK(report.rows[0].self == Approx(1.69));
        CHECK(report.rows[0].children == Approx(60.95));
        CHECK(report.rows[0].module.empty());
    }
}

TEST_CASE("a report of several events: the one that counts time is read") {
    const auto report = parsed(
        "# Samples: 3  of event 'page-faults'\n# Overhead  Symbol\n# ........  ......\n   100.00%  [.] g\n\n"
        "# Samples: 9  of event 'cpu-clock:u'\n# Overhead  Symbol\n# ........  ......\n   100.00%  [.] f\n");
    CHECK(report.event == "cpu-clock:u");
    CHECK(report.other_events == std::vector<std::string>{"page-faults"});
    REQUIRE(report.rows.size() == 1);
    CHECK(report.rows[0].symbol == "f");
}

TEST_CASE("grouped events print two percentages in a cell: the first counts") {
    const auto report =
        parsed("#         Overhead  Symbol\n# ................  ......\n    50.00%   0.00%  [.] f\n");
    CHECK(report.rows.at(0).self == Approx(50));
}

TEST_CASE("periods and sample counts become percentages") {
    const auto periods = parsed(
        "# Samples: 2  of event 'cpu-clock'\n# Event count (approx.): 400\n# Period  Symbol\n# ......  "
        "......\n     100  [.] f\n      50  [.] "
        "g\n");
    CHECK(periods.rows.at(0).self == Approx(25));
    const auto samples = parsed(
        "# Event count (approx.): 400\n# Samples  Symbol\n# .......  ......\n        3  [.] f\n        1  "
        "[.] g\n");
    CHECK(samples.rows.at(0).self == Approx(75));
}

TEST_CASE("-v: address and origin stand before the name, a path before the file") {
    const auto report = parsed(
        "# Overhead  Shared Object    Symbol\n# ........  ...............  ..........................\n"
        "    61.11%  /usr/bin/my app  0x4a26             B [.] f(int)\n");
    CHECK(report.rows.at(0).symbol == "f(int)");
    CHECK(report.rows.at(0).module == "/usr/bin/my app");
}

TEST_CASE("colours are taken out") {
    CHECK(without_colours("  \x1b[31m    61.95%\x1b[m  f\x1b[0;1m") == "      61.95%  f");
    CHECK(without_colours("\x1b]0;title\x07 \x1b[2J \x1b[") == "\x1b]0;title\x07 \x1b[2J \x1b[");
}

TEST_CASE("commas that perf's -t, took out of names are restored") {
    const auto report = parsed(
        "# Overhead,Symbol\n"
        "5.00%,[.] SkipList<char const*. A::B>::f\n"
        "4.00%,[.] operator.\n"
        "3.00%,[.] f.constprop.0\n"
        "2.00%,[.] operator.(X. Y)\n");
    REQUIRE(report.rows.size() == 4);
    CHECK(report.rows[0].symbol == "SkipList<char const*, A::B>::f");
    CHECK(report.rows[1].symbol == "operator,");
    CHECK(report.rows[2].symbol == "f.constprop.0");
    CHECK(report.rows[3].symbol == "operator,(X, Y)");
}

TEST_CASE("what is no report is refused in one line") {
    CHECK(parse_error_of("") ==
          "report.txt: is empty; give rdam hot the output of perf report --stdio, or a perf.data file");
    CHECK(parse_error_of(" \n\n") == parse_error_of(""));
    CHECK(parse_error_of("hello\nworld\n") ==
          "report.txt: is neither output of perf report --stdio nor a perf.data file");
    CHECK(parse_error_of("    62.51%  app  libc.so.6  [.] memcmp\n") ==
          "report.txt: is a report without its column titles; print it without -q");
    CHECK(parse_error_of(std::string_view("\x7f"
                                          "ELF\0\0\1",
                                          7)) ==
          "report.txt: is neither output of perf report --stdio nor a perf.data file");
    CHECK(parse_error_of("# Overhead  Command\n# ........  .......\n    61.11%  app\n") ==
          "report.txt: has no Symbol column, so it names no function; let perf report sort by it (--sort "
          "dso,sym)");
    CHECK(parse_error_of("# Overhead  Symbol\n# ........  ......\n") ==
          "report.txt: the report has no rows; was anything sampled?");
    CHECK(parse_error_of(
              "#    Overhead  Command / Shared Object / Symbol\n# ...........  ......\n    100.00%  app\n") ==
          "report.txt: is a report in --hierarchy form; print it without that option");
    CHECK(parse_error_of("# Overhead Command Symbol\n 61.11% app [.] f\n") ==
          "report.txt: names may hold what separates the columns of the report; print it without -t or with "
          "-t ';'");
    CHECK(parse_error_of("# Overhead:Symbol\n 61.11%:[.] std..f\n") ==
          parse_error_of("# Overhead Command Symbol\n 61.11% app [.] f\n"));
}

TEST_CASE("lines cut short, huge numbers and stray bytes do no harm") {
    const std::string head = "# Overhead  Shared Object  Symbol\n# ........  .............  ......\n";
    for (const auto* row :
         {"    1", "    61.11%", "    61.11%  app", "    61.11%  app            [",
          "    9e99%  app            [.] f", "99999999999999999999999999999999.9%  app   [.] f",
          "    ..%  app  [.] f", "|--", "   ---", "   --1%--", "   |--1.00%--\n  |--1.00%--", "\xff\xfe\xfd",
          "1.00% ;;;", "1.00% a;b;c"}) {
        INFO(row);
        const auto report =
            parse_perf_text(head + "    50.00%  app            [.] f\n" + row + "\n", "report.txt");
        REQUIRE(report.has_value());
        CHECK(report->rows.at(0).symbol == "f");
    }
}

TEST_CASE("a line break in a name breaks no row that has a separator") {
    const auto graph = parsed(
        "# Overhead;Shared Object;Symbol\n"
        "50.00%;app;[.] new\n"
        "line\n"
        "            |\n"
        "            ---f\n"
        "40.00%;app;[.] honest\n");
    REQUIRE(graph.rows.size() == 2);
    CHECK(graph.rows[0].symbol == "new\nline");
    CHECK(graph.rows[1].symbol == "honest");
}

TEST_CASE("rows that cannot be read are not taken for none") {
    CHECK(
        parse_error_of("# Overhead  Command  Shared Object  Symbol\n"
                       "# ........  .......  .............  ......\n"
                       "#\n"
                       "    99.95%  a\n"
                       "b  a\n"
                       "b  [.] f\n") ==
        "report.txt: no line of the report can be read as a row; if a name has a line break in it, give rdam "
        "hot the perf.data file");
}
