#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/object/fixtures.h"
#include "wrappers/object/object_file.h"

namespace {

using rdam::ObjectFile;
using rdam::Symbol;
using rdam::SymbolKind;
using rdam::SymbolSource;
using rdam::test::fixture;
using rdam::test::kFixtures;

ObjectFile open_fixture(const std::string& file) {
    auto object = ObjectFile::open(fixture(file), "/nonexistent");
    REQUIRE(object.has_value());
    return std::move(*object);
}

std::vector<Symbol> all_named(const ObjectFile& object, std::string_view name) {
    std::vector<Symbol> symbols;
    for (const std::uint32_t index : object.named(name))
        symbols.push_back(object.symbols()[index]);
    return symbols;
}

}  // namespace

TEST_CASE("symbols carry their kind, binding and size") {
    const ObjectFile object = open_fixture("libsymbols.so");
    CHECK(object.symbol_source() == SymbolSource::own_table);
    CHECK(object.soname() == "libsymbols.so.1");
    CHECK(object.build_id().size() == 40);
    REQUIRE(all_named(object, "counter").size() == 1);
    CHECK(all_named(object, "counter")[0].kind == SymbolKind::data);
    CHECK_FALSE(all_named(object, "counter")[0].is_code());
    REQUIRE(all_named(object, "chosen").size() == 1);
    CHECK(all_named(object, "chosen")[0].kind == SymbolKind::ifunc);
    REQUIRE(all_named(object, "first_name").size() == 1);
    const Symbol first = all_named(object, "first_name")[0];
    CHECK(first.exported);
    CHECK(first.size > 0);
    CHECK(object.at(first.address).size() == 2);
    CHECK(all_named(object, "no_such_name").empty());
}

TEST_CASE("local symbols know their source file") {
    const ObjectFile object = open_fixture("libsymbols.so");
    const auto twins = all_named(object, "twin");
    REQUIRE(twins.size() == 2);
    CHECK(twins[0].address != twins[1].address);
    std::vector<std::string_view> files{twins[0].source_file, twins[1].source_file};
    std::sort(files.begin(), files.end());
    CHECK(files == std::vector<std::string_view>{"symbols_a.c", "symbols_b.c"});
}

TEST_CASE("versions are told apart, in the exported table too") {
    for (const char* file : {"libsymbols.so", "libsymbols.bare.so"}) {
        INFO(file);
        const ObjectFile object = open_fixture(file);
        auto versions = all_named(object, "versioned");
        std::erase_if(versions, [](const Symbol& symbol) { return symbol.version.empty(); });
        REQUIRE(versions.size() == 2);
        const auto& old = versions[0].version == "LIB_1.0" ? versions[0] : versions[1];
        const auto& recent = versions[0].version == "LIB_1.0" ? versions[1] : versions[0];
        CHECK(recent.version == "LIB_2.0");
        CHECK(recent.default_version);
        CHECK_FALSE(old.default_version);
        CHECK(old.address != recent.address);
        const auto retired = all_named(object, "retired");
        REQUIRE(retired.size() == 1);
        CHECK_FALSE(retired[0].default_version);
    }
}

TEST_CASE("an address leads to the symbol that covers it") {
    const ObjectFile object = open_fixture("libsymbols.so");
    const Symbol function = all_named(object, "calls_twin_b")[0];
    REQUIRE(object.covering(function.address + function.size - 1) != nullptr);
    CHECK(object.covering(function.address + function.size - 1)->name == "calls_twin_b");
    CHECK(object.covering(0) == nullptr);
    CHECK(object.covering(all_named(object, "counter")[0].address) == nullptr);
    REQUIRE(object.next_code(all_named(object, "too_short")[0].address) != nullptr);
    CHECK(object.next_code(all_named(object, "too_short")[0].address)->name == "behind_too_short");
}

TEST_CASE("the extent of a function without a size comes from its frame description") {
    const ObjectFile object = open_fixture("libsymbols.so");
    const Symbol function = all_named(object, "without_size")[0];
    REQUIRE(function.size == 0);
    CHECK(function.kind == SymbolKind::label);
    const auto extent = object.extent(function.address);
    REQUIRE(extent.has_value());
    CHECK(extent->size() == 10);
    CHECK(object.code(function.address, 4).size() == 4);
    CHECK(object.code(function.address, 1)[0] == 0x53);
}

TEST_CASE("frame descriptions give functions that have lost their names") {
    const ObjectFile whole = open_fixture("libsymbols.so");
    const ObjectFile bare = open_fixture("libsymbols.bare.so");
    CHECK(bare.symbol_source() == SymbolSource::exported_only);
    CHECK(all_named(bare, "twin").empty());
    const Symbol twin = all_named(whole, "twin")[0];
    const auto extent = bare.extent(twin.address);
    REQUIRE(extent.has_value());
    CHECK(extent->size() == twin.size);
}

TEST_CASE("imports are what the object calls elsewhere") {
    const ObjectFile object = open_fixture("libsymbols.so");
    CHECK(std::binary_search(object.imports().begin(), object.imports().end(), "getenv"));
    CHECK_FALSE(std::binary_search(object.imports().begin(), object.imports().end(), "first_name"));
}

TEST_CASE("what is not an object says so") {
    const auto missing = ObjectFile::open(fixture("no-such-file"));
    REQUIRE_FALSE(missing.has_value());
    CHECK(missing.error().message.find("no-such-file: cannot be opened: No such file") != std::string::npos);
    const auto directory = ObjectFile::open(kFixtures.string());
    REQUIRE_FALSE(directory.has_value());
    CHECK(directory.error().message.find("is not a regular file") != std::string::npos);
    const auto text = ObjectFile::from_bytes({'h', 'e', 'l', 'l', 'o'}, "greeting");
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().message == "greeting: is not an ELF file");
}
