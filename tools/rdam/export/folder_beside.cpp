#include "tools/rdam/export/folder_beside.h"

#include <filesystem>

namespace rdam {

namespace fs = std::filesystem;

std::string place_behind_links(const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (error) return path;
    // What does not exist yet keeps its slash at the end.
    return canonical.has_filename() ? canonical.string() : canonical.parent_path().string();
}

Result<void> put_in_place(const std::string& fresh, const std::string& place, const TemporaryFolder& beside) {
    std::error_code error;
    const std::string old = beside.file("old");
    const bool is_there = fs::exists(fs::symlink_status(place, error));
    error.clear();
    if (is_there) fs::rename(place, old, error);
    if (!error) {
        fs::rename(fresh, place, error);
        if (!error) return {};
        std::error_code lost;
        if (is_there) fs::rename(old, place, lost);
    }
    return fail("{}: cannot be {}: {}; give another path", place, is_there ? "replaced" : "written",
                error.message());
}

}  // namespace rdam
