// The file under a TraceWriter: appended to in whole pieces, and truncated if one does not fit.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tools/base/result.h"

namespace rdam::trace {

/// What a file is written for: decides whether it is compressed, and what helps if it cannot be written.
enum class Purpose : std::uint8_t { recording, temporary_copy };

class FileOutput {
  public:
    /// Closes `fd` on destruction.
    FileOutput(int fd, std::string name, Purpose purpose = Purpose::recording);
    ~FileOutput();
    FileOutput(const FileOutput&) = delete;
    FileOutput& operator=(const FileOutput&) = delete;
    FileOutput(FileOutput&&) = delete;
    FileOutput& operator=(FileOutput&&) = delete;

    /// The file must be regular and empty, and no other process may hold it.
    Result<void> check_and_lock();
    /// All of it or, on failure, nothing: the file is cut back to its size before.
    Result<void> append(std::span<const std::uint8_t> bytes);
    /// Makes sure that `bytes` more will fit, where the file system can promise that (elsewhere it does
    /// nothing). What is not used in the end is given back by close().
    Result<void> reserve(std::uint64_t bytes);
    /// Appending afterwards is an error.
    Result<void> close();

    std::uint64_t size() const { return size_; }

  private:
    [[nodiscard]] tl::unexpected<Error> cannot_write(int error) const;

    int fd_;
    std::string name_;
    Purpose purpose_;
    std::uint64_t size_ = 0;
    std::uint64_t reserved_end_ = 0;
};

}  // namespace rdam::trace
