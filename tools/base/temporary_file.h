// Files and folders that are gone when nobody needs them any more.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "tools/base/result.h"

namespace rdam {

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

}  // namespace rdam
