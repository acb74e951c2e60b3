#include "tools/rdam/export/folder_beside.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace rdam {

namespace fs = std::filesystem;

Result<std::unique_ptr<FolderBeside>> FolderBeside::create(const std::string& place) {
    std::string path = place + ".XXXXXX";
    if (mkdtemp(path.data()) == nullptr)
        return fail("{}: cannot be written: {}; give a path in a directory that you may write to", place,
                    std::strerror(errno));
    return std::unique_ptr<FolderBeside>{new FolderBeside{path}};
}

FolderBeside::~FolderBeside() {
    std::error_code error;
    fs::remove_all(path_, error);
}

std::string place_behind_links(const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::weakly_canonical(path, error);
    if (error) return path;
    // What does not exist yet keeps its slash at the end.
    return canonical.has_filename() ? canonical.string() : canonical.parent_path().string();
}

Result<void> put_in_place(const std::string& fresh, const std::string& place, const FolderBeside& beside) {
    std::error_code error;
    const std::string old = beside.path() + "/old";
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
