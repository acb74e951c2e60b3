#include "tools/rdam/screen/content.h"

#include "tests/unit/catch.h"
#include "tests/unit/screen/characters.h"

namespace rdam::screen {
namespace {

Content numbered(std::size_t lines, std::vector<std::size_t> choices, bool follows_cursor) {
    Content content{.head = {line("title"), line("more"), line("least")}};
    for (std::size_t i = 0; i < lines; ++i)
        content.lines.push_back(line(std::to_string(i)));
    content.choices = std::move(choices);
    content.follows_cursor = follows_cursor;
    return content;
}

std::vector<std::string> texts(const Frame& frame) {
    std::vector<std::string> out;
    for (const Line& each : frame.lines)
        out.push_back(plain_text(each));
    return out;
}

}  // namespace

TEST_CASE("a frame has the size of the screen, whatever there is to say") {
    test::use_utf8();
    for (const std::size_t lines : {0U, 1U, 5U, 500U})
        for (const Size size : {Size{40, 10}, Size{80, 24}, Size{41, 11}, Size{300, 100}}) {
            Content content = numbered(lines, {}, true);
            if (lines > 0) content.choices = {lines - 1};
            content.columns = line("columns");
            Place place{.cursor = 7, .top = 1000};
            settle(content, room(content, size), place);
            const Foot foot{.status = line(std::string(1000, 'x')),
                            .reminders = {"? help", std::string(400, 'y')}};
            for (const Frame& frame : {compose(content, place, foot, size),
                                       with_progress(compose(content, place, foot, size), 0.5, size)}) {
                REQUIRE(frame.lines.size() == size.height);
                for (const std::string& text : texts(frame))
                    CHECK(columns(text) <= size.width);
            }
        }
}

TEST_CASE("of a long head a small screen shows the first line") {
    const Content content = numbered(3, {0}, true);
    const Foot foot{.status = line("status"), .reminders = {"? help", "q quit"}};
    CHECK(texts(compose(content, {}, foot, {40, 10})) ==
          std::vector<std::string>{"title", "more", "> 0", "  1", "  2", "", "", "", "status",
                                   "? help  q quit"});
    CHECK(texts(compose(content, {}, foot, {40, 12}))[2] == "least");
}

TEST_CASE("the cursor goes from choice to choice and stays on the screen") {
    const Content content =
        numbered(20, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}, true);
    Place place;
    for (int i = 0; i < 30; ++i)
        step(content, 5, 1, place);
    CHECK((place.cursor == 19 && place.top == 15));
    step(content, 5, -1, place);
    CHECK((place.cursor == 18 && place.top == 15));
    leap(content, 5, -1, 4, place);
    CHECK((place.cursor == 14 && place.top <= 14 && place.top >= 10));
    leap(content, 5, -1, SIZE_MAX, place);
    CHECK((place.cursor == 0 && place.top == 0));
    leap(content, 5, 1, SIZE_MAX, place);
    CHECK((place.cursor == 19 && place.top == 15));
    // The screen has become higher, the list shorter.
    settle(content, 50, place);
    CHECK(place.top == 0);
    settle(numbered(2, {0, 1}, true), 5, place);
    CHECK(place.cursor == 1);
    settle(numbered(0, {}, true), 5, place);
    CHECK((place.cursor == 0 && place.top == 0));
}

TEST_CASE("text is read past its choices line by line") {
    const Content content = numbered(20, {2, 3, 15}, false);
    Place place;
    step(content, 5, 1, place);
    CHECK((place.cursor == 1 && place.top == 0));
    for (int i = 0; i < 10; ++i)
        step(content, 5, 1, place);
    CHECK((place.cursor == 1 && place.top == 10));
    CHECK_FALSE(sees_cursor(content, 5, place));
    step(content, 5, 1, place);
    CHECK((place.cursor == 2 && place.top == 11));
    step(content, 5, -1, place);
    CHECK((place.cursor == 2 && place.top == 10));
    place.cursor = 0;
    show_cursor(content, 5, place);
    CHECK((place.top == 2 && sees_cursor(content, 5, place)));
    // Nothing to choose from.
    const Content text = numbered(20, {}, false);
    Place reader;
    step(text, 5, 1, reader);
    CHECK(reader.top == 1);
    CHECK_FALSE(sees_cursor(text, 5, reader));
}

TEST_CASE("progress is a bar of its share") {
    test::use_utf8();
    const Frame frame = with_progress({.lines = {line("title")}}, 0.5, {44, 10});
    CHECK(plain_text(frame.lines[0]) == "title");
    CHECK(plain_text(frame.lines[8]) == "reading the trace  50 % ██████████░░░░░░░░░░");
    CHECK(plain_text(with_progress({}, 7, {44, 10}).lines[8]) ==
          "reading the trace 100 % ████████████████████");
    CHECK(with_progress({}, 1, {10, 1}).lines.size() == 1);
}

TEST_CASE("a screen that is too small says so in one line") {
    test::use_utf8();
    CHECK(plain_text(too_small({39, 5}).lines[0]) == "rdam needs 40×10; q quits");
    CHECK(too_small({39, 5}).lines.size() == 5);
    CHECK(columns(plain_text(too_small({5, 1}).lines[0])) == 5);
    CHECK(too_small({0, 0}).lines.empty());
}

TEST_CASE("the baseline in force is among those that can be chosen") {
    using Kind = score::Baseline::Kind;
    for (const score::Baseline& each :
         {score::Baseline{}, score::Baseline{Kind::process}, score::Baseline{Kind::percentile, 0.05},
          score::Baseline{Kind::percentile, 0.07}}) {
        const auto all = baselines(each);
        const std::size_t place = place_of_present(each);
        REQUIRE(place < all.size());
        CHECK(all[place] == each);
        const Content content = baselines_content(each, 80);
        for (std::size_t i = 0; i < all.size(); ++i)
            CHECK(plain_text(content.lines[content.choices[i]]).starts_with(i == place ? "[x]" : "[ ]"));
    }
    CHECK(plain_text(baselines_content({Kind::percentile, 0.07}, 80).lines.back()) ==
          "[x] percentile 7 of their thread");
}

TEST_CASE("names of ignored functions do no harm") {
    trace::TraceInfo info;
    info.functions.resize(2);
    info.functions[1].name = "evil\x1b[2J";
    info.functions[1].module = "app";
    CHECK(plain_text(ignored_content(info, {1}, 80).lines[0]) == "evil\\x1b[2J");
    CHECK(ignored_content(info, {}, 80).choices.empty());
}

}  // namespace rdam::screen
