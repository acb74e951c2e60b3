// What `rdam record` must know before it starts a program.
#include <elf.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/catch.h"
#include "tests/unit/contains.h"
#include "tests/unit/object/fixtures.h"
#include "tests/unit/temporary_folder.h"
#include "wrappers/object/executable_facts.h"

namespace {

namespace fs = std::filesystem;
using rdam::inspect_executable;
using rdam::why_not_recordable;
using rdam::test::contains;
using rdam::test::kFixtures;

class Scratch {
  public:
    std::string write(const std::string& name, const std::string& content, mode_t mode = 0755) const {
        const fs::path file = folder_.path() / name;
        std::ofstream{file, std::ios::binary} << content;
        REQUIRE(::chmod(file.c_str(), mode) == 0);
        return file.string();
    }
    std::string copy(const std::string& fixture, mode_t mode) const {
        const fs::path file = folder_.path() / fixture;
        fs::copy(kFixtures / fixture, file);
        REQUIRE(::chmod(file.c_str(), mode) == 0);
        return file.string();
    }
    const fs::path& path() const { return folder_.path(); }

  private:
    rdam::test::TemporaryFolder folder_;
};

std::string reason(const std::string& path) {
    const auto facts = inspect_executable(path);
    REQUIRE(facts.has_value());
    return why_not_recordable(*facts);
}

}  // namespace

TEST_CASE("an ordinary program can be recorded") {
    const auto facts = inspect_executable((kFixtures / "lines").string());
    REQUIRE(facts.has_value());
    CHECK(facts->is_elf);
    CHECK(facts->is_x86_64);
    CHECK(facts->is_dynamic);
    CHECK(contains(facts->interpreter, "ld-linux"));
    CHECK(why_not_recordable(*facts).empty());
}

TEST_CASE("programs that cannot be recorded say why") {
    const Scratch scratch;
    CHECK(contains(reason((kFixtures / "lines_static").string()), "statically linked"));
    CHECK(contains(reason((kFixtures / "lines_like_go").string()), "Go program"));
    CHECK(contains(reason(scratch.write("text", "neither this nor that\n")),
                   "neither an ELF program nor a script"));
    CHECK(contains(reason(scratch.write("empty", "")), "neither an ELF program nor a script"));
    Elf32_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_386;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof header;
    const std::string bytes{reinterpret_cast<const char*>(&header), sizeof header};
    CHECK(contains(reason(scratch.write("narrow", bytes)), "32-bit"));
    CHECK(contains(inspect_executable(scratch.write("broken", "\177ELF?")).error().message,
                   "is not an ELF file"));
}

TEST_CASE("a set-user-ID program can be recorded by the user that it would become") {
    const Scratch scratch;
    const std::string program = scratch.copy("lines", 04755);
    CHECK(reason(program).empty());
    struct statvfs place {};
    REQUIRE(::statvfs(program.c_str(), &place) == 0);
    if (::geteuid() != 0 || (place.f_flag & ST_NOSUID) != 0) {
        WARN(
            "not tried with another user's program: to make one takes root, and a file system without "
            "nosuid");
        return;
    }
    constexpr uid_t kNobody = 65534;
    REQUIRE(::chown(program.c_str(), kNobody, kNobody) == 0);  // which takes the bit away
    REQUIRE(::chmod(program.c_str(), 04755) == 0);
    CHECK(contains(reason(program), "setuid"));
}

TEST_CASE("scripts name their interpreter") {
    const Scratch scratch;
    const auto facts = inspect_executable(scratch.write("script", "#! /usr/bin/env python3\nprint()\n"));
    REQUIRE(facts.has_value());
    CHECK(facts->is_script);
    CHECK(facts->interpreter == "/usr/bin/env");
    CHECK(inspect_executable(scratch.write("bare", "#!"))->interpreter.empty());
}

TEST_CASE("files that cannot be started are errors") {
    const Scratch scratch;
    CHECK(contains(inspect_executable(scratch.path() / "missing").error().message, "No such file"));
    CHECK(contains(inspect_executable(scratch.path().string()).error().message, "is a directory"));
    CHECK(contains(inspect_executable(scratch.write("data", "#!/bin/sh\n", 0644)).error().message,
                   "may not be executed"));
    CHECK(contains(inspect_executable("/dev/null").error().message, "is not a regular file"));
}
