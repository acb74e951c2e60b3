// The writer when things go wrong: full disks, limits, files that are not its own.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <random>

#include "tests/unit/catch.h"
#include "tests/unit/trace/files.h"
#include "tests/unit/trace/support.h"

using namespace rdam::trace;
using namespace rdam::trace::testing;
using Catch::Contains;

namespace {

/// About 9 KiB that do not compress.
std::vector<OwnedEvent> large_chunk(std::uint32_t seed) {
    std::mt19937_64 random(seed);
    std::vector<OwnedEvent> events;
    for (std::uint64_t i = 0; i < 500; ++i) {
        events.push_back(enter(i * 10, 0, {random()}));
        events.push_back(leave(i * 10 + 5, 0, {random()}));
    }
    return events;
}

/// Lets files grow to `bytes`, as long as it lives.
class FileSizeLimit {
  public:
    explicit FileSizeLimit(std::uint64_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
        REQUIRE(getrlimit(RLIMIT_FSIZE, &before_) == 0);
        rlimit limited = before_;
        limited.rlim_cur = bytes;
        REQUIRE(setrlimit(RLIMIT_FSIZE, &limited) == 0);
    }
    ~FileSizeLimit() {
        setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }
    FileSizeLimit(const FileSizeLimit&) = delete;
    FileSizeLimit& operator=(const FileSizeLimit&) = delete;
    FileSizeLimit(FileSizeLimit&&) = delete;
    FileSizeLimit& operator=(FileSizeLimit&&) = delete;

  private:
    void (*handler_)(int);
    rlimit before_{};
};

/// A small file system of its own, as long as it lives.
class SmallDisk {
  public:
    explicit SmallDisk(const std::string& where) : where_(where) {
        std::filesystem::create_directory(where);
        mounted_ = mount("rdam-test", where.c_str(), "tmpfs", 0, "size=64k") == 0;
        error_ = errno;
    }
    ~SmallDisk() {
        if (mounted_) umount2(where_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;
    SmallDisk(SmallDisk&&) = delete;
    SmallDisk& operator=(SmallDisk&&) = delete;

    bool mounted() const { return mounted_; }
    const char* why_not() const { return std::strerror(error_); }

  private:
    std::string where_;
    bool mounted_ = false;
    int error_ = 0;
};

struct Attempt {
    std::vector<OwnedEvent> kept;
    std::uint64_t dropped = 0;
    std::string message;
};

void append(TraceWriter& writer, std::uint32_t seed, Attempt& attempt) {
    const auto events = large_chunk(seed);
    ChunkEncoder encoder;
    encode(encoder, events);
    const std::uint64_t before = writer.bytes();
    const auto done = writer.append(0, encoder);
    CHECK(encoder.events() == 0);
    if (done) {
        attempt.kept.insert(attempt.kept.end(), events.begin(), events.end());
        return;
    }
    CHECK(writer.bytes() == before);
    attempt.dropped += events.size();
    attempt.message = done.error().message;
}

void check_trace(const std::string& path, const Attempt& attempt) {
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(replay(*reader, 0).events == attempt.kept);
    CHECK(reader->damage().bad_chunks == 0);
    CHECK(reader->damage().missing_chunks == 0);
    CHECK(reader->damage().skipped_bytes == 0);
}

rdam::Result<TraceWriter> try_create(int fd) {
    return TraceWriter::create(fd, "out.bin");
}

}  // namespace

TEST_CASE("at the limit of its size a file keeps its whole chunks, and goes on when there is room") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceInfo info = info_of_one_function();
    info.threads[0].dropped = 3;
    info.dropped = 4;
    Attempt attempt;
    TraceWriter writer = writer_of(path);
    REQUIRE(writer.describe(info));
    {
        const FileSizeLimit limit(50000);
        for (std::uint32_t i = 0; i < 20; ++i)
            append(writer, i, attempt);
        CHECK_THAT(attempt.message, Contains(path) && Contains("File too large") && Contains("ulimit -f"));
        CHECK(std::filesystem::file_size(path) == writer.bytes());
    }
    const std::size_t before_gap = attempt.kept.size();
    REQUIRE(before_gap > 0);
    REQUIRE(attempt.dropped > 0);
    append(writer, 100, attempt);
    CHECK(writer.dropped() == attempt.dropped);
    CHECK(writer.events() == attempt.kept.size());
    REQUIRE(writer.finish(info));

    check_trace(path, attempt);
    const auto reader = TraceReader::open(path);
    CHECK(replay(*reader, 0).gaps == std::vector<std::size_t>{before_gap});
    CHECK(reader->info().threads[0].dropped == 3 + attempt.dropped);
    CHECK(reader->info().dropped == 4 + attempt.dropped);
}

TEST_CASE("a trace that cannot be finished is readable by scanning") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    Attempt attempt;
    TraceWriter writer = writer_of(path);
    REQUIRE(writer.describe(info_of_one_function()));
    append(writer, 0, attempt);
    {
        const FileSizeLimit limit(writer.bytes() + 10);
        CHECK_FALSE(writer.finish(info_of_one_function()));
    }
    check_trace(path, attempt);
    CHECK(TraceReader::open(path)->damage().no_index);
}

TEST_CASE("on a full disk a trace keeps its whole chunks") {
    const TemporaryDirectory directory;
    const SmallDisk disk(directory.file("disk"));
    if (!disk.mounted()) {
        std::cerr << "skipped: a full disk (no small file system can be mounted here: " << disk.why_not()
                  << ")\n";
        return;
    }
    const std::string path = directory.file("disk/trace.bin");
    Attempt attempt;
    {
        TraceWriter writer = writer_of(path);
        REQUIRE(writer.describe(info_of_one_function()));
        for (std::uint32_t i = 0; i < 20; ++i)
            append(writer, i, attempt);
        CHECK_THAT(attempt.message, Contains("No space left on device") && Contains("free some space"));
        REQUIRE(attempt.dropped > 0);
        REQUIRE(writer.finish(info_of_one_function()));
    }
    check_trace(path, attempt);
    CHECK(TraceReader::open(path)->info().dropped == attempt.dropped);
}

TEST_CASE("files that cannot be written to are refused with a reason") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("f");
    set_contents(path, {1, 2, 3});
    CHECK_THAT(try_create(open(path.c_str(), O_RDWR | O_CLOEXEC)).error().message, Contains("not empty"));
    set_contents(path, {});
    CHECK_THAT(try_create(open(path.c_str(), O_RDONLY | O_CLOEXEC)).error().message,
               Contains("Bad file descriptor"));
    CHECK_THAT(try_create(-1).error().message, Contains("out.bin") && Contains("Bad file descriptor"));
    CHECK_THAT(try_create(open("/dev/null", O_WRONLY | O_CLOEXEC)).error().message, Contains("regular file"));

    const int locked = open(path.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(flock(locked, LOCK_EX) == 0);
    CHECK_THAT(try_create(open(path.c_str(), O_RDWR | O_CLOEXEC)).error().message, Contains("another rdam"));
    close(locked);
}

TEST_CASE("after finish nothing can be appended") {
    const TemporaryDirectory directory;
    TraceWriter writer = writer_of(directory.file("trace.bin"));
    REQUIRE(writer.finish(info_of_one_function()));
    ChunkEncoder encoder;
    encoder.enter(1, 0, 0, 0, false, 0, std::vector<std::uint64_t>{1});
    CHECK_THAT(writer.append(0, encoder).error().message, Contains("finished"));
    CHECK_FALSE(writer.finish(info_of_one_function()));
}

TEST_CASE("a description is written again only where it has changed") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceInfo info = full_info();
    {
        TraceWriter writer = writer_of(path);
        REQUIRE(writer.describe(info));
        const std::uint64_t once = writer.bytes();
        REQUIRE(writer.describe(info));
        CHECK(writer.bytes() == once);
        info.threads[1].end = 99;
        info.stacks.push_back({0, 5, {6, 7}, false});
        REQUIRE(writer.describe(info));
        CHECK(writer.bytes() > once);
        CHECK(writer.bytes() - once < once - sizeof(format::FileHeader));
    }
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(reader->info() == info);
}

TEST_CASE("a long description is cut into several chunks") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    std::mt19937_64 random(1);
    TraceInfo info = full_info();
    for (int i = 0; i < 10000; ++i) {
        StackInfo stack;
        for (int depth = 0; depth < 40; ++depth)
            stack.frames.push_back(random());
        info.stacks.push_back(stack);
    }
    REQUIRE(writer_of(path).finish(info));
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(reader->info() == info);
}

TEST_CASE("a gap that the recorder knows of is told at its place") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    {
        TraceWriter writer = writer_of(path);
        ChunkEncoder encoder;
        encode(encoder, {enter(1, 0, {1}), leave(2, 0, {1})});
        encoder.gap();
        encode(encoder, {enter(3, 0, {1})});
        CHECK(encoder.events() == 3);
        REQUIRE(writer.append(0, encoder));
        encoder.gap();
        REQUIRE(writer.append(0, encoder));
        encode(encoder, {leave(4, 0, {1})});
        REQUIRE(writer.append(0, encoder));
        REQUIRE(writer.finish(info_of_one_function()));
    }
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    const Replay read = replay(*reader, 0);
    CHECK(read.events.size() == 4);
    CHECK(read.gaps == std::vector<std::size_t>{2, 3});
    CHECK(reader->damage().missing_chunks == 0);
}

TEST_CASE("a number of words that changes within a chunk costs that chunk, not the trace") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    {
        TraceWriter writer = writer_of(path);
        ChunkEncoder encoder;
        encode(encoder, {enter(1, 0, {1}), enter(2, 0, {1, 2})});
        REQUIRE(writer.append(0, encoder));
        encode(encoder, {leave(3, 0, {1})});
        REQUIRE(writer.append(0, encoder));
        REQUIRE(writer.finish(info_of_one_function()));
    }
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(replay(*reader, 0).events.size() == 1);
    CHECK(reader->damage().bad_chunks == 1);
}

TEST_CASE("function numbers may be large") {
    const TemporaryDirectory directory;
    const std::string path = directory.file("trace.bin");
    TraceWriter writer = writer_of(path);
    ChunkEncoder encoder;
    for (int round = 0; round < 2; ++round) {
        encode(encoder,
               {enter(1, 0xffffffff), leave(2, 0xffffffff), enter(3, 1U << 20U), leave(4, 1U << 20U)});
        REQUIRE(writer.append(0, encoder));
    }
    CHECK(writer.events() == 8);
    REQUIRE(writer.finish(info_of_one_function()));
    const auto reader = TraceReader::open(path);
    REQUIRE(reader);
    CHECK(replay(*reader, 0).gaps.size() == 2);
    CHECK(reader->damage().bad_chunks == 2);
}
