#include "tools/rdam/command/output_place.h"

#include <filesystem>

namespace rdam {

namespace fs = std::filesystem;

Result<void> check_unused(const std::string& path) {
    std::error_code error;
    const fs::file_type type = fs::status(path, error).type();
    const bool holds_something = type == fs::file_type::regular || type == fs::file_type::directory;
    if (!holds_something || fs::is_empty(path, error)) return {};
    return fail("{}: exists and is not empty; give another path, or replace it with {}", path,
                kOverwriteOption);
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const fs::path full = fs::absolute(path, error);
    if (error) return path;
    // What `..` leads to is for the kernel to say: the folder before it may be a link, or not exist.
    fs::path plain;
    for (const fs::path& part : full)
        if (part != ".") plain /= part;
    return plain.string();
}

}  // namespace rdam
