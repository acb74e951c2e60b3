#include "analyzer/columns/folder_check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "analyzer/columns/contents.h"

namespace rdam::columns {
namespace {

namespace fs = std::filesystem;
using Parsed = nlohmann::json;

/// The member, or null: a file of that name may hold anything.
const Parsed& member(const Parsed& object, const char* name) {
    static const Parsed none;
    const auto found = object.find(name);
    return found == object.end() ? none : *found;
}

void add_name(const Parsed& name, std::set<std::string>& files) {
    if (name.is_string()) files.insert(name.get<std::string>());
}

/// The files that an export consists of, relative to its folder.
std::optional<std::set<std::string>> files_of_export(const fs::path& contents) {
    std::error_code error;
    if (fs::symlink_status(contents, error).type() != fs::file_type::regular) return std::nullopt;
    std::ifstream stream(contents);
    const Parsed json = Parsed::parse(stream, nullptr, false);
    if (member(json, "format") != kFormat) return std::nullopt;
    std::set<std::string> files{kContentsFile};
    for (const Parsed& table : member(json, "tables")) {
        for (const Parsed& file : member(table, "columns"))
            add_name(file, files);
    }
    for (const Parsed& function : member(json, "functions")) {
        for (const Parsed& column : member(member(function, "values"), "columns"))
            add_name(member(column, "file"), files);
    }
    return files;
}

bool is_expected(const fs::directory_entry& entry, const std::string& name,
                 const std::set<std::string>& files) {
    std::error_code error;
    const fs::file_type type = entry.symlink_status(error).type();
    if (type == fs::file_type::regular) return files.contains(name);
    return type == fs::file_type::directory && std::ranges::find(kRooms, name) != kRooms.end();
}

}  // namespace

Result<void> check_only_columns(const std::string& folder) {
    const auto files = files_of_export(fs::path{folder} / kContentsFile);
    if (!files)
        return fail("{}: is not a directory of columns, and is not replaced; give another path", folder);
    std::error_code error;
    for (fs::recursive_directory_iterator entry{folder, error}, end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().lexically_relative(folder).generic_string();
        if (!is_expected(*entry, name, *files))
            return fail(
                "{}: {} does not belong to the export there, and would be lost: move it away, or give "
                "another path",
                folder, name);
    }
    if (error) return fail("{}: cannot be read: {}; give another path", folder, error.message());
    return {};
}

}  // namespace rdam::columns
