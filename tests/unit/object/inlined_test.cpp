#include <algorithm>
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/object/inlined_copies.h"
#include "wrappers/object/object_file.h"
#include "wrappers/prototype/dwarf_prototype.h"

TEST_CASE("inlined copies are counted and their containers named") {
    for (const char* file : {"libsymbols.so", "libsymbols.linked.so"}) {
        INFO(file);
        const auto object = rdam::ObjectFile::open(std::string{FIXTURE_DIR} + "/" + file);
        REQUIRE(object.has_value());
        auto dwarf = rdam::DwarfFile::open(*object);
        REQUIRE(dwarf.has_value());
        const auto address = object->symbols()[object->named("inlined_often").front()].address;
        const auto described = rdam::describe_function(*dwarf, address, "inlined_often");
        REQUIRE(described.has_value());
        const rdam::SourceFunction function{"inlined_often", described->declared_at};
        const auto found = rdam::find_inlined_copies(*dwarf, {function, {"calls_twin_a", ""}});
        REQUIRE(found.size() == 1);
        const auto& copies = found.at(function);
        CHECK(copies.count == 3);
        CHECK(copies.complete);
        auto containers = copies.containers;
        std::sort(containers.begin(), containers.end());
        CHECK(containers == std::vector<std::string>{"container_one", "container_two"});

        const auto elsewhere = rdam::find_inlined_copies(*dwarf, {{"inlined_often", "other.c:1"}});
        CHECK(elsewhere.empty());
    }
}

TEST_CASE("parts into which the compiler has split a function are no copies of it") {
    const auto object = rdam::ObjectFile::open(std::string{FIXTURE_DIR} + "/libsymbols.so");
    REQUIRE(object.has_value());
    auto dwarf = rdam::DwarfFile::open(*object);
    REQUIRE(dwarf.has_value());
    const rdam::SourceFunction function{"splits", ""};
    const auto found = rdam::find_inlined_copies(*dwarf, {function});
    REQUIRE(found.size() == 1);
    CHECK(found.at(function).count == 2);
    auto containers = found.at(function).containers;
    std::sort(containers.begin(), containers.end());
    CHECK(containers == std::vector<std::string>{"split_one", "split_two"});
}

TEST_CASE("a function that exists inlined only is found by name") {
    const auto object = rdam::ObjectFile::open(std::string{FIXTURE_DIR} + "/libsymbols.so");
    REQUIRE(object.has_value());
    CHECK(object->named("never_alone").empty());
    auto dwarf = rdam::DwarfFile::open(*object);
    REQUIRE(dwarf.has_value());
    const auto found = rdam::find_inlined_by_name(*dwarf, "never_alone");
    REQUIRE(found.size() == 1);
    CHECK(found.begin()->second.containers == std::vector<std::string>{"container_three"});
    CHECK(rdam::find_inlined_by_name(*dwarf, "no_such_function").empty());
}
