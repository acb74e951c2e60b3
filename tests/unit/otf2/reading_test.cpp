// Archives of other tools, and what becomes of them.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "analyzer/inputs/otf2/archive.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/inputs/read_back.h"
#include "tests/unit/otf2/byte_order.h"
#include "tests/unit/otf2/made_archive.h"
#include "tests/unit/temporary_folder.h"

namespace rdam::test {
namespace {

using Lines = std::vector<std::string>;

const inputs::Progress kNoProgress = [](std::uint64_t, std::uint64_t) {};

Result<trace::TraceReader> read_made(const MadeArchive& made) {
    const TemporaryFolder folder;
    made.write(folder.file("x"));
    return inputs::otf2::read(folder.file("x"), kNoProgress);
}

/// One location with these events.
MadeArchive made_of(std::function<void(OTF2_EvtWriter*)> events) {
    MadeArchive made;
    made.creator = "Score-P 8.0";
    made.regions = {{.name = "f", .ref = 0, .file = "f.c", .line = 12}, {.name = "g", .ref = 7}};
    made.locations = {
        {.ref = 0, .group = "MPI Rank 3", .name = "Master thread", .events = std::move(events)}};
    return made;
}

void enter(OTF2_EvtWriter* writer, OTF2_TimeStamp time, OTF2_RegionRef region,
           OTF2_AttributeList* attributes = nullptr) {
    REQUIRE(OTF2_EvtWriter_Enter(writer, attributes, time, region) == OTF2_SUCCESS);
}

void leave(OTF2_EvtWriter* writer, OTF2_TimeStamp time, OTF2_RegionRef region,
           OTF2_AttributeList* attributes = nullptr) {
    REQUIRE(OTF2_EvtWriter_Leave(writer, attributes, time, region) == OTF2_SUCCESS);
}

Lines parameters_of(const trace::FunctionInfo& function) {
    Lines names;
    for (const trace::ParameterInfo& each : function.parameters)
        names.push_back(each.name);
    return names;
}

TEST_CASE("Locations are threads, and regions functions with their source") {
    MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        enter(writer, 10, 0);
        enter(writer, 20, 7);
        leave(writer, 30, 7);
        leave(writer, 40, 0);
    });
    made.locations.push_back(
        {.ref = 9, .group = "GPU", .name = "stream", .type = OTF2_LOCATION_TYPE_ACCELERATOR_STREAM});
    made.locations.push_back(
        {.ref = 10, .group = "GPU", .name = "counters", .type = OTF2_LOCATION_TYPE_METRIC});
    made.per_second = 2'000'000'000;
    const auto read = read_made(made);
    REQUIRE(read);
    const trace::TraceInfo& info = read->info();
    REQUIRE(info.threads.size() == 2);
    CHECK(info.threads[0].name == "MPI Rank 3: Master thread");
    CHECK(info.threads[1].name == "GPU: stream");
    CHECK(read_back(*read, 0) == Lines{"10 f()", "20 g()", "30 /g", "40 /f"});
    CHECK(info.functions[0].source == "f.c:12");
    CHECK(info.functions[1].source.empty());
    CHECK(info.clock.ticks_per_second == 2e9);
    CHECK(info.process.recorder == "Score-P 8.0");
    CHECK(info.process.host == "host0");
    CHECK(contains(info.remarks.at(0), "One location"));
}

TEST_CASE("Calls that are given by their calling contexts are calls") {
    MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        REQUIRE(OTF2_EvtWriter_CallingContextEnter(writer, nullptr, 10, 0, 1) == OTF2_SUCCESS);
        REQUIRE(OTF2_EvtWriter_CallingContextEnter(writer, nullptr, 20, 1, 2) == OTF2_SUCCESS);
        REQUIRE(OTF2_EvtWriter_CallingContextLeave(writer, nullptr, 30, 1) == OTF2_SUCCESS);
        REQUIRE(OTF2_EvtWriter_CallingContextLeave(writer, nullptr, 40, 0) == OTF2_SUCCESS);
    });
    made.contexts = {0, 7};
    const auto read = read_made(made);
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"10 f()", "20 g()", "30 /g", "40 /f"});
}

TEST_CASE("The command is the program that begins, with its arguments") {
    MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        const OTF2_StringRef arguments[] = {2, 0};
        REQUIRE(OTF2_EvtWriter_ProgramBegin(writer, nullptr, 5, 1, 2, arguments) == OTF2_SUCCESS);
        enter(writer, 10, 0);
        leave(writer, 40, 0);
    });
    made.strings = {"-v", "/opt/solver", "input file"};
    const auto read = read_made(made);
    REQUIRE(read);
    CHECK(read->info().process.command == std::vector<std::string>{"/opt/solver", "input file", "-v"});
}

TEST_CASE("What only late calls are given is not lost, though the first ones tell what functions have") {
    constexpr OTF2_TimeStamp kCalls = 40'000;
    const auto read_late = [](const std::function<void(OTF2_EvtWriter*)>& late) {
        MadeArchive made = made_of([&](OTF2_EvtWriter* writer) {
            for (OTF2_TimeStamp call = 0; call < kCalls; ++call) {
                enter(writer, 2 * call, 0);
                leave(writer, 2 * call + 1, 0);
            }
            late(writer);
        });
        made.attributes = {{.name = "size"}};
        made.parameters = {{.name = "step"}};
        return read_made(made);
    };
    const auto last = [](const trace::TraceReader& read) {
        const Lines lines = read_back(read, 0);
        REQUIRE(lines.size() == 2 * kCalls + 2);
        return lines[lines.size() - 2];
    };
    const auto with_attribute = [](OTF2_EvtWriter* writer) {
        OTF2_AttributeList* attributes = OTF2_AttributeList_New();
        OTF2_AttributeList_AddUint64(attributes, 0, 42);
        enter(writer, 100'000, 0, attributes);
        leave(writer, 100'001, 0);
        OTF2_AttributeList_Delete(attributes);
    };
    const auto with_parameter = [](OTF2_EvtWriter* writer) {
        enter(writer, 100'000, 0);
        REQUIRE(OTF2_EvtWriter_ParameterInt(writer, nullptr, 100'000, 0, 43) == OTF2_SUCCESS);
        leave(writer, 100'001, 0);
    };
    const auto with_record = [](OTF2_EvtWriter* writer) {
        enter(writer, 100'000, 0);
        REQUIRE(OTF2_EvtWriter_MpiSend(writer, nullptr, 100'000, 1, 2, 3, 44) == OTF2_SUCCESS);
        leave(writer, 100'001, 0);
    };
    const auto of_another = [](OTF2_EvtWriter* writer) {
        enter(writer, 100'000, 7);
        leave(writer, 100'001, 7);
    };
    CHECK(last(*read_late(with_attribute)) == "100000 f(42)");
    CHECK(last(*read_late(with_parameter)) == "100000 f(43)");
    CHECK(last(*read_late(with_record)) == "100000 f(2,1,3,44)");
    CHECK(last(*read_late(of_another)) == "100000 g()");
}

TEST_CASE("What records tell about a call becomes its parameters, and -1 where there was none") {
    const auto read = read_made(made_of([](OTF2_EvtWriter* writer) {
        enter(writer, 10, 0);
        OTF2_EvtWriter_MpiSend(writer, nullptr, 11, 5, 2, 99, 4096);
        leave(writer, 20, 0);
        enter(writer, 30, 0);
        leave(writer, 40, 0);
        enter(writer, 50, 7);
        OTF2_EvtWriter_MpiCollectiveBegin(writer, nullptr, 51);
        OTF2_EvtWriter_MpiCollectiveEnd(writer, nullptr, 52, OTF2_COLLECTIVE_OP_ALLREDUCE, 2,
                                        OTF2_COLLECTIVE_ROOT_NONE, 8, 16);
        leave(writer, 60, 7);
        // Several messages of one wait.
        enter(writer, 70, 7);
        OTF2_EvtWriter_MpiIrecv(writer, nullptr, 71, 3, 2, 98, 100, 1);
        OTF2_EvtWriter_MpiIrecv(writer, nullptr, 71, 4, 2, 97, 1000, 2);
        leave(writer, 80, 7);
        OTF2_EvtWriter_MpiSend(writer, nullptr, 90, 5, 2, 99, 4096);
    }));
    REQUIRE(read);
    CHECK(parameters_of(read->info().functions[0]) == Lines{"communicator", "receiver", "tag", "bytes_sent"});
    CHECK(parameters_of(read->info().functions[1]) ==
          Lines{"communicator", "sender", "root", "tag", "bytes_sent", "bytes_received"});
    const std::string none = std::to_string(UINT64_MAX);
    CHECK(read_back(*read, 0) == Lines{"10 f(2,5,99,4096)", "20 /f",
                                       "30 f(" + none + "," + none + "," + none + "," + none + ")", "40 /f",
                                       "50 g(2," + none + "," + none + "," + none + ",8,16)", "60 /g",
                                       "70 g(2,3," + none + ",98," + none + ",1100)", "80 /g"});
    CHECK(contains(read->info().remarks.at(0), "One record"));
}

TEST_CASE("Attributes and parameter events become parameters, and that of an end the result") {
    MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        OTF2_AttributeList* list = OTF2_AttributeList_New();
        OTF2_AttributeList_AddInt32(list, 0, -5);
        OTF2_AttributeList_AddStringRef(list, 1, 1);
        enter(writer, 10, 0, list);
        OTF2_EvtWriter_ParameterInt(writer, nullptr, 11, 0, -7);
        OTF2_EvtWriter_Metric(writer, nullptr, 12, 0, 0, nullptr, nullptr);
        OTF2_AttributeList_AddInt64(list, 2, 3);
        leave(writer, 20, 0, list);
        enter(writer, 30, 0);
        leave(writer, 40, 0);
        OTF2_AttributeList_Delete(list);
    });
    made.strings = {"zero", "one"};
    made.attributes = {{"size", OTF2_TYPE_INT32}, {"file", OTF2_TYPE_STRING}, {"return", OTF2_TYPE_INT64}};
    made.parameters = {{"i"}};
    const auto read = read_made(made);
    REQUIRE(read);
    const trace::FunctionInfo& f = read->info().functions[0];
    REQUIRE(f.parameters.size() == 3);
    REQUIRE(f.result.size() == 1);
    CHECK(f.result[0].name == "return");
    const auto word = [&](std::string_view name) {
        for (const trace::ParameterInfo& each : f.parameters)
            if (each.name == name) return each.word;
        return std::uint16_t{0xffff};
    };
    std::vector<std::vector<std::uint64_t>> words;
    REQUIRE(read->read_thread(
        0,
        [&](std::span<const trace::Event> events) {
            for (const trace::Event& each : events)
                words.emplace_back(each.words.begin(), each.words.end());
        },
        [] {}));
    REQUIRE(words.size() == 4);
    CHECK(words[0].at(word("size")) == static_cast<std::uint64_t>(-5));
    CHECK(words[0].at(word("file")) == 1);
    CHECK(words[0].at(word("i")) == static_cast<std::uint64_t>(-7));
    CHECK(words[1] == std::vector<std::uint64_t>{3});
    CHECK(words[2] == std::vector<std::uint64_t>{0, 0, 0});
    CHECK(words[3] == std::vector<std::uint64_t>{0});
    CHECK(contains(read->info().remarks.at(0), "One value of a metric"));
}

TEST_CASE("Regions and attributes that differ in their number only are one function and one parameter") {
    MadeArchive made;
    made.regions = {{.name = "lock", .ref = 3}, {.name = "lock", .ref = 1'073'741'823}};
    made.attributes = {{"mutex"}, {"mutex"}};
    const auto with = [](OTF2_RegionRef region, OTF2_AttributeRef attribute) {
        return [=](OTF2_EvtWriter* writer) {
            OTF2_AttributeList* list = OTF2_AttributeList_New();
            OTF2_AttributeList_AddUint64(list, attribute, 100 + attribute);
            enter(writer, 10, region, list);
            leave(writer, 20, region);
            OTF2_AttributeList_Delete(list);
        };
    };
    made.locations = {{.ref = 0, .group = "P#0", .name = "P#0T#0", .events = with(3, 0)},
                      {.ref = 1, .group = "P#1", .name = "P#1T#0", .events = with(1'073'741'823, 1)}};
    const auto read = read_made(made);
    REQUIRE(read);
    CHECK(read->info().functions.size() == 1);
    CHECK(read->info().threads[1].name == "P#1T#0");
    CHECK(read_back(*read, 0) == Lines{"10 lock(100)", "20 /lock"});
    CHECK(read_back(*read, 1) == Lines{"10 lock(101)", "20 /lock"});
}

TEST_CASE("The clocks of locations are made one as the archive tells") {
    MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        enter(writer, 100, 0);
        leave(writer, 150, 0);
        enter(writer, 200, 0);
        leave(writer, 300, 0);
    });
    made.locations[0].definitions = [](OTF2_DefWriter* writer) {
        OTF2_DefWriter_WriteClockOffset(writer, 100, 10, 0);
        OTF2_DefWriter_WriteClockOffset(writer, 200, 30, 0);
    };
    const auto read = read_made(made);
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"110 f()", "170 /f", "230 f()", "350 /f"});
}

TEST_CASE("Numbers of a location's own are those of the archive where it tells them") {
    MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        enter(writer, 10, 0);
        leave(writer, 20, 0);
    });
    made.locations.push_back(made.locations[0]);
    made.locations[1].ref = 1;
    made.locations[1].definitions = [](OTF2_DefWriter* writer) {
        OTF2_IdMap* map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, 1);
        OTF2_IdMap_AddIdPair(map, 0, 7);
        OTF2_DefWriter_WriteMappingTable(writer, OTF2_MAPPING_REGION, map);
        OTF2_IdMap_Free(map);
    };
    const auto read = read_made(made);
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"10 f()", "20 /f"});
    CHECK(read_back(*read, 1) == Lines{"10 g()", "20 /g"});
}

TEST_CASE("A recorder that writes its buffer holds the thread, and calls do not count that") {
    const auto read = read_made(made_of([](OTF2_EvtWriter* writer) {
        enter(writer, 10, 0);
        OTF2_EvtWriter_BufferFlush(writer, nullptr, 20, 50);
        OTF2_EvtWriter_MpiSend(writer, nullptr, 60, 5, 2, 99, 4096);
        leave(writer, 70, 0);
    }));
    REQUIRE(read);
    std::vector<trace::Event> all;
    REQUIRE(read->read_thread(
        0, [&](std::span<const trace::Event> some) { all.insert(all.end(), some.begin(), some.end()); },
        [] {}));
    REQUIRE(all.size() == 3);
    CHECK(all[1].kind == trace::EventKind::pause);
    CHECK(all[1].until - all[1].tsc == 30);
    CHECK(read->info().functions[0].parameters.size() == 4);
}

TEST_CASE("Regions that nothing defines, and ends without a beginning, are left out and told") {
    const auto read = read_made(made_of([](OTF2_EvtWriter* writer) {
        leave(writer, 5, 0);
        enter(writer, 10, 0);
        enter(writer, 20, 1234);
        leave(writer, 30, 1234);
        leave(writer, 40, 0);
    }));
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"10 f()", "40 /f"});
    CHECK(contains(read->info().remarks.at(0), "One call of a region"));
}

TEST_CASE("Regions that the measurement system has made up are no functions") {
    MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        enter(writer, 10, 0);
        enter(writer, 20, 8);
        leave(writer, 30, 8);
        leave(writer, 40, 0);
    });
    made.regions.push_back({.name = "TRACE BUFFER FLUSH", .ref = 8, .artificial = true});
    const auto read = read_made(made);
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"10 f()", "40 /f"});
    CHECK(contains(read->info().remarks.at(0), "One call of a region"));
}

TEST_CASE("An archive of the other byte order is read like one of this") {
    const TemporaryFolder folder;
    const MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        enter(writer, 1000, 0);
        enter(writer, 70'000, 7);
        leave(writer, 80'000, 7);
        leave(writer, 90'000, 0);
    });
    made.write(folder.file("x"));
    swap_byte_order(folder.file("x"));
    const auto read = inputs::otf2::read(folder.file("x"), kNoProgress);
    INFO((read ? "" : read.error().message));
    REQUIRE(read);
    CHECK(read_back(*read, 0) == Lines{"1000 f()", "70000 g()", "80000 /g", "90000 /f"});
    CHECK(read->info().functions[0].source == "f.c:12");
}

TEST_CASE("An archive is known by its anchor file, and a directory by the only one in it") {
    const TemporaryFolder folder;
    const MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        enter(writer, 10, 0);
        leave(writer, 40, 0);
    });
    made.write(folder.file("x"));
    std::ifstream file{folder.file("x/traces.otf2"), std::ios::binary};
    const std::string anchor{std::istreambuf_iterator<char>{file}, {}};
    CHECK(inputs::otf2::recognizes(anchor));
    CHECK_FALSE(inputs::otf2::recognizes(anchor.substr(1)));
    CHECK_FALSE(inputs::otf2::recognizes(anchor.substr(0, 4)));
    CHECK(inputs::otf2::recognizes_directory(folder.file("x")));
    CHECK_FALSE(inputs::otf2::recognizes_directory(folder.file("x/traces")));
    CHECK(inputs::otf2::read(folder.file("x/traces.otf2"), kNoProgress));
    made.write(folder.file("x"), "others");
    const auto two = inputs::otf2::read(folder.file("x"), kNoProgress);
    REQUIRE_FALSE(two);
    CHECK(contains(two.error().message, "more"));
    CHECK(inputs::otf2::read(folder.file("x/others.otf2"), kNoProgress));
}

TEST_CASE("Any archive that is cut anywhere, or has lost a file, is read in part or refused in one line") {
    const TemporaryFolder folder;
    const MadeArchive made = made_of([](OTF2_EvtWriter* writer) {
        for (OTF2_TimeStamp at = 10; at < 10'000; at += 10) {
            enter(writer, at, 0);
            leave(writer, at + 5, 0);
        }
    });
    made.write(folder.file("x"));
    for (const char* part : {"traces.otf2", "traces.def", "traces/0.evt", "traces/0.def"}) {
        const std::string path = folder.file("x/") + part;
        std::ifstream file{path, std::ios::binary};
        const std::string whole{std::istreambuf_iterator<char>{file}, {}};
        const auto size = whole.size();
        for (const std::size_t kept : {std::size_t{0}, std::size_t{1}, std::size_t{20}, size / 2, size - 1}) {
            std::ofstream{path, std::ios::binary | std::ios::trunc} << whole.substr(0, kept);
            const auto read = inputs::otf2::read(folder.file("x/traces.otf2"), kNoProgress);
            INFO(part << " cut to " << kept << ": " << (read ? "read" : read.error().message));
            if (!read) {
                CHECK(contains(read.error().message, "traces.otf2"));
                CHECK(read.error().message.find('\n') == std::string::npos);
            }
            // The last byte is an end mark, and a location without definitions of its own has none.
            CHECK((!read || kept == size - 1 || std::string_view{part} == "traces/0.def"));
        }
        std::ofstream{path, std::ios::binary | std::ios::trunc} << whole;
    }
    REQUIRE(inputs::otf2::read(folder.file("x"), kNoProgress));
    std::filesystem::remove(folder.file("x/traces/0.evt"));
    CHECK_FALSE(inputs::otf2::read(folder.file("x"), kNoProgress));
}

}  // namespace
}  // namespace rdam::test
