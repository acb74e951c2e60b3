#include "wrappers/support/printable.h"

#include <catch2/catch.hpp>
#include <random>

namespace rdam {

TEST_CASE("text stays as it is", "[printable]") {
    CHECK(printable("worker<int, std::vector>::run() const") == "worker<int, std::vector>::run() const");
    CHECK(printable("naïve 漢字 🦀 ≥ µs") == "naïve 漢字 🦀 ≥ µs");
    CHECK(printable("").empty());
}

TEST_CASE("control characters become visible", "[printable]") {
    CHECK(printable("\x1b[31mred\x07") == "\\x1b[31mred\\x07");
    CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\rd");
    CHECK(printable(std::string_view{"a\0b\x7f", 4}) == "a\\x00b\\x7f");
    CHECK(printable("\xc2\x9b"
                    "31m") == "\\u{9b}31m");
}

TEST_CASE("characters that hide or reorder others become visible", "[printable]") {
    CHECK(printable("a\u202eb") == "a\\u{202e}b");
    CHECK(printable("\u2066x\u2069") == "\\u{2066}x\\u{2069}");
    CHECK(printable("a\u200bb\ufeff") == "a\\u{200b}b\\u{feff}");
    CHECK(printable("\u2028") == "\\u{2028}");
    CHECK(printable("\U000e0041") == "\\u{e0041}");
}

TEST_CASE("bytes that are no UTF-8 become visible", "[printable]") {
    CHECK(printable("\xff") == "\\xff");
    CHECK(printable("a\xc3") == "a\\xc3");
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
    CHECK(printable("\xe0\x80\x9b") == "\\xe0\\x80\\x9b");           // overlong
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond the last character
    CHECK(printable("\xe6\xbc") == "\\xe6\\xbc");
    CHECK(printable("\x9b") == "\\x9b");
}

TEST_CASE("no bytes whatever get a control character through", "[printable]") {
    std::mt19937 random{1};
    for (int i = 0; i < 20000; ++i) {
        std::string bytes;
        for (auto n = random() % 12; n > 0; --n)
            bytes += static_cast<char>(random());
        const std::string shown = printable(bytes);
        CHECK(printable(shown) == shown);
        for (const char c : shown) {
            const auto byte = static_cast<unsigned char>(c);
            CHECK((byte >= 0x20 && byte != 0x7f));
        }
    }
}

TEST_CASE("text is cut between characters", "[printable]") {
    CHECK(shortened("abc", 3) == "abc");
    CHECK(shortened("abcd", 3) == "ab…");
    CHECK(shortened("äöüß", 3) == "äö…");
    CHECK(shortened("abc", 1) == "…");
    CHECK(shortened("abc", 0).empty());
    CHECK(display_width("äöü…") == 4);
}

}  // namespace rdam
