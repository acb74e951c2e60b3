// Keys in, frames out, on a real session.
#include "tools/rdam/screen/controller.h"

#include <fstream>
#include <random>
#include <sstream>

#include "tests/unit/analysis/recording.h"
#include "tests/unit/analysis/recording_file.h"
#include "tests/unit/catch.h"
#include "tests/unit/screen/characters.h"
#include "tests/unit/temporary_folder.h"
#include "tools/trace/reader.h"

namespace rdam::screen {
namespace {

constexpr Size kScreen{80, 24};

/// a(k, n) takes k times as long; b, of an evil name, always the same.
test::Recording made_recording() {
    test::Recording recording{2, 2};
    recording.info.functions[1].name = "b\x1b[2J";
    test::ThreadRecording& thread = recording.thread(1, 1'000'000);
    std::uint64_t now = 1000;
    for (std::uint64_t i = 0; i < 200; ++i) {
        thread.call(now += 100, 0, 1000 * (1 + i % 4), {i % 4, i % 3});
        thread.call(now += 4000, 1, 100 + i % 2, {0, 0});
    }
    return recording;
}

class Screen {
  public:
    Screen() {
        test::use_utf8();
        test::write_file(made_recording(), trace_.path());
        auto read = trace::TraceReader::open(trace_.path());
        REQUIRE(read);
        reader_ = std::make_unique<trace::TraceReader>(std::move(*read));
        auto opened = screen::Session::open(*reader_, {}, nullptr);
        REQUIRE(opened);
        session = std::move(*opened);
        symbols_ = output::make_symbols(reader_->info());
        controller = std::make_unique<Controller>(*session, *symbols_, RulesPlace{.file = file});
    }

    /// What is seen after these keys.
    std::string press(std::u32string_view keys, Size size = kScreen) {
        Frame frame = controller->frame(size);
        for (const Key key : keys) {
            controller->press(key);
            frame = controller->frame(size);
            REQUIRE(frame.lines.size() == size.height);
        }
        std::string text;
        for (const Line& each : frame.lines) {
            REQUIRE(columns(plain_text(each)) <= size.width);
            text += plain_text(each) + "\n";
        }
        return text;
    }

  private:
    test::MemoryFile trace_;
    test::TemporaryFolder folder_;
    std::unique_ptr<trace::TraceReader> reader_;
    std::unique_ptr<output::Symbols> symbols_;

  public:
    std::string file = folder_.file("rdam.toml");
    std::unique_ptr<screen::Session> session;
    std::unique_ptr<Controller> controller;
};

auto has(const std::string& text) {
    return Catch::Contains(text);
}

std::string read(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream{file}.rdbuf();
    return text.str();
}

}  // namespace

TEST_CASE("a key is set on a function's page, taken back, and set again") {
    Screen screen;
    CHECK_THAT(screen.press(U""), has("> ") && has("  a ") && has("b\\x1b[2J") && has("? shows the keys"));
    const double plain = screen.session->report().functions[0].rdam;
    CHECK_THAT(screen.press(U"\n"), has("[overview]") && has("> [ ] k") && has("[ ] n") && has("[ ] caller"));
    CHECK_THAT(screen.press(U" "), has("> [x] k") && has("a:k is a key: rescored in") && has("unsaved"));
    CHECK(screen.session->report().functions[0].rdam < plain);
    CHECK_THAT(screen.press(U"u"), has("> [ ] k") && has("undone: ") && !has("unsaved"));
    CHECK(screen.session->report().functions[0].rdam == plain);
    CHECK_THAT(screen.press(U"u"), has("nothing to undo"));
    CHECK_THAT(screen.press(U"\tl"), has("[threads]"));
    CHECK_THAT(screen.press(U" "), has("set keys in the overview"));
}

TEST_CASE("findings and threads are there at once, and again when they are asked for after a change") {
    Screen screen;
    const std::string first = screen.press(U"");
    CHECK_THAT(first, has("a: thread 100") && has(" lost ") && !has("F shows"));
    CHECK_THAT(screen.press(U"F"), has("Findings") && has("1. a: "));
    CHECK_THAT(screen.press(U"qT"), has("Threads") && has("events") && !has("Findings\n"));
    CHECK_THAT(screen.press(U"qf"), has("F shows the findings with these settings"));
    CHECK_THAT(screen.press(U"F"), has("1. a: "));
    CHECK_THAT(screen.press(U"q"), !has("F shows"));
}

TEST_CASE("what does not fit says so") {
    Screen screen;
    CHECK_THAT(screen.press(U"?", {80, 12}), has("lines 1 to ") && has(": page down shows more"));
    CHECK_THAT(screen.press(U"G", {80, 12}), has("lines ") && !has("page down shows"));
    CHECK_THAT(screen.press(U"q", {80, 24}), !has("lines 1"));
}

TEST_CASE("a function that is ignored has no page, and comes back from the list") {
    Screen screen;
    CHECK_THAT(screen.press(U"\ni"), has("a is ignored") && has("1 ignored") && !has("[overview]"));
    CHECK_THAT(screen.press(U"I"), has("Ignored functions") && has("> a"));
    CHECK_THAT(screen.press(U"\n"), has("a is no longer ignored") && has("none"));
    CHECK_THAT(screen.press(U"q"), has("  a ") && !has("ignored ("));
}

TEST_CASE("the cursor stays on its function when the order changes") {
    Screen screen;
    CHECK_THAT(screen.press(U"j"), Catch::Matches("(.|\n)*\n> [^\n]* b\\\\x1b(.|\n)*"));
    screen.press(U"k");
    CHECK(screen.session->report().functions[0].function == 0);
    CHECK_THAT(screen.press(U"\n "), has("[x] k"));
    REQUIRE(screen.session->report().functions[0].function == 1);
    CHECK_THAT(screen.press(U"q"), Catch::Matches("(.|\n)*\n> [^\n]* a (.|\n)*"));
    CHECK_THAT(screen.press(U"u"), Catch::Matches("(.|\n)*\n> [^\n]* a (.|\n)*"));
}

TEST_CASE("a baseline is chosen from a list") {
    Screen screen;
    CHECK_THAT(screen.press(U"b"), has("> [x] the fastest of their thread"));
    CHECK_THAT(screen.press(U"jjjj\n"), has("calls against percentile 1 of their thread"));
}

TEST_CASE("rules are saved where somebody says, and no others are replaced unasked") {
    Screen screen;
    screen.press(U"f");
    CHECK_THAT(screen.press(U"w\n"), has("written: "));
    CHECK_THAT(read(screen.file), has("fold-loops = true"));
    CHECK_FALSE(screen.session->has_unsaved_changes());
    // Its own file it may change.
    screen.press(U"f");
    CHECK_THAT(screen.press(U"w\n"), has("written: "));
    CHECK_THAT(read(screen.file), has("fold-loops = false"));

    Screen other;
    std::ofstream{other.file} << "ignore = [\"x\"]\n";
    other.press(U"f");
    CHECK_THAT(other.press(U"w\n", {200, 24}), has("exists and was not read: replace its rules? y/n"));
    CHECK_THAT(other.press(U"n"), has("unsaved"));
    CHECK_THAT(read(other.file), has("\"x\"") && !has("fold"));
    other.press(U"w\ny");
    CHECK_THAT(read(other.file), !has("\"x\"") && has("fold-loops = true"));
}

TEST_CASE("nobody loses changes by a slip") {
    Screen screen;
    screen.press(U"fq");
    CHECK_FALSE(screen.controller->finished());
    CHECK_THAT(screen.press(U"x"), has("unsaved"));
    screen.press(U"fq");
    CHECK(screen.controller->finished());
}

TEST_CASE("where nothing can be seen nothing is changed, and the end is asked for") {
    Screen screen;
    constexpr Size kTiny{30, 3};
    CHECK_THAT(screen.press(U"f\ni b", kTiny), has("rdam needs 40×10"));
    CHECK_FALSE(screen.session->has_unsaved_changes());
    screen.press(U"f");
    CHECK_THAT(screen.press(U"q", kTiny), has("Quit without saving"));
    CHECK_THAT(screen.press(U"n", kTiny), has("rdam needs 40×10"));
    screen.press(U"qy", kTiny);
    CHECK(screen.controller->finished());
}

TEST_CASE("in the list of baselines changes are taken back and saved as elsewhere") {
    Screen screen;
    CHECK_THAT(screen.press(U"fb"), has("undo") && has("save"));
    CHECK_THAT(screen.press(U"u"), has("undone: "));
    CHECK_FALSE(screen.session->has_unsaved_changes());
    CHECK_THAT(screen.press(U"w"), has("write the rules to"));
}

TEST_CASE("who is asked is told which keys answer") {
    Screen screen;
    const std::string asked = screen.press(U"fq");
    CHECK_THAT(asked, has("y/n") && has("y yes") && has("any other key no"));
    CHECK_THAT(asked, !has("enter accepts"));
    CHECK_THAT(screen.press(U"nt"), has("enter accepts") && has("esc cancels"));
}

TEST_CASE("a threshold is a number from 0 to 1") {
    Screen screen;
    for (const char32_t* text : {U"-1", U"1.1", U"", U"0.5x", U"nan"})
        CHECK_THAT(screen.press(std::u32string{U"t\x15"} + text + U"\n"),
                   has("a score is a number from 0 to 1"));
    CHECK_THAT(screen.press(U"t\x15\x30.75\n"), has("highlighting scores from 0.75"));
    CHECK(screen.session->settings().threshold == 0.75);
}

TEST_CASE("whatever is pressed in whatever size, a frame comes of it") {
    constexpr Key kKeys[] = {'j',  'k',      kEnter, ' ',   'i',        'f', 'd',   'b',     'u',       'u',
                             'I',  'n',      '?',    's',   kTab,       'h', 'l',   kEscape, kEscape,   '/',
                             'g',  'G',      't',    '1',   kBackspace, kUp, kDown, kPageUp, kPageDown, kHome,
                             kEnd, kResized, kOther, U'漢', 'q',        'n', 'a'};
    Screen screen;
    std::mt19937 random{7};
    const auto below = [&](std::size_t count) { return random() % count; };
    Size size = kScreen;
    for (int i = 0; i < 3000; ++i) {
        if (below(20) == 0) size = {below(150), below(60)};
        screen.press({&kKeys[below(std::size(kKeys))], 1}, size);
    }
    // It still knows its ways.
    for (int i = 0; i < 5; ++i)
        screen.press(U"\x1b");
    CHECK_THAT(screen.press(U"\x1b?", {80, 60}), has("undo the last change"));
}

}  // namespace rdam::screen
