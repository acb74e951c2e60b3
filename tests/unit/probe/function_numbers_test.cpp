// Which function each entry of the process stands for.
#include "tests/unit/catch.h"
#include "tools/agent/memory/shared_memory.h"

namespace rdam::agent {

TEST_CASE("numbers are given once each, and then those that were released first") {
    FunctionNumbers numbers;
    for (std::uint32_t function = 0; function < FunctionNumbers::kAll; ++function) {
        const auto given = numbers.give(function);
        REQUIRE(given);
        CHECK(given->number == function);
        CHECK_FALSE(given->anew);
    }
    const std::uint32_t later = FunctionNumbers::kAll + 500;
    CHECK_FALSE(numbers.give(later));
    numbers.release(17);
    numbers.release(4);
    CHECK(numbers.function(17) == FunctionNumbers::kNone);
    CHECK(numbers.number(17) == FunctionNumbers::kNone);
    const auto first = numbers.give(later);
    REQUIRE(first);
    CHECK(first->number == 17);
    CHECK(first->anew);
    CHECK(numbers.function(17) == later);
    CHECK(numbers.number(later) == 17);
    CHECK(numbers.give(later + 1)->number == 4);
    CHECK_FALSE(numbers.give(later + 2));
    CHECK(numbers.number(later + 2) == FunctionNumbers::kNone);
}

TEST_CASE("a number that is set stands for nothing else, and one that was set since is not given") {
    FunctionNumbers numbers;
    numbers.set(5, 0);
    numbers.set(5, 1);
    CHECK(numbers.number(0) == FunctionNumbers::kNone);
    CHECK(numbers.function(5) == 1);
    CHECK(numbers.end() == 6);
    numbers.use_up();
    CHECK(numbers.function(4) == FunctionNumbers::kNone);
    CHECK_FALSE(numbers.give(2));
    numbers.release(4);
    numbers.release(3);
    numbers.set(4, 3);
    CHECK(numbers.give(2)->number == 3);
}

}  // namespace rdam::agent
