#include "analyzer/inputs/paje/paje.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/inputs/open.h"
#include "analyzer/inputs/paje/scan.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/inputs/read_back.h"
#include "tests/unit/temporary_folder.h"

using namespace rdam;
using namespace rdam::inputs;
using rdam::test::contains;
using rdam::test::has_remark;
using rdam::test::read_back;

namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kPajeEvents = R"(%EventDef PajeDefineContainerType 0
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineStateType 1
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeDefineEntityValue 2
% Alias string
% Type string
% Name string
%EndEventDef
%EventDef PajeCreateContainer 3
% Time date
% Alias string
% Type string
% Container string
% Name string
%EndEventDef
%EventDef PajeDestroyContainer 4
% Time date
% Name string
% Type string
%EndEventDef
%EventDef PajeSetState 5
% Time date
% Container string
% Type string
% Value string
%EndEventDef
%EventDef PajePushState 6
% Time date
% Container string
% Type string
% Value string
%EndEventDef
%EventDef PajePopState 7
% Time date
% Container string
% Type string
%EndEventDef
%EventDef PajeResetState 8
% Time date
% Container string
% Type string
%EndEventDef
%EventDef PajeSetVariable 9
% Time date
% Container string
% Type string
% Value double
%EndEventDef
)";
constexpr std::string_view kPajeTypes = R"(0 P 0 Process
0 T P Thread
1 S T "Thread State"
3 0 p P 0 program
3 0 t T p worker
)";

Result<trace::TraceReader> read_paje(const std::string& text) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("x.paje");
    std::ofstream{path, std::ios::binary} << text;
    return open_any(path);
}

trace::TraceReader read_states(const std::string& lines) {
    auto read = read_paje(std::string{kPajeEvents} + std::string{kPajeTypes} + lines);
    INFO((read ? "" : read.error().message));
    REQUIRE(read);
    return std::move(*read);
}

std::string paje_refusal(const std::string& text) {
    const auto read = read_paje(text);
    REQUIRE_FALSE(read);
    return read.error().message;
}

Lines thread_names(const trace::TraceReader& reader) {
    Lines names;
    for (const auto& each : reader.info().threads)
        names.push_back(each.name);
    return names;
}

Lines function_names(const trace::TraceReader& reader) {
    Lines names;
    for (const auto& each : reader.info().functions)
        names.push_back(each.name);
    return names;
}

std::uint64_t ticks(std::string_view text, int scale) {
    const auto decimal = inputs::parse_decimal(text);
    REQUIRE(decimal);
    return paje::to_ticks(*decimal, scale);
}

}  // namespace

TEST_CASE("A file whose first line beyond comments defines an event is a Pajé trace") {
    CHECK(paje::recognizes("%EventDef PajeDefineContainerType 0\n"));
    CHECK(paje::recognizes("#SimGrid\n\n \t%EventDef\tPajeSetState\t10"));
    CHECK(paje::recognizes("% EventDef PajeSetState 10"));
    const auto commented = read_paje("\xef\xbb\xbf% made by hand\n" + std::string{kPajeEvents});
    CHECK(contains(commented ? "" : commented.error().message, "has no call"));
    CHECK(paje::recognizes("\xef\xbb\xbf%EventDef PajeSetState 10"));
    CHECK(paje::recognizes("% made by hand\n%\n%EventDef PajeSetState 10"));
    CHECK_FALSE(paje::recognizes("% made by hand\n%Title x"));
    CHECK_FALSE(paje::recognizes("%PDF-1.4"));
    CHECK_FALSE(paje::recognizes("{}\n%EventDef PajeSetState 10"));
    CHECK_FALSE(paje::recognizes("# nothing else"));
    CHECK_FALSE(paje::recognizes(""));
}

TEST_CASE("lines with more fields than their event has are counted in a remark") {
    const auto reader = read_states("5 1 t S a\n7 2 t S # no field\n5 3 t S b left over\n7 4 t S more\n");
    CHECK(read_back(reader, 0) ==
          Lines{"1000000000 a()", "2000000000 /a", "3000000000 b()", "4000000000 /b"});
    CHECK(has_remark(reader, "2 lines have more fields than the event's definition: these are left out."));
    CHECK_FALSE(has_remark(read_states("5 1 t S a\n7 2 t S\n"), "more fields"));
}

TEST_CASE("Times lose no digit, with a point or an exponent") {
    CHECK(ticks("12", 9) == 12'000'000'000);
    CHECK(ticks("0.000000001", 9) == 1);
    CHECK(ticks("1.0844998000000e+01", 6) == 10'844'998);
    CHECK(ticks("+1.5E-3", 9) == 1'500'000);
    CHECK(ticks(".5", 1) == 5);
    CHECK(ticks("7.", 0) == 7);
    CHECK(ticks("1234567.123456789", 9) == 1'234'567'123'456'789);
    CHECK(ticks("0.12345678901234567", 17) == 12'345'678'901'234'567);
    CHECK(ticks("4611686018.427387903", 9) == paje::kMaxTicks - 1);
    CHECK(ticks("0.15", 1) == 2);
    CHECK(ticks("0.14", 1) == 1);
    CHECK(ticks("0e999", 9) == 0);
    CHECK(ticks("1e-999", 9) == 0);
    CHECK(ticks("1e999", 9) == paje::kMaxTicks);
    CHECK(ticks("99999999999999999999999", 0) == paje::kMaxTicks);
    CHECK(inputs::parse_decimal("100.250")->decimals() == 2);
    CHECK(inputs::parse_decimal("1.25e3")->decimals() == 0);
}

TEST_CASE("What is no time is not taken for one") {
    for (const char* text :
         {"", ".", "+", "1x", "1e", "1e+", "1e+-3", "e5", "nan", "inf", "0x10", "1.2.3", "1e99999999999"})
        CHECK_FALSE(inputs::parse_decimal(text));
}

TEST_CASE("A pushed state is a call inside of the one below it") {
    const auto reader = read_states("6 1 t S f\n6 1.5 t S g\n7 2 t S\n7 3 t S\n");
    CHECK(read_back(reader, 0) ==
          Lines{"1000000000 f()", "1500000000 g()", "2000000000 /g", "3000000000 /f"});
    CHECK(thread_names(reader) == Lines{"worker"});
    CHECK(reader.info().clock.ticks_per_second == 1e9);
    CHECK(reader.info().clock.step_ticks == 100'000'000);
}

TEST_CASE("A state that is set ends all that are open, as a reset does") {
    const auto reader = read_states("5 1 t S a\n6 2 t S b\n5 3 t S c\n8 4 t S\n6 5 t S d\n7 6 t S\n");
    CHECK(read_back(reader, 0) == Lines{"1000000000 a()", "2000000000 b()", "3000000000 /b", "3000000000 /a",
                                        "3000000000 c()", "4000000000 /c", "5000000000 d()",
                                        "6000000000 /d"});
    CHECK(has_remark(reader, "One pushed state is never popped"));
}

TEST_CASE("A state that is open at the end of its container, or of one around it, is cut off there") {
    const auto reader = read_states("5 1 t S a\n6 2 t S b\n4 3 p P\n5 4 t S c\n9 5 t V 1\n");
    CHECK(read_back(reader, 0) == Lines{"1000000000 a()", "2000000000 b()"});
    CHECK(has_remark(reader, "One event of states is left out"));
    CHECK(reader.info().threads[0].end == 3'000'000'001);
}

TEST_CASE("A state that is open at the end of the file is cut off there") {
    const auto reader = read_states("5 1 t S a\n9 5 t V 1\n");
    CHECK(read_back(reader, 0) == Lines{"1000000000 a()"});
    CHECK(reader.info().threads[0].end == 5'000'000'001);
}

TEST_CASE("A pop of nothing is left out") {
    const auto reader = read_states("7 1 t S\n6 2 t S f\n7 3 t S\n");
    CHECK(read_back(reader, 0) == Lines{"2000000000 f()", "3000000000 /f"});
}

TEST_CASE("Events that are not in the order of time are sorted before they change states") {
    const auto reader = read_states("5 5 t S b\n6 3 t S inner\n5 1 t S a\n4 9 t T\n7 4 t S\n");
    CHECK(read_back(reader, 0) == Lines{"1000000000 a()", "3000000000 inner()", "4000000000 /inner",
                                        "5000000000 /a", "5000000000 b()"});
    CHECK(has_remark(reader, "not in the order of time"));
}

TEST_CASE("Types, containers and values are found by alias, and by name") {
    const auto reader = read_states(
        "2 I S Idle\n5 1 t S I\n5 2 worker \"Thread State\" Idle\n5 3 t S unknown\n4 4 worker T\n");
    CHECK(read_back(reader, 0) == Lines{"1000000000 Idle()", "2000000000 /Idle", "2000000000 Idle()",
                                        "3000000000 /Idle", "3000000000 unknown()"});
}

TEST_CASE("A value that is defined twice has its last name") {
    const auto reader = read_states("2 I S Idle\n2 I S Waiting\n2 W S I\n5 1 t S I\n5 2 t S W\n4 3 t T\n");
    CHECK(function_names(reader) == Lines{"Waiting", "I"});
}

TEST_CASE("Each type of states of a container is a thread of its own") {
    const auto reader = read_states("1 U T Other\n5 1 t S a\n5 2 t U a\n5 3 t S b\n5 4 t U c\n4 5 t T\n");
    CHECK(thread_names(reader) == Lines{"worker (Thread State)", "worker (Other)"});
    CHECK(function_names(reader) == Lines{"a (Thread State)", "a (Other)", "b", "c"});
    CHECK(read_back(reader, 1) == Lines{"2000000000 a (Other)()", "4000000000 /a (Other)", "4000000000 c()"});
}

TEST_CASE("Threads of the same name have that of the container around them") {
    const auto reader =
        read_states("3 0 q P 0 second\n3 0 u T q worker\n6 1 t S f\n6 1 u S f\n7 2 t S\n7 2 u S\n");
    CHECK(thread_names(reader) == Lines{"program/worker", "second/worker"});
}

TEST_CASE("Old names of fields, any order, tabs and quotes are understood") {
    const auto read = read_paje(
        "%EventDef\tPajeDefineContainerType\t1\n%\tAlias\tstring\n%\tContainerType\tstring\n%\tName\tstring\n"
        "%EndEventDef\n%EventDef PajeDefineStateType 2\r\n% EntityType string\r\n% Name string\r\n"
        "%EndEventDef\r\n%EventDef PajeCreateContainer 3\n% Name string\n% Container string\n% Type string\n"
        "% Time date\n%EndEventDef\n%EventDef PajePushState 4\n% Value string\n% EntityType string\n"
        "% Time date\n% Container string\n%EndEventDef\n%EventDef PajePopState pop\n% Time date\n"
        "% Container string\n% EntityType string\n%EndEventDef\n"
        "1 \"CT\" \"0\" \"a thread\"\n2 CT \"its state\"\n3 \"P#0 T#1\" 0 CT 0.0\n"
        "4\t\"a value\"  \"its state\" 1e0 \"P#0 T#1\" # pushed\npop 2 \"P#0 T#1\" \"its state\"\n");
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"1000000000 a value()", "2000000000 /a value"});
    CHECK(thread_names(*read) == Lines{"P#0 T#1"});
}

TEST_CASE("Fields of the producer's own become parameters of the narrowest kind that fits them all") {
    const auto reader = read_states(
        "%EventDef PajeSetState 20\n% Time date\n% Container string\n% Type string\n% Value string\n"
        "% Size string\n% Cost string\n% Tag string\n% Address hex\n%EndEventDef\n"
        "20 1 t S f 10 7 01 ff\n20 2 t S f -3 0.5 x1 0x10\n5 3 t S f\n4 4 t T\n");
    const auto& functions = reader.info().functions;
    REQUIRE(functions.size() == 2);
    CHECK(function_names(reader) == Lines{"f (event 20)", "f (event 5)"});
    const auto& parameters = functions[0].parameters;
    REQUIRE(parameters.size() == 4);
    CHECK(parameters[0].name == "Size");
    CHECK(parameters[0].kind == static_cast<std::uint8_t>(ValueKind::signed_integer));
    CHECK(parameters[1].kind == static_cast<std::uint8_t>(ValueKind::floating));
    CHECK(parameters[2].kind == static_cast<std::uint8_t>(ValueKind::enumeration));
    CHECK(parameters[3].kind == static_cast<std::uint8_t>(ValueKind::pointer));
    CHECK(read_back(reader, 0)[0] == fmt::format("1000000000 f (event 20)(10,{},1,255)", put_value(7.0)));
    CHECK(read_back(reader, 0)[2] ==
          fmt::format("2000000000 f (event 20)({},{},2,16)", put_value(std::int64_t{-3}), put_value(0.5)));
}

TEST_CASE("States are well-known functions only where the tool records functions") {
    const std::string push =
        "%EventDef PajePushState 20\n% Time date\n% Container string\n% Type string\n% Value string\n"
        "% mutex hex\n%EndEventDef\n";
    const std::string call = "20 1 t S pthread_mutex_lock 0x1000\n7 2 t S\n";
    for (const bool eztrace : {true, false}) {
        const auto reader = read_states(push + (eztrace ? "2 STV_FLUSH S \"EZTrace Flush\"\n" : "") + call);
        const auto& lock = reader.info().functions.at(0);
        CHECK(lock.any_name == !eztrace);
        CHECK(lock.waits == eztrace);
        CHECK(lock.parameters.at(0).key == eztrace);
        CHECK_FALSE(reader.info().process.simulated);
    }
}

TEST_CASE("Times of more digits than nanoseconds have are kept as they are printed") {
    const auto reader = read_states("6 1.0000000000015 t S f\n7 1.25 t S\n");
    CHECK(reader.info().clock.ticks_per_second == 1e13);
    CHECK(reader.info().clock.step_ticks == 1);
    CHECK(read_back(reader, 0) == Lines{"10000000000015 f()", "12500000000000 /f"});
}

TEST_CASE("Times too late for nanoseconds have coarser ticks") {
    const auto reader = read_states("6 1700000000000000001 t S f\n7 1700000000000000003 t S\n");
    CHECK(reader.info().clock.ticks_per_second == 1);
    CHECK(read_back(reader, 0) == Lines{"1700000000000000001 f()", "1700000000000000003 /f"});
}

TEST_CASE("SimGrid's comments tell the tool and its command") {
    const auto read = read_paje("#This file was generated using SimGrid-3.36.1\n#[./mwe --log x ]\n" +
                                std::string{kPajeEvents} + std::string{kPajeTypes} + "6 1 t S f\n7 2 t S\n");
    REQUIRE(read);
    CHECK(read->info().process.recorder == "SimGrid 3.36.1");
    CHECK(read->info().process.command == Lines{"./mwe", "--log", "x"});
    CHECK(read->info().process.simulated);
    CHECK(read->info().clock.ticks_per_second == 1e9);
    CHECK(read->info().remarks.empty());
}

TEST_CASE("StarPU's states that another one replaces at once are none") {
    const auto read = [](std::string_view type) {
        return read_paje(std::string{kPajeEvents} + "0 P 0 Process\n0 T P Thread\n1 S T State\n" +
                         std::string{type} +
                         "3 0 p P 0 p\n3 0 t T p 18190\n5 1 t S f\n5 2 t S g\n5 2 t S h\n5 2 t S f\n6 3 t S "
                         "g\n7 3 t S\n5 4 t S g\n4 5 t T\n");
    };
    const auto starpu = read("0 Mn P \"Memory Node\"\n");
    REQUIRE(starpu);
    CHECK(read_back(*starpu, 0) == Lines{"1000000 f()", "2000000 /f", "2000000 f()", "3000000 g()",
                                         "3000000 /g", "4000000 /f", "4000000 g()"});
    CHECK(has_remark(*starpu, "2 states have no length, as others are set at the same time"));
    const auto other = read("");
    REQUIRE(other);
    CHECK(read_back(*other, 0).size() == 11);
}

TEST_CASE("The times of StarPU and of EZTrace 1 are milliseconds") {
    for (const auto& [line, tool] : {std::pair{"0 Mn P \"Memory Node\"\n", "StarPU"},
                                     std::pair{"2 STV_FLUSH S \"EZTrace Flush\"\n", "EZTrace 1"}}) {
        const auto reader =
            read_paje(std::string{kPajeEvents} + "0 P 0 Process\n0 T P Thread\n1 S T State\n" + line +
                      "3 0 p P 0 p\n3 0 t T p 18190\n6 1.25 t S f\n7 2 t S\n");
        REQUIRE(reader);
        CHECK(reader->info().process.recorder == tool);
        CHECK(reader->info().clock.ticks_per_second == 1e9);
        CHECK(read_back(*reader, 0) == Lines{"1250000 f()", "2000000 /f"});
        CHECK(has_remark(*reader, "milliseconds"));
    }
}

TEST_CASE("What rdam has exported has no calls but those of the program") {
    const auto reader =
        read_paje(std::string{kPajeEvents} +
                  "0 P 0 Process\n0 T P Thread\n1 C T Call\n1 O T \"Off the processor\"\n2 waits O waits\n"
                  "3 0 p P 0 \"41 ./program\"\n3 0 t0 T p \"42 a worker #0\"\n"
                  "6 1 t0 C f\n6 2 t0 O waits\n7 3 t0 O\n7 6 t0 C\n4 6 t0 T\n");
    REQUIRE(reader);
    REQUIRE(reader->info().threads.size() == 1);
    CHECK(reader->info().threads[0].tid == 42);
    CHECK(reader->info().threads[0].name == "42 a worker #0");
    CHECK(read_back(*reader, 0) == Lines{"1000000000 f()", "6000000000 /f"});
    CHECK(has_remark(*reader, "rdam exported this file"));
}

TEST_CASE("A line that cannot be understood is named with what was expected there") {
    const std::string head = std::string{kPajeEvents} + std::string{kPajeTypes};
    const auto of_line = [&](const std::string& line) { return paje_refusal(head + line + "\n"); };
    const auto number = std::count(head.begin(), head.end(), '\n') + 1;
    const std::string place = fmt::format("x.paje line {}: expected ", number);
    CHECK(contains(of_line("6 1 nobody S f"), place + "a container that has been created, found `nobody`"));
    CHECK(contains(of_line("6 1 t P f"), place + "a type of states that has been defined, found `P`"));
    CHECK(contains(of_line("6 -1 t S f"), place + "a time in seconds, not negative, found `-1`"));
    CHECK(contains(of_line("6 1 t"), place + "4 fields after the number of a PajePushState, found 2"));
    CHECK(contains(of_line("77 1 t S"), place + "the number of an event"));
    CHECK(contains(of_line("3 1 u S p name"), place + "a type of containers"));
    CHECK(contains(of_line("3 1 u T q name"), place + "a container that has been created, found `q`"));
    CHECK(contains(of_line("4 1 u T"), place + "a container that has been created, found `u`"));
    CHECK(contains(of_line("1 V X state"), place + "a type that has been defined, found `X`"));
    CHECK(contains(of_line("2 V X value"), place + "a type that has been defined, found `X`"));
    CHECK(contains(of_line("%EventDef PajePopState"), place + "`%EventDef NAME NUMBER`"));
    CHECK(contains(of_line("%EventDef PajePopState 9\n% Time date\n%EndEventDef"),
                   "expected a field Type before %EndEventDef: PajePopState (event 9) has none"));
    CHECK(contains(of_line("%EventDef PajePopState 9\n7 1 t S"),
                   "expected a field of the event, or %EndEventDef"));
    CHECK(contains(of_line("6 9e18 t S f\n7 9.1e18 t S"), "expected times below 4.6e18"));
}

TEST_CASE("A trace without states is refused") {
    CHECK(contains(paje_refusal(std::string{kPajeEvents} + std::string{kPajeTypes}), "no call"));
}
