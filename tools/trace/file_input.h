// The file under a TraceReader: read by position into our own memory, not mapped, because a file may be
// truncated while it is read.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tools/base/files.h"
#include "tools/base/result.h"
#include "tools/trace/format.h"

namespace rdam::trace {

class FileInput {
  public:
    FileInput() = default;

    /// Opens a regular file without ever blocking on it.
    static Result<FileInput> open(const std::string& path);
    /// Reads a file that is open for reading; takes over `fd`, in any case.
    static Result<FileInput> take_over(int fd, const std::string& path);

    /// Waits until no recorder has it locked (`waiting` is called once if that takes more than a second).
    Result<void> wait_for_recorder(const std::string& path, const std::function<void()>& waiting);

    /// Reads up to into.size() bytes at `offset`; fewer only at the end of the file or on an error of the
    /// disk. Thread-safe.
    std::size_t read(std::uint64_t offset, std::span<std::uint8_t> into) const;

    /// A record at `offset`; all zeros, and so without a valid checksum, where the file has none.
    template <class Record>
    Record record_at(std::uint64_t offset) const {
        std::uint8_t bytes[sizeof(Record)] = {};
        read(offset, bytes);
        return format::load<Record>(bytes);
    }

    /// False: the system does not say.
    bool status(struct stat& status) const { return fstat(fd_.get(), &status) == 0; }
    std::uint64_t size() const { return size_; }  ///< when it was opened, or had been waited for

  private:
    Descriptor fd_;
    std::uint64_t size_ = 0;
};

/// Error: it is no trace, or one of a newer format. False: its header is damaged, but it is a trace by its chunks.
Result<bool> check_header(const FileInput& file, const std::string& path);

}  // namespace rdam::trace
