#include "tools/rdam/screen/keys.h"

#include <map>
#include <set>

#include "tests/unit/catch.h"

namespace rdam::screen {
namespace {

void type(Prompt& prompt, std::u32string_view keys) {
    for (const Key key : keys)
        CHECK(prompt.press(key) == Prompt::State::open);
}

}  // namespace

TEST_CASE("no key means two things in one view") {
    std::set<std::pair<View, Key>> seen;
    for (const Binding& binding : bindings())
        for (const View view : binding.views)
            for (const Key key : binding.keys) {
                INFO(binding.names << " " << binding.text);
                CHECK(seen.emplace(view, key).second);
                CHECK(command_for(key, view) == binding.command);
            }
}

TEST_CASE("every view can be left, and says how to get help") {
    for (const View view : {View::ranking, View::page, View::findings, View::threads, View::ignored,
                            View::baselines, View::notes, View::help}) {
        const auto command = command_for('q', view);
        CHECK((command == Command::back || command == Command::quit));
        CHECK(command_for('?', view) == Command::help);
        CHECK(reminders(view).front() == "? help");
    }
    CHECK(!command_for('x', View::ranking));
    CHECK(!command_for(kOther, View::page));
}

TEST_CASE("all keys are in the words of the manual page") {
    const std::string words = keys_in_words();
    for (const Binding& binding : bindings())
        CHECK(words.find(std::string{binding.names} + ": " + std::string{binding.text}) != std::string::npos);
}

TEST_CASE("text is typed, taken back and taken") {
    Prompt prompt = Prompt::for_text("file", "");
    type(prompt, U"aµ漢𝄞");
    CHECK(prompt.text() == "aµ漢𝄞");
    CHECK(prompt.press(kBackspace) == Prompt::State::open);
    CHECK(prompt.press(kDelete) == Prompt::State::open);
    CHECK(prompt.text() == "aµ");
    CHECK(prompt.press(kUp) == Prompt::State::open);
    CHECK(prompt.press(0x80) == Prompt::State::open);
    CHECK(prompt.text() == "aµ");
    CHECK(plain_text(prompt.shown(80)) == "file: aµ");
    CHECK(prompt.press(0x15) == Prompt::State::open);
    CHECK(prompt.text().empty());
    CHECK(prompt.press(kBackspace) == Prompt::State::open);
    CHECK(prompt.press(kEnter) == Prompt::State::taken);
    CHECK(Prompt::for_text("file", "a").press(kEscape) == Prompt::State::dropped);
}

TEST_CASE("the text that is offered is taken, edited or replaced, and is highlighted until then") {
    Prompt prompt = Prompt::for_text("score", "0.2");
    CHECK(prompt.shown(80).back().selected);
    CHECK(prompt.press(kEnter) == Prompt::State::taken);
    CHECK(prompt.text() == "0.2");
    type(prompt, U".15");
    CHECK(prompt.text() == ".15");
    CHECK_FALSE(prompt.shown(80).back().selected);
    for (const Key key : {kBackspace, kDelete}) {
        Prompt edited = Prompt::for_text("score", "0.2");
        CHECK(edited.press(key) == Prompt::State::open);
        type(edited, U"3");
        CHECK(edited.text() == "0.3");
    }
    for (const Key key : {kEnd, kRight}) {
        Prompt kept = Prompt::for_text("score", "0.2");
        CHECK(kept.press(key) == Prompt::State::open);
        type(kept, U"5");
        CHECK(kept.text() == "0.25");
    }
}

TEST_CASE("of a long text the end is seen") {
    Prompt prompt = Prompt::for_text("file", "0123456789");
    CHECK(plain_text(prompt.shown(11)) == "file: 6789");
    CHECK(plain_text(prompt.shown(3)) == "file: ");
}

TEST_CASE("only yes is yes") {
    Prompt prompt = Prompt::for_yes("Quit?");
    CHECK(plain_text(prompt.shown(80)) == "Quit? y/n ");
    CHECK(prompt.press('y') == Prompt::State::taken);
    for (const Key key : {Key{'n'}, kEnter, kEscape, Key{'q'}})
        CHECK(prompt.press(key) == Prompt::State::dropped);
}

}  // namespace rdam::screen
