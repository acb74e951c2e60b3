#include "analyzer/inputs/chrome/chrome.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/inputs/chrome/json_events.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/inputs/read_back.h"
#include "tests/unit/inputs/text_file.h"

using namespace rdam;
using inputs::chrome::Microseconds;
using inputs::chrome::microseconds_in;
using rdam::test::contains;
using rdam::test::has_remark;
using rdam::test::read_back;
using Lines = std::vector<std::string>;

namespace {

Result<trace::TraceReader> read_json(std::string_view text) {
    const test::TextFile file{text};
    return inputs::chrome::read(file.path(), {});
}

/// The calls of thread 0 of a list of events.
Lines calls_of(std::string_view events) {
    const auto reader = read_json("[" + std::string{events} + "]");
    if (!reader) return {reader.error().message};
    return read_back(*reader, 0);
}

}  // namespace

TEST_CASE("decimal numbers of JSON are read exactly") {
    CHECK(microseconds_in("12") == Microseconds{12, 0});
    CHECK(microseconds_in("12.345") == Microseconds{12, 345'000});
    CHECK(microseconds_in("1700000000000000.125") == Microseconds{1'700'000'000'000'000, 125'000});
    CHECK(microseconds_in("-0.25") == Microseconds{-1, 750'000});
    CHECK(microseconds_in("-3") == Microseconds{-3, 0});
    CHECK(microseconds_in("0.30000000000000004") == Microseconds{0, 300'000});
    CHECK(microseconds_in("0.9999999") == Microseconds{1, 0});
    CHECK(microseconds_in("1.5e3") == Microseconds{1500, 0});
    CHECK(microseconds_in("25E-1") == Microseconds{2, 500'000});
    CHECK(microseconds_in("0e999999999") == Microseconds{0, 0});
    CHECK(microseconds_in("1e-999999999") == Microseconds{0, 0});
    for (const char* none : {"", "-", "x", "1e", "1e999999999", "1x", "99999999999999999999", "."})
        CHECK_FALSE(microseconds_in(none));
}

TEST_CASE("complete events nest by time, in whatever order they are written") {
    const Lines expected{"1000 f()", "1500 g()", "2000 /g",  "2000 g()",
                         "3000 /g",  "3000 /f",  "4000 f()", "4500 /f"};
    CHECK(calls_of(R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":2},
                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":1.5,"dur":0.5},
                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":2,"dur":1},
                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":4,"dur":0.5})") == expected);
    CHECK(calls_of(R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":4,"dur":0.5},
                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":2,"dur":1},
                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":1.5,"dur":0.5},
                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":2})") == expected);
}

TEST_CASE("events B and E are matched by time and name") {
    CHECK(calls_of(R"({"ph":"B","name":"f","pid":1,"tid":"io","ts":1},
                      {"ph":"E","pid":1,"tid":"io","ts":9},
                      {"ph":"B","name":"g","pid":1,"tid":"io","ts":2},
                      {"ph":"E","name":"g","pid":1,"tid":"io","ts":5})") ==
          Lines{"1000 f()", "2000 g()", "5000 /g", "9000 /f"});
    const auto reader = read_json(R"([{"ph":"B","name":"f","pid":1,"tid":2,"ts":1},
                                      {"ph":"B","name":"g","pid":1,"tid":2,"ts":2},
                                      {"ph":"E","name":"f","pid":1,"tid":2,"ts":3},
                                      {"ph":"E","name":"h","pid":1,"tid":2,"ts":4}])");
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"1000 f()", "2000 g()", "3000 /g unwound", "3000 /f"});
    CHECK(has_remark(*reader, "One event E ends nothing, and was passed over."));
    CHECK(has_remark(*reader, "One event B has no E: when it ended is not known."));
}

TEST_CASE("an end that names no open call ends the innermost that has no end of its own") {
    const auto reader = read_json(R"([{"ph":"B","name":"f","pid":1,"tid":2,"ts":1},
                                      {"ph":"B","name":"task","pid":1,"tid":2,"ts":2},
                                      {"ph":"E","name":"renamed","pid":1,"tid":2,"ts":3},
                                      {"ph":"E","name":"f","pid":1,"tid":2,"ts":4}])");
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"1000 f()", "2000 task()", "3000 /task", "4000 /f"});
    CHECK(has_remark(*reader, "One call ends as another function than it began as"));
    // The begin of g is lost: f has an end of its own.
    const auto lost = read_json(R"([{"ph":"B","name":"f","pid":1,"tid":2,"ts":1},
                                    {"ph":"E","name":"g","pid":1,"tid":2,"ts":3},
                                    {"ph":"E","name":"f","pid":1,"tid":2,"ts":4}])");
    REQUIRE(lost);
    CHECK(read_back(*lost, 0) == Lines{"1000 f()", "4000 /f"});
    CHECK(has_remark(*lost, "One event E ends nothing"));
}

TEST_CASE("what has no end is around all that comes behind it, at the last time too") {
    CHECK(
        calls_of(R"({"ph":"B","name":"a","pid":1,"tid":1,"ts":0},{"ph":"B","name":"b","pid":1,"tid":1,"ts":5},
                      {"ph":"X","name":"c","pid":1,"tid":1,"ts":9},{"ph":"B","name":"d","pid":1,"tid":1,"ts":9})") ==
        Lines{"0 a()", "5000 b()", "9000 c()", "9000 d()"});
}

TEST_CASE("ends of one time may be written in any order") {
    const Lines nested{"0 a()", "0 b()", "0 c()", "10000 /c", "10000 /b", "10000 /a"};
    CHECK(
        calls_of(R"({"ph":"B","name":"a","pid":1,"tid":1,"ts":0},{"ph":"B","name":"b","pid":1,"tid":1,"ts":0},
                      {"ph":"B","name":"c","pid":1,"tid":1,"ts":0},{"ph":"E","name":"a","pid":1,"tid":1,"ts":10},
                      {"ph":"E","name":"b","pid":1,"tid":1,"ts":10},{"ph":"E","name":"c","pid":1,"tid":1,"ts":10})") ==
        nested);
    // Whatever begins among them, and with what each of them has to say.
    CHECK(
        calls_of(R"({"ph":"B","name":"a","pid":1,"tid":1,"ts":0},{"ph":"B","name":"b","pid":1,"tid":1,"ts":1},
                      {"ph":"E","name":"a","pid":1,"tid":1,"ts":5},{"ph":"B","name":"c","pid":1,"tid":1,"ts":5},
                      {"ph":"E","name":"b","pid":1,"tid":1,"ts":5,"args":{"n":7}},
                      {"ph":"E","name":"c","pid":1,"tid":1,"ts":6})") ==
        Lines{"0 a()", "1000 b(7)", "5000 /b", "5000 /a", "5000 c()", "6000 /c"});
    // The end of b is that of a later b.
    CHECK(
        calls_of(R"({"ph":"B","name":"a","pid":1,"tid":1,"ts":0},{"ph":"B","name":"b","pid":1,"tid":1,"ts":1},
                      {"ph":"E","name":"a","pid":1,"tid":1,"ts":5},{"ph":"B","name":"b","pid":1,"tid":1,"ts":5},
                      {"ph":"E","name":"b","pid":1,"tid":1,"ts":5})") ==
        Lines{"0 a()", "1000 b()", "5000 /b unwound", "5000 /a", "5000 b()", "5000 /b"});
}

TEST_CASE("calls that overlap are on rows of their own") {
    const auto reader = read_json(R"([{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":4},
                                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":2,"dur":9},
                                      {"ph":"X","name":"h","pid":1,"tid":2,"ts":3,"dur":1},
                                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":12,"dur":4},
                                      {"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"stream"}}])");
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 2);
    CHECK(reader->info().threads[0].name == "stream");
    CHECK(reader->info().threads[1].name == "stream (2)");
    CHECK(reader->info().threads[0].tid == 2);
    CHECK(reader->info().threads[1].tid != 2);
    CHECK(read_back(*reader, 0) == Lines{"1000 f()", "5000 /f", "12000 f()", "16000 /f"});
    // h is inside both: in what began last.
    CHECK(read_back(*reader, 1) == Lines{"2000 g()", "3000 h()", "4000 /h", "11000 /g"});
    CHECK(has_remark(*reader, "One event overlaps another of its thread"));
}

TEST_CASE("rows for what overlaps are bounded") {
    std::string events;
    for (int i = 0; i < 200; ++i)
        events += fmt::format(R"({}{{"ph":"X","name":"f","pid":1,"tid":2,"ts":{},"dur":100000}})",
                              i == 0 ? "" : ",", 10 * i);
    const auto reader = read_json("[" + events + "]");
    REQUIRE(reader);
    CHECK(reader->info().threads.size() == 64);
    CHECK(has_remark(*reader, "63 events overlap others of their thread"));
    CHECK(has_remark(*reader, "events end later than those around them: counted, not scored."));
}

TEST_CASE("asynchronous events are calls on a row for each of a category's tracks") {
    const auto reader = read_json(R"([
        {"ph":"b","cat":"io","id":1,"name":"outer","pid":1,"tid":7,"ts":100,"args":{"k":3}},
        {"ph":"b","cat":"io","id":"0x2","name":"outer","pid":1,"tid":7,"ts":105},
        {"ph":"n","cat":"io","id":1,"name":"event","pid":1,"tid":7,"ts":106},
        {"ph":"b","cat":"io","id":1,"name":"inner","pid":1,"tid":8,"ts":110},
        {"ph":"e","cat":"io","id":1,"name":"inner","pid":1,"tid":7,"ts":120},
        {"ph":"e","cat":"io","id":1,"name":"outer","pid":1,"tid":7,"ts":130},
        {"ph":"e","cat":"io","id":"0x2","name":"outer","pid":1,"tid":9,"ts":140},
        {"ph":"e","cat":"io","id":"0x2","name":"outer","pid":1,"tid":9,"ts":141},
        {"ph":"b","cat":"net","id2":{"local":"0x1"},"name":"send","pid":1,"tid":7,"ts":200},
        {"ph":"e","cat":"net","id2":{"local":"0x1"},"name":"send","pid":1,"tid":7,"ts":210},
        {"ph":"b","cat":"net","name":"no id","pid":1,"tid":7,"ts":200},
        {"ph":"b","cat":"open","id":1,"name":"open","pid":1,"tid":7,"ts":150}])");
    REQUIRE(reader);
    const auto& threads = reader->info().threads;
    REQUIRE(threads.size() == 4);
    CHECK(threads[0].name == "io 1");
    CHECK(threads[1].name == "io 0x2");
    CHECK(threads[2].name == "net");
    CHECK(threads[3].name == "open");
    CHECK(reader->info().functions.at(0).module == "io");
    CHECK(read_back(*reader, 0) ==
          Lines{"100000 outer(3)", "110000 inner()", "120000 /inner", "130000 /outer"});
    CHECK(read_back(*reader, 1) == Lines{"105000 outer(0)", "140000 /outer"});
    CHECK(read_back(*reader, 2) == Lines{"200000 send()", "210000 /send"});
    CHECK(read_back(*reader, 3) == Lines{"150000 open()"});
    CHECK(has_remark(*reader, "One event E ends nothing"));
    CHECK(has_remark(*reader, "One event has no name, no id or no possible time"));
    CHECK(has_remark(*reader, "One event B has no E"));
    CHECK(has_remark(*reader, "One event is no call of a thread"));
}

TEST_CASE("a call of a track that follows another of its name at once ends after it") {
    std::string begins, ends;
    for (int i = 0; i < 3; ++i) {
        begins +=
            fmt::format(R"({{"ph":"b","cat":"io","id":1,"name":"read","pid":1,"tid":7,"ts":{}}},)", 10 * i);
        ends += fmt::format(R"(,{{"ph":"e","cat":"io","id":1,"name":"read","pid":1,"tid":7,"ts":{}}})",
                            10 * i + 10);
    }
    begins.pop_back();
    const auto reader = read_json("[" + begins + ends + "]");
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 1);
    CHECK(read_back(*reader, 0) ==
          Lines{"0 read()", "10000 /read", "10000 read()", "20000 /read", "20000 read()", "30000 /read"});
}

TEST_CASE("an end of a track without a name ends its last call") {
    const auto reader = read_json(R"([
        {"ph":"b","cat":"io","id":1,"name":"outer","pid":1,"tid":7,"ts":1},
        {"ph":"b","cat":"io","id":1,"name":"inner","pid":1,"tid":7,"ts":2},
        {"ph":"e","cat":"io","id":1,"pid":1,"tid":7,"ts":5},
        {"ph":"b","cat":"io","id":2,"name":"inner","pid":1,"tid":7,"ts":6},
        {"ph":"e","cat":"io","id":1,"pid":1,"tid":7,"ts":9},
        {"ph":"e","cat":"io","id":2,"name":"inner","pid":1,"tid":7,"ts":12}])");
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 2);
    CHECK(read_back(*reader, 0) == Lines{"1000 outer()", "2000 inner()", "5000 /inner", "9000 /outer"});
    CHECK(read_back(*reader, 1) == Lines{"6000 inner()", "12000 /inner"});
}

TEST_CASE("the rows of asynchronous categories are bounded") {
    std::string events;
    for (int i = 0; i < 400; ++i)
        for (const char* phase : {"b", "e"})
            events += fmt::format(R"({}{{"ph":"{}","cat":"c{}","id":1,"name":"f","pid":1,"tid":1,"ts":{}}})",
                                  events.empty() ? "" : ",", phase, i, 10 * i + (*phase == 'e' ? 5 : 0));
    const auto reader = read_json("[" + events + "]");
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 257);
    CHECK(reader->info().threads.back().name == "other categories");
    CHECK(read_back(*reader, 256).size() == std::size_t{2} * (400 - 256));
}

TEST_CASE("what overlaps on a track is on rows of its own, and old asynchronous events are read too") {
    const auto reader = read_json(R"([
        {"ph":"S","cat":"io","id":1,"name":"a","pid":1,"tid":7,"ts":1},
        {"ph":"S","cat":"io","id":1,"name":"b","pid":1,"tid":7,"ts":2},
        {"ph":"F","cat":"io","id":1,"name":"a","pid":1,"tid":7,"ts":5},
        {"ph":"F","cat":"io","id":1,"name":"b","pid":1,"tid":7,"ts":9}])");
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 2);
    CHECK(reader->info().threads[1].name == "io (2)");
    CHECK(read_back(*reader, 0) == Lines{"1000 a()", "5000 /a"});
    CHECK(read_back(*reader, 1) == Lines{"2000 b()", "9000 /b"});
}

TEST_CASE("many tracks of a category share as many rows as are open at a time") {
    std::string events;
    for (int i = 0; i < 100; ++i)
        for (const char* phase : {"b", "e"})
            events +=
                fmt::format(R"({}{{"ph":"{}","cat":"fs","id":{},"name":"read","pid":1,"tid":1,"ts":{}}})",
                            events.empty() ? "" : ",", phase, i, 10 * i + (*phase == 'e' ? 15 : 0));
    const auto reader = read_json("[" + events + "]");
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 2);
    CHECK(reader->info().threads[0].name == "fs");
    CHECK(read_back(*reader, 0).size() == 100);
    CHECK(read_back(*reader, 1).size() == 100);
    CHECK(read_back(*reader, 1).front() == "10000 read()");
}

TEST_CASE("the processor time of calls tells how long they were off the processor") {
    const auto off_cpu = [](std::string_view events) {
        const auto reader = read_json("[" + std::string{events} + "]");
        REQUIRE(reader);
        CHECK(reader->info().switches.state == trace::SwitchInfo::State::recorded);
        Lines lines;
        const auto off = reader->off_cpu(0);
        REQUIRE(off);
        for (const trace::OffCpu& each : *off)
            lines.push_back(
                fmt::format("{}-{}{}", each.out - 1, each.in - 1, each.preempted ? " preempted" : ""));
        return lines;
    };
    CHECK(off_cpu(R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":0,"dur":100,"tts":7,"tdur":40},
                     {"ph":"X","name":"f","pid":1,"tid":2,"ts":200,"dur":100,"tdur":99})") ==
          Lines{"0-60000"});
    // Of what is around a call its own is taken off, and it is not while that call runs.
    CHECK(off_cpu(R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":0,"dur":100,"tdur":40},
                     {"ph":"X","name":"g","pid":1,"tid":2,"ts":10,"dur":40,"tdur":20},
                     {"ph":"X","name":"h","pid":1,"tid":2,"ts":60,"dur":10})") ==
          Lines{"0-10000", "10000-30000", "50000-80000"});
    CHECK(off_cpu(R"({"ph":"B","name":"f","pid":1,"tid":2,"ts":0,"tts":1000},
                     {"ph":"E","name":"f","pid":1,"tid":2,"ts":50,"tts":1010})") == Lines{"0-40000"});
    const auto reader = read_json(R"([{"ph":"X","name":"f","pid":1,"tid":2,"ts":0,"dur":100,"tdur":40},
                                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":100,"dur":100}])");
    REQUIRE(reader);
    CHECK(has_remark(*reader, "1 of 2 calls tell their processor time (tdur, tts)"));
}

TEST_CASE("samples, and traces without their short calls, are said to be such") {
    const auto missing = [](std::string_view events, std::string_view more = "") {
        const auto reader =
            read_json("{\"traceEvents\":[" + std::string{events} + "]" + std::string{more} + "}");
        REQUIRE(reader);
        CHECK(reader->info().process.shortest_missing == !reader->info().remarks.empty());
        return reader->info().process.shortest_missing;
    };
    CHECK(missing(R"({"ph":"B","name":"f","cat":"py-spy","pid":1,"tid":2,"ts":0},
                     {"ph":"E","name":"f","cat":"py-spy","pid":1,"tid":2,"ts":9})"));
    CHECK(missing(R"({"ph":"M","name":"process_name","cat":"__metadata","pid":1,"args":{"name":"tsc"}},
                     {"ph":"X","name":"f","cat":"check","pid":1,"tid":2,"ts":0,"dur":7})"));
    std::string calls;
    for (int i = 0; i < 100; ++i)
        calls += fmt::format(R"({}{{"ph":"X","name":"f","pid":1,"tid":2,"ts":{},"dur":20.5}})",
                             i == 0 ? "" : ",", 100 * i);
    const std::string_view viztracer = R"(,"viztracer_metadata":{"version":"1.1.1","overflow":false})";
    CHECK(missing(calls, viztracer));
    CHECK_FALSE(missing(calls + R"(,{"ph":"X","name":"g","pid":1,"tid":2,"ts":50,"dur":0.3})", viztracer));
    CHECK_FALSE(missing(calls));
}

TEST_CASE("a file that ends behind its list of events is read, with a note") {
    for (const char* end : {"", ",", R"(,"displayTimeUnit":"m)", R"(,"stackFrames":{"1":{)"}) {
        const auto reader = read_json(
            R"({"traceEvents":[{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":4}])" + std::string{end});
        REQUIRE(reader);
        CHECK(read_back(*reader, 0) == Lines{"1000 f()", "5000 /f"});
        CHECK(has_remark(*reader, "The file ends behind its list of events"));
    }
}

TEST_CASE("numbers that are none, or infinite, are missing values") {
    const Lines expected{"1000 f(0,0,0)", "3000 /f", "4000 f(1,2,0)", "6000 /f"};
    for (const char* none : {"NaN", "-NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "+Inf", "null"})
        CHECK(
            calls_of(
                fmt::format(
                    R"({{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":2,"args":{{"x":{0},"y":{0} ,"z":[{0},-1]}}}},
                     {{"ph":"X","name":"f","pid":1,"tid":2,"ts":4,"dur":2,"args":{{"x":1,"y":2,"s":"{0}"}}}})",
                    none))
                .size() == expected.size());
    CHECK(calls_of(R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":2,"args":{"x":NaN,"y":-Infinity}},
                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":4,"dur":2,"args":{"x":1,"y":2}})") ==
          Lines{"1000 f(0,0)", "3000 /f", "4000 f(1,2)", "6000 /f"});
    // As a time it is none, and no text is changed.
    const auto reader = read_json(R"([{"ph":"X","name":"NaN \\\" Infinity","pid":1,"tid":2,"ts":1,"dur":2},
                                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":NaN,"dur":2}])");
    REQUIRE(reader);
    CHECK(reader->info().functions.at(0).name == "NaN \\\" Infinity");
    CHECK(has_remark(*reader, "One event has no name, no id or no possible time"));
    // Whatever part of it is in which block of the file.
    const std::string event =
        R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":1,"args":{"x":-Infinity}},)";
    std::string events = "[";
    while (events.size() < std::size_t{200} << 10U)
        events += event + std::string(events.size() % 7, ' ');
    CHECK(read_json(events));
    CHECK_FALSE(read_json(R"([{"ph":"X","name":"f","ts":1,"dur":1,"args":{"x":nano}}])"));
}

TEST_CASE("lists as arguments are texts") {
    const auto reader = read_json(R"([{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":1,"args":
        {"dims":[[64,64],[],[2.50]],"types":["float",null,true],"deep":{"a":{"b":{"c":{"d":{"e":-1,"g":[2]}}}}},"n":1}},
        {"ph":"X","name":"f","pid":1,"tid":2,"ts":3,"dur":1,"args":{"dims":[{"x":1,"y":[1]},2]}},
        {"ph":"X","name":"g","pid":1,"tid":2,"ts":5,"dur":1,"args":[1,2]}])");
    REQUIRE(reader);
    CHECK(reader->info().texts ==
          Lines{"[[64,64],[],[2.50]]", "[float,null,true]", "{e:-1,g:[2]}", "[{x:1,y:[1]},2]", "[1,2]"});
    CHECK(read_back(*reader, 0) ==
          Lines{"1000 f(1,2,3,1)", "2000 /f", "3000 f(4,0,0,0)", "4000 /f", "5000 g(5)", "6000 /g"});
    CHECK(reader->info().functions.at(0).parameters.at(2).name == "deep.a.b.c.d");
    CHECK(reader->info().functions.at(1).parameters.at(0).name == "args");
    std::string elements = "1";
    while (elements.size() < 5000)
        elements += ",1";
    const auto large =
        read_json(R"([{"ph":"X","name":"f","ts":1,"dur":1,"args":{"l":[)" + elements + R"(],"n":1}}])");
    REQUIRE(large);
    CHECK(has_remark(*large, "One argument is a list of more than 4 KiB"));
}

TEST_CASE("an event that ends later by no more than times are rounded is cut") {
    const auto reader = read_json(R"([{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":4},
                                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":2,"dur":4}])");
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"1000 f()", "2000 g()", "5000 /g", "5000 /f"});
    CHECK(has_remark(*reader, "by no more than times are rounded, and was cut there."));
    // Half a microsecond is much for a clock of nanoseconds, unless the call is long.
    const auto second_row = [](std::string_view begin) {
        const auto of = read_json(
            R"([{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":99.001},{"ph":"X","name":"g","pid":1,"tid":2,"ts":)" +
            std::string{begin} + "}]");
        REQUIRE(of);
        return of->info().threads.size() == 2 ? read_back(*of, 1) : read_back(*of, 0);
    };
    CHECK(second_row(R"(99,"dur":1.501)") == Lines{"99000 g()", "100501 /g"});
    CHECK(second_row(R"(10,"dur":90.501)").at(2) == "100001 /g");
}

TEST_CASE("calls that were not seen to end are none of the calls of that name around them") {
    CHECK(calls_of(R"({"ph":"X","name":"main","pid":1,"tid":2,"ts":0,"dur":100},
                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":4},
                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":2},
                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":3,"dur":1},
                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":7,"dur":1})") ==
          Lines{"0 main()", "1000 f()", "2000 f()", "3000 g()", "4000 /g", "5000 /f unwound", "5000 /f",
                "7000 g()", "8000 /g", "100000 /main"});
    // Around which nothing ends.
    CHECK(calls_of(R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":1},
                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":2,"dur":4},
                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":3})") ==
          Lines{"1000 f()", "2000 f()", "3000 f()", "6000 /f unwound", "6000 /f"});
}

TEST_CASE("arguments of all calls of a function are its parameters, each of one kind") {
    const auto reader = read_json(
        R"([{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":1,"args":{"n":-3,"on":true,"who":"ann","x":1}},
            {"args":{"x":0.5,"who":7,"in":{"deep":8},"list":[1,2]},"ph":"X","name":"f","pid":1,"tid":2,"ts":3,"dur":1},
            {"ph":"X","name":"f","pid":1,"tid":2,"ts":5,"dur":1,"args":{"who":"ann"}}])");
    REQUIRE(reader);
    const trace::FunctionInfo& function = reader->info().functions.at(0);
    std::vector<std::string> names;
    for (const trace::ParameterInfo& each : function.parameters)
        names.push_back(fmt::format("{} {}", each.name, each.kind));
    const auto kind = [](ValueKind wanted) { return static_cast<unsigned>(wanted); };
    CHECK(names == std::vector<std::string>{fmt::format("n {}", kind(ValueKind::signed_integer)),
                                            fmt::format("on {}", kind(ValueKind::boolean)),
                                            fmt::format("who {}", kind(ValueKind::enumeration)),
                                            fmt::format("x {}", kind(ValueKind::floating)),
                                            fmt::format("in.deep {}", kind(ValueKind::signed_integer)),
                                            fmt::format("list {}", kind(ValueKind::enumeration))});
    const std::uint64_t one = inputs::put_value(1.0), half = inputs::put_value(0.5);
    CHECK(read_back(*reader, 0) ==
          Lines{fmt::format("1000 f({},1,1,{},0,0)", inputs::put_value(std::int64_t{-3}), one), "2000 /f",
                fmt::format("3000 f(0,0,3,{},8,2)", half), "4000 /f", "5000 f(0,0,1,0,0,0)", "6000 /f"});
}

TEST_CASE("names are well-known functions only where the file says that functions were recorded") {
    const std::string event =
        R"({"traceEvents":[{"ph":"X","name":"pthread_mutex_lock","pid":1,"tid":2,"ts":1,"dur":1,"args":{"mutex":4096,"x":1}}])";
    for (const char* more : {R"(,"metadata":{"command_line":"uftrace record ./a"}})",
                             R"(,"otherData":{"rows_from_tid":268435456}})", "}",
                             R"(,"metadata":{"command_line":"/usr/bin/app"}})"}) {
        const bool functions = contains(more, "uftrace") || contains(more, "rows_from_tid");
        const auto reader = read_json(event + more);
        REQUIRE(reader);
        const trace::FunctionInfo& lock = reader->info().functions.at(0);
        CHECK(lock.any_name == !functions);
        CHECK(lock.waits == functions);
        CHECK(lock.parameters.at(0).key == functions);
        CHECK_FALSE(lock.parameters.at(1).key);
    }
}

TEST_CASE("arguments of B and E are those of one call") {
    CHECK(calls_of(R"({"ph":"B","name":"f","pid":1,"tid":2,"ts":1,"args":{"a":1,"b":2}},
                      {"ph":"E","pid":1,"tid":2,"ts":3,"args":{"b":5,"c":6}})") ==
          Lines{"1000 f(1,5,6)", "3000 /f"});
}

TEST_CASE("metadata names threads and processes, wherever it stands") {
    const auto reader = read_json(
        R"({"traceEvents":[{"ph":"X","name":"f","pid":7,"tid":8,"ts":1,"dur":1},
            {"ph":"X","name":"f","pid":9,"tid":10,"ts":1,"dur":1},
            {"ph":"M","name":"process_name","pid":7,"args":{"name":"server"}},
            {"ph":"M","name":"thread_name","pid":7,"tid":8,"args":{"name":"worker"}}],
            "displayTimeUnit":"ms","otherData":{"product-version":"Chrome/120"}})");
    REQUIRE(reader);
    CHECK(reader->info().process.recorder == "Chrome/120");
    REQUIRE(reader->info().threads.size() == 2);
    CHECK(reader->info().threads[0].tid == 8);
    CHECK(reader->info().threads[0].name == "server: worker");
    CHECK(reader->info().threads[1].name == "9");
}

TEST_CASE("processes of one name are told apart, and what they are called is the program") {
    const auto reader = read_json(
        R"([{"ph":"X","name":"f","pid":7,"tid":8,"ts":1,"dur":1},{"ph":"X","name":"f","pid":9,"tid":10,"ts":1,"dur":1},
            {"ph":"X","name":"f","pid":11,"tid":12,"ts":1,"dur":1},
            {"ph":"M","name":"process_name","pid":7,"args":{"name":"Renderer"}},
            {"ph":"M","name":"process_name","pid":9,"args":{"name":"Renderer"}},
            {"ph":"M","name":"process_name","pid":11,"args":{"name":"Browser"}},
            {"ph":"M","name":"process_name","pid":13,"args":{"name":"idle"}},
            {"ph":"M","name":"process_labels","pid":11,"args":{"labels":"main"}},
            {"ph":"M","name":"thread_name","pid":9,"tid":10,"args":{"name":"io"}}])");
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 3);
    CHECK(reader->info().threads[0].name == "Renderer 7");
    CHECK(reader->info().threads[1].name == "Renderer 9: io");
    CHECK(reader->info().threads[2].name == "Browser (main)");
    CHECK(reader->info().process.command == Lines{"Renderer, Browser"});
}

TEST_CASE("sums of clang and lld are no calls") {
    const auto reader = read_json(
        R"({"traceEvents":[{"ph":"X","name":"Frontend","pid":7,"tid":7,"ts":1,"dur":1},
            {"ph":"X","name":"Total Frontend","pid":7,"tid":8,"ts":0,"dur":9,"args":{"count":3,"avg ms":1}},
            {"ph":"X","name":"Total","pid":7,"tid":7,"ts":3,"dur":1}],"otherData":{"recorder":"writer\n 2\n"}})");
    REQUIRE(reader);
    CHECK(reader->info().threads.size() == 1);
    CHECK(read_back(*reader, 0) == Lines{"1000 Frontend()", "2000 /Frontend", "3000 Total()", "4000 /Total"});
    CHECK(has_remark(*reader, "One event is a sum of others (Total …)"));
    CHECK(reader->info().process.recorder == "writer  2");
}

TEST_CASE("a process without calls is none of several") {
    const auto reader = read_json(R"([{"ph":"X","name":"f","pid":7,"tid":1,"ts":1,"dur":2},
                                      {"ph":"E","name":"f","pid":8,"tid":2,"ts":5}])");
    REQUIRE(reader);
    CHECK(reader->info().process.pid == 7);
    CHECK(reader->info().threads[0].name.empty());
}

TEST_CASE("the clock moves by the digits that the file has") {
    const auto step = [](std::string_view times) {
        const auto reader =
            read_json(R"([{"ph":"X","name":"f","pid":1,"tid":2,)" + std::string{times} + "}]");
        REQUIRE(reader);
        const trace::ClockInfo& clock = reader->info().clock;
        return std::pair{clock.ticks_per_second, clock.step_ticks};
    };
    CHECK(step(R"("ts":1,"dur":2)") == std::pair{1e9, std::uint64_t{1000}});
    CHECK(step(R"("ts":1.25,"dur":2)") == std::pair{1e9, std::uint64_t{10}});
    CHECK(step(R"("ts":1.5,"dur":2.125)") == std::pair{1e9, std::uint64_t{1}});
    CHECK(step(R"("ts":1.5,"dur":0.00025)") == std::pair{1e12, std::uint64_t{10}});
}

TEST_CASE("a list of events need not end") {
    const std::string event = R"({"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":1})";
    for (const std::string& text : {"[" + event, "[" + event + ",\n", R"({"traceEvents":[)" + event + ","}) {
        const auto reader = read_json(text);
        REQUIRE(reader);
        CHECK(read_back(*reader, 0) == Lines{"1000 f()", "2000 /f"});
        CHECK(reader->info().remarks.empty());
    }
    const auto cut = read_json("[" + event + R"(,{"ph":"X","name":"g","pi)");
    REQUIRE(cut);
    CHECK(read_back(*cut, 0) == Lines{"1000 f()", "2000 /f"});
    CHECK(has_remark(*cut, "The file ends inside an event"));
}

TEST_CASE("what is no call is passed over and counted") {
    const auto reader = read_json(R"([{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":1},
        {"ph":"n","name":"a","cat":"c","id":1,"pid":1,"tid":2,"ts":1},{"ph":"C","name":"n","pid":1,"ts":1,"args":{"v":1}},
        {"ph":"X","name":"g","pid":1,"tid":2,"dur":1},{"ph":"X","pid":1,"tid":2,"ts":1,"dur":1},
        {"ph":"X","name":"g","pid":1,"tid":2,"ts":1,"dur":-1},{"ph":"X","name":"g","pid":1,"tid":2,"ts":1e17,"dur":1},
        null,[1],"x"])");
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"1000 f()", "2000 /f"});
    CHECK(has_remark(*reader, "2 events are no calls of a thread"));
    CHECK(has_remark(*reader, "4 events have no name, no id or no possible time"));
}

TEST_CASE("JSON that is none is refused, with the line") {
    const auto error = [](std::string_view text) {
        const auto reader = read_json(text);
        return reader ? std::string{"read"} : reader.error().message;
    };
    CHECK(contains(error("[{\"ph\":\"X\"},\n{\"ph\":}]"), "not sound as JSON: parse error at line 2"));
    CHECK(contains(error(R"({"name":"X"})"), "is not an rdam trace, and no trace events"));
    CHECK(contains(error("{\"ph\":\"X\",\"name\":\"f\"}\n{\"ph\":\"X\"}"), "has a trace event on each line"));
    CHECK(contains(error(R"({"ph":"X"})"), "has a trace event on each line"));
    CHECK(contains(error(R"({"traceEvents":[]} x)"), "not sound as JSON"));
    CHECK(contains(error(R"({"other":[)"), "not sound as JSON"));
    CHECK(contains(error("[]"), "has no call: its list of trace events is empty"));
    CHECK(contains(error("[\"" + std::string(std::size_t{17} << 20U, 'a') + "\"]"), "more than 16 MiB"));
}

TEST_CASE("a list of events far behind the beginning is found") {
    const std::string metadata =
        "{\"metadata\":{\"long\":\"" + std::string(std::size_t{100} << 10U, 'x') + "\"},";
    CHECK(inputs::chrome::recognizes(metadata.substr(0, std::size_t{64} << 10U)));
    CHECK(read_json(metadata + R"("traceEvents":[{"ph":"X","name":"f","ts":1,"dur":1}]})"));
}

TEST_CASE("a text instead of a thread's number is its name") {
    const auto reader = read_json(R"([{"ph":"X","name":"f","tid":"render","ts":1,"dur":1},
{"ph":"X","name":"f","tid":"12","ts":1,"dur":1}])");
    REQUIRE(reader);
    CHECK(reader->info().threads.at(0).name == "render");
    CHECK(reader->info().threads.at(1).name.empty());
    CHECK(reader->info().threads.at(1).tid == 12);
}

TEST_CASE("trace events are recognized, other text is not") {
    using inputs::chrome::recognizes;
    CHECK(recognizes("\xef\xbb\xbf [\n{\"ph\": \"X\""));
    CHECK(recognizes("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["));
    CHECK_FALSE(recognizes("[1,2]"));
    CHECK_FALSE(recognizes("{functions}"));
    CHECK_FALSE(recognizes(""));
    CHECK_FALSE(recognizes("\"traceEvents\""));
}

TEST_CASE("what rdam has exported is read like another tool's, but for what is no call and no parameter") {
    const auto reader = read_json(
        R"({"displayTimeUnit":"ns","otherData":{"recorder":"tracer 3","command":"./a b","rows_from_tid":268435456},"traceEvents":[
{"ph":"M","pid":3,"tid":4,"name":"thread_name","args":{"name":"w"}},
{"ph":"X","name":"f","cat":"m","pid":3,"tid":4,"ts":0.002,"dur":0.001,"args":{"lost_ns":1.000,"parameters":"lock=0x7f0001, n=-2","result":"true"}},
{"ph":"X","name":"h","cat":"m","pid":3,"tid":4,"ts":5,"dur":15,"args":{"end":"not seen"}},
{"ph":"M","pid":3,"tid":268435460,"name":"thread_name","args":{"name":"4 w: off the processor"}},
{"ph":"X","name":"waits","cat":"off the processor","pid":3,"tid":268435460,"ts":6,"dur":1.5},
{"ph":"X","name":"3 calls, most time in f","cat":"merged","pid":3,"tid":536870916,"ts":6,"dur":1,"args":{"calls":3}},
{"ph":"X","name":"f","cat":"on a processor","pid":3,"tid":805306369,"ts":6,"dur":1,"args":{"thread":4}}]})");
    REQUIRE(reader);
    const trace::TraceInfo& info = reader->info();
    CHECK(info.process.recorder == "tracer 3");
    CHECK(info.process.command == std::vector<std::string>{"./a", "b"});
    REQUIRE(info.threads.size() == 1);
    CHECK(info.threads[0].name == "w");
    CHECK(read_back(*reader, 0) == Lines{"2 f(1,2)", "3 /f", "5000 h()"});
    REQUIRE(info.texts.size() == 2);
    CHECK(info.texts[0] == "lock=0x7f0001, n=-2");
    CHECK(has_remark(*reader, "rdam exported this file"));
    CHECK(has_remark(*reader, "3 calls are not in the file one by one"));
}

TEST_CASE("a call that takes no time is inside the one that ends then, if it was written first") {
    CHECK(calls_of(R"({"ph":"X","name":"g","pid":1,"tid":2,"ts":3,"dur":0},
                      {"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":2},
                      {"ph":"X","name":"g","pid":1,"tid":2,"ts":3,"dur":0})") ==
          Lines{"1000 f()", "3000 g()", "3000 /g", "3000 /f", "3000 g()", "3000 /g"});
}
