#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "tests/unit/catch.h"
#include "tools/base/files.h"

using rdam::read_whole_file;

namespace {
constexpr std::size_t kLimit = 1 << 20;
}

TEST_CASE("files of the kernel are read to their end") {
    const auto name = read_whole_file("/proc/self/cmdline", kLimit);
    REQUIRE(name);
    CHECK(name->find("test") != std::string::npos);
}

// What the kernel answers when a process ends between open() and read(), too.
TEST_CASE("what opens and cannot be read is an error") {
    const auto memory = read_whole_file("/proc/self/mem", kLimit);
    REQUIRE_FALSE(memory);
    CHECK(memory.error().message == "/proc/self/mem: cannot be read: Input/output error");
    CHECK_FALSE(read_whole_file("/proc", kLimit));
}

TEST_CASE("a file beyond the limit is an error") {
    CHECK(read_whole_file("/dev/zero", kLimit).error().message ==
          "/dev/zero: larger than 1 MiB; is it the right file?");
}

TEST_CASE("a pipe is read while somebody writes to it, and not waited for for ever") {
    const std::string pipe = "/tmp/rdam_pipe_" + std::to_string(::getpid());
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const auto nobody = read_whole_file(pipe, kLimit);
    REQUIRE_FALSE(nobody);
    CHECK(nobody.error().message ==
          pipe + ": is a pipe that nobody writes to; save the input to a file first");

    const std::string text(300000, 'x');
    std::thread writer([&] { std::ofstream(pipe) << text; });
    const auto read = read_whole_file(pipe, kLimit);
    writer.join();
    ::unlink(pipe.c_str());
    REQUIRE(read);
    CHECK(*read == text);
}
