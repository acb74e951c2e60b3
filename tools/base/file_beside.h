// A file that comes to its place as a whole: written beside it, then renamed.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "tools/base/descriptor.h"
#include "tools/base/result.h"

namespace rdam {

/// Errors here are what the system says, without the file's name. Not thread-safe.
class FileBeside {
  public:
    /// Beside `path` or, if that is a link, the place to which it leads: it stays a link.
    static Result<FileBeside> create(const std::string& path);
    /// A file that has not been put in place is gone.
    ~FileBeside();
    FileBeside(FileBeside&& other) noexcept;
    FileBeside& operator=(FileBeside&&) = delete;
    FileBeside(const FileBeside&) = delete;
    FileBeside& operator=(const FileBeside&) = delete;

    Result<void> write(std::string_view bytes);
    /// Once. What is there already is replaced.
    Result<void> put_in_place(mode_t mode);

  private:
    FileBeside(std::string place, std::string path, Descriptor file);

    std::string place_;
    std::string path_;  // empty: it is in place
    Descriptor file_;
};

/// Who may read and write a new file. Not thread-safe.
mode_t mode_of_new_files();

}  // namespace rdam
