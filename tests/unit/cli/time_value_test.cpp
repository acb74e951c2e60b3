#include "tests/unit/catch.h"
#include "tools/base/units.h"

namespace rdam {

TEST_CASE("times have units, and are seconds without one") {
    CHECK(parse_time("2") == 2e9);
    CHECK(parse_time("0") == 0.0);
    CHECK(parse_time(".5") == 5e8);
    CHECK(parse_time("1.5s") == 1.5e9);
    CHECK(parse_time("200ms") == 2e8);
    CHECK(parse_time("30us") == 3e4);
    CHECK(parse_time("30µs") == 3e4);
    CHECK(parse_time("7ns") == 7.0);
    CHECK(parse_time("2min") == 1.2e11);
}

TEST_CASE("what is no time is said with what would be one") {
    for (const char* text :
         {"", "s", "-1", "-0", "1 s", "1h", "1.5.2", "1e3", "0x10", "nan", "inf", "1s2ms"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_time(text));
    }
    CHECK(parse_time("5x").error().message ==
          "'5x' is not a time; write 1.5s, 200ms, 30us, 2min, or plain seconds");
}

}  // namespace rdam
