#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "wrappers/list/function_list.h"

using rdam::load_function_list;

namespace {

class TemporaryList {
  public:
    explicit TemporaryList(const std::string& text)
        : path_(std::filesystem::temp_directory_path() / ("rdam_list_" + std::to_string(::getpid()))) {
        std::ofstream(path_) << text;
    }
    ~TemporaryList() { std::filesystem::remove(path_); }
    TemporaryList(const TemporaryList&) = delete;
    TemporaryList& operator=(const TemporaryList&) = delete;
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

}  // namespace

TEST_CASE("an existing file is a list file") {
    const TemporaryList file("f\ng # 3 %\n");
    const auto list = load_function_list(file.path());
    REQUIRE(list.has_value());
    REQUIRE(list->entries.size() == 2);
    CHECK(list->entries[1].origin == file.path() + ":2");
}

TEST_CASE("what is no file is names") {
    const auto list = load_function_list("write,operator/,operator/=");
    REQUIRE(list.has_value());
    CHECK(list->entries.size() == 3);
    CHECK(list->entries[1].name == "operator/");
    CHECK(list->entries[0].origin == "RDAM_FUNCTIONS");
}

TEST_CASE("a path that does not exist is not taken for a name") {
    CHECK(load_function_list("/no/such/list").error().message ==
          "/no/such/list: cannot be opened: No such file or directory");
    CHECK(load_function_list("no_such_list.txt").error().message ==
          "no_such_list.txt: cannot be opened: No such file or directory");
}

TEST_CASE("a directory, an endless and an empty file are errors of one line") {
    CHECK(load_function_list("/").error().message == "/: cannot be read: Is a directory");
    CHECK(load_function_list("/dev/zero").error().message ==
          "/dev/zero: larger than 64 MiB; is it the right file?");
    CHECK(load_function_list("/dev/null").error().message ==
          "/dev/null: names no function; write one a line, as name or module:name");
}
