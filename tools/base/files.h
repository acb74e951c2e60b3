// File descriptors that are closed when their owner is gone, and all of what is read from or written to one.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "tools/base/result.h"

namespace rdam {

class Descriptor {
  public:
    explicit Descriptor(int fd = -1) : fd_(fd) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    int get() const { return fd_; }  ///< below 0: none
    /// False: what was written last may be lost (errno).
    bool close() { return fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0; }

  private:
    int fd_;
};

/// Writes all of it. Errors are what the system says.
Result<void> write_all(int fd, std::string_view bytes);

/// False: there are fewer bytes, or they cannot be read.
bool read_all(int fd, void* data, std::size_t size);

// A whole file in memory, with a bound, or its beginning.

/// The bytes of a file, or of standard input for `-`. A directory, an unreadable file or more than `limit`
/// bytes is an error that names `path`. Waits for a pipe, but not forever: 2 s until it is opened for
/// writing, a minute while nothing is written.
Result<std::string> read_whole_file(const std::string& path, std::size_t limit);

/// The first bytes of a file, at most `size`: as many as there are at once. Errors name `path`.
Result<std::string> read_beginning(const std::string& path, std::size_t size);

/// How `path` is called in messages.
std::string_view display_path(const std::string& path);

// Files and folders that are gone when nobody needs them any more.

/// The descriptor, owned by the caller, of an empty file without a name in $TMPDIR (default: /tmp). `purpose`
/// is part of its name until it has none. Errors: no such directory, no room, not writable.
Result<int> open_temporary_file(std::string_view purpose);

/// A folder, empty at first, that goes with all that is in it.
class TemporaryFolder {
  public:
    /// In $TMPDIR, likewise.
    static Result<TemporaryFolder> create(std::string_view purpose);
    /// Beside `place`, so that what is in it can be moved there. The error names `place`.
    static Result<TemporaryFolder> beside(const std::string& place);
    ~TemporaryFolder();
    TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::string& path() const { return path_; }
    std::string file(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

  private:
    explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
    std::string path_;  // empty: it is another's
};

// A file that comes to its place as a whole: written beside it, then renamed.

/// Errors here are what the system says, without the file's name. Not thread-safe.
class FileBeside {
  public:
    /// Beside `path` or, if that is a link, the place to which it leads: it stays a link.
    static Result<FileBeside> create(const std::string& path);
    /// Beside `path` itself, whatever it is: a link is replaced.
    static Result<FileBeside> create_here(std::string path);
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

/// The permissions of a new file. Not thread-safe.
mode_t mode_of_new_files();

// The last part of a path.

/// What follows the last '/'. It refers to `path`.
constexpr std::string_view file_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

}  // namespace rdam
