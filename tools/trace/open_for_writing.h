// Opens a trace file for writing in a directory where others may have planted something in its place.
#pragma once

#include <sys/stat.h>

#include <string>

#include "tools/base/result.h"

namespace rdam::trace {

/// The final target of the symbolic links at `path`, which need not exist. In a directory that everybody may
/// write to and where only the owner removes a file (sticky, like /tmp), links are followed only if they
/// belong to this process's user or to the directory's owner: the rule of Linux's fs.protected_symlinks, even
/// if that is off. An Error is only the reason.
Result<std::string> follow_links(const std::string& path);

/// Whether an open file, found at `path`, may be what another user has put there: in such a directory a file
/// of another user (not the directory's owner), or one with more than one name.
bool is_planted(const struct stat& found, const std::string& path);

/// Whether `path` is in a directory that everybody may write to and where only the owner removes a file.
bool is_in_shared_folder(const std::string& path);

/// Whether the target of `path`, a directory or a file, may be written to: in such a directory, neither over
/// another user's link nor into another user's file. A missing target is no Error. An Error is only the
/// reason.
Result<void> check_not_planted(const std::string& path);

/// A descriptor, owned by the caller, for reading and writing the regular file that `path` leads to; creates
/// the file if there is none. In such directories, other users' files are refused like their links
/// (fs.protected_regular), and so is a file of this user that has another name as well: another user may have
/// made this name. An Error is only the reason. Nothing is written or truncated.
Result<int> open_for_writing(const std::string& path);

}  // namespace rdam::trace
