// A file of a test's own, in memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/catch.h"

namespace rdam::test {

/// A file without a name; gone when the test is. Reads and changes are by position.
class MemoryFile {
  public:
    explicit MemoryFile(const std::vector<std::uint8_t>& content = {})
        : fd_(memfd_create("test", MFD_CLOEXEC)) {
        REQUIRE(fd_ >= 0);
        REQUIRE(pwrite(fd_, content.data(), content.size(), 0) == static_cast<ssize_t>(content.size()));
    }
    ~MemoryFile() { close(fd_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    MemoryFile(MemoryFile&&) = delete;
    MemoryFile& operator=(MemoryFile&&) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
    void set(std::size_t at, std::uint8_t byte) {
        REQUIRE(pwrite(fd_, &byte, 1, static_cast<off_t>(at)) == 1);
    }
    void truncate(std::size_t size) { REQUIRE(ftruncate(fd_, static_cast<off_t>(size)) == 0); }

  private:
    int fd_;
};

}  // namespace rdam::test
