#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/hot/hot_report.h"
#include "wrappers/object/object_file.h"

namespace {

using Changes = std::map<std::string, std::string>;

Changes changed_by_build_id(const std::string& lines) {
    return rdam::changed_files_in(lines, {}, {});
}

/// A file without a build ID, which was sampled as the inode `inode` some seconds before or after it was
/// made.
Changes changed_by_inode(const std::string& path, std::uint64_t inode, int recorded_later) {
    struct stat made {};
    REQUIRE(stat(path.c_str(), &made) == 0);
    timespec recorded = made.st_ctim;
    recorded.tv_sec += recorded_later;
    return rdam::changed_files_in("", {{path, inode != 0 ? inode : made.st_ino}}, recorded);
}

}  // namespace

TEST_CASE("a file is the one that was sampled if its build ID is the same") {
    const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
    const auto object = rdam::ObjectFile::open(own);
    REQUIRE(object.has_value());
    const std::string build_id = object->build_id();
    if (build_id.empty()) {
        WARN("skipped: this program has no build ID");
        return;
    }
    const std::string lines =
        build_id + " " + own + "\n0123456789abcdef [kernel.kallsyms]\n0123456789abcdef [vdso]\n";
    CHECK(changed_by_build_id(lines).empty());
    const auto changed = changed_by_build_id("0123456789abcdef " + own + "\n");
    REQUIRE(changed.size() == 1);
    CHECK(changed.begin()->first == own);
    CHECK(changed.begin()->second == own + " is not the file that was sampled (build ID " +
                                         build_id.substr(0, 8) +
                                         ", sampled 01234567): put that file back, or sample again");
}

TEST_CASE("a file that is gone is said to be") {
    const auto changed = changed_by_build_id("0123456789abcdef /nowhere/a program\n");
    REQUIRE(changed.count("/nowhere/a program") == 1);
    CHECK(changed.at("/nowhere/a program") ==
          "/nowhere/a program is gone: put the file that was sampled back, or sample again");
}

TEST_CASE("a file without a build ID has changed if it was replaced or written to since the recording") {
    const std::string path =
        std::filesystem::temp_directory_path() / ("rdam-file-" + std::to_string(getpid()));
    std::ofstream(path) << "code";
    constexpr std::uint64_t kOther = 3;
    CHECK(changed_by_inode(path, 0, 1).empty());
    CHECK(changed_by_inode(path, kOther, 1).empty());
    const std::string remedy = " since it was sampled: put the file that was sampled back, or sample again";
    CHECK(changed_by_inode(path, 0, -1) == Changes{{path, path + " has changed" + remedy}});
    CHECK(changed_by_inode(path, kOther, -1) == Changes{{path, path + " has been replaced" + remedy}});
    std::filesystem::remove(path);
    CHECK(rdam::changed_files_in("", {{path, kOther}}, {}).at(path).find(" is gone: ") != std::string::npos);
}
