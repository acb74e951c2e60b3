// Files of other tools that cannot be read are told by their names. The beginnings are what these tools wrote on
// 30 November 2026: strace 6.1, ltrace 0.7.3, perf 6.1, valgrind 3.19, node 20, ninja 1.11, Go 1.26, Python 3.11,
// gprof (gcc 12), OpenJDK 17; those of Paraver, TAU, Tracy, HPCToolkit, magic-trace, Coz, Nsight Systems and spans are
// made by hand after their descriptions.
#include "tools/trace/foreign.h"

#include <fstream>
#include <iterator>
#include <map>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/contains.h"

using namespace rdam::trace;
using namespace std::string_literals;
using rdam::test::contains;

namespace {

std::string what_is(const std::string& text) {
    const Foreign* const known = find_foreign(text);
    return known == nullptr ? "" : std::string{known->what};
}

std::string perfetto_packets(int packets) {
    std::string file;
    protozero::pbf_writer writer{file};
    for (int number = 0; number < packets; ++number) {
        protozero::pbf_writer packet{writer, 1};
        packet.add_uint64(8, 1'000'000 + static_cast<std::uint64_t>(number));
        packet.add_uint32(10, 1);
        packet.add_message(11, "\x48\x01"s);
    }
    return file;
}

const std::map<std::string, std::vector<std::string>>& samples() {
    static const std::map<std::string, std::vector<std::string>> kSamples{
        {"a Perfetto trace", {perfetto_packets(3), perfetto_packets(20'000).substr(0, kForeignBytes)}},
        {"a Fuchsia trace (magic-trace)", {"\x10\x00\x04\x46\x78\x54\x16\x00\x21\0"s}},
        {"an execution trace of Go", {"go 1.26 trace\0\0\0\x01\x01\xff"s, "go 1.19 trace\0\0\0"s}},
        {"a log of ninja", {"# ninja log v5\n21\t927\t1796\ta.o\t6f02\n"}},
        {"a trace of TAU",
         {"\x60\xea\0\0\0\0\0\0\x01"s, "12 dynamic_trace_events\n# FunctionId Group Tag \"Name\"\n"}},
        {"an SQLite database", {"SQLite format 3\0\x10"s}},
        {"a recording of trace-cmd",
         {"\x17\x08"
          "Dtracing6\0"s}},
        {"a perf.data file", {"PERFILE2h\0"s}},
        {"a file of a CTF trace (LTTng)",
         {"\xc1\x1f\xfc\xc1\x01", "\x57\x1d\xd1\x75\xfc", "/* CTF 1.8 */\n"}},
        {"a Paraver trace", {"#Paraver (01/01/2026 at 10:00):100_ns:1(4):1:4(1:1,1:1)\n1:1:1:1:1:0:5:1\n"}},
        {"a trace of Tracy", {"tlZ\x04\x10"}},
        {"spans of OpenTelemetry, Jaeger or Zipkin",
         {R"x({"resourceSpans":[{"resource":{}}]})x", R"x({"data":[{"traceID":"1","spans":[{}]}]})x",
          R"x([{"traceId":"1","id":"2","timestamp":3}])x"}},
        {"what perf trace has printed",
         {"         ? (         ): a/8849  ... [continued]: execve())  = 0\n     0.046 ( 0.011 ms): a/8849 "
          "brk()   = 0x5\n"}},
        {"what strace has printed",
         {"1255  1796073814.833255 execve(\"./a\", [\"./a\"], 0x7ff /* 35 vars */) = 0 <0.000170>\n"
          "1255  1796073814.833555 brk(NULL)       = 0x559ea373a000 <0.000008>\n",
          "execve(\"./a\", [\"./a\"], 0x7ffcd6bf7328 /* 35 vars */) = 0\nexit_group(0)                 = "
          "?\n+++ exited with 0 +++\n",
          "     0.000000 execve(\"./a\", [\"./a\"], 0x7f /* 35 vars */) = 0\n",
          "strace: Process 12 attached\n[pid    12] read(3,  <unfinished ...>\n[pid    13] futex(0x7, "
          "FUTEX_WAIT, 1, NULL) = 0\n"
          "[pid    12] <... read resumed>\"x\", 8192) = 19\n"}},
        {"what ltrace has printed",
         {"8783 puts(\"hi\")                                  = 3\n8783 pthread_join(0x7, 0, 0, 0x7 <no "
          "return ...>\n",
          "1796073862.720078 SYS_brk(0)                     = 0x563a78801000 <0.000029>\n",
          "a->puts(\"hi\")                                     = 3\n+++ exited (status 0) +++\n"}},
        {"a profile of V8 (.cpuprofile)",
         {R"x({"nodes":[{"id":1,"callFrame":{"functionName":"(root)"},"hitCount":0}]})x"}},
        {"a raw profile of Firefox",
         {R"x({"meta":{"version":27,"interval":1,"stackwalk":1},"threads":[]})x"}},
        {"a profile of pprof",
         {"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x50\xc2\xfb\xe5\xb9\x01"s,
          "\x48\xaf\xb0\xab\x93\xdd\xf4\xbb\xf6\x18\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"s}},
        {"a recording of Java's Flight Recorder", {"FLR\0\0\x02\0\0"s}},
        {"a database of HPCToolkit", {"HPCTOOLKITtrce\x04\x01"}},
        {"perf's samples as JSON", {"{\n\t\"linux-perf-json-version\": 1,\n\t\"headers\": {"}},
        {"call paths for a flame graph", {"main;work 12\nmain;work;read 3\nmain 1\n"}},
        {"a profile of gprof", {"gmon\x01\0\0\0\0\0"s}},
        {"a profile of Python's cProfile", {"\xfb\x29\x03\xfa\x08\x3cstring>"s}},
        {"a profile of callgrind",
         {"# callgrind format\nversion: 1\n", "version: 1\ncreator: callgrind-3.13.0\n"}},
        {"a profile of Coz", {"startup\ttime=15\n"}},
        {"a report of DRD or Helgrind",
         {"==1409== Helgrind, a thread error detector\n", "==9== drd, a thread error detector\n"}},
        {"a report of perf report",
         {"# To display the perf.data header info, please use --header/--header-only options.\n"}},
        {"a profile of cachegrind", {"desc: I1 cache:         32768 B\n"}},
        {"a heap profile",
         {"desc: --massif-out-file=massif.out\ncmd: ./a\n", "{\"dhatFileVersion\":2\n,\"mode\":\"heap\"",
          R"x({"head":{"callFrame":{"functionName":"(root)"},"selfSize":0})x",
          R"x({"snapshot":{"meta":{"node_fields":["type"]}}})x"}},
        {"what strace -c has counted", {"% time     seconds  usecs/call     calls    errors syscall\n"}},
        {"a page or a picture", {"<!DOCTYPE html>\n<html>", "\n<svg version=\"1.1\">"}},
        {"a table of calls that rdam has exported", {"thread,tid,function,begin_ns,end_ns\n"}},
        {"what rdam keeps of a trace", {"\xf5rdamSm\0"s}},
        {"a program or library",
         {"\x7f"
          "ELF\x02"}},
        {"an archive of tar", {std::string(257, 'x') + "ustar\0"s}},
        {"compressed by gzip", {"\x1f\x8b\x08"}},
        {"compressed by zstd", {"\x28\xb5\x2f\xfd"}},
        {"compressed by xz",
         {"\xfd"
          "7zXZ\0"s}},
        {"compressed by bzip2", {"BZh9"}},
        {"an archive of zip", {"PK\x03\x04"}},
    };
    return kSamples;
}

}  // namespace

TEST_CASE("a file of another tool is told by its name") {
    for (const Foreign& format : foreign_formats()) {
        const std::string what{format.what};
        CAPTURE(what);
        REQUIRE(samples().contains(what));
        for (const std::string& text : samples().at(what)) {
            CAPTURE(text.substr(0, 80));
            CHECK(what_is(text) == what);
            const std::string said = not_a_trace("x", text).message;
            CHECK(contains(said, "x is " + what + ": "));
            CHECK(!contains(said, "record again"));
            CHECK(!contains(said, "\n"));
        }
    }
}

TEST_CASE("every name of a foreign format is in the documentation") {
    std::ifstream in{std::string{RDAM_SOURCE_ROOT} + "/docs/inputs.md"};
    std::string page;
    for (std::string word; in >> word;)
        page += word + " ";
    for (const Foreign& format : foreign_formats())
        CHECK(contains(page, std::string{format.what}));
}

TEST_CASE("what rdam reads is not taken for anything else") {
    const std::vector<std::string> texts{
        R"x({"metadata":{"nodes":[{"callFrame":1}]},"traceEvents":[]})x",
        R"x({"meta":{"interval":1,"stackwalk":1,"preprocessedProfileVersion":57}})x",
        R"x([{"name":"f","ph":"X","ts":1,"dur":1,"args":{"callFrame":"traceId"}}])x",
        R"x([{"ph":"P","ts":1,"args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{}}]}}}}])x",
        R"x([{"ph":"X","ts":1,"id":2,"traceId":"ab","timestamp":12}])x",
        R"x([{"args":{"data":{"nodes":[{"callFrame":{}}]}}},)x",
        R"x([{"id":"0x1","args":{"traceId":"ab","timestamp":12}},)x",
        R"x({"nodes":1,"callFrame":1,"metadata":{"x":")x" + std::string(kForeignBytes, 'a'),
        R"x({"metadata":{"nodes":[{"callFrame":"}]}"}],"x":")x" + std::string(kForeignBytes, 'a'),
        "%EventDef PajeDefineContainerType 0\n% Alias string\n",
        "app  12/12  [000]  1.5: probe_app:f: (55d0) n=1 f(1) = 2\n",
        "# tracer: nop\n#\n app-12 [000] ..... 1.5: f: (0x55d0) s=\"a(b) = 3\"\n",
        "hello (world) = 3\n",
        "12 34\n56 78\n",
        "\x0a\x03zzz",
        "\n\n\n"};
    for (const std::string& text : texts)
        CHECK(what_is(text).empty());
}

TEST_CASE("any cut of a foreign file is looked at without harm") {
    for (const auto& [what, texts] : samples())
        for (const std::string& text : texts)
            for (std::size_t size = 0; size < std::min<std::size_t>(text.size(), 200); ++size)
                static_cast<void>(not_a_trace("x", text.substr(0, size)));
}
