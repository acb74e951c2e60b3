// Functions whose parameters must not be derived, and what is told about those that may.
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/object/object_file.h"
#include "wrappers/prototype/dwarf_prototype.h"

namespace {

using rdam::Prototype;
using rdam::ValueKind;

class Fixture {
  public:
    explicit Fixture(const std::string& file) : object_{open(file)}, dwarf_{rdam::DwarfFile::open(object_)} {
        REQUIRE(dwarf_.has_value());
    }

    rdam::FunctionDescription describe(const std::string& name) {
        INFO(name);
        const auto symbols = object_.named(name);
        REQUIRE(!symbols.empty());
        auto described = rdam::describe_function(*dwarf_, object_.symbols()[symbols.front()].address, name);
        REQUIRE(described.has_value());
        return *described;
    }

  private:
    static rdam::ObjectFile open(const std::string& file) {
        auto object = rdam::ObjectFile::open(std::string{FIXTURE_DIR} + "/" + file);
        REQUIRE(object.has_value());
        return std::move(*object);
    }

    rdam::ObjectFile object_;
    std::optional<rdam::DwarfFile> dwarf_;
};

}  // namespace

TEST_CASE("what is not certain is called doubtful") {
    Fixture cpp{"libdoubtful.so"};
    CHECK(cpp.describe("wide_vector").prototype.doubt == "a vector of 32 bytes");
    CHECK(cpp.describe("ambiguous").prototype.doubt.find("Ambiguous") != std::string::npos);
    CHECK(cpp.describe("from_clone.constprop.0").prototype.doubt.find("copy") != std::string::npos);
    CHECK(cpp.describe("pointer_to_declared").prototype.doubt.empty());

    Fixture c{"libdoubtful_c.so"};
    CHECK(c.describe("old_style").prototype.doubt == "a definition without prototype");
    CHECK(c.describe("takes_nothing").prototype.doubt.empty());
}

TEST_CASE("a stack argument aligned to 32 bytes is noticed") {
    Fixture cpp{"libdoubtful.so"};
    const Prototype prototype = cpp.describe("over_aligned").prototype;
    rdam::ArgumentAllocator allocator;
    for (const auto& parameter : prototype.parameters)
        allocator.place(parameter.passed);
    CHECK(allocator.over_aligned());
}

TEST_CASE("variadic functions keep their named parameters") {
    Fixture cpp{"libdoubtful.so"};
    const Prototype prototype = cpp.describe("variadic").prototype;
    CHECK(prototype.variadic);
    REQUIRE(prototype.parameters.size() == 1);
    CHECK(prototype.parameters[0].name == "format");
    CHECK(prototype.parameters[0].type == "const char*");
}

TEST_CASE("kinds, sizes, names and types of parameters") {
    Fixture cpp{"libdoubtful.so"};
    const auto described = cpp.describe("all_kinds");
    CHECK(described.declared_at.substr(0, 13) == "doubtful.cpp:");
    const auto& parameters = described.prototype.parameters;
    REQUIRE(parameters.size() == 7);
    struct Expected {
        std::string name, type;
        ValueKind kind;
        int size;
    };
    const Expected expected[] = {{"a", "signed char", ValueKind::signed_integer, 1},
                                 {"b", "short unsigned int", ValueKind::unsigned_integer, 2},
                                 {"c", "bool", ValueKind::boolean, 1},
                                 {"d", "const char*", ValueKind::pointer, 8},
                                 {"e", "float", ValueKind::floating, 4},
                                 {"f", "double", ValueKind::floating, 8},
                                 {"g", "int[]&", ValueKind::pointer, 8}};
    for (std::size_t index = 0; index < parameters.size(); ++index) {
        INFO(expected[index].name);
        CHECK(parameters[index].name == expected[index].name);
        CHECK(parameters[index].type == expected[index].type);
        REQUIRE(parameters[index].scalar.has_value());
        CHECK(parameters[index].scalar->kind == expected[index].kind);
        CHECK(int{parameters[index].scalar->size} == expected[index].size);
    }
    CHECK(described.prototype.result.where == rdam::PrototypeResult::Where::xmm0);
}
