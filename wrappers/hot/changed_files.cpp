#include "wrappers/hot/changed_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "wrappers/object/object_file.h"
#include "wrappers/support/child_process.h"
#include "wrappers/support/file_name.h"

namespace rdam {
namespace {

/// Enough to tell two files apart.
std::string beginning(const std::string& build_id) {
    constexpr std::size_t kShown = 8;
    return build_id.substr(0, kShown);
}

/// Empty: nothing is known to be wrong.
std::string how_changed(const std::string& path, const std::string& sampled) {
    if (::access(path.c_str(), F_OK) != 0)
        return fmt::format("{} is gone: put the file that was sampled back, or sample again", path);
    const auto object = ObjectFile::open(path);
    if (!object || object->build_id() == sampled) return {};
    return fmt::format(
        "{} is not the file that was sampled (build ID {}, sampled {}): put that file back, or sample again",
        path, object->build_id().empty() ? "missing" : beginning(object->build_id()), beginning(sampled));
}

}  // namespace

std::map<std::string, std::string> changed_files_in(const std::string& build_ids) {
    std::map<std::string, std::string> changed;
    std::istringstream lines(build_ids);
    for (std::string build_id, path; lines >> build_id && std::getline(lines >> std::ws, path);) {
        if (!path.starts_with('/')) continue;
        if (const std::string how = how_changed(path, build_id); !how.empty())
            changed.emplace(file_name(path), how);
    }
    return changed;
}

std::map<std::string, std::string> changed_files(const std::string& perf_data) {
    constexpr std::size_t kMost = std::size_t{1} << 24U;
    const auto listed =
        run_child({"perf", "buildid-list", "-i", perf_data},
                  {"PERF_CONFIG=/dev/null", "LC_ALL=C", "DEBUGINFOD_URLS=", "LD_PRELOAD"}, kMost);
    return listed && listed->exit_code == 0 ? changed_files_in(listed->out)
                                            : std::map<std::string, std::string>{};
}

}  // namespace rdam
