// What the reader says about files that are not (yet, or any more) traces.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "tests/unit/catch.h"
#include "tests/unit/trace/files.h"
#include "tests/unit/trace/support.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;
using Catch::Contains;
using Catch::Equals;

namespace {

std::string refusal(const std::string& path) {
    const auto reader = TraceReader::open(path);
    REQUIRE_FALSE(reader);
    CHECK(reader.error().message.find('\n') == std::string::npos);
    return reader.error().message;
}

std::string refusal_of(const Bytes& content) {
    const TemporaryDirectory directory;
    set_contents(directory.file("f"), content);
    return refusal(directory.file("f"));
}

Bytes text(const std::string& content) {
    return {content.begin(), content.end()};
}

}  // namespace

TEST_CASE("what is no file is refused at once") {
    const TemporaryDirectory directory;
    CHECK_THAT(refusal(directory.file("none")), Contains("none") && Contains("No such file"));
    CHECK_THAT(refusal(directory.file("")), Contains("a directory"));
    REQUIRE(mkfifo(directory.file("pipe").c_str(), 0600) == 0);
    CHECK_THAT(refusal(directory.file("pipe")), Contains("a pipe"));
    CHECK_THAT(refusal("/dev/zero"), Contains("a device"));
    CHECK_THAT(refusal(""), Contains("No such file"));
}

TEST_CASE("other files are refused by what they are") {
    CHECK_THAT(refusal_of({}), Contains("is empty"));
    CHECK_THAT(refusal_of(text("hello")), Contains("is not an rdam trace"));
    CHECK_THAT(refusal_of(text(std::string(100000, 'x'))), Contains("is not an rdam trace"));
    CHECK_THAT(refusal_of(text("PERFILE2 and more")), Contains("rdam hot"));
    CHECK_THAT(refusal_of(text("\x17\x08"
                               "Dtracing6")),
               Contains("trace-cmd report"));
    CHECK_THAT(refusal_of(text("\x7f"
                               "ELF")),
               Contains("rdam record"));
    CHECK_THAT(refusal_of(text("\x1f\x8b\x08")), Contains("gzip"));
    std::mt19937 random(7);
    for (int i = 0; i < 100; ++i) {
        Bytes noise(random() % 5000 + 1);
        for (auto& byte : noise)
            byte = static_cast<std::uint8_t>(random());
        CHECK_THAT(refusal_of(noise), Contains("/f"));
    }
}

TEST_CASE("a trace that was stopped in its first moments says so") {
    CHECK_THAT(refusal_of(file_header()), Contains("nothing readable"));
    Bytes cut = file_header();
    cut.resize(30);
    CHECK_THAT(refusal_of(cut), Contains("ends after 30 bytes"));
    Bytes spoiled = file_header();
    spoiled[20] ^= 1U;
    CHECK_THAT(refusal_of(spoiled), Contains("damaged at its beginning"));
}

TEST_CASE("a newer format is named, and the remedy") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    set_contents(path, file_header(6) + EventChunk().bytes());
    CHECK_THAT(refusal(path),
               Equals(path + " has format 6, but this rdam reads formats up to 5: use a newer rdam"));
    set_contents(path, file_header(1, 7) + description(info_of_one_function()) + EventChunk().bytes());
    CHECK(TraceReader::open(path));
}

TEST_CASE("a reader waits for the recorder") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceWriter writer = writer_of(path);
    ChunkEncoder encoder;
    std::atomic<int> told = 0;
    std::uint64_t events = 0;
    std::thread analyzer([&] {
        const auto reader = TraceReader::open(path, [&] { ++told; });
        if (reader) events = reader->events();
    });
    while (told == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    encode(encoder, {enter(1, 0, {1})});
    REQUIRE(writer.append(0, encoder));
    REQUIRE(writer.finish(info_of_one_function()));
    analyzer.join();
    CHECK(told == 1);
    CHECK(events == 1);
}

TEST_CASE("what is there is read without waiting") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceWriter writer = writer_of(path);
    TraceInfo info = info_of_one_function();
    info.process.run = "run";
    REQUIRE(writer.describe(info));
    ChunkEncoder encoder;
    encode(encoder, {enter(1, 0, {1})});
    REQUIRE(writer.append(0, encoder));
    const auto reader = TraceReader::open_as_it_is(path);
    REQUIRE(reader);
    CHECK(reader->damage().no_index);
    CHECK(reader->info().process.run == "run");
    REQUIRE(writer.finish(info));
    CHECK_FALSE(TraceReader::open_as_it_is(path)->damage().no_index);
}

TEST_CASE("a reader that finds the file free does not lock it") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    REQUIRE(writer_of(path).finish(info_of_one_function()));
    bool told = false;
    const auto reader = TraceReader::open(path, [&] { told = true; });
    REQUIRE(reader);
    CHECK_FALSE(told);
    CHECK(writer_of(path).bytes() == sizeof(format::FileHeader));
}

TEST_CASE("a file that is cut while it is read gives what is left") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceWriter writer = writer_of(path);
    ChunkEncoder encoder;
    for (std::uint64_t i = 0; i < 3; ++i) {
        encode(encoder, {enter(i, 0, {i})});
        REQUIRE(writer.append(0, encoder));
    }
    const std::uint64_t whole_chunks = writer.bytes();
    REQUIRE(writer.finish(info_of_one_function()));
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    std::filesystem::resize_file(path, whole_chunks - 1 - 64);
    const Replay read = replay(*reader, 0);
    CHECK(read.events.size() == 2);
    CHECK(read.gaps == std::vector<std::size_t>{2});
    CHECK(reader->damage().bad_chunks == 1);
}
