#include <bit>

#include "tests/unit/catch.h"
#include "wrappers/catalogue/signature.h"

namespace rdam {

TEST_CASE("a word's value is as wide as its type, whatever the rest of the word holds") {
    constexpr std::uint64_t kRest = 0xabcdef0100000000;
    CHECK(value_of(ValueKind::signed_integer, 4, kRest | 0xffffffff) == WordValue{std::int64_t{-1}});
    CHECK(value_of(ValueKind::enumeration, 1, kRest | 0x80) == WordValue{std::int64_t{-128}});
    CHECK(value_of(ValueKind::unsigned_integer, 4, kRest | 7) == WordValue{std::uint64_t{7}});
    CHECK(value_of(ValueKind::unsigned_integer, 0, kRest | 7) == WordValue{kRest | 7});
    CHECK(value_of(ValueKind::unsigned_integer, 16, kRest | 7) == WordValue{kRest | 7});
    CHECK(value_of(ValueKind::boolean, 1, kRest) == WordValue{false});
    CHECK(value_of(ValueKind::boolean, 1, kRest | 1) == WordValue{true});
    CHECK(value_of(ValueKind::floating, 4, kRest | std::bit_cast<std::uint32_t>(2.5F)) == WordValue{2.5F});
    CHECK(value_of(ValueKind::floating, 8, std::bit_cast<std::uint64_t>(-2.5)) == WordValue{-2.5});
    CHECK(value_of(ValueKind::pointer, 8, kRest) == WordValue{kRest});
    CHECK(value_of(static_cast<ValueKind>(200), 8, kRest) == WordValue{kRest});
}

}  // namespace rdam
