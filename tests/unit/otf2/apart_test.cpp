// What becomes of a reader that crashes.
#include <unistd.h>

#include <cstdlib>

#include "analyzer/inputs/otf2/archive.h"
#include "tests/unit/catch.h"
#include "tests/unit/contains.h"

namespace rdam::test {
namespace {

TEST_CASE("A reader that crashes, or ends early, is an error of one line, and its own error comes through") {
    const inputs::Progress none = [](std::uint64_t, std::uint64_t) {};
    const auto message = [&](const inputs::Fill& fill) {
        const auto read = inputs::build_apart("x.otf2", inputs::Order::of_time, fill, none);
        REQUIRE_FALSE(read);
        return read.error().message;
    };
    CHECK(contains(
        message([](inputs::TraceBuilder&, const inputs::Progress&) -> Result<bool> { std::abort(); }),
        "x.otf2 is damaged: what reads it crashed (signal 6)"));
    CHECK(contains(message([](inputs::TraceBuilder&, const inputs::Progress&) -> Result<bool> { _exit(0); }),
                   "x.otf2 cannot be read: what reads it ended early"));
    CHECK(message([](inputs::TraceBuilder&, const inputs::Progress&) -> Result<bool> {
              return fail("its own words");
          }) == "its own words");
    const auto useless = inputs::build_apart(
        "x.otf2", inputs::Order::of_time,
        [](inputs::TraceBuilder&, const inputs::Progress&) -> Result<bool> { return false; }, none);
    REQUIRE(useless);
    CHECK_FALSE(*useless);
}

}  // namespace
}  // namespace rdam::test
