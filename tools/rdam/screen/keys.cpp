#include "tools/rdam/screen/keys.h"

#include <algorithm>
#include <utility>

#include "tools/base/printable.h"

namespace rdam::screen {
namespace {

const std::vector<View>& everywhere() {
    static const std::vector<View> all{View::ranking, View::page,      View::findings, View::threads,
                                       View::ignored, View::baselines, View::notes,    View::help};
    return all;
}

const std::vector<View>& where_scores_are() {
    static const std::vector<View> views{View::ranking, View::page, View::ignored, View::notes};
    return views;
}

const std::vector<View>& where_rules_change() {
    static const std::vector<View> views{View::ranking, View::page, View::ignored, View::baselines,
                                         View::notes};
    return views;
}

const std::vector<View>& behind_others() {
    static const std::vector<View> views{View::page,      View::findings, View::threads, View::ignored,
                                         View::baselines, View::notes,    View::help};
    return views;
}

}  // namespace

std::span<const Binding> bindings() {
    static const std::vector<Binding> table{
        {Command::help, {'?'}, "?", "show or hide the keys", "help", everywhere()},
        {Command::up, {kUp, 'k'}, "↑ k", "up", "", everywhere()},
        {Command::down, {kDown, 'j'}, "↓ j", "down", "", everywhere()},
        {Command::page_up, {kPageUp}, "page up", "one screen up", "", everywhere()},
        {Command::page_down, {kPageDown}, "page down", "one screen down", "", everywhere()},
        {Command::first, {kHome, 'g'}, "home g", "first line", "", everywhere()},
        {Command::last, {kEnd, 'G'}, "end G", "last line", "", everywhere()},
        {Command::quit, {'q'}, "q", "quit", "quit", {View::ranking}},
        {Command::open, {kEnter}, "enter", "open the page of the function", "page", {View::ranking}},
        {Command::findings,
         {'F'},
         "F",
         "show the findings, and who waits for whom",
         "findings",
         {View::ranking, View::threads}},
        {Command::threads,
         {'T'},
         "T",
         "show what each thread did with its life",
         "threads",
         {View::ranking, View::findings}},
        {Command::filter,
         {'/'},
         "/",
         "show only functions whose names contain this",
         "find",
         {View::ranking}},
        {Command::sort, {'s'}, "s", "sort by rank, lost time, calls or name", "sort", {View::ranking}},
        {Command::toggle,
         {' ', kEnter},
         "space enter",
         "use what is under the cursor as a key, or stop using it",
         "key",
         {View::page}},
        {Command::toggle,
         {' ', kEnter},
         "space enter",
         "in the list of ignored functions: stop ignoring it",
         "restore",
         {View::ignored}},
        {Command::open,
         {kEnter, ' '},
         "enter",
         "in the list of baselines: choose it",
         "choose",
         {View::baselines}},
        {Command::next_tab,
         {kTab, kRight, 'l'},
         "tab → l",
         "next tab: overview, sequences, threads, callers",
         "more",
         {View::page}},
        {Command::previous_tab, {kLeft, 'h'}, "← h", "previous tab", "", {View::page}},
        {Command::ignore,
         {'i'},
         "i",
         "ignore the function, as if it had not been recorded",
         "ignore",
         {View::ranking, View::page}},
        {Command::fold_loops,
         {'f'},
         "f",
         "fold loops or unfold them: folded, it makes no difference how often a call repeats",
         "fold",
         where_scores_are()},
        {Command::deep_keys,
         {'d'},
         "d",
         "deep keys on or off: also distinguish calls by their callees' keys",
         "",
         where_scores_are()},
        {Command::baseline,
         {'b'},
         "b",
         "choose what calls are compared with",
         "base",
         {View::ranking, View::page, View::notes}},
        {Command::threshold,
         {'t'},
         "t",
         "set the score from which functions are highlighted",
         "",
         where_scores_are()},
        {Command::undo, {'u'}, "u", "undo the last change", "undo", where_rules_change()},
        {Command::save, {'w'}, "w", "write the rules file", "save", where_rules_change()},
        {Command::ignored, {'I'}, "I", "list the ignored functions", "", {View::ranking, View::page}},
        {Command::notes, {'n'}, "n", "show the notes on the recording", "", {View::ranking}},
        {Command::back, {kEscape, 'q'}, "esc q", "back", "back", behind_others()},
        {Command::back, {kEscape}, "esc", "show all functions again", "", {View::ranking}},
    };
    return table;
}

std::optional<Command> command_for(Key key, View view) {
    for (const Binding& binding : bindings()) {
        const bool here = std::ranges::find(binding.views, view) != binding.views.end();
        if (here && std::ranges::find(binding.keys, key) != binding.keys.end()) return binding.command;
    }
    return std::nullopt;
}

std::vector<std::string> reminders(View view) {
    std::vector<std::string> out;
    for (const Binding& binding : bindings()) {
        const bool here = std::ranges::find(binding.views, view) != binding.views.end();
        if (!here || binding.brief.empty()) continue;
        const std::string_view first = binding.names.substr(0, binding.names.find(' '));
        out.push_back(std::string{first} + " " + std::string{binding.brief});
    }
    return out;
}

std::string keys_in_words() {
    std::string out;
    for (const Binding& binding : bindings()) {
        if (!out.empty()) out += "; ";
        out.append(binding.names).append(": ").append(binding.text);
    }
    return out + ".";
}

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
