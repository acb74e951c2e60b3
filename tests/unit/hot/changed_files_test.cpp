#include "wrappers/hot/changed_files.h"

#include <filesystem>

#include "tests/unit/catch.h"
#include "wrappers/object/object_file.h"

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
    CHECK(rdam::changed_files_in(lines).empty());
    const auto changed = rdam::changed_files_in("0123456789abcdef " + own + "\n");
    REQUIRE(changed.size() == 1);
    CHECK(changed.begin()->first == std::filesystem::path(own).filename());
    CHECK(changed.begin()->second == own + " is not the file that was sampled (build ID " +
                                         build_id.substr(0, 8) +
                                         ", sampled 01234567): put that file back, or sample again");
}

TEST_CASE("a file that is gone is said to be") {
    const auto changed = rdam::changed_files_in("0123456789abcdef /nowhere/a program\n");
    REQUIRE(changed.count("a program") == 1);
    CHECK(changed.at("a program") ==
          "/nowhere/a program is gone: put the file that was sampled back, or sample again");
}
