// What hints may say: no more than was tested.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/unit/hints/made.h"

using namespace rdam;
using namespace rdam::made_up;

namespace {

constexpr auto kPointer = static_cast<std::uint8_t>(ValueKind::pointer);

void takes_an_address(Made& made) {
    made.info.functions[0].parameters[0] = {.name = "s", .kind = kPointer, .size = 8, .type = "void*"};
}

bool has(const Kinds& kinds, const char* kind) {
    return std::ranges::find(kinds, kind) != kinds.end();
}

}  // namespace

TEST_CASE("A parameter and the time of the run that cannot be told apart") {
    // Two threads share the rows of a triangular loop; now and then one of them is slowed down.
    Made made;
    made.info.threads.push_back({.tid = 2, .name = "other", .start = 1, .end = kCalls * 1000});
    for (std::size_t row = 0; row < kCalls; ++row) {
        const auto left = static_cast<double>(kCalls - row);
        made.call(left * (1 + 0.3 * made.noise()) + made.waiting(), row).thread =
            static_cast<std::uint32_t>(made.below(2));
    }
    REQUIRE(made.kinds() == Kinds{"parameter_or_time"});
    const hints::Hint& hint = made.found.hints[0];
    CHECK(hint.parameter == "size");
    CHECK(*hint.explains > 0.55);
    CHECK_THAT(hint.text,
               Catch::StartsWith("the loss follows size (") &&
                   Catch::Contains("the two cannot be distinguished here; if size determines the amount "
                                   "of work, this is not interference"));
}

TEST_CASE("What varies at all times is told from the time of the run") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t row = i % 100;
        made.call(10 * static_cast<double>(row) + made.noise(), row);
    }
    CHECK(made.kinds() == Kinds{"parameter"});
}

TEST_CASE("An insertion takes as long as the key and the number of calls so far make it") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t key = made.below(1'000'000);
        made.call(static_cast<double>(i) * static_cast<double>(key) * 1e-6 + made.noise(), key);
    }
    REQUIRE(made.kinds() == Kinds{"parameter"});
    CHECK(made.found.hints[0].parameter == "size, calls so far");
    CHECK_THAT(made.found.hints[0].text, Catch::StartsWith("size and the number of calls so far together"));
}

TEST_CASE("A loss that grows with the number of calls, whatever it is that makes it vary") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(static_cast<double>(i) * made.noise(), made.below(10));
    REQUIRE(made.kinds() == Kinds{"trend", "no_parameter"});
    CHECK_THAT(
        made.found.hints[0].text,
        Catch::Contains("steadily more in between: the loss follows the number of calls so far (a growing"));
    CHECK_THAT(made.found.hints[1].text,
               Catch::StartsWith(
                   "no variable examined explains half of the loss (size, caller, return value); work"));
    Made falling;
    for (std::size_t i = 0; i < kCalls; ++i)
        falling.call(static_cast<double>(kCalls - i) * falling.noise(), falling.below(10));
    REQUIRE(falling.kinds() == Kinds{"trend", "no_parameter"});
    CHECK_THAT(falling.found.hints[0].text, !Catch::Contains("structure"));
}

TEST_CASE("A phase is no trend") {
    for (const std::size_t from : {kCalls / 10, kCalls / 2, kCalls * 6 / 10}) {
        Made made;
        for (std::size_t i = 0; i < kCalls; ++i)
            made.call(i >= from && i < from + kCalls * 4 / 10 ? made.waiting() : made.noise(),
                      made.below(10));
        CHECK(made.kinds() == Kinds{"phase", "no_parameter"});
    }
}

TEST_CASE("Addresses that are seen about once explain nothing by chance") {
    for (unsigned seed = 0; seed < 50; ++seed) {
        Made made;
        made.random.seed(seed);
        takes_an_address(made);
        const std::uint64_t addresses = seed % 2 == 0 ? kCalls : 100 * kCalls;
        for (std::size_t i = 0; i < kCalls; ++i) {
            // A few calls have most of the loss, some more have the rest.
            const double lost = made.below(seed % 3 == 0 ? 300 : 4) == 0 ? std::exp(8 * made.noise()) : 0;
            made.call(lost + made.noise(), made.below(addresses) * 4096);
        }
        const Kinds kinds = made.kinds();
        INFO("seed " << seed);
        CHECK(!has(kinds, "parameter"));
        CHECK(!has(kinds, "parameter_or_time"));
        CHECK(!has(kinds, "first_touch"));
        for (const hints::Explained& each : made.found.explained)
            CHECK(each.explains < 0.2);
    }
}

TEST_CASE("Pages that are touched first") {
    Made made;
    takes_an_address(made);
    std::vector<std::uint64_t> known{0x1000};
    for (std::size_t i = 0; i < kCalls; ++i) {
        const bool first = made.below(3) == 0;
        if (first) known.push_back(known.size() * 7919 % 10'007 * 0x1000);
        const std::uint64_t page = first ? known.back() : known[made.below(known.size())];
        made.call(first ? 500 + 300 * made.noise() : made.noise(), page + made.below(0x1000));
    }
    SECTION("are told where all calls are known") {
        const Kinds kinds = made.kinds();
        REQUIRE(kinds.front() == "first_touch");
        CHECK(made.found.hints[0].parameter == "s");
        CHECK_THAT(made.found.hints[0].text,
                   Catch::Contains("whose s points to a page that no earlier call was given"));
        CHECK(!has(kinds, "no_parameter"));
    }
    SECTION("not where calls are missing") {
        made.row().sample.calls[5].weight = 2;
        CHECK(!has(made.kinds(), "first_touch"));
    }
    SECTION("not where those are the fast ones") {
        for (score::ScoredCall& call : made.row().sample.calls) {
            call.lost_ns = 2000 - call.lost_ns;
            call.duration_ns = 10 + call.lost_ns;
        }
        CHECK(!has(made.kinds(), "first_touch"));
    }
}

TEST_CASE("Calls that take one of two times") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i)
        made.call(made.below(3) == 0 ? 990 + 50 * made.noise() : made.noise(), made.below(10));
    REQUIRE(made.kinds() == Kinds{"two_times", "no_parameter"});
    CHECK_THAT(made.found.hints[0].text, Catch::StartsWith("nearly all calls take about 10.5 ns (6") &&
                                             Catch::Contains("or about 1.0"));
    SECTION("apart from what they were off the processor") {
        for (std::size_t i = 0; i < kCalls; ++i) {
            score::ScoredCall& call = made.row().sample.calls[i];
            const double off = i % 10 == 0 ? 100 * made.noise() : 0;
            call.preempted_ns = off;
            call.lost_ns += off;
            call.duration_ns += off;
        }
        CHECK(has(made.kinds(), "two_times"));
    }
    SECTION("unless a clock that moves by more shows equal work as both") {
        made.report.clock_step_ns = 400;
        CHECK(has(made.kinds(), "two_times"));
        made.report.clock_step_ns = 600;
        CHECK(!has(made.kinds(), "two_times"));
    }
    SECTION("or any") {
        for (score::ScoredCall& call : made.row().sample.calls)
            call.duration_ns = 10 + (call.lost_ns *= made.noise());
        CHECK(!has(made.kinds(), "two_times"));
    }
}

TEST_CASE("Of an object that takes longer it is not said that there is more to do with it") {
    Made made;
    takes_an_address(made);
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t object = made.below(3);
        made.call(object == 1 ? 900 + 900 * made.noise() : made.noise(), object * 64);
    }
    REQUIRE(made.kinds() == Kinds{"parameter"});
    CHECK_THAT(made.found.hints[0].text, Catch::Contains("or because other threads use them"));
    made.info.functions[0].parameters[0].kind = Made::kInteger;
    REQUIRE(made.kinds() == Kinds{"parameter"});
    CHECK_THAT(made.found.hints[0].text, Catch::Contains("if it determines the amount of work"));
    made.info.functions[0].waits = true;
    REQUIRE(made.kinds() == Kinds{"parameter"});
    CHECK_THAT(made.found.hints[0].text, Catch::Contains("it waits longer for some values"));
}

TEST_CASE("A trend is not said beside the parameter that explains it on the processor") {
    Made made;
    for (std::size_t i = 0; i < kCalls; ++i) {
        const std::uint64_t key = made.below(1'000'000);
        const double work = static_cast<double>(i) * static_cast<double>(key) * 1e-6;
        // In longer calls others take the processor more often.
        const double preempted = made.noise() * 3000 < work ? 4 * work : 0;
        made.call(work + preempted + made.noise(), key).preempted_ns = preempted;
    }
    const Kinds kinds = made.kinds();
    CHECK(!has(kinds, "trend"));
    CHECK(has(kinds, "parameter"));
}
