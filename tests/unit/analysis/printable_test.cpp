#include "tools/base/printable.h"

#include <cmath>
#include <random>
#include <set>

#include "analyzer/output/drawing.h"
#include "analyzer/output/table.h"
#include "analyzer/output/text.h"
#include "tests/unit/catch.h"

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

TEST_CASE("JSON has the same values without what a terminal obeys", "[printable]") {
    CHECK(printable_json("{\n  \"a\": \"\u009b31m\u202e\U000e0041é\x7f\"\n}") ==
          "{\n  \"a\": \"\\u009b31m\\u202e\\udb40\\udc41é\\u007f\"\n}");
    CHECK(printable_json("\"\xff\"") == "\"\xff\"");
    CHECK(printable_json("").empty());
}

TEST_CASE("text is cut between characters", "[printable]") {
    CHECK(shortened("abc", 3) == "abc");
    CHECK(shortened("abcd", 3) == "ab…");
    CHECK(shortened("äöüß", 3) == "äö…");
    CHECK(shortened("abc", 1) == "…");
    CHECK(shortened("abc", 0).empty());
    CHECK(display_width("äöü…") == 4);
}

TEST_CASE("cells that differ stay different when they are shortened", "[printable]") {
    output::Table table{{{.title = "function", .left = true, .widest = 20}, {.title = "n"}}};
    const std::string long_name = "one_name_that_is_much_longer_than_its_column";
    for (const char* in_the_middle : {"a", "b", "c"})
        table.add({"first_part_of_a_name_" + std::string{in_the_middle} + "_last_part_of_the_name", "1"});
    table.add({long_name, "2"});
    table.add({long_name, "3"});
    const auto lines = table.lines();
    REQUIRE(lines.size() == 6);
    CHECK(std::set<std::string>(lines.begin(), lines.end()).size() == 6);
    const auto name_in = [&](std::size_t line) { return lines[line].substr(0, lines[line].find("  ")); };
    CHECK(std::set<std::string>{name_in(1), name_in(2), name_in(3)}.size() == 3);
    CHECK(name_in(4) == "one_name_t…ts_column");
    CHECK(name_in(5) == name_in(4));
}

TEST_CASE("names that differ only deep inside show where, and stay short", "[printable]") {
    output::Table table{{{.title = "function", .left = true, .widest = 20}}};
    std::string arguments;
    for (int i = 0; i < 300; ++i)
        arguments += "executor" + std::to_string(i) + ", ";
    // The same beginnings and ends, longer than any terminal.
    const auto name = [&](const std::string& inside) {
        return "boost::asio::handler<" + arguments + inside + arguments + "void>::operator()()";
    };
    for (const char* inside : {"alpha, ", "beta, ", "gamma, "})
        table.add({name(inside)});
    table.add({name("alpha, ")});
    const auto lines = table.lines();
    REQUIRE(lines.size() == 5);
    for (const std::string& line : lines)
        CHECK(display_width(line) <= 40);
    CHECK(std::set<std::string>(lines.begin() + 1, lines.end()).size() == 3);
    CHECK(lines[1].find("alpha") != std::string::npos);
    CHECK(lines[2].find("beta") != std::string::npos);
    CHECK(lines[4] == lines[1]);
}

TEST_CASE("names that cannot be shown to differ are numbered", "[printable]") {
    output::Table table{{{.title = "function", .left = true, .widest = 20}}};
    const std::string long_part(200, 'x');
    // Each differs from one neighbor here, from the other there, with the same text around.
    const std::vector<std::string> names = {"a<" + long_part + "1" + long_part + "1" + long_part + ">z",
                                            "a<" + long_part + "1" + long_part + "2" + long_part + ">z",
                                            "a<" + long_part + "2" + long_part + "1" + long_part + ">z",
                                            "a<" + long_part + "2" + long_part + "2" + long_part + ">z"};
    for (const std::string& name : names)
        table.add({name});
    const auto lines = table.lines();
    CHECK(std::set<std::string>(lines.begin() + 1, lines.end()).size() == names.size());
    for (const std::string& line : lines)
        CHECK(display_width(line) <= 43);
}

TEST_CASE("a table keeps within the terminal's width by shortening names", "[printable]") {
    output::Table table{{{.title = "function", .left = true, .widest = 60}, {.title = "n"}}};
    const std::string name(50, 'f');
    table.add({name, "12345"});
    CHECK(table.lines(1)[1] == " " + name + "  12345");
    CHECK(table.lines(1, 58)[1] == " " + name + "  12345");
    CHECK(display_width(table.lines(1, 40)[1]) == 40);
    CHECK(display_width(table.lines(1, 10)[1]) == output::Table::kMinShortened + 8);
}

TEST_CASE("a table leaves out what is optional if shortened names are not enough", "[printable]") {
    output::Table table{{{.title = "score"},
                         {.title = "bar", .left = true, .optional = 1},
                         {.title = "function", .left = true, .widest = 60}}};
    table.add({"0.500", "█████", std::string(50, 'f')});
    const std::size_t shortest = 5 + 2 + 5 + 2 + output::Table::kMinShortened;
    CHECK(table.lines()[1].find("█████") != std::string::npos);
    CHECK(table.lines(0, shortest)[1].find("█████") != std::string::npos);
    CHECK(table.lines(0, shortest - 1)[0].find("bar") == std::string::npos);
    CHECK(table.lines(0, shortest - 1)[1].find("█") == std::string::npos);
    CHECK(display_width(table.lines(0, shortest - 1)[1]) == shortest - 1);
}

TEST_CASE("a table leaves out no more than it must", "[printable]") {
    output::Table table{{{.title = "score"},
                         {.title = "bar", .optional = 2},
                         {.title = "min", .optional = 1},
                         {.title = "function", .left = true, .widest = 60}}};
    table.add({"0.500", "█████", "17 ns", "work"});
    CHECK(table.lines(0, 29)[1] == "0.500  █████  17 ns  work");
    CHECK(table.lines(0, 28)[1] == "0.500  17 ns  work");
    CHECK(table.lines(0, 21)[1] == "0.500  work");
    CHECK(table.without_first_optional().lines()[1] == "0.500  17 ns  work");
}

TEST_CASE("a table says which columns it has left out, in their order", "[printable]") {
    output::Table table{{{.title = "score"},
                         {.title = "", .left = true, .optional = 1, .bars = true},
                         {.title = "min", .optional = 3},
                         {.title = "function", .left = true, .widest = 60},
                         {.title = "max", .optional = 2}}};
    table.add({"0.500", "█████", "17 ns", "work", "20 ns"});
    std::string left_out = "something";
    CHECK(table.lines(1, 0, &left_out)[1] == " 0.500 █████  17 ns  work      20 ns");
    CHECK(left_out.empty());
    CHECK(table.lines(1, 30, &left_out)[1] == " 0.500 █████  work      20 ns");
    CHECK(left_out == " no room for: min");
    CHECK(table.lines(1, 25, &left_out)[1] == " 0.500 █████  work");
    CHECK(left_out == " no room for: min, max");
    CHECK(table.lines(1, 10, &left_out)[1] == " 0.500  work");
    CHECK(left_out == " no room for: bars, min, max");
    CHECK(table.without_bars().lines()[1] == "0.500  17 ns  work      20 ns");
}

TEST_CASE("a histogram is as wide as its place, and the usual where there is no end of it", "[printable]") {
    CHECK(output::histogram_columns(0, 22, 30) == 40);
    CHECK(output::histogram_columns(130, 22, 30) == 78);
    CHECK(output::histogram_columns(1000, 22, 30) == 120);
    CHECK(output::histogram_columns(80, 22, 30) == 30);
    CHECK(output::histogram_columns(60, 22, 30) == 60 - 22 - output::Table::kMinShortened);
    CHECK(output::histogram_columns(60, 22, 8) == 30);
    CHECK(output::histogram_columns(10, 22, 30) == 8);
}

TEST_CASE("bars are as long as their share, and something is never nothing", "[printable]") {
    CHECK(output::bar_text(0, 4) == "    ");
    CHECK(output::bar_text(1, 4) == "████");
    CHECK(output::bar_text(2, 4) == "████");
    CHECK(output::bar_text(0.5, 3) == "█▌ ");
    CHECK(output::bar_text(1e-9, 2) == "▏ ");
    CHECK(output::bar_text(std::nan(""), 2) == "  ");
}

TEST_CASE("a histogram shows the few beside the many", "[printable]") {
    CHECK(output::histogram_text({}, 4).empty());
    const score::Bar bars[] = {{1, 2, 1'000'000}, {2, 4, 0}, {4, 8, 1}, {8, 16, 1000}};
    CHECK(output::histogram_text(bars, 9) == "█ ▁▄");
    CHECK(output::histogram_text(bars, 2) == "█▄");
}

}  // namespace rdam
