#include "tools/rdam/screen/text.h"

#include "tests/unit/catch.h"
#include "tests/unit/screen/characters.h"

namespace rdam::screen {

TEST_CASE("columns are those of a terminal") {
    test::use_utf8();
    CHECK(columns("") == 0);
    CHECK(columns("abc") == 3);
    CHECK(columns("µs ≥ …") == 6);
    CHECK(columns("漢字") == 4);
    CHECK(columns("e\u0301") == 1);
}

TEST_CASE("what is cut ends in an ellipsis and is never wider") {
    test::use_utf8();
    CHECK(cut("worker", 6) == "worker");
    CHECK(cut("worker", 5) == "work…");
    CHECK(cut("漢字漢字", 5) == "漢字…");
    CHECK(cut("漢字漢字", 4) == "漢…");
    CHECK(cut("worker", 1) == "…");
    CHECK(cut("worker", 0).empty());
    CHECK(plain_text(cut({{"ab", Look::strong}, {"cdef"}}, 4)) == "abc…");
    CHECK(plain_text(cut({{"ab", Look::strong}, {"cd"}}, 2)) == "ab");
    CHECK(to_left("漢", 4) == "漢  ");
    CHECK(to_right("12", 4) == "  12");
    CHECK(to_right("12345", 4) == "123…");
}

TEST_CASE("text is wrapped between words, and within those that do not fit") {
    test::use_utf8();
    CHECK(wrapped("", 10) == std::vector<std::string>{""});
    CHECK(wrapped("one two three", 7) == std::vector<std::string>{"one two", "three"});
    CHECK(wrapped("a very_long_name", 6) == std::vector<std::string>{"a", "very_l", "ong_na", "me"});
    CHECK(wrapped("漢字漢字", 3) == std::vector<std::string>{"漢", "字", "漢", "字"});
    const std::vector<std::string> items{"one", "two", "three"};
    CHECK(flowing(items, 8) == std::vector<std::string>{"one  two", "three"});
}

TEST_CASE("ASCII takes as many columns") {
    test::use_utf8();
    for (const char* text : {"≥0.998", "0.1–0.2", "8.33 µs", "▁▂▃▄▅▆▇█", "─┬", "naïve", "漢字", "…"}) {
        INFO(text);
        const std::string plain = in_ascii(text);
        CHECK(plain.size() == columns(text));
        CHECK(plain.find_first_not_of("0123456789.-us>~#:+nave? ") == std::string::npos);
    }
    CHECK(in_ascii("8.33 µs") == "8.33 us");
}

}  // namespace rdam::screen
