// A stack frame is only for functions that are sure to keep the System V convention.
#include <string>

#include "tests/unit/catch.h"
#include "wrappers/entry/callee_conduct.h"
#include "wrappers/object/object_file.h"

namespace {

const rdam::ObjectFile& file() {
    static const auto kFile = rdam::ObjectFile::open(CONDUCT_FIXTURE);
    REQUIRE(kFile.has_value());
    return *kFile;
}

rdam::CodeRange extent_of(const std::string& name) {
    const auto symbols = file().named(name);
    REQUIRE(symbols.size() == 1);
    return *file().extent(file().symbols()[symbols[0]].address);
}

bool suits(const std::string& name, std::uint64_t stack_bytes = 0) {
    rdam::CalleeConduct conduct{file()};
    INFO(name);
    return conduct.suits_stack_frame(extent_of(name), stack_bytes);
}

rdam::Conduct conduct_of(const std::string& name) {
    rdam::CalleeConduct conduct{file()};
    return conduct.of(extent_of(name));
}

}  // namespace

TEST_CASE("a function that saves the registers it writes suits a stack frame") {
    CHECK(suits("saves_by_push"));
    CHECK(suits("saves_by_store"));
    CHECK(suits("has_a_frame", 8));
    CHECK(suits("jumps_anywhere"));
}

TEST_CASE("a function that spoils its caller's registers does not, nor one that jumps to such a function") {
    CHECK_FALSE(suits("spoils_rbx"));
    CHECK_FALSE(suits("spoils_rbp"));
    CHECK_FALSE(suits("jumps_to_a_spoiler"));
    CHECK_FALSE(conduct_of("jumps_to_a_spoiler").spoils_registers);
    CHECK_FALSE(suits("jumps_beside_a_spoiler"));
}

TEST_CASE("what the caller passes on the stack is told by the code that reads it") {
    CHECK(conduct_of("has_a_frame").stack_bytes == 8);
    CHECK_FALSE(suits("has_a_frame"));
    CHECK(conduct_of("reads_two_words").stack_bytes == 16);
    CHECK_FALSE(suits("reads_two_words", 8));
    CHECK(suits("reads_two_words", 16));
    CHECK_FALSE(suits("pops_an_argument", 8));
}
