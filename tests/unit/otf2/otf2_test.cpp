// The OTF2 archive of a trace made by hand: read back with the library's reader, nothing is rounded.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analyzer/export/format.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tests/unit/otf2/archive_contents.h"
#include "tests/unit/rounds.h"
#include "tests/unit/temporary_folder.h"
#include "tools/trace/reader.h"
#include "wrappers/catalogue/catalogue.h"

namespace rdam::test {
namespace {

constexpr std::uint64_t kStart = 1000;
using Events = std::vector<ArchiveContents::Event>;

ArchiveContents archive_of(const Recording& recording) {
    const MemoryFile file;
    write_file(recording, file.path());
    const auto reader = trace::TraceReader::open(file.path());
    REQUIRE(reader);
    const auto visit = views::Visit::prepare(*reader, {}, {});
    REQUIRE(visit);
    const TemporaryFolder folder;
    const auto written = exports::write_otf2(*visit, {}, {folder.file("x"), "x"});
    REQUIRE(written);
    REQUIRE(exports::check_only_otf2(folder.file("x")));
    return read_archive(folder.file("x/traces.otf2"));
}

/// `+a@10 -a@20`: entered and left, at nanoseconds.
std::string text(const Events& events) {
    std::string all;
    for (const ArchiveContents::Event& event : events) {
        if (!all.empty()) all += ' ';
        all += event.enter ? '+' : '-';
        all += event.region + "@" + std::to_string(event.ns);
    }
    return all;
}

bool is_off(const ArchiveContents::Event& event) {
    return event.region.starts_with("off the processor");
}

TEST_CASE("A time off the processor is written where it lies, in parts where a call begins or ends in it") {
    const auto with = [](std::uint64_t out, std::uint64_t in, bool preempted = false) {
        Recording recording{2};
        recording.thread(kStart, kStart + 100)
            .enter(kStart + 10, kA)
            .call(kStart + 20, kB, 10)
            .leave(kStart + 50, kA)
            .off({.out = kStart + out, .in = kStart + in, .cpu = 0, .preempted = preempted});
        return text(archive_of(recording).events.at(0));
    };
    const std::string calls = "+a@10 +b@20 -b@30 -a@50";
    CHECK(with(2, 8) == "+off the processor: waits@2 -off the processor: waits@8 " + calls);
    CHECK(with(22, 28, true) ==
          "+a@10 +b@20 +off the processor: preempted@22 -off the processor: preempted@28 -b@30 -a@50");
    CHECK(with(30, 50) ==
          "+a@10 +b@20 -b@30 +off the processor: waits@30 -off the processor: waits@50 -a@50");
    CHECK(with(60, 90) == calls + " +off the processor: waits@60 -off the processor: waits@90");
    const auto off = [](int out, int in) {
        return "+off the processor: waits@" + std::to_string(out) + " -off the processor: waits@" +
               std::to_string(in);
    };
    CHECK(with(5, 15) == off(5, 10) + " +a@10 " + off(10, 15) + " +b@20 -b@30 -a@50");
    CHECK(with(15, 40) ==
          "+a@10 " + off(15, 20) + " +b@20 " + off(20, 30) + " -b@30 " + off(30, 40) + " -a@50");
    CHECK(with(40, 60) == "+a@10 +b@20 -b@30 " + off(40, 50) + " -a@50 " + off(50, 60));
}

TEST_CASE("Whatever the times off the processor are, every location nests and its calls stay") {
    std::mt19937 random;
    for (int round = 0; round < rounds(60); ++round) {
        Recording recording{3};
        for (int t = 0; t < 2; ++t) {
            ThreadRecording& thread = recording.thread(kStart, kStart + 5000);
            std::uint64_t off = kStart;
            std::uint64_t at = kStart;
            for (int i = 0; i < 40; ++i) {
                at += random() % 9;
                thread.enter(at, kA);
                at += random() % 9;
                thread.call(at, random() % 2 == 0 ? kB : kC, 3);
                at += 3 + random() % 9;
                thread.leave(at, kA);
                off += random() % 20;
                const std::uint64_t in = off + 1 + random() % 10;
                thread.off({.out = off, .in = in, .cpu = 0, .preempted = random() % 2 == 0});
                off = in + 1;
            }
        }
        for (const auto& [location, events] : archive_of(recording).events) {
            std::vector<std::string> open;
            std::uint64_t last = 0;
            std::size_t calls = 0;
            for (const ArchiveContents::Event& event : events) {
                REQUIRE(event.ns >= last);
                last = event.ns;
                if (event.enter) {
                    open.push_back(event.region);
                    continue;
                }
                REQUIRE(!open.empty());
                REQUIRE(open.back() == event.region);
                open.pop_back();
                calls += is_off(event) ? 0 : 1;
            }
            REQUIRE(open.empty());
            REQUIRE(calls == 80);
        }
    }
}

TEST_CASE("A word is written as the value that it is, whatever its size") {
    struct Case {
        ValueKind kind;
        std::uint8_t size;
        std::uint64_t word;
        OTF2_Type type;
        std::uint64_t bits;  ///< of the value
    };
    const std::vector<Case> cases{
        {ValueKind::signed_integer, 1, 0xff, OTF2_TYPE_INT64, UINT64_MAX},
        {ValueKind::signed_integer, 2, 0x7fff, OTF2_TYPE_INT64, 0x7fff},
        {ValueKind::enumeration, 4, 0xfffffffe, OTF2_TYPE_INT64, UINT64_MAX - 1},
        {ValueKind::signed_integer, 8, UINT64_MAX, OTF2_TYPE_INT64, UINT64_MAX},
        {ValueKind::signed_integer, 0, 7, OTF2_TYPE_INT64, 7},
        {ValueKind::unsigned_integer, 8, UINT64_MAX, OTF2_TYPE_UINT64, UINT64_MAX},
        {ValueKind::pointer, 8, 0x7fff12345678, OTF2_TYPE_UINT64, 0x7fff12345678},
        {ValueKind::boolean, 1, 1, OTF2_TYPE_UINT8, 1},
        {ValueKind::boolean, 1, 0, OTF2_TYPE_UINT8, 0},
        {ValueKind::floating, 4, 0x3dcccccd, OTF2_TYPE_FLOAT, 0x3dcccccd},
        {ValueKind::floating, 8, 0x3fb999999999999a, OTF2_TYPE_DOUBLE, 0x3fb999999999999a},
    };
    Recording recording{1, static_cast<std::uint16_t>(cases.size())};
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        // All of one name: an event has each of them all the same.
        recording.info.functions[kA].parameters[i].name = "x";
        recording.info.functions[kA].parameters[i].kind = static_cast<std::uint8_t>(cases[i].kind);
        recording.info.functions[kA].parameters[i].size = cases[i].size;
        words.push_back(cases[i].word);
    }
    recording.thread(kStart, kStart + 100).call(kStart + 10, kA, 5, words);
    const ArchiveContents archive = archive_of(recording);
    const Events& events = archive.events.at(0);
    REQUIRE(text(events) == "+a@10 -a@15");
    REQUIRE(events[0].attributes.size() == cases.size());
    // The library does not keep their order.
    for (const Case& each : cases) {
        std::size_t same = 0, wanted = 0;
        for (const Case& other : cases)
            wanted += other.type == each.type && other.bits == each.bits ? 1 : 0;
        for (const ArchiveContents::Attribute& attribute : events[0].attributes) {
            CHECK(attribute.name == "x");
            std::uint64_t bits = attribute.value.uint64;
            if (attribute.type == OTF2_TYPE_UINT8) bits = attribute.value.uint8;
            if (attribute.type == OTF2_TYPE_FLOAT) bits = attribute.value.uint32;
            same += attribute.type == each.type && bits == each.bits ? 1 : 0;
        }
        CHECK(same == wanted);
    }
}

TEST_CASE("A made-up function with any number of parameters has some of them") {
    Recording recording{1, 1};
    auto& parameters = recording.info.functions[kA].parameters;
    parameters.resize(20'000, parameters.front());
    recording.thread(kStart, kStart + 100).call(kStart + 10, kA, 5, {7});
    const ArchiveContents archive = archive_of(recording);
    REQUIRE(text(archive.events.at(0)) == "+a@10 -a@15");
    const auto& attributes = archive.events.at(0)[0].attributes;
    CHECK(attributes.size() == 64);
    CHECK(std::ranges::all_of(attributes, [](const auto& each) { return each.value.uint64 == 7; }));
}

TEST_CASE("Names of any length and kind become strings that a definition can hold") {
    Recording recording{3};
    std::string umlauts;
    while (umlauts.size() < 6'000'000)
        umlauts += "ü";
    recording.info.functions[kA].name = "x" + umlauts;
    recording.info.functions[kB].name = std::string("\0\n\x1b[2J\xff", 7);
    recording.info.functions[kC].source = "a:b\n.c:4294967296";
    recording.thread(kStart, kStart + 100)
        .call(kStart + 10, kA, 5)
        .call(kStart + 20, kB, 5)
        .call(kStart + 30, kC, 5);
    const ArchiveContents archive = archive_of(recording);
    CHECK(archive.events.at(0).size() == 6);
    CHECK(archive.regions.at(kA) == "x" + umlauts.substr(0, archive.regions.at(kA).size() - 1));
    CHECK(archive.regions.at(kA).size() > 60'000);
    CHECK(archive.regions.at(kA).size() % 2 == 1);
    CHECK(archive.regions.at(kB) == "\\x00\\n\\x1b[2J\\xff");
}

TEST_CASE("Calls that were not seen to end are closed") {
    Recording recording{2};
    recording.thread(kStart, kStart + 100)
        .enter(kStart + 10, kA)
        .enter(kStart + 20, kB)
        .call(kStart + 40, kA, 5);
    recording.thread(kStart, kStart + 100).enter(kStart + 30, kA);
    recording.thread(kStart, kStart + 100);
    const ArchiveContents archive = archive_of(recording);
    CHECK(text(archive.events.at(0)) == "+a@10 +b@20 +a@40 -a@45 -b@100 -a@100");
    CHECK(text(archive.events.at(1)) == "+a@30 -a@100");
    CHECK(archive.events.at(2).empty());
    for (const OTF2_LocationRef location : {0, 1}) {
        const ArchiveContents::Event& last = archive.events.at(location).back();
        REQUIRE(last.attributes.size() == 1);
        CHECK(last.attributes[0].name == "end");
        CHECK(archive.strings.at(last.attributes[0].value.stringRef) == "not seen");
    }
    CHECK(archive.length == 100);
}

}  // namespace
}  // namespace rdam::test
