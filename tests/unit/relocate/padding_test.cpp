// Entries without room for the patch: the jump stands in the padding before, and a short one leads back to
// it.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/relocate/patch.h"
#include "wrappers/entry/entry_points.h"
#include "wrappers/entry/relocate.h"

namespace {

using Bytes = std::vector<std::uint8_t>;
using Entries = std::vector<std::uint64_t>;

struct Place {
    const std::uint8_t* entry;
    std::uint64_t size;
    const std::uint8_t* padding;
};

}  // namespace

extern "C" {
std::uint64_t sum(std::uint64_t, std::uint64_t);
std::uint64_t sum_and_one(std::uint64_t, std::uint64_t);
std::uint64_t checked_sum(std::uint64_t, std::uint64_t);
std::uint64_t two_bytes(std::uint64_t);
std::uint64_t two_bytes_running_on(std::uint64_t);
std::uint64_t two_bytes_calling(std::uint64_t (*)());
std::uint64_t three_bytes(std::uint64_t);
std::uint64_t four_bytes(std::uint64_t);
std::uint64_t long_loop(std::uint64_t);
std::uint64_t return_forty();
extern const Place kSum;
extern const Place kTwoBytes;
extern const Place kTwoBytesRunningOn;
extern const Place kTwoBytesCalling;
extern const Place kThreeBytes;
extern const Place kFourBytes;
extern const Place kLongLoop;
}

namespace {

using rdam::room_for_jump;
using rdam::test::Patch;

Patch patched(const Place& place, const Entries& entries = {}) {
    return Patch(place.entry, place.size, 0, static_cast<std::size_t>(place.entry - place.padding), entries);
}

/// `function` of one argument does what it did, and each call of it is counted.
void check(const Place& place, std::uint64_t (*function)(std::uint64_t), std::size_t jump_before) {
    constexpr std::array<std::uint64_t, 3> kValues{1, 7, 1000};
    std::vector<std::uint64_t> expected;
    expected.reserve(kValues.size());
    for (const std::uint64_t argument : kValues)
        expected.push_back(function(argument));
    const Patch patch = patched(place);
    INFO(patch.problem());
    REQUIRE(patch.problem().empty());
    CHECK(patch.jump_before() == jump_before);
    std::vector<std::uint64_t> results;
    results.reserve(kValues.size());
    for (const std::uint64_t argument : kValues)
        results.push_back(function(argument));
    CHECK(results == expected);
    CHECK(patch.calls() == kValues.size());
}

std::string reason(const Bytes& body, const Bytes& padding_before, const Entries& entries = {}) {
    const auto moved = rdam::move_prologue(body, 0x4000, 0, entries, padding_before);
    return moved ? "moved" : moved.error().message;
}

}  // namespace

TEST_CASE("a function entered behind its first instruction counts its own calls only") {
    const Patch patch = patched(kSum, {3});
    INFO(patch.problem());
    REQUIRE(patch.problem().empty());
    CHECK(patch.jump_before() == 6);
    CHECK(sum(20, 22) == 42);
    CHECK(patch.calls() == 1);
    CHECK(sum_and_one(20, 22) == 43);
    CHECK(patch.calls() == 1);
}

TEST_CASE("who runs through the padding into a function calls it") {
    const Patch patch = patched(kSum, {3});
    REQUIRE(patch.problem().empty());
    CHECK(checked_sum(20, 22) == 42);
    CHECK(patch.calls() == 1);
    CHECK(checked_sum(20, 101) == ~std::uint64_t{0});
    CHECK(patch.calls() == 1);
}

TEST_CASE("the code is as before when the patch is taken back") {
    const Bytes before(kSum.padding, kSum.entry + kSum.size);
    {
        const Patch patch = patched(kSum, {3});
        CHECK_FALSE(std::equal(before.begin(), before.end(), kSum.padding));
        CHECK(kSum.entry[2] == before[before.size() - kSum.size + 2]);
    }
    CHECK(std::equal(before.begin(), before.end(), kSum.padding));
}

TEST_CASE("functions shorter than the patch are patched through the padding before them") {
    check(kTwoBytes, two_bytes, 5);
    check(kTwoBytesRunningOn, two_bytes_running_on, 5);
    check(kThreeBytes, three_bytes, 8);
    check(kFourBytes, four_bytes, 7);
}

TEST_CASE("a call of two bytes comes back right behind the patch") {
    const Patch patch = patched(kTwoBytesCalling);
    INFO(patch.problem());
    REQUIRE(patch.problem().empty());
    CHECK(patch.jump_before() == 5);
    CHECK(two_bytes_calling(return_forty) == 41);
    CHECK(patch.calls() == 1);
}

TEST_CASE("a loop back to right behind the patch does not count its turns") {
    check(kLongLoop, long_loop, 5);
}

TEST_CASE("the jump stands at the entry where that is possible") {
    const auto moved = rdam::move_prologue(Bytes{0xB8, 1, 0, 0, 0, 0xC3}, 0x4000, 0, {}, Bytes(16, 0x90));
    REQUIRE(moved.has_value());
    CHECK(moved->jump_before == 0);
}

TEST_CASE("the jump begins with a nop, the closest one with room enough") {
    const Bytes padding{0x90, 0x66, 0x90, 0x0F, 0x1F, 0x40, 0, 0x0F, 0x1F, 0};
    CHECK(room_for_jump(padding, 0x4000, {}) == 7);
    CHECK(room_for_jump(Bytes(5, 0xCC), 0x4000, {}) == 5);
    CHECK_FALSE(room_for_jump(Bytes(4, 0xCC), 0x4000, {}).has_value());
    CHECK_FALSE(room_for_jump({}, 0x4000, {}).has_value());
    CHECK(room_for_jump(Bytes(4000, 0x90), 0x4000, {}) == 5);
}

TEST_CASE("anything but nops and int3 is nobody's padding") {
    CHECK_FALSE(room_for_jump(Bytes(16, 0), 0x4000, {}).has_value());
    Bytes padding(16, 0x90);
    padding[0] = 0xC3;
    CHECK_FALSE(room_for_jump(padding, 0x4000, {}).has_value());
    padding[0] = 0x90;
    padding[15] = 0x0F;  // a nop that the entry cuts in two
    CHECK_FALSE(room_for_jump(padding, 0x4000, {}).has_value());
}

TEST_CASE("who jumps into the padding must get to the jump") {
    const Bytes padding{0x66, 0x66, 0x2E, 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0, 0x66, 0x0F, 0x1F, 0x44, 0, 0};
    const auto room = [&](std::uint64_t offset) {
        return room_for_jump(padding, 0x4000, Entries{0x4000 - padding.size() + offset});
    };
    CHECK(room(0) == 6);
    CHECK(room(11) == 6);
    CHECK_FALSE(room(1).has_value());
    CHECK_FALSE(room(12).has_value());
    CHECK_FALSE(room(16).has_value());
    CHECK(room(17) == 6);
    CHECK(room(20) == 6);
}

TEST_CASE("what a short patch does not help is refused for the reason against the long one") {
    const Bytes body{0x48, 0x89, 0xF8, 0x48, 0x01, 0xF0, 0xC3};
    const Bytes padding(16, 0x90);
    CHECK(reason(body, padding, {0x4003}) == "moved");
    CHECK(reason(body, padding, {0x4002}) == "moved");
    CHECK(reason(body, padding, {0x4001}) == "is entered from elsewhere at +1, within its first 6 bytes");
    CHECK(reason(body, {}, {0x4003}) == "is entered from elsewhere at +3, within its first 6 bytes");
    CHECK(reason({0xC3}, padding) == "shorter than the patch (1 of 5 bytes), without padding behind it");
    CHECK(reason({0xCC, 0xC3}, padding) ==
          "shorter than the patch (2 of 5 bytes), without padding behind it");
}

TEST_CASE("a loop that is moved as a whole is entered by its first byte only") {
    // inc %edi; dec %esi; jnz to the entry; ret
    const Bytes loop{0xFF, 0xC7, 0xFF, 0xCE, 0x75, 0xFA, 0xC3};
    const Bytes padding(16, 0x90);
    CHECK(reason(loop, padding) == "moved");
    CHECK(reason(loop, padding, {0x4002}) == "is entered from elsewhere at +2, within its first 6 bytes");
    // inc %edi; jnz to the entry: shorter than the patch.
    CHECK(reason({0xFF, 0xC7, 0x75, 0xFC}, padding) == "moved");
}
