#include "wrappers/hot/changed_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <sstream>
#include <utility>

#include "tools/base/child_process.h"
#include "wrappers/object/object_file.h"

namespace rdam {
namespace {

/// Enough to tell two files apart.
std::string beginning(const std::string& build_id) {
    constexpr std::size_t kShown = 8;
    return build_id.substr(0, kShown);
}

std::string gone(const std::string& path) {
    return fmt::format("{} is gone: put the file that was sampled back, or sample again", path);
}

bool is_later(timespec one, timespec other) {
    return std::pair(one.tv_sec, one.tv_nsec) > std::pair(other.tv_sec, other.tv_nsec);
}

/// Empty: nothing is known to be wrong. An inode alone proves nothing: what layers of file systems show may
/// be another one than the kernel has told perf.
std::string how_changed(const std::string& path, std::uint64_t inode, timespec recorded) {
    struct stat now {};
    if (::stat(path.c_str(), &now) != 0) return errno == ENOENT ? gone(path) : std::string{};
    const bool written = is_later(now.st_mtim, recorded);
    const bool replaced = now.st_ino != inode && is_later(now.st_ctim, recorded);
    if (!written && !replaced) return {};
    return fmt::format("{} has {} since it was sampled: put the file that was sampled back, or sample again",
                       path, replaced ? "been replaced" : "changed");
}

/// Empty: nothing is known to be wrong.
std::string how_changed(const std::string& path, const std::string& sampled) {
    if (::access(path.c_str(), F_OK) != 0) return gone(path);
    const auto object = ObjectFile::open(path);
    if (!object || object->build_id() == sampled) return {};
    return fmt::format(
        "{} is not the file that was sampled (build ID {}, sampled {}): put that file back, or sample again",
        path, object->build_id().empty() ? "missing" : beginning(object->build_id()), beginning(sampled));
}

}  // namespace

std::map<std::string, std::string> changed_files_in(const std::string& build_ids,
                                                    const std::map<std::string, std::uint64_t>& inodes,
                                                    timespec recorded) {
    std::map<std::string, std::string> changed;
    std::set<std::string> known;
    std::istringstream lines(build_ids);
    for (std::string build_id, path; lines >> build_id && std::getline(lines >> std::ws, path);) {
        if (!path.starts_with('/')) continue;
        known.insert(path);
        if (const std::string how = how_changed(path, build_id); !how.empty()) changed.emplace(path, how);
    }
    for (const auto& [path, inode] : inodes)
        if (!known.contains(path))
            if (const std::string how = how_changed(path, inode, recorded); !how.empty())
                changed.emplace(path, how);
    return changed;
}

std::map<std::string, std::string> changed_files(const std::string& perf_data,
                                                 const std::map<std::string, std::uint64_t>& inodes) {
    struct stat recording {};
    if (::stat(perf_data.c_str(), &recording) != 0) return {};
    constexpr std::size_t kMost = std::size_t{1} << 24U;
    const auto listed =
        run_child({"perf", "buildid-list", "-i", perf_data},
                  {"PERF_CONFIG=/dev/null", "LC_ALL=C", "DEBUGINFOD_URLS=", "LD_PRELOAD"}, kMost);
    return listed && listed->exit_code == 0 ? changed_files_in(listed->out, inodes, recording.st_mtim)
                                            : std::map<std::string, std::string>{};
}

}  // namespace rdam
