#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/unit/catch.h"
#include "wrappers/find/function_list.h"

namespace {

rdam::Result<rdam::FunctionList> load(const std::string& value) {
    return rdam::load_function_list(value, "-f");
}

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

/// An empty folder, which is the current one meanwhile.
class CurrentFolder {
  public:
    CurrentFolder()
        : before_(std::filesystem::current_path()),
          path_(std::filesystem::temp_directory_path() / ("rdam_folder_" + std::to_string(::getpid()))) {
        std::filesystem::create_directory(path_);
        std::filesystem::current_path(path_);
    }
    ~CurrentFolder() {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(path_);
    }
    CurrentFolder(const CurrentFolder&) = delete;
    CurrentFolder& operator=(const CurrentFolder&) = delete;
    CurrentFolder(CurrentFolder&&) = delete;
    CurrentFolder& operator=(CurrentFolder&&) = delete;

  private:
    std::filesystem::path before_, path_;
};

}  // namespace

TEST_CASE("an existing file is a list file") {
    const TemporaryList file("f\ng # 3 %\n");
    const auto list = load(file.path());
    REQUIRE(list.has_value());
    REQUIRE(list->entries.size() == 2);
    CHECK(list->entries[1].origin == file.path() + ":2");
}

TEST_CASE("what is no file is names") {
    const auto list = load("write,operator/,operator/=");
    REQUIRE(list.has_value());
    CHECK(list->entries.size() == 3);
    CHECK(list->entries[1].name == "operator/");
    CHECK(list->entries[0].origin == "-f");
    CHECK(load("f,:g").error().message ==
          "-f: ':g' lacks the module before the colon; write name, module:name or file.c:name");
}

TEST_CASE("a path that does not exist is not taken for a name") {
    CHECK(load("/no/such/list").error().message ==
          "/no/such/list: cannot be opened: No such file or directory");
    CHECK(load("no_such_list.txt").error().message ==
          "no_such_list.txt: cannot be opened: No such file or directory");
}

TEST_CASE("a directory, an endless and an empty file are errors of one line") {
    constexpr const char* kRemedy =
        "not a list of functions, which is a text file; - reads one from standard input";
    CHECK(load("/").error().message == fmt::format("/: is a directory, {}", kRemedy));
    CHECK(load("/dev/zero").error().message ==
          fmt::format("/dev/zero: is a device or a socket, {}", kRemedy));
    CHECK(load("/proc/self/exe").error().message ==
          fmt::format("/proc/self/exe: is a program, a library or other data, {}", kRemedy));
    const TemporaryList empty("");
    CHECK(load(empty.path()).error().message ==
          empty.path() + ": names no function; write one per line, as name or module:name");
}

TEST_CASE("a file that is no text is not meant by a function's name") {
    const CurrentFolder folder;
    std::filesystem::copy_file("/proc/self/exe", "work");
    std::filesystem::create_directory("step");
    REQUIRE(::mkfifo("pipe", 0600) == 0);
    for (const std::string name : {"work", "step", "pipe"}) {
        INFO(name);
        CHECK_FALSE(rdam::is_list_file(name));
        const auto list = load(name);
        REQUIRE(list);
        REQUIRE(list->entries.size() == 1);
        CHECK(list->entries[0].name == name);
        CHECK_THAT(list->entries[0].unless_found,
                   Catch::StartsWith("the file " + name + " is ") && Catch::Contains("./" + name));
        CHECK_THAT(load("./" + name).error().message, Catch::Contains("not a list of functions"));
    }
    CHECK(load("absent")->entries[0].unless_found.empty());
}

TEST_CASE("a text file is a list even if a function could have its name, which is said") {
    const CurrentFolder folder;
    std::ofstream("work") << "step\n";
    CHECK(rdam::is_list_file("work"));
    const auto list = load("work");
    REQUIRE(list);
    CHECK(list->entries[0].name == "step");
    CHECK(list->entries[0].unless_found == "it is in the file work; 'work,' means the function of that name");
    const auto forced = load("work,");
    REQUIRE(forced);
    CHECK(forced->entries[0].name == "work");
    CHECK(load("./work")->entries[0].unless_found.empty());
    std::ofstream("work") << "a\1b\n";
    CHECK_THAT(load("work").error().message,
               Catch::EndsWith("; 'work,' means the function of that name, not the file"));
}

TEST_CASE("a hundred thousand entries are read in a moment") {
    std::string text;
    for (int i = 0; i < 100000; ++i)
        text += fmt::format("name_{}\nname_{}  # wait\n", i, i);
    const auto list = rdam::parse_function_list(text, "list");
    REQUIRE(list);
    CHECK(list->entries.size() == 100000);
    CHECK_FALSE(list->entries[5].added_wait);
}
