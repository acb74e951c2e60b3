// Stack bytes and registers, checked against real calls: the arguments must arrive when exactly that many
// bytes are copied, as the recorder's frame copies them, and must not when one word is left out.
#include "wrappers/prototype/prototype.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "tests/unit/catch.h"
#include "tests/unit/object/fixtures/abi_cases.h"
#include "wrappers/object/object_file.h"
#include "wrappers/prototype/dwarf_prototype.h"

extern "C" {
// Read by the assembly below.
std::uint64_t rdam_test_stack_bytes = 0;
void* rdam_test_target = nullptr;
void rdam_test_copying_frame();
}

// A frame like the recorder's: copies rdam_test_stack_bytes of stack arguments and calls rdam_test_target.
// What lies behind the copied words is filled with what no argument has.
asm(R"(
    .text
    .type rdam_test_copying_frame, @function
rdam_test_copying_frame:
    push %rbp
    mov %rsp, %rbp
    pushq $0x5a5a5a5a
    pushq $0x5a5a5a5a
    mov rdam_test_stack_bytes(%rip), %r10
    lea 15(%r10), %r11
    and $-16, %r11
    sub %r11, %rsp
    cmp %r10, %r11
    je 1f
    movq $0x5a5a5a5a, (%rsp,%r10)
1:  test %r10, %r10
    jz 2f
    mov 8(%rbp,%r10), %r11
    mov %r11, -8(%rsp,%r10)
    sub $8, %r10
    jmp 1b
2:  call *rdam_test_target(%rip)
    leave
    ret
    .size rdam_test_copying_frame, .-rdam_test_copying_frame
)");

namespace {

using rdam::ArgumentAllocator;
using rdam::Prototype;
using rdam::PrototypeResult;

std::uint64_t stack_bytes_of(const Prototype& prototype) {
    ArgumentAllocator allocator;
    rdam::PassedAs pointer;
    pointer.integer_registers = 1;
    if (prototype.result.where == PrototypeResult::Where::hidden_pointer) allocator.place(pointer);
    for (const auto& parameter : prototype.parameters)
        allocator.place(parameter.passed);
    return allocator.stack_bytes();
}

bool arrives_with(const AbiCase& abi_case, std::uint64_t bytes) {
    rdam_test_stack_bytes = bytes;
    rdam_test_target = abi_case.function;
    return abi_case.arrives(reinterpret_cast<void*>(&rdam_test_copying_frame));
}

struct Module {
    explicit Module(const std::string& path) : handle{dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)} {
        INFO(path);
        REQUIRE(handle != nullptr);
        link_map* map = nullptr;
        REQUIRE(dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0);
        base = map->l_addr;
        auto list = reinterpret_cast<decltype(&abi_cases)>(dlsym(handle, "abi_cases"));
        REQUIRE(list != nullptr);
        cases = list(&count);
    }
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;
    ~Module() { dlclose(handle); }

    void* handle;
    std::uint64_t base = 0;
    const AbiCase* cases = nullptr;
    std::size_t count = 0;
};

// What the table of the psABI gives by hand, for a few; the others are held by the calls alone.
const std::map<std::string, std::uint64_t> kByHand{{"no_arguments", 0},
                                                   {"six_ints", 0},
                                                   {"seven_ints", 8},
                                                   {"small_on_stack", 24},
                                                   {"ten_doubles", 16},
                                                   {"large_by_value", 24},
                                                   {"long_doubles", 32},
                                                   {"long_double_aligned", 32},
                                                   {"pair_does_not_fit", 16},
                                                   {"int128", 16},
                                                   {"mixed_without_vectors", 16},
                                                   {"complexes", 32},
                                                   {"returns_large", 8},
                                                   {"returns_pair", 0},
                                                   {"returns_long_double", 0},
                                                   {"returns_complex", 0},
                                                   {"returns_string", 8},
                                                   {"aligned16", 32},
                                                   {"with_copy", 8}};

/// `doubtful` are the functions whose layout must be left open, all others must be certain and right.
void check_module(const std::string& file, const std::set<std::string>& doubtful = {}) {
    const std::string path = std::string{FIXTURE_DIR} + "/" + file;
    const Module module{path};
    auto object = rdam::ObjectFile::open(path);
    REQUIRE(object.has_value());
    auto dwarf = rdam::DwarfFile::open(*object);
    REQUIRE(dwarf.has_value());
    REQUIRE(module.count > 30);
    for (std::size_t index = 0; index < module.count; ++index) {
        const AbiCase& abi_case = module.cases[index];
        INFO(file << ": " << abi_case.name);
        const auto address = reinterpret_cast<std::uint64_t>(abi_case.function) - module.base;
        const auto described = rdam::describe_function(*dwarf, address, abi_case.name);
        REQUIRE(described.has_value());
        CHECK(described->prototype.doubt.empty() != doubtful.contains(abi_case.name));
        if (!described->prototype.doubt.empty()) continue;
        const std::uint64_t bytes = stack_bytes_of(described->prototype);
        if (const auto known = kByHand.find(abi_case.name); known != kByHand.end())
            CHECK(bytes == known->second);
        CHECK(abi_case.arrives(abi_case.function));
        CHECK(arrives_with(abi_case, bytes));
        if (bytes > 0) CHECK_FALSE(arrives_with(abi_case, bytes - 8));
    }
}

}  // namespace

TEST_CASE("stack bytes of gcc's unoptimised code are exact") {
    check_module("libabi_gcc_O0.so");
}
TEST_CASE("stack bytes of gcc's optimised code are exact") {
    check_module("libabi_gcc_O2.so");
}
TEST_CASE("DWARF 4 serves as well where it tells enough") {
    const std::string path = std::string{FIXTURE_DIR} + "/libabi_gcc_dwarf4.so";
    const Module module{path};
    const auto object = rdam::ObjectFile::open(path);
    REQUIRE(object.has_value());
    auto dwarf = rdam::DwarfFile::open(*object);
    REQUIRE(dwarf.has_value());
    std::size_t certain = 0;
    for (std::size_t index = 0; index < module.count; ++index) {
        const AbiCase& abi_case = module.cases[index];
        INFO(abi_case.name);
        const auto address = reinterpret_cast<std::uint64_t>(abi_case.function) - module.base;
        const auto described = rdam::describe_function(*dwarf, address, abi_case.name);
        REQUIRE(described.has_value());
        if (!described->prototype.doubt.empty()) continue;
        ++certain;
        CHECK(arrives_with(abi_case, stack_bytes_of(described->prototype)));
    }
    CHECK(certain >= 20);
}
#ifdef HAVE_CLANG
// It splits __int128 between a register and the stack, does not name the part type of complex numbers, and
// takes functions of types without linkage for local ones.
const std::set<std::string> kDoubtfulInClang{"int128", "complexes", "returns_complex",
                                             "_Z11polymorphic7Virtuali"};
TEST_CASE("stack bytes of clang's unoptimised code are exact") {
    check_module("libabi_clang_O0.so", kDoubtfulInClang);
}
TEST_CASE("stack bytes of clang's optimised code are exact") {
    check_module("libabi_clang_O2.so", kDoubtfulInClang);
}
#else
TEST_CASE("stack bytes of clang's code") {
    WARN("skipped: clang++ is not installed");
}
#endif
