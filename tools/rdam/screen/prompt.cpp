#include "tools/rdam/screen/prompt.h"

#include <utility>

#include "tools/base/printable.h"

namespace rdam::screen {
namespace {

constexpr Key kControlU = 0x15;

void append(std::string& out, char32_t c) {
    const auto byte = [&](char32_t value) { out += static_cast<char>(static_cast<unsigned char>(value)); };
    if (c < 0x80) return byte(c);
    if (c < 0x800) {
        byte(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        byte(0xe0 | c >> 12);
        byte(0x80 | (c >> 6 & 0x3f));
    } else {
        byte(0xf0 | c >> 18);
        byte(0x80 | (c >> 12 & 0x3f));
        byte(0x80 | (c >> 6 & 0x3f));
    }
    byte(0x80 | (c & 0x3f));
}

void remove_first(std::string& text) {
    std::size_t length = 1;
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80)
        ++length;
    text.erase(0, length);
}

void remove_last(std::string& text) {
    while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80)
        text.pop_back();
    if (!text.empty()) text.pop_back();
}

}  // namespace

Prompt Prompt::for_text(std::string question, std::string text) {
    Prompt prompt;
    prompt.question_ = std::move(question);
    prompt.text_ = std::move(text);
    prompt.is_offered_ = true;
    return prompt;
}

Prompt Prompt::for_yes(std::string question) {
    Prompt prompt;
    prompt.question_ = std::move(question);
    prompt.is_question_ = true;
    return prompt;
}

Prompt::State Prompt::press(Key key) {
    if (is_question_) return key == 'y' || key == 'Y' ? State::taken : State::dropped;
    if (key == kEscape) return State::dropped;
    if (key == kEnter) return State::taken;
    const bool character = key >= ' ' && key != kDelete && key < 0x110000 && (key < 0x80 || key >= 0xa0);
    if (key == kControlU || (character && is_offered_)) text_.clear();
    if (key == kBackspace || key == kDelete) remove_last(text_);
    if (character) append(text_, key);
    is_offered_ = false;
    return State::open;
}

Line Prompt::shown(std::size_t width) const {
    if (is_question_) return line(question_ + " y/n ", Look::strong);
    std::string end = printable(text_);
    const std::string front = question_ + ": ";
    while (!end.empty() && columns(front) + columns(end) >= width)
        remove_first(end);
    return {{front, Look::strong}, {.text = std::move(end), .selected = is_offered_}};
}

}  // namespace rdam::screen
