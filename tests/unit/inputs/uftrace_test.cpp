#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "analyzer/inputs/open.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/inputs/read_back.h"
#include "tests/unit/inputs/uftrace_folder.h"
#include "tests/unit/temporary_folder.h"

using namespace rdam;
using namespace rdam::test;
using Lines = std::vector<std::string>;

namespace {

constexpr std::uint64_t kG = 0x1200;
constexpr std::uint64_t kH = 0x1300;

Lines lines_of(const UftraceFolder& folder, std::uint32_t thread = 0) {
    const auto reader = folder.read();
    if (!reader) return {reader.error().message};
    return read_back(*reader, thread);
}

}  // namespace

TEST_CASE("calls and returns of every task have their times and names") {
    UftraceFolder folder;
    folder.files["task.txt"] += "TASK timestamp=0.000000008 tid=11 pid=10\n";
    folder.files["10.dat"] = entry(10, kF) + entry(20, kG + 4, 1) + exit(30, kG + 4, 1) + exit(40, kF);
    folder.files["11.dat"] = entry(15, kH) + exit(25, kH);
    CHECK(lines_of(folder, 0) == Lines{"10 f()", "20 g()", "30 /g", "40 /f"});
    CHECK(lines_of(folder, 1) == Lines{"15 h()", "25 /h"});
    CHECK(remarks_of(folder).empty());
}

TEST_CASE("the trace says who has recorded what, and where") {
    UftraceFolder folder;
    folder.info_lines += "osinfo:lines=3\nosinfo:hostname=here\ncpuinfo:nr_cpus=2 / 4 (online/possible)\n";
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    folder.files["prog.dbg"] = "F: 100 f\nL: 12 src/f.c\n";
    const auto reader = folder.read();
    REQUIRE(reader);
    const trace::TraceInfo& info = reader->info();
    CHECK(info.process.recorder == "uftrace 0.13");
    CHECK(info.process.command == Lines{"./prog", "5"});
    CHECK(info.process.host == "here");
    CHECK(info.process.pid == 10);
    CHECK(info.process.processors == 2);
    CHECK(info.threads.at(0).tid == 10);
    CHECK(info.threads.at(0).name == "prog");
    CHECK(info.threads.at(0).start == 8);
    CHECK(info.functions.at(0).source == "src/f.c:12");
    CHECK(info.functions.at(0).module == "prog");
    CHECK(info.clock.ticks_per_second == 1e9);
    CHECK(info.clock.step_ticks == 1);
}

TEST_CASE("a limit for the length of calls is said, as the fastest ones are missing") {
    for (const auto& [options, missing] :
         {std::pair{"-t 1ms", true}, std::pair{"-t1ms", true}, std::pair{"--time-filter=1us", true},
          std::pair{"-d x", false}, std::pair{"--tracing", false}}) {
        UftraceFolder folder;
        folder.info_lines = fmt::format("exename:/prog\ncmdline:uftrace record {} ./prog -t 5\n", options);
        folder.files["10.dat"] = entry(10, 0x1100) + exit(20, 0x1100);
        const auto reader = folder.read();
        REQUIRE(reader);
        CHECK(reader->info().process.shortest_missing == missing);
        CHECK(has_remark(*reader, "uftrace has left out calls that were shorter") == missing);
    }
}

TEST_CASE("an address without a symbol is called by itself") {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, 0x1480) + exit(20, 0x1480) + entry(30, 0x5000) + exit(40, 0x5000);
    CHECK(lines_of(folder) == Lines{"10 <1480>()", "20 /<1480>", "30 <5000>()", "40 /<5000>"});
    CHECK(remarks_of(folder) ==
          Lines{"2 functions are called by address, because no *.sym file has a name for them."});
}

TEST_CASE("arguments and results of every format are words, aligned as uftrace does") {
    UftraceFolder folder;
    folder.info_lines +=
        "argspec:lines=4\nargspec:f@arg1,arg2/i8,arg3/u16,arg4/x32,arg5/s,arg6/c,fparg1/32,fparg2,arg7/"
        "p,arg8/e:color,"
        "arg9/t3:S,arg10/d32\nretspec:f@retval/f64;g@retval/S\n";
    const std::string values = bytes_of(std::uint64_t{0xfffffffd}) + bytes_of(std::int8_t{-2}) +
                               std::string(3, 'x') + bytes_of(std::uint16_t{65535}) + std::string(2, 'x') +
                               bytes_of(std::uint32_t{0xffffffff}) + text_value("hello") + "c" +
                               std::string(3, 'x') + bytes_of(2.5F) + bytes_of(0.25) +
                               bytes_of(std::uint64_t{4096}) + bytes_of(std::uint64_t{1}) +
                               std::string(4, 'x') + bytes_of(std::int32_t{-7});
    folder.files["10.dat"] = entry(10, kF, 0, values) + entry(20, kG, 1) +
                             exit(30, kG, 1, text_value("hello")) + exit(40, kF, 0, bytes_of(1.5));
    const auto word = [](double value) { return std::to_string(inputs::put_value(value)); };
    CHECK(lines_of(folder) == Lines{"10 f(18446744073709551613,18446744073709551614,65535,4294967295,1,99," +
                                        word(2.5) + "," + word(0.25) + ",4096,1,18446744073709551609)",
                                    "20 g()", "30 /g 1", "40 /f " + word(1.5)});
    CHECK(remarks_of(folder).empty());
    const auto reader = folder.read();
    REQUIRE(reader);
    std::string described;
    for (const trace::ParameterInfo& each : reader->info().functions.at(0).parameters)
        described += each.name + ":" + each.type + " ";
    CHECK(described ==
          "arg1:i64 arg2:i8 arg3:u16 arg4:u32 arg5:text arg6:char fparg1:f32 fparg2:f64 arg7:pointer "
          "arg8:enum color arg10:i32 ");
}

TEST_CASE("values that are not described are passed over, and what follows is read") {
    UftraceFolder folder;
    const std::string values = bytes_of(std::uint64_t{1}) + bytes_of(std::uint64_t{2});
    folder.files["10.dat"] = entry(10, kF, 0, values) + entry(20, kG, 1, values) + exit(30, kG, 1) +
                             exit(40, kF, 0, values + values) + entry(50, kH) + exit(60, kH, 0, values);
    const Lines expected{"10 f()", "20 g()", "30 /g", "40 /f", "50 h()", "60 /h"};
    CHECK(lines_of(folder) == expected);
    CHECK(remarks_of(folder) == Lines{"4 calls or returns have values that the directory does not describe, "
                                      "which are passed over."});
    folder.info_lines += "argspec:lines=3\nargspec:f@arg1;g@arg1/s\n";
    CHECK(lines_of(folder) == Lines{"10 f(0)", "20 g(0)", "30 /g", "40 /f", "50 h()", "60 /h"});
}

TEST_CASE("where values are not described and no record follows, that may be the reason") {
    UftraceFolder folder;
    folder.files["10.dat"] =
        entry(10, kF, 0, bytes_of(std::uint64_t{4096})) + exit(20, kF) + std::string(16, '\0');
    CHECK(contains(folder.error(), "10.dat has no record of uftrace at byte 40, and values before it"));
    folder.files["10.dat"] = entry(10, kF) + exit(20, kF) + std::string(16, '\0');
    CHECK(contains(folder.error(), "remove the file"));
}

TEST_CASE("debug information says what --auto-args has recorded, then uftrace's list by name") {
    UftraceFolder folder;
    folder.info_lines += "argspec:lines=4\nargauto:g@arg1/s;f@arg1/s\nretauto:h@retval/x\nauto-args:1\n";
    folder.files["prog.dbg"] = "F: 100 f\nL: 1 f.c\nA: @arg1/d32\nR: @retval/c\n";
    folder.files["10.dat"] = entry(10, kF, 0, bytes_of(std::int32_t{-3})) +
                             entry(20, kG, 1, text_value("abc")) + exit(30, kG, 1) + exit(40, kF, 0, "A") +
                             entry(50, kH) + exit(60, kH, 0, bytes_of(std::uint64_t{9}));
    CHECK(lines_of(folder) ==
          Lines{"10 f(18446744073709551613)", "20 g(1)", "30 /g", "40 /f 65", "50 h()", "60 /h 9"});
    CHECK(remarks_of(folder).empty());
}

TEST_CASE("the lock of a well-known function is a key, though uftrace numbers arguments") {
    UftraceFolder folder;
    folder.info_lines += "argspec:lines=3\nargspec:pthread_mutex_lock@arg1/p,arg2;g@arg1/p\n";
    folder.files["prog.sym"] =
        "# path name: /prog\n100 T pthread_mutex_lock\n200 T g\n300 T h\n400 ? __sym_end\n";
    const std::string values = bytes_of(std::uint64_t{4096}) + bytes_of(std::uint64_t{1});
    folder.files["10.dat"] = entry(10, kF, 0, values) + exit(20, kF) +
                             entry(30, kG, 0, bytes_of(std::uint64_t{4096})) + exit(40, kG);
    const auto reader = folder.read();
    REQUIRE(reader);
    const auto& functions = reader->info().functions;
    CHECK(functions.at(0).waits);
    CHECK(functions.at(0).parameters.at(0).key);
    CHECK_FALSE(functions.at(0).parameters.at(1).key);
    CHECK_FALSE(functions.at(1).parameters.at(0).key);
}

TEST_CASE("lost records are a gap") {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, kF) + lost(7) + entry(20, kG, 3) + exit(30, kG, 3) + exit(40, kF);
    const auto reader = folder.read();
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"10 f()", "gap", "20 g()", "30 /g"});
    CHECK(reader->info().dropped == 7);
    CHECK(reader->info().remarks.at(0) ==
          "uftrace has lost 7 records at 1 place: calls that were open there are left out.");
}

TEST_CASE("a program that execve() has started has its own symbols, and no call of the one before") {
    UftraceFolder folder;
    folder.files["task.txt"] +=
        "SESS timestamp=0.000000018 pid=10 sid=b exename=\"/other\"\nTASK timestamp=0.000000019 tid=10 "
        "pid=10\n";
    folder.files["sid-b.map"] = "1000-2000 r-xp 00000000 00:00 0   /other build-id:abcd\n";
    folder.files["other.sym"] = "100 T k\n200 ? __sym_end\n";
    folder.files["10.dat"] = entry(10, kF) + entry(20, kF) + exit(30, kF);
    CHECK(lines_of(folder) == Lines{"10 f()", "gap", "20 k()", "30 /k"});
}

TEST_CASE("a forked process knows the program of its parent") {
    UftraceFolder folder;
    folder.files["task.txt"] += "FORK timestamp=0.000000012 pid=20 ppid=10\n";
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    folder.files["20.dat"] = exit(14, kF, 1) + entry(20, kG, 1) + exit(30, kG, 1);
    CHECK(lines_of(folder, 1) == Lines{"20 g()", "30 /g"});
    CHECK(remarks_of(folder) ==
          Lines{"The directory has the threads of 2 processes, which are analyzed together.",
                "One end of a call is left out, because no such call is open there."});
}

TEST_CASE("calls that longjmp() leaves end when the next record was written") {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, kF) + entry(20, kG, 1) + entry(25, kG, 2) + exit(30, kH, 1) +
                             entry(40, kH, 1) + exit(50, kH, 1) + entry(60, kG, 1) + entry(70, kG, 2) +
                             entry(80, kH, 1) + exit(90, kH, 1) + exit(99, kF);
    CHECK(lines_of(folder) == Lines{"10 f()", "20 g()", "25 g()", "30 /g unwound", "30 /g unwound", "40 h()",
                                    "50 /h", "60 g()", "70 g()", "80 /g unwound", "80 /g unwound", "80 h()",
                                    "90 /h", "99 /f"});
    CHECK(remarks_of(folder).size() == 1);
}

TEST_CASE("calls deeper than what a record can count are nested all the same") {
    UftraceFolder folder;
    std::string records;
    for (unsigned depth = 0; depth < 3000; ++depth)
        records += entry(10 + depth, kF, depth % 1024);
    for (unsigned depth = 3000; depth > 0; --depth)
        records += exit(9000 - depth, kF, (depth - 1) % 1024);
    folder.files["10.dat"] = records;
    CHECK(lines_of(folder).size() == 6000);
    CHECK(remarks_of(folder).empty());
}

TEST_CASE("a library that was opened later has names from then on") {
    UftraceFolder folder;
    folder.files["task.txt"] +=
        "DLOP timestamp=0.000000025 tid=10 sid=a base=5000 libname=\"/lib/libp.so\"\n";
    folder.files["libp.so.sym"] = "10 T p\n20 ? __sym_end\n";
    folder.files["10.dat"] = entry(10, 0x5010) + exit(20, 0x5010) + entry(30, 0x5010) + exit(40, 0x5010);
    CHECK(lines_of(folder) == Lines{"10 <5010>()", "20 /<5010>", "30 p()", "40 /p"});
}

TEST_CASE("events and their data are passed over") {
    UftraceFolder folder;
    const std::string data = bytes_of(std::uint16_t{24}) + std::string(24, 'x');
    folder.files["10.dat"] =
        event(5, 100001, data) + entry(10, kF) + event(15, 1000001) + exit(20, kF) + event(25, 100011, data);
    CHECK(lines_of(folder) == Lines{"10 f()", "20 /f"});
    CHECK(remarks_of(folder) == Lines{"3 records of events, which are no calls, are passed over."});
}

TEST_CASE("times never go back") {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, kF) + entry(30, kG, 1) + exit(20, kG, 1) + exit(40, kF);
    CHECK(lines_of(folder) == Lines{"10 f()", "30 g()", "30 /g", "40 /f"});
    CHECK(remarks_of(folder) ==
          Lines{"One record earlier than the one before is taken as of the same time."});
}

TEST_CASE(
    "the scheduler's events are times off the processor, and say where threads ran and how they are called") {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(100, kF) + entry(200, kG, 1) + exit(300, kG, 1) + exit(400, kF);
    const std::string name =
        bytes_of(std::uint32_t{3}) + bytes_of(std::uint16_t{0}) + bytes_of(std::uint16_t{40}) +
        bytes_of(std::uint32_t{10}) + bytes_of(std::uint32_t{10}) + std::string("work\0\0\0\0", 8) +
        bytes_of(std::uint32_t{10}) + bytes_of(std::uint32_t{10}) + bytes_of(std::uint64_t{3});
    const std::string end = bytes_of(std::uint32_t{4}) + bytes_of(std::uint16_t{0}) +
                            bytes_of(std::uint16_t{48}) + bytes_of(std::uint32_t{10}) +
                            bytes_of(std::uint32_t{1}) + bytes_of(std::uint32_t{10}) +
                            bytes_of(std::uint32_t{1}) + bytes_of(std::uint64_t{450}) + std::string(16, 'x');
    folder.files["perf-cpu0.dat"] = name + thread_switch(150, 10, true) + thread_switch(250, 10, false) + end;
    folder.files["perf-cpu3.dat"] = thread_switch(180, 10, false) + thread_switch(220, 10, true, true);
    const auto reader = folder.read();
    REQUIRE(reader);
    const trace::ThreadInfo& thread = reader->info().threads.at(0);
    CHECK(thread.name == "work");
    CHECK(thread.start == 8);
    CHECK(thread.end == 451);
    const auto off = reader->off_cpu(0);
    REQUIRE(off);
    REQUIRE(off->size() == 2);
    CHECK(fmt::format("{}-{} {} {}", (*off)[0].out - 1, (*off)[0].in - 1, (*off)[0].cpu,
                      (*off)[0].preempted) == "150-180 3 false");
    CHECK(fmt::format("{}-{} {} {}", (*off)[1].out - 1, (*off)[1].in - 1, (*off)[1].cpu,
                      (*off)[1].preempted) == "220-250 0 true");
    CHECK(reader->info().switches.state == trace::SwitchInfo::State::recorded);
    std::string processors;
    const auto see = [&](std::span<const trace::Event> events) {
        for (const trace::Event& each : events)
            processors += fmt::format("{} ", each.cpu);
    };
    REQUIRE(reader->read_thread(0, see, [] {}));
    CHECK(processors == "0 3 0 0 ");
}

TEST_CASE("a directory of another byte order or version is refused in one line") {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    folder.endian = 2;
    CHECK(folder.error() == "memory/info was written by a big-endian machine: analyze it with rdam there");
    folder.endian = 7;
    CHECK(folder.error() ==
          "memory/info has the byte order 7, where 1 or 2 is expected: it is damaged, record again");
    folder.endian = 1;
    folder.version = 5;
    CHECK(folder.error() ==
          "memory/info is of version 5, but only 3 and 4 can be read: record again with uftrace 0.13");
    folder.version = 4;
    folder.files["info"] = folder.info().substr(0, 20);
    CHECK(folder.error() ==
          "memory/info ends within its header of 40 bytes: copy the directory again, or record again");
}

TEST_CASE("files that are missing, cut or damaged are named in one line") {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF) + "x";
    CHECK(folder.error() ==
          "memory/10.dat ends within the record at byte 32: copy the directory again, or remove the file to "
          "analyze "
          "the other threads");
    folder.files["10.dat"] = entry(10, kF) + std::string(16, '\0');
    CHECK(folder.error() ==
          "memory/10.dat has no record of uftrace at byte 16: it is damaged, remove the file to analyze the "
          "other "
          "threads");
    folder.files["10.dat"] = event(10, 100001, bytes_of(std::uint16_t{100}));
    CHECK(folder.error().find("memory/10.dat ends within the event at byte 16") == 0);
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    folder.files["perf-cpu0.dat"] = thread_switch(10, 10, true).substr(0, 20);
    CHECK(folder.error() ==
          "memory/perf-cpu0.dat ends within the record at byte 0: copy the directory again, or record again");
    folder.files["perf-cpu0.dat"] = std::string(8, '\0');
    CHECK(folder.error() ==
          "memory/perf-cpu0.dat has no record of perf at byte 0: it is damaged, record again");
    folder.files.erase("perf-cpu0.dat");
    folder.files["task.txt"] += "TASK timestamp=5 tid=1 pid=1\n";
    CHECK(folder.error() ==
          "memory/task.txt line 3: a TASK line with its time and its numbers is expected here; the file is "
          "damaged, "
          "record again");
    folder.files["task.txt"] = "";
    CHECK(folder.error() == "memory/task.txt names no program (no line begins with SESS): record again");
    folder.files.erase("task.txt");
    CHECK(folder.error() ==
          "memory/task.txt is missing: copy the directory again, or record again with uftrace 0.13");
}

TEST_CASE("a directory on disk is recognized by its files, and only files that are in it are opened") {
    const TemporaryFolder place;
    UftraceFolder folder;
    folder.files["task.txt"] =
        "SESS timestamp=0.000000005 pid=10 sid=/../../a exename=\"/prog\"\nTASK timestamp=0.000000007 tid=10 "
        "pid=10\n";
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    folder.files["info"] = folder.info();
    std::filesystem::create_directories(place.file("x/sid-"));
    for (const auto& each : folder.files)
        std::ofstream{place.file((each.first == "sid-a.map" ? "a.map" : "x/" + each.first)), std::ios::binary}
            << each.second;
    const auto reader = inputs::open_any(place.file("x"));
    REQUIRE(reader);
    CHECK(read_back(*reader, 0) == Lines{"10 <1100>()", "40 /<1100>"});
    std::filesystem::remove(place.file("x/info"));
    CHECK(!inputs::open_any(place.file("x")));
}

TEST_CASE("a pipe or a device in a directory is an error, and is not read") {
    const TemporaryFolder place;
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    folder.files["info"] = folder.info();
    for (const auto& each : folder.files)
        std::ofstream{place.file(each.first), std::ios::binary} << each.second;
    const std::string path = std::filesystem::path{place.file("x")}.parent_path();
    for (const char* name : {"info", "10.dat", "task.txt"}) {
        std::filesystem::remove(place.file(name));
        REQUIRE(mkfifo(place.file(name).c_str(), 0600) == 0);
        auto reader = inputs::open_any(path);
        REQUIRE(!reader);
        CHECK(contains(reader.error().message, std::string{"/"} + name + " is not a regular file"));
        std::filesystem::remove(place.file(name));
        std::filesystem::create_symlink("/dev/zero", place.file(name));
        reader = inputs::open_any(path);
        REQUIRE(!reader);
        CHECK(contains(reader.error().message, std::string{"/"} + name + " is not a regular file"));
        std::filesystem::remove(place.file(name));
        std::ofstream{place.file(name), std::ios::binary} << folder.files.at(name);
    }
}

TEST_CASE("a file that ends within a record or its values is an error that names the byte") {
    UftraceFolder folder;
    folder.info_lines += "argspec:lines=3\nargspec:f@arg1;g@arg1,arg2\n";
    const std::string whole = entry(10, kF, 0, bytes_of(std::uint64_t{1})) +
                              entry(20, kG, 1, bytes_of(std::uint64_t{1}) + bytes_of(std::uint64_t{2})) +
                              entry(30, kH, 2, bytes_of(std::uint64_t{3}));
    for (std::size_t size = 1; size < whole.size(); ++size) {
        folder.files["10.dat"] = whole.substr(0, size);
        if (size == 24 || size == 56) {
            CHECK(folder.read());
            continue;
        }
        const std::size_t record = size < 24 ? 0 : size < 56 ? 24 : 56;
        CHECK(contains(folder.error(), fmt::format("10.dat ends within the record at byte {}", record)));
    }
}

TEST_CASE("an info that is cut, even between lines, is an error") {
    UftraceFolder folder;
    folder.files["10.dat"] = entry(10, kF) + exit(40, kF);
    constexpr std::uint64_t kNameCommandAndVersion = 1U | 1U << 3U | 1U << 13U;
    std::string info = folder.info();
    std::memcpy(info.data() + 24, &kNameCommandAndVersion, sizeof kNameCommandAndVersion);
    folder.files["info"] = info;
    CHECK(folder.read());
    for (std::size_t size = 0; size < info.size(); ++size) {
        folder.files["info"] = info.substr(0, size);
        CHECK(contains(folder.error(), size < 40 ? "ends within its header" : "info is cut at byte"));
    }
}
