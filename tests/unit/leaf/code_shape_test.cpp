// What code looks like, byte by byte.
#include "wrappers/hot/code_shape.h"

#include <initializer_list>
#include <vector>

#include "tests/unit/catch.h"

namespace {

rdam::CodeShape shape(std::initializer_list<std::uint8_t> body) {
    const std::vector<std::uint8_t> bytes(body);
    return rdam::shape_of_code(bytes);
}

}  // namespace

TEST_CASE("a way back is a loop, a way around is none") {
    // xor eax,eax; inc eax; jmp +2; int3; int3; ret
    CHECK_FALSE(shape({0x31, 0xc0, 0xff, 0xc0, 0xeb, 0x02, 0xcc, 0xcc, 0xc3}).loops());
    // jmp +3; inc eax; ret; jmp -5: backwards, and never again
    const auto back = shape({0xeb, 0x03, 0xff, 0xc0, 0xc3, 0xeb, 0xfb});
    CHECK(back.followed);
    CHECK_FALSE(back.loops());
    // xor eax,eax; inc eax; cmp eax,edi; jne -6; ret
    const auto loop = shape({0x31, 0xc0, 0xff, 0xc0, 0x39, 0xf8, 0x75, 0xfa, 0xc3});
    CHECK(loop.loops());
    CHECK(loop.in_loop == std::vector<bool>{false, false, true, false, true, false, true, false, false});
    CHECK_FALSE(loop.polls);
}

TEST_CASE("two loops, one behind the other, leave what is between them outside") {
    // dec eax; jne -4; nop; dec ecx; jne -4; ret
    const auto two = shape({0xff, 0xc8, 0x75, 0xfc, 0x90, 0xff, 0xc9, 0x75, 0xfc, 0xc3});
    CHECK(two.in_loop == std::vector<bool>{true, false, true, false, false, true, false, true, false, false});
}

TEST_CASE("one of two loops may poll") {
    // dec eax; jne -4; cmp dword [rdi],0; je -5; ret
    CHECK(shape({0xff, 0xc8, 0x75, 0xfc, 0x83, 0x3f, 0x00, 0x74, 0xfb, 0xc3}).polls);
    // dec eax; cmp dword [rdi],0; je -7; ret: it counts
    CHECK_FALSE(shape({0xff, 0xc8, 0x83, 0x3f, 0x00, 0x74, 0xf9, 0xc3}).polls);
    // mov rax,[rax]; test rax,rax; jne -8; ret: another place every time
    CHECK_FALSE(shape({0x48, 0x8b, 0x00, 0x48, 0x85, 0xc0, 0x75, 0xf8, 0xc3}).polls);
    // mov eax,[rdi]; and eax,4; je -7; ret
    CHECK(shape({0x8b, 0x07, 0x83, 0xe0, 0x04, 0x74, 0xf9, 0xc3}).polls);
}

TEST_CASE("what cannot be followed to its end is not followed") {
    CHECK_FALSE(shape({}).followed);
    CHECK_FALSE(shape({0x90}).followed);              // goes on behind its end
    CHECK_FALSE(shape({0x06, 0xc3}).followed);        // no instruction
    CHECK_FALSE(shape({0x48, 0x8b}).followed);        // cut off
    CHECK_FALSE(shape({0x74, 0x01, 0x06}).followed);  // one of two ways
    CHECK(shape({0xc3, 0x06}).followed);              // nobody gets there
}

TEST_CASE("calls, jumps out of it and jumps to nobody knows where") {
    CHECK(shape({0xe8, 0, 0, 0, 0, 0xc3}).calls);
    CHECK(shape({0xff, 0xd0, 0xc3}).calls);
    CHECK(shape({0xff, 0xe0}).jumps_anywhere);
    CHECK_FALSE(shape({0x74, 0x01, 0xc3, 0xe8, 0, 0, 0, 0}).calls);  // does not come back
    const auto out = shape({0x74, 0x7f, 0xe9, 0xf0, 0xff, 0xff, 0xff});
    CHECK_FALSE(out.calls);
    CHECK(out.exits == std::vector<std::uint64_t>{0x81, static_cast<std::uint64_t>(-9)});
}

TEST_CASE("what locks are made of") {
    CHECK(shape({0xf0, 0xff, 0x07, 0xc3}).synchronizes);  // lock inc [rdi]
    CHECK(shape({0x87, 0x07, 0xc3}).synchronizes);        // xchg [rdi],eax
    CHECK_FALSE(shape({0x87, 0xc8, 0xc3}).synchronizes);  // xchg eax,ecx
    CHECK_FALSE(shape({0x66, 0x90, 0xc3}).synchronizes);  // xchg ax,ax
    CHECK(shape({0xf3, 0x90, 0xc3}).synchronizes);        // pause
    CHECK_FALSE(shape({0xf3, 0x90, 0xc3}).synchronizes_in_loop);
    CHECK(shape({0xf3, 0x90, 0x75, 0xfc, 0xc3}).synchronizes_in_loop);  // pause; jnz back to it; ret
    CHECK_FALSE(shape({0xf3, 0x90, 0xff, 0xc8, 0x75, 0xfc, 0xc3}).synchronizes_in_loop);  // … behind it
    CHECK(shape({0x0f, 0xae, 0xf0, 0xc3}).synchronizes);                                  // mfence
    CHECK_FALSE(shape({0x0f, 0xae, 0xf8, 0xc3}).synchronizes);  // sfence: of copies past the cache
    CHECK(shape({0x0f, 0x05, 0xc3}).enters_kernel);
    CHECK(shape({0xcd, 0x80, 0xc3}).enters_kernel);
}

TEST_CASE("the shortest way to a return is that of the call that does least") {
    CHECK(shape({0xc3}).shortest == 1);
    // test edi,edi; je +4; nop; nop; jmp +0; ret
    CHECK(shape({0x85, 0xff, 0x74, 0x04, 0x90, 0x90, 0xeb, 0x00, 0xc3}).shortest == 3);
    // xor eax,eax; inc eax; cmp eax,edi; jne -6; ret
    CHECK(shape({0x31, 0xc0, 0xff, 0xc0, 0x39, 0xf8, 0x75, 0xfa, 0xc3}).shortest == 5);
    CHECK(shape({0xeb, 0xfe}).shortest == 0);  // never
    CHECK(shape({0x74, 0x7f, 0x0f, 0x0b}).shortest == 0);
}

TEST_CASE("a repeated instruction is a loop of its own") {
    const auto copy = shape({0xf3, 0xa4, 0xc3});
    CHECK(copy.in_loop == std::vector<bool>{true, false, false});
    CHECK_FALSE(copy.polls);
    CHECK_FALSE(shape({0xf3, 0xc3}).loops());  // rep ret
}
