// A recording as a trace file.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "analyzer/trace/read/reader.h"
#include "tests/unit/analysis/recording.h"

namespace rdam::test {

/// A file without a name; gone when the test is.
class MemoryFile {
  public:
    MemoryFile() : fd_(memfd_create("trace", MFD_CLOEXEC)) {}
    ~MemoryFile() { close(fd_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    MemoryFile(MemoryFile&&) = delete;
    MemoryFile& operator=(MemoryFile&&) = delete;
    std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

  private:
    int fd_;
};

void write_file(const Recording& recording, const std::string& path);

/// Of such a file.
trace::TraceReader reader_of(const Recording& recording);

}  // namespace rdam::test
