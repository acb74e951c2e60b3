#include "microbench/interference/sweep.h"

#include "tests/unit/catch.h"

using rdam::microbench::parse_delays;

namespace {

/// What is said about `text`; empty if it is accepted.
std::string refusal(std::string_view text) {
    const auto delays = parse_delays(text);
    return delays ? "" : delays.error().message;
}

}  // namespace

TEST_CASE("a single delay is a sweep of one point") {
    CHECK(parse_delays("250ns") == std::vector{250.0});
    CHECK(parse_delays("1.5us") == std::vector{1500.0});
    CHECK(parse_delays("0") == std::vector{0.0});
}

TEST_CASE("the points of a sweep are log-spaced and both ends are among them") {
    const auto delays = parse_delays("100ns..1ms/5");
    REQUIRE(delays);
    REQUIRE(delays->size() == 5);
    CHECK(delays->front() == 100);
    CHECK(delays->back() == 1e6);
    for (std::size_t i = 1; i < delays->size(); ++i)
        CHECK((*delays)[i] / (*delays)[i - 1] == Approx(10));
}

TEST_CASE("a sweep of two points has its ends alone") {
    CHECK(parse_delays("1us..3us/2") == std::vector{1000.0, 3000.0});
}

TEST_CASE("a sweep that cannot be spaced is refused, with what to write instead") {
    for (const char* text : {"0..1ms/3", "1ms..1us/3", "1ms..1ms/3"}) {
        INFO(text);
        CHECK_THAT(refusal(text), Catch::Contains("0 < LOW < HIGH"));
    }
    CHECK_THAT(refusal("1us..1ms"), Catch::Contains("1us..1ms/10"));
    for (const char* text : {"1us..1ms/", "1us..1ms/1", "1us..1ms/0", "1us..1ms/-3", "1us..1ms/3x",
                             "1us..1ms/10001", "1us..1ms/99999999999"}) {
        INFO(text);
        CHECK_THAT(refusal(text), Catch::Contains("number of points"));
    }
    for (const char* text : {"", "fast", "-1us", "..1ms/3", "1us../3", "1us..1ms..2ms/3"}) {
        INFO(text);
        CHECK_THAT(refusal(text), Catch::Contains("is not a time"));
    }
}
