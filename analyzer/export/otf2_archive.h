// An OTF2 archive while it is written, and what becomes of the library's errors.
#pragma once

#include <otf2/otf2.h>

#include <memory>
#include <string>
#include <utility>

#include "analyzer/inputs/otf2/errors.h"
#include "tools/base/result.h"
#include "tools/base/unmovable.h"

namespace rdam::exports::otf2 {

/// Nothing is buffered beyond some chunks of each writer. Not thread-safe, and one at a time: the library has
/// one error callback.
class Archive : private Unmovable {
  public:
    /// `folder` is made and must not be there yet. Messages call the archive `name`. `locations`: how many it
    /// will have at most.
    static Result<std::unique_ptr<Archive>> create(const std::string& folder, const std::string& name,
                                                   std::size_t locations);
    /// What has not been closed is left unfinished, in silence.
    ~Archive();

    OTF2_Archive* handle() const { return archive_; }
    bool good() const { return rdam::otf2::LibraryErrors::first() == OTF2_SUCCESS; }
    /// The first error of any call of the library so far.
    Result<void> state() const;
    /// Calls the library, unless there has been an error: after one, it uses memory that it has freed.
    template <class... Parameters, class... Arguments>
    void call(OTF2_ErrorCode (*function)(Parameters...), Arguments... arguments) {
        if (good()) rdam::otf2::LibraryErrors::note(function(arguments...));
    }
    /// Null: there has been an error.
    template <class Handle, class... Parameters, class... Arguments>
    Handle* get(Handle* (*function)(Parameters...), Arguments... arguments) {
        if (!good()) return nullptr;
        Handle* handle = function(arguments...);
        if (handle == nullptr) rdam::otf2::LibraryErrors::note(OTF2_ERROR_INVALID_CALL);
        return handle;
    }
    Result<void> close();

  private:
    explicit Archive(std::string name) : name_(std::move(name)) {}

    std::string name_;
    OTF2_Archive* archive_ = nullptr;
    rdam::otf2::LibraryErrors errors_;
};

}  // namespace rdam::exports::otf2
