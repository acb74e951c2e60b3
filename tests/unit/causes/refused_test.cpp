// What is no report, or a broken one: one line that names the file, the line where there is one, and what to
// do.
#include "analyzer/causes/formats.h"
#include "tests/unit/catch.h"
#include "tests/unit/causes/cause_text.h"

using namespace rdam;
using namespace rdam::test;

namespace {

const std::string kCallgrind = "# callgrind format\nevents: Ir D1mr\n";

void check_error(const std::string& text, const std::string& begin, const std::string& remedy) {
    const std::string message = error_of(text);
    INFO(message);
    CHECK(message.find(begin) == 0);
    CHECK(message.find(remedy) != std::string::npos);
    CHECK(message.find('\n') == std::string::npos);
}

}  // namespace

TEST_CASE("a file of no known format is refused with those that are known") {
    check_error("int main() {}\n", "tool.txt: has an unknown format", "perf c2c report --stdio");
    check_error(" \n", "tool.txt: is empty", "callgrind.out");
    check_error("PERFILE2rest", "tool.txt: is a recording of perf, not a report",
                "perf report --stdio -i tool.txt");
}

TEST_CASE("callgrind: a broken line is named") {
    check_error(kCallgrind + "fn=(1) f\n1 2 3\nnonsense\n", "tool.txt:5: is not a line of callgrind's format",
                "valgrind --tool=callgrind");
    check_error(kCallgrind + "fn=(1) f\n1 2 3 4\n", "tool.txt:4: is not a line", "valgrind --tool=callgrind");
    check_error(kCallgrind + "fn=(1) f\n1 -2\n", "tool.txt:4: is not a line", "valgrind --tool=callgrind");
    check_error(kCallgrind + "fn=(7)\n", "tool.txt:3: uses a number for a name that is defined nowhere",
                "valgrind");
    check_error(kCallgrind + "events: Ir\n", "tool.txt:3: has other events", "one part");
    check_error("# callgrind format\n1 2\n", "tool.txt:2: is not a line", "valgrind");
    check_error("# callgrind format\nfn=f\n", "tool.txt: has no events: line", "valgrind");
}

TEST_CASE("Coz: an experiment that is not whole is named, a profile without any is refused") {
    check_error("startup\ttime=1\nexperiment\tselected=a.c:1\tspeedup=2.00\tduration=5\n",
                "tool.txt:2: is not an experiment", "coz");
    check_error("startup\ttime=1\nexperiment\tselected=a.c:1\tspeedup=nan\tduration=5\n",
                "tool.txt:2: is not an experiment", "coz");
    check_error("startup\ttime=1\nthroughput-point\tname=p\tdelta=5\n", "tool.txt:2: is not a progress point",
                "coz");
    check_error("startup\ttime=1\nsamples\tlocation=a.c:1\tcount=3\n", "tool.txt: has no experiment",
                "COZ_PROGRESS");
}

TEST_CASE("perf c2c: a broken row is named, a report without the table is refused") {
    std::string text = sample("c2c.txt");
    const auto broken = text.find("[.] a_very");
    text.replace(broken, 3, "...");
    check_error(text, "tool.txt:31: is not a row of perf c2c's Pareto table", "perf c2c report --stdio");
    check_error("      Shared Data Cache Line Table\n", "tool.txt: has no Pareto table", "--stats");
}

TEST_CASE("perf lock: a row without its numbers is named, a table of threads is refused") {
    check_error(" contended   total wait         type   caller\n\n        30        mutex   f+0x1\n",
                "tool.txt:3: does not have the 2 numbers", "perf lock");
    check_error(" contended   total wait     max wait     avg wait          pid   comm\n",
                "tool.txt:1: is a table of threads", "-t");
}

TEST_CASE("perf lock: no number is so large that shares are none") {
    check_error(" contended   total wait         type   caller\n\n   30   1e300 m        mutex   f+0x1\n",
                "tool.txt:3: does not have the 2 numbers", "perf lock");
}

TEST_CASE("perf report: what the reader of reports refuses is refused with its words") {
    check_error("# Samples: 1 of event 'cycles'\n    10.00%  app  [.] f\n",
                "tool.txt: is a report without its column titles", "-q");
    check_error(
        "# Overhead  Command  Shared Object\n# ........  .......  .............\n    50.00%  app      app\n",
        "tool.txt: has no Symbol column", "--sort dso,sym");
}

TEST_CASE("valgrind: a log that is cut off is refused") {
    check_error("==1== drd, a thread error detector\n==1== \n",
                "tool.txt: ends without valgrind's ERROR SUMMARY", "to its end");
    std::string xml = sample("drd.xml");
    xml.resize(xml.find("</what>"));
    check_error(xml, "tool.txt:30: is not well-formed XML", "valgrind");
    check_error("<valgrindoutput><tool>memcheck</tool></valgrindoutput>",
                "tool.txt: is output of valgrind's tool 'memcheck'", "--tool=drd");
}

TEST_CASE("a file that cannot be read is an error that names it") {
    const auto missing = causes::read_causes("/nonexistent/causes.txt");
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message == "/nonexistent/causes.txt: cannot be opened: No such file or directory");
}
