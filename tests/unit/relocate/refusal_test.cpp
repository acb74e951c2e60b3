// What cannot be moved safely is refused, in words that say why.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/relocate/correspondence.h"
#include "wrappers/entry/relocate.h"

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint64_t kAddress = 0x4000;
constexpr std::uint8_t kNop = 0x90;
constexpr std::uint8_t kRet = 0xC3;

std::string reason(const Bytes& body, std::uint32_t padding = 0,
                   const std::vector<std::uint64_t>& entries = {}) {
    const auto moved = rdam::move_prologue(body, kAddress, padding, entries);
    if (!moved) return moved.error().message;
    const std::string problem = rdam::test::difference(body, kAddress, *moved);
    return problem.empty() ? "moved" : "moved wrongly: " + problem;
}

/// `head`, then nops, then at offset 100 a jmp rel32 to `target`, then ret.
Bytes with_late_jump(Bytes head, std::uint32_t target) {
    head.resize(100, kNop);
    const std::uint32_t relative = target - 105;
    head.push_back(0xE9);
    for (unsigned shift = 0; shift < 32; shift += 8)
        head.push_back(static_cast<std::uint8_t>(relative >> shift));
    head.push_back(kRet);
    return head;
}

}  // namespace

TEST_CASE("functions that the patch does not fit into are refused") {
    CHECK(reason({}) == "has no code in the file");
    CHECK(reason({kRet}, 3) == "shorter than the patch (4 of 5 bytes), without padding behind it");
    CHECK(reason({kRet}, 4) == "moved");
    CHECK(reason({kNop}, 15) == "shorter than the patch, and continues into the padding behind it");
    CHECK(reason({0xFF, 0xD0}, 15) == "shorter than the patch, and continues into the padding behind it");
}

TEST_CASE("what is no instruction is refused") {
    CHECK(reason({kNop, 0x06, kNop, kNop, kNop, kRet}) == "undecodable instruction at +1");
    CHECK(reason({kNop, kNop, 0x48, 0x8B}, 8) == "its end cuts the instruction at +2 in two");
    CHECK(reason({kNop, kNop, kNop, kNop, kNop, 0x06}) == "moved");
}

TEST_CASE("a branch into the overwritten bytes is refused, one behind them is not") {
    const Bytes five_nops(5, kNop);
    CHECK(reason(with_late_jump(five_nops, 0)) == "loops back to its first instruction (from +100)");
    for (std::uint32_t target = 1; target < 5; ++target)
        CHECK(reason(with_late_jump(five_nops, target)) ==
              fmt::format("jumps back into its first 5 bytes at +{} (from +100)", target));
    CHECK(reason(with_late_jump(five_nops, 5)) == "moved");
}

TEST_CASE("a branch into the middle of the last moved instruction is refused") {
    const Bytes long_last{kNop, 0x48, 0xB8, 1, 2, 3, 4, 5, 6, 7, 8};
    CHECK(reason(with_late_jump(long_last, 7)) == "jumps back into its first 11 bytes at +7 (from +100)");
    CHECK(reason(with_late_jump(long_last, 11)) == "moved");
    CHECK(reason({0xEB, 0x02, 0x48, 0xB8, kNop, kNop, kNop, kNop, kNop, kNop, kNop, kRet, kRet}) ==
          "jumps into the middle of its instruction before +12 (from +0)");
}

TEST_CASE("a branch that a linear sweep takes for data is found") {
    // A jmp over the first half of a movabs whose second half is a jump to +2, too far away to be moved
    // along.
    Bytes far(5, kNop);
    far.resize(80, kNop);
    const Bytes tail{0xEB, 0x02, 0x48, 0xB8, 0xEB, 0xAC, kRet, kRet, kRet, kRet, kRet, kRet, kRet};
    far.insert(far.end(), tail.begin(), tail.end());
    CHECK(reason(far) == "jumps back into its first 5 bytes at +2 (from +84)");
}

TEST_CASE("a short loop to the entry is moved as a whole, unless something gets into it") {
    // addq $1,(%rdi); nop; dec %esi; jnz to the entry; ret
    const Bytes loop{0x48, 0x83, 0x07, 0x01, kNop, 0xFF, 0xCE, 0x75, 0xF7, kRet};
    CHECK(reason(loop) == "moved");
    CHECK(rdam::move_prologue(loop, kAddress, 0)->original.size() == 9);
    CHECK(reason(loop, 0, {kAddress + 5}) == "loops back to its first instruction (from +7)");
    CHECK(reason(with_late_jump(loop, 5)) == "loops back to its first instruction (from +7)");
    Bytes with_call = loop;
    with_call[5] = 0xFF;  // call *%rax: what it returns to would jump to the patch
    with_call[6] = 0xD0;
    CHECK(reason(with_call) == "loops back to its first instruction (from +7)");
}

TEST_CASE("calls that would come back into the overwritten bytes are refused") {
    CHECK(reason({0xFF, 0xD0, kNop, kNop, kNop, kRet}) == "its call at +0 returns into its first 5 bytes");
    CHECK(reason({kNop, kNop, 0xFF, 0xD0, kNop, kRet}) == "its call at +2 returns into its first 5 bytes");
    CHECK(reason({kNop, kNop, kNop, 0xFF, 0xD0, kRet}) == "moved");
}

TEST_CASE("uses of its own first bytes are refused, of its entry they are not") {
    CHECK(reason({0xE8, 0xFC, 0xFF, 0xFF, 0xFF, kRet}) ==
          "calls its own code at +1, within its first 5 bytes (from +0)");
    CHECK(reason({0xE8, 0xFB, 0xFF, 0xFF, 0xFF, kRet}) == "moved");
    const Bytes lea_plus_2{kNop, kNop, kNop, kNop, kNop, 0x48, 0x8D, 0x05, 0xF6, 0xFF, 0xFF, 0xFF, kRet};
    CHECK(reason(lea_plus_2) == "uses the address of its own code at +2, within its first 5 bytes (from +5)");
    Bytes lea_entry = lea_plus_2;
    lea_entry[8] = 0xF4;
    CHECK(reason(lea_entry) == "moved");
}

TEST_CASE("entries from elsewhere count where they fall into the moved bytes") {
    const Bytes body{kNop, kNop, 0x48, 0x89, 0xF8, kRet, kRet};
    CHECK(reason(body, 0, {kAddress + 3}) == "is entered from elsewhere at +3, within its first 5 bytes");
    CHECK(reason(body, 0, {kAddress, kAddress + 5, kAddress - 1, 0, kAddress + 1000}) == "moved");
}

TEST_CASE("instructions that mean something else elsewhere are refused") {
    CHECK(reason({0xCC, kNop, kNop, kNop, kNop, kRet}) == "breakpoint instruction at +0");
    CHECK(reason({kNop, kNop, 0x48, 0xFF, 0x18, kRet}) == "call to another code segment at +2");
    CHECK(reason({0x66, 0xFF, 0xD0, kNop, kNop, kRet}) == "its call at +0 returns into its first 5 bytes");
    CHECK(reason({kNop, kNop, 0x66, 0xFF, 0xD0, kRet}) == "branch with a 16-bit operand size at +2");
    CHECK(reason({0x66, 0x0F, 0x84, 0x10, 0, 0, 0, kRet}) == "branch with a 16-bit operand size at +0");
    CHECK(reason({0x67, 0x48, 0x8D, 0x05, 0, 0, 1, 0, kRet}) == "32-bit address relative to itself at +0");
    CHECK(reason({kNop, kNop, kNop, 0xFF, 0xD4, kRet}) == "call to the stack at +3");
    CHECK(reason({kNop, 0x67, 0xFF, 0x14, 0x24, kRet}) == "call through a 32-bit stack address at +1");
}

TEST_CASE("functions of traps and long nops are fine") {
    CHECK(reason({0x0F, 0x0B}, 3) == "moved");
    CHECK(reason({0x0F, 0x1F, 0x05, 0xFF, 0xFF, 0xFF, 0x7F, kRet}) == "moved");
    CHECK(reason({0x0F, 0x05, kRet, kNop, kNop}) == "moved");
}
