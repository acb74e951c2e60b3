#include <algorithm>
#include <filesystem>
#include <string>

#include "analyzer/formats/format.h"
#include "analyzer/formats/otf2/layout.h"

namespace rdam::formats {
namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// `name` relative to the folder. A link to a file is none of the archive's.
bool is_part_of_archive(const fs::path& name, fs::file_type type) {
    const fs::path anchor{otf2::kArchiveName};
    if (name == anchor) return type == fs::file_type::directory;
    if (type != fs::file_type::regular) return false;
    const std::string extension = name.extension();
    if (name.stem() == anchor && name.parent_path().empty())
        return extension == ".otf2" || extension == ".def";
    return name.parent_path() == anchor && is_number(name.stem()) &&
           (extension == ".def" || extension == ".evt");
}

}  // namespace

Result<void> check_only_otf2(const std::string& folder) {
    std::error_code error;
    const fs::path anchor = fs::path{folder} / fmt::format("{}.otf2", otf2::kArchiveName);
    if (fs::symlink_status(anchor, error).type() != fs::file_type::regular)
        return fail("{}: is not an OTF2 archive, and is not replaced; give another path", folder);
    error.clear();
    for (fs::recursive_directory_iterator entry{folder, error}, end; !error && entry != end;
         entry.increment(error)) {
        const fs::path name = entry->path().lexically_relative(folder);
        std::error_code unknown;
        if (!is_part_of_archive(name, entry->symlink_status(unknown).type()))
            return fail(
                "{}: {} does not belong to the archive there, and would be lost: move it away, or give "
                "another path",
                folder, name.string());
    }
    if (error) return fail("{}: cannot be read: {}; give another path", folder, error.message());
    return {};
}

}  // namespace rdam::formats
