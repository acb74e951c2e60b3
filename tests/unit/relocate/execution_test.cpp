// Runs each case of cases.S as it is and patched: the same result, and one count for each call.
#include <array>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/unit/catch.h"
#include "tests/unit/relocate/correspondence.h"
#include "tests/unit/relocate/patch.h"

namespace {

struct AsmCase {
    const char* name;
    const char* needs;
    const std::uint8_t* function;
    std::uint64_t size;
    std::uint64_t padding;
};

}  // namespace

extern "C" {
extern const AsmCase kRelocateCases[];
extern const AsmCase kRelocateCasesEnd[];
std::uint64_t return_address_plus();
void call_that_throws();
extern const std::uint64_t kCallThatThrowsSize;
[[noreturn]] void throw_for_relocate();
}

void throw_for_relocate() {
    throw std::runtime_error("through the moved call");
}

namespace {

using rdam::test::Patch;
using Memory = std::array<std::uint64_t, 4>;
using Function = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t*, std::uint64_t);

bool processor_has(std::string_view feature) {
    if (feature == "avx") return __builtin_cpu_supports("avx") != 0;
    if (feature == "avx512f") return __builtin_cpu_supports("avx512f") != 0;
    // The compiler's list of features has no transactional memory: CPUID leaf 7, EBX bit 11.
    if (feature == "rtm") {
        std::uint32_t eax = 7;
        std::uint32_t ebx = 0;
        std::uint32_t ecx = 0;
        std::uint32_t edx = 0;
        asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
        return (ebx >> 11 & 1) != 0;
    }
    return feature.empty();
}

struct Outcome {
    std::uint64_t result = 0;
    Memory memory{};
};

struct Arguments {
    std::uint64_t a, b, d;
};

constexpr std::array<Arguments, 8> kArguments{{{0, 0, 0},
                                               {1, 0, 1},
                                               {5, 9, 2},
                                               {9, 5, 0x1'0000'0000},
                                               {0, 3, 1},
                                               {40, 1, 0},
                                               {0x80000000, 0x7fffffff, 7},
                                               {100, ~std::uint64_t{0}, 3}}};

Outcome run(const AsmCase& which, const Arguments& arguments) {
    // A result register that a case leaves alone is the same in both runs.
    Memory memory{reinterpret_cast<std::uint64_t>(&return_address_plus), 0, 0, 0};
    std::uint64_t result = 0xABCD;
    std::uint64_t a = arguments.a;
    std::uint64_t b = arguments.b;
    std::uint64_t d = arguments.d;
    std::uint64_t* m = memory.data();
    asm volatile("sub $136, %%rsp\n\tcall *%[function]\n\tadd $136, %%rsp"
                 : "+a"(result), "+D"(a), "+S"(b), "+d"(m), "+c"(d)
                 : [function] "r"(which.function)
                 : "r8", "r9", "r10", "r11", "memory", "cc", "xmm0");
    return {result, memory};
}

/// Cases that call themselves count how often in memory[1].
std::uint64_t expected_calls(const AsmCase& which, const Outcome& outcome) {
    const std::string_view name = which.name;
    if (name == "recursion_in_the_moved_bytes") return outcome.memory[1];
    return name == "recursion_at_once" ? (outcome.memory[1] + 1) / 2 : 1;
}

void check_case(const AsmCase& which) {
    INFO("case " << which.name);
    const std::span body(which.function, which.size);
    const auto moved = rdam::move_prologue(body, 0x1000, static_cast<std::uint32_t>(which.padding));
    if (!moved) FAIL(moved.error().message);
    const std::string problem = rdam::test::difference(body, 0x1000, *moved);
    INFO(problem);
    CHECK(problem.empty());
    if (!processor_has(which.needs)) {
        WARN("case " << which.name << " is not run: this processor has no " << which.needs);
        return;
    }
    for (const Arguments& arguments : kArguments) {
        const Outcome expected = run(which, arguments);
        const Patch patch(which.function, which.size, static_cast<std::uint32_t>(which.padding));
        INFO(patch.problem());
        REQUIRE(patch.problem().empty());
        const Outcome outcome = run(which, arguments);
        CHECK(outcome.result == expected.result);
        CHECK(outcome.memory == expected.memory);
        CHECK(patch.calls() == expected_calls(which, expected));
    }
}

}  // namespace

TEST_CASE("a patched function does what it did, and each call is counted once") {
    REQUIRE(kRelocateCasesEnd - kRelocateCases > 50);
    for (const AsmCase* which = kRelocateCases; which != kRelocateCasesEnd; ++which)
        check_case(*which);
}

TEST_CASE("an exception passes a call that was moved") {
    const auto* function = reinterpret_cast<const std::uint8_t*>(&call_that_throws);
    const Patch patch(function, kCallThatThrowsSize, 0);
    REQUIRE(patch.problem().empty());
    CHECK_THROWS_WITH(call_that_throws(), "through the moved call");
    CHECK(patch.calls() == 1);
}
