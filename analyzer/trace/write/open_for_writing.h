// Opens a trace file for writing in a directory where others may have planted something in its place.
#pragma once

#include <string>

#include "wrappers/support/result.h"

namespace rdam::trace {

/// What the symbolic links at `path` lead to in the end, which need not be there. In a folder that everybody
/// may write to and where only the owner removes a file (sticky, like /tmp), no link is followed that belongs
/// to somebody else than this process's user or the folder's owner: what fs.protected_symlinks of Linux says,
/// also where it is off. An Error is the reason alone.
Result<std::string> follow_links(const std::string& path);

/// Whether what `path` leads to, a folder or a file, may be written to: not over a link of somebody else, nor
/// into what is somebody else's, in such a folder. That there is nothing is no Error, which is the reason
/// alone.
Result<void> check_not_planted(const std::string& path);

/// A descriptor, the caller's, for reading and writing of the regular file that `path` leads to, which is
/// made where there is none. Files of others in such folders are refused as their links are
/// (fs.protected_regular), and so is there a file of ours that has another name as well: somebody else may
/// have made this one. An Error is the reason alone. Nothing is written or truncated.
Result<int> open_for_writing(const std::string& path);

}  // namespace rdam::trace
