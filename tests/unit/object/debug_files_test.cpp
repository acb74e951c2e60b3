// Where the symbols of stripped objects are found, and which files are not taken for theirs.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/unit/catch.h"
#include "tests/unit/object/fixtures.h"
#include "tests/unit/temporary_folder.h"
#include "wrappers/object/object_file.h"

namespace {

namespace fs = std::filesystem;
using rdam::ObjectFile;
using rdam::SymbolSource;
using rdam::test::kFixtures;

using TemporaryDirectory = rdam::test::TemporaryFolder;

ObjectFile open(const fs::path& file, const fs::path& root = "/nonexistent") {
    auto object = ObjectFile::open(file.string(), root.string());
    REQUIRE(object.has_value());
    return std::move(*object);
}

bool knows_twins(const ObjectFile& object) {
    return object.named("twin").size() == 2;
}

}  // namespace

TEST_CASE(".gnu_debuglink leads to a file beside the object") {
    const ObjectFile object = open(kFixtures / "libsymbols.linked.so");
    CHECK(object.symbol_source() == SymbolSource::debug_file);
    CHECK(object.debug_image()->name() == (kFixtures / "libsymbols.linked.debug").string());
    CHECK(knows_twins(object));
    CHECK(object.debug_image() != nullptr);
}

TEST_CASE(".gnu_debuglink leads to .debug and to the root of debug files") {
    const TemporaryDirectory directory;
    fs::copy(kFixtures / "libsymbols.linked.so", directory.path() / "lib.so");
    CHECK(open(directory.path() / "lib.so").symbol_source() == SymbolSource::exported_only);
    SECTION(".debug") {
        fs::create_directory(directory.path() / ".debug");
        fs::copy(kFixtures / "libsymbols.linked.debug", directory.path() / ".debug");
        CHECK(knows_twins(open(directory.path() / "lib.so")));
    }
    SECTION("below the root") {
        const TemporaryDirectory root;
        const fs::path mirror = root.path() / directory.path().relative_path();
        fs::create_directories(mirror);
        fs::copy(kFixtures / "libsymbols.linked.debug", mirror);
        CHECK(knows_twins(open(directory.path() / "lib.so", root.path())));
    }
}

TEST_CASE("the build-id leads to a file in the root of debug files") {
    const std::string id = open(kFixtures / "libsymbols.bare.so").build_id();
    const TemporaryDirectory root;
    const fs::path place = root.path() / ".build-id" / id.substr(0, 2);
    fs::create_directories(place);
    SECTION("the right one") {
        fs::copy(kFixtures / "libsymbols.linked.debug", place / (id.substr(2) + ".debug"));
        const ObjectFile object = open(kFixtures / "libsymbols.bare.so", root.path());
        CHECK(object.symbol_source() == SymbolSource::debug_file);
        CHECK(knows_twins(object));
    }
    SECTION("another program's is not taken") {
        fs::copy(kFixtures / "lines", place / (id.substr(2) + ".debug"));
        CHECK(open(kFixtures / "libsymbols.bare.so", root.path()).symbol_source() ==
              SymbolSource::exported_only);
    }
}

TEST_CASE("what debuginfod has fetched before is found by the build-id") {
    const std::string id = open(kFixtures / "libsymbols.bare.so").build_id();
    const TemporaryDirectory cache;
    REQUIRE(setenv("DEBUGINFOD_CACHE_PATH", cache.path().c_str(), 1) == 0);
    fs::create_directories(cache.path() / id);
    SECTION("the right one") {
        fs::copy(kFixtures / "libsymbols.linked.debug", cache.path() / id / "debuginfo");
        CHECK(knows_twins(open(kFixtures / "libsymbols.bare.so")));
    }
    SECTION("in the cache of the user") {
        REQUIRE(unsetenv("DEBUGINFOD_CACHE_PATH") == 0);
        REQUIRE(setenv("XDG_CACHE_HOME", cache.path().c_str(), 1) == 0);
        fs::create_directories(cache.path() / "debuginfod_client" / id);
        fs::copy(kFixtures / "libsymbols.linked.debug",
                 cache.path() / "debuginfod_client" / id / "debuginfo");
        CHECK(knows_twins(open(kFixtures / "libsymbols.bare.so")));
        unsetenv("XDG_CACHE_HOME");
    }
    SECTION("an empty file says that the server has none") {
        std::ofstream{cache.path() / id / "debuginfo"}.flush();
        CHECK(open(kFixtures / "libsymbols.bare.so").symbol_source() == SymbolSource::exported_only);
    }
    unsetenv("DEBUGINFOD_CACHE_PATH");
}

TEST_CASE("without build-ids the checksum of .gnu_debuglink decides") {
    const TemporaryDirectory directory;
    fs::copy(kFixtures / "libnoid.linked.so", directory.path());
    fs::copy(kFixtures / "libnoid.linked.debug", directory.path());
    CHECK(knows_twins(open(directory.path() / "libnoid.linked.so")));
    {
        std::ofstream file{directory.path() / "libnoid.linked.debug", std::ios::app | std::ios::binary};
        file << 'x';
    }
    CHECK(open(directory.path() / "libnoid.linked.so").symbol_source() == SymbolSource::exported_only);
}

TEST_CASE(".gnu_debugdata holds a table of its own") {
    const ObjectFile object = open(kFixtures / "libsymbols.mini.so");
    CHECK(object.symbol_source() == SymbolSource::mini_debug);
    CHECK(knows_twins(object));
}

TEST_CASE("damaged .gnu_debugdata is passed over") {
    std::ifstream file{kFixtures / "libsymbols.mini.so", std::ios::binary};
    std::vector<char> bytes{std::istreambuf_iterator<char>{file}, {}};
    const std::string magic{
        "\xfd"
        "7zXZ",
        5};
    const auto at = std::search(bytes.begin(), bytes.end(), magic.begin(), magic.end());
    REQUIRE(at != bytes.end());
    for (int offset = 40; offset < 60; ++offset)
        *(at + offset) = 'x';
    const auto object = ObjectFile::from_bytes(std::move(bytes), "damaged");
    REQUIRE(object.has_value());
    CHECK(object->symbol_source() == SymbolSource::exported_only);
}

TEST_CASE("libc's internal names come from its debug file") {
    const fs::path libc = "/lib/x86_64-linux-gnu/libc.so.6";
    auto object = ObjectFile::open(libc.string());
    if (!object || object->debug_image() == nullptr) {
        WARN("skipped: libc6-dbg is not installed");
        return;
    }
    CHECK(object->named("__lll_lock_wait").size() == 1);
    CHECK_FALSE(object->named("__GI___pthread_mutex_unlock_usercnt").empty());
    CHECK_FALSE(object->named("pthread_mutex_lock").empty());
}
