#include <bit>
#include <functional>
#include <random>

#include "analyzer/hints/variables.h"
#include "tests/unit/catch.h"
#include "wrappers/catalogue/catalogue.h"

using rdam::ValueKind;
using rdam::hints::explained;
using rdam::hints::Loss;
using rdam::hints::ordered;

namespace {

constexpr std::size_t kLosses = 3000;
std::mt19937 numbers;

std::uint64_t below(std::uint64_t limit) {
    return numbers() % limit;
}

/// What `value`, drawn below `limit`, explains of a loss that is `lost` of it.
double when(std::uint64_t limit, const std::function<double(std::uint64_t)>& lost) {
    std::vector<Loss> calls;
    for (std::size_t i = 0; i < kLosses; ++i) {
        const std::uint64_t value = below(limit);
        calls.push_back({.lost = lost(value), .value = value});
    }
    return explained(calls);
}

double noise() {
    return static_cast<double>(below(1000)) / 1000;
}

/// Most wait a little, some long: as locks do.
double waiting() {
    return below(5) == 0 ? 50 + 100 * noise() : noise();
}

}  // namespace

TEST_CASE("Dependence is seen, whatever its shape") {
    CHECK(when(1'000'000, [](auto n) { return static_cast<double>(n) / 1000 + 10 * noise(); }) > 0.95);
    CHECK(when(1'000'000, [](auto n) { return 1000 - static_cast<double>(n) / 1000; }) > 0.95);
    CHECK(when(1000, [](auto n) { return std::abs(static_cast<double>(n) - 500); }) > 0.95);
    CHECK(when(3, [](auto n) { return n == 1 ? 100 + noise() : noise(); }) > 0.95);
    CHECK(when(100, [](auto n) { return static_cast<double>(n * 7919 % 101) + noise(); }) > 0.95);
}

TEST_CASE("What has nothing to do with the loss explains nothing, however many values it has") {
    for (const std::uint64_t limit : {2, 10, 100, 1000, 1'000'000'000}) {
        INFO(limit << " values");
        CHECK(when(limit, [](auto) { return waiting(); }) < 0.05);
        CHECK(when(limit, [](auto) { return 1000 * noise(); }) < 0.05);
    }
    CHECK(when(1, [](auto) { return waiting(); }) < 1e-9);
}

TEST_CASE("A part that goes with the variable is told as a part") {
    const double half =
        when(2, [](auto n) { return 100 * static_cast<double>(n) + (below(2) == 0 ? 100 : 0); });
    CHECK(half > 0.35);
    CHECK(half < 0.65);
}

TEST_CASE("Only calls of one stratum are compared") {
    std::vector<Loss> calls;
    for (std::uint32_t i = 0; i < kLosses; ++i) {
        const std::uint32_t stratum = i % 3;
        calls.push_back({.lost = waiting(), .stratum = stratum, .value = stratum});
    }
    CHECK(explained(calls) < 1e-9);
    // Too few calls to tell anything: their loss is still there.
    calls.push_back({.lost = 1e9, .stratum = 3, .value = 1});
    for (Loss& call : calls) {
        call.value = below(2);
        if (call.stratum < 3) call.lost = 100 * static_cast<double>(call.value);
    }
    CHECK(explained(calls) < 0.01);
    calls.pop_back();
    CHECK(explained(calls) > 0.99);
}

TEST_CASE("Calls count by what they stand for") {
    std::vector<Loss> calls;
    for (std::uint32_t i = 0; i < kLosses; ++i) {
        const bool depends = i % 2 == 0;
        const std::uint64_t value = below(2);
        calls.push_back(
            {.lost = depends ? 100 * static_cast<double>(value) : 100 * static_cast<double>(below(2)),
             .weight = depends ? 1 : 1e-6,
             .stratum = depends ? 0U : 1U,
             .value = value});
    }
    CHECK(explained(calls) > 0.99);
}

TEST_CASE("No calls, no loss") {
    CHECK(explained({}) == 0);
    CHECK(when(10, [](auto) { return 0.0; }) == 0);
}

TEST_CASE("Values are in the order of their type") {
    const auto as = [](auto value, ValueKind kind, std::uint8_t size) {
        return ordered(static_cast<std::uint64_t>(value), static_cast<std::uint8_t>(kind), size);
    };
    CHECK(as(-1, ValueKind::signed_integer, 4) < as(0, ValueKind::signed_integer, 4));
    CHECK(as(-2, ValueKind::signed_integer, 4) < as(-1, ValueKind::signed_integer, 4));
    CHECK(as(-1, ValueKind::unsigned_integer, 4) > as(0, ValueKind::unsigned_integer, 4));
    // What lies above a parameter's bytes in its register means nothing.
    CHECK(as(0xff00000005, ValueKind::unsigned_integer, 4) == as(5, ValueKind::unsigned_integer, 4));
    const auto real = [&](double value) {
        return as(std::bit_cast<std::uint64_t>(value), ValueKind::floating, 8);
    };
    CHECK(real(-2) < real(-1));
    CHECK(real(-1) < real(0.5));
    CHECK(real(0.5) < real(7));
    const auto single = [&](float value) {
        return as(std::bit_cast<std::uint32_t>(value), ValueKind::floating, 4);
    };
    CHECK(single(-2) < single(-1));
    CHECK(single(-1) < single(3));
}
