// A file that is there as a whole or not at all: written beside its place, then renamed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/files.h"
#include "tools/base/result.h"

namespace rdam {

/// `-` is standard output, which is written as it comes. What is not finished is gone at the end.
class FreshFile {
  public:
    /// Error: nothing can be written in the directory of `path`.
    static Result<FreshFile> create(const std::string& path);
    ~FreshFile();
    FreshFile(FreshFile&& other) noexcept;
    FreshFile& operator=(FreshFile&&) = delete;
    FreshFile(const FreshFile&) = delete;
    FreshFile& operator=(const FreshFile&) = delete;

    /// Error: the disk is full, or nobody reads standard output.
    Result<void> write(std::string_view bytes);
    /// Afterwards the file is at its place. A symbolic link there stays one.
    Result<void> finish();

  private:
    FreshFile(std::string path, std::optional<FileBeside> beside, int fd);
    Result<void> or_error(Result<void> done) const;

    std::string path_;
    std::optional<FileBeside> beside_;  // nothing: what is written comes as it is to fd_
    int fd_ = -1;
};

/// Whether output may go to `path`. Errors: it is empty, a directory, one of the `inputs`, or exists and
/// `overwrite` is false (check_unused()).
Result<void> check_output(const std::string& path, const std::vector<std::string>& inputs, bool overwrite);

// Where a result is written: an existing file is kept unless the user says otherwise.

/// Error: `path` exists, and is not an empty file or directory, a device or a pipe, where nothing would be
/// lost.
Result<void> check_unused(const std::string& path);

/// `path` from the root; unchanged if the current directory no longer exists.
std::string absolute(const std::string& path);

/// The option that overwrites, and its text in --help.
inline constexpr const char* kOverwriteOption = "--overwrite";
inline constexpr const char* kOverwriteText = "Replace existing output";

}  // namespace rdam
