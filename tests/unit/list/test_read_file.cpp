#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "wrappers/list/read_file.h"

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
