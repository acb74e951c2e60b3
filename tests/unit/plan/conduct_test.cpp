// A stack frame is only for functions that are sure to keep the System V convention.
#include <cstdint>
#include <string>
#include <vector>

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

TEST_CASE("a function takes flags if it looks at one before it sets it") {
    const auto takes = [](const std::vector<std::uint8_t>& code) { return rdam::takes_flags(code); };
    CHECK(takes({0x0f, 0x92, 0xc0, 0xc3}));                    // setc %al; ret
    CHECK(takes({0x90, 0x49, 0x83, 0xd6, 0x03, 0xc3}));        // nop; adc $3, %r14; ret
    CHECK(takes({0x48, 0xff, 0xc0, 0x72, 0xfb, 0xc3}));        // inc %rax, which leaves the carry; jc; ret
    CHECK(takes({0xeb, 0x01, 0x90, 0x74, 0xfe}));              // jmp to jz
    CHECK(takes({0x9c, 0x58, 0xc3}));                          // pushf; pop %rax; ret
    CHECK(takes({0x0f}));                                      // cut off
    CHECK_FALSE(takes({0x48, 0x85, 0xff, 0x74, 0xfe, 0xc3}));  // test %rdi, %rdi; jz; ret
    CHECK_FALSE(takes({0x48, 0x0f, 0xba, 0xe7, 0x00, 0xc3}));  // bt $0, %rdi; ret
    CHECK_FALSE(takes({0x55, 0x48, 0x89, 0xe5, 0x5d, 0xc3}));  // push %rbp; mov; pop %rbp; ret
    CHECK_FALSE(takes({0xff, 0xe0}));                          // jmp *%rax
    CHECK_FALSE(takes({0xe8, 0, 0, 0, 0, 0x72, 0xfe}));        // call; jc
    CHECK_FALSE(takes({0xe9, 0x00, 0x10, 0x00, 0x00}));        // jmp to another function
}
